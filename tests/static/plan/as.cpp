// SPDX-License-Identifier: BSL-1.0
// Requested layouts of results, if an operation could have several: the types and the
// communication.
#include <shardwise/paper.hpp>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
template <class Spec, index_t... N>
using tensor = sharded_tensor<float, extents<N...>, layout<pod, Spec>>;
using X = tensor<P<"data", "model">, 8, 16>;
using W = tensor<P<"model", none>, 16, 32>;

template <class Target>
constexpr auto product =
    [](const auto& x, const auto& w) { return einsum<"bi,io->bo">(x, w, as<Target>); };
template <class Y>
using layout_in = typename Y::layout_type;
template <class Target, class A, class B>
using product_of = layout_in<decltype(product<Target>(abstract<A>(), abstract<B>()))>;

// A pending sum is reduce-scattered, all-reduced, or stays pending.
static_assert(
    std::is_same_v<product_of<P<"data", "model">, X, W>, layout<pod, P<"data", "model">>>);
constexpr auto scattered = trace(product<P<"data", "model">>, abstract<X>(), abstract<W>());
static_assert(scattered.collectives() == 1 &&
              scattered.collectives(collective::reduce_scatter, "model") == 1);
constexpr auto reduced = trace(product<P<"data", none>>, abstract<X>(), abstract<W>());
static_assert(reduced.collectives() == 1 &&
              reduced.collectives(collective::all_reduce, "model") == 1);
using pending = layout<pod, P<"data", none>, partial<"model">>;
static_assert(trace(product<pending>, abstract<X>(), abstract<W>()).collectives() == 0);

// A call that would be an error fetches what the error would suggest: one axis splits both free
// dimensions.
using A = tensor<P<"model", none>, 8, 16>;
using B = tensor<P<none, "model">, 16, 32>;
static_assert(!is_legal<einsum_of<"bi,io->bo">, paper_of<decltype(abstract<A>())>,
                        paper_of<decltype(abstract<B>())>>);
static_assert(std::is_same_v<product_of<P<"model", none>, A, B>, layout<pod, P<"model", none>>>);
constexpr auto gathered = trace(product<P<none, "model">>, abstract<A>(), abstract<B>());
static_assert(gathered.collectives() > 0);

// Reshapes whose splits would move, repeats, look-ups, convolutions.
constexpr auto cut = [](const auto& x) { return reshape<extents<128>>(x, as<P<"data">>); };
static_assert(std::is_same_v<layout_in<decltype(cut(abstract<X>()))>, layout<pod, P<"data">>>);
static_assert(trace(cut, abstract<X>()).collectives(collective::all_gather, "model") == 1);
constexpr auto repeated = [](const auto& x) {
  return broadcast_to<extents<4, 8, 16>>(x, as<P<none, none, "model">>);
};
static_assert(trace(repeated, abstract<X>()).collectives() == 1);
using ids = sharded_tensor<int, extents<6>, layout<pod, P<none>>>;
constexpr auto rows = [](const auto& table, const auto& at) {
  return take<0>(table, at, as<P<none, "model">>);
};
static_assert(trace(rows, abstract<W>(), abstract<ids>())
                  .collectives(collective::reduce_scatter, "model") == 1);
using images = tensor<P<"data", "model", none, none>, 4, 8, 6, 6>;
using weights = tensor<P<none, "model", none, none>, 4, 8, 3, 3>;
constexpr auto convolved = [](const auto& x, const auto& w) {
  return convolution(x, w, as<P<"data", none, none, none>>);
};
static_assert(trace(convolved, abstract<images>(), abstract<weights>())
                  .collectives(collective::all_reduce, "model") == 1);
// Three operands and an ellipsis.
using V = tensor<P<none, none>, 32, 4>;
constexpr auto chain = [](const auto& x, const auto& w, const auto& v) {
  return einsum<"bi,io,oj->bj">(x, w, v, as<P<"data", none>>);
};
static_assert(
    std::is_same_v<layout_in<decltype(chain(abstract<X>(), abstract<W>(), abstract<V>()))>,
                   layout<pod, P<"data", none>>>);
constexpr auto leading = [](const auto& x, const auto& w) {
  return einsum<"...i,io->...o">(x, w, as<P<"data", none>>);
};
static_assert(trace(leading, abstract<X>(), abstract<W>()).collectives() == 1);

// Its gradient has the dual collective: the reduce_scatter becomes an all_gather.
constexpr auto loss = [](const auto& x, const auto& w) {
  return sum(square(einsum<"bi,io->bo">(x, w, as<P<"data", "model">>)));
};
static_assert(trace<128>(gradient<0, 1>(loss), abstract<X>(), abstract<W>())
                  .collectives(collective::all_gather, "model") >= 1);

// All operations that are not elementwise follow the same rule, including composed ones: they
// communicate as if the axes were permitted, and the result is resharded.
template <class Target>
constexpr auto requests = [](auto f) {
  using made = decltype(f(abstract<X>(), as<Target>));
  return std::is_same_v<layout_in<std::remove_cvref_t<made>>, layout<pod, Target>>;
};
using rows_split = P<"data", none>;
using wholly_split = P<"data", "model">;
static_assert(requests<rows_split>([](const auto& x, auto to) { return softmax<1>(x, to); }));
static_assert(requests<rows_split>([](const auto& x, auto to) { return log_softmax<1>(x, to); }));
static_assert(requests<rows_split>([](const auto& x, auto to) {
  return layer_norm<1>(x, 1e-5, to);
}));
static_assert(requests<rows_split>([](const auto& x, auto to) {
  return rms_norm<1>(x, 1e-5, to);
}));
static_assert(requests<rows_split>([](const auto& x, auto to) { return batch_norm(x, 1e-5, to); }));
static_assert(requests<rows_split>([](const auto& x, auto to) {
  return group_norm<4>(x, 1e-5, to);
}));
static_assert(requests<rows_split>([](const auto& x, auto to) { return cumsum<1>(x, to); }));
static_assert(requests<wholly_split>([](const auto& x, auto to) { return cumprod<1>(x, to); }));
static_assert(requests<wholly_split>([](const auto& x, auto to) { return cummax<1>(x, to); }));
static_assert(requests<wholly_split>([](const auto& x, auto to) { return flip<0, 1>(x, to); }));
static_assert(requests<wholly_split>([](const auto& x, auto to) { return roll<1, 3>(x, to); }));
static_assert(requests<wholly_split>([](const auto& x, auto to) {
  return pad<0, 0, 2, 2>(x, to);
}));
static_assert(requests<rows_split>([](const auto& x, auto to) {
  return pad<pad_mode::edge, 0, 0, 2, 2>(x, to);
}));
static_assert(requests<rows_split>([](const auto& x, auto to) {
  return pad<1, 1, 2, 2>(x, 1.0F, to);
}));
static_assert(requests<rows_split>([](const auto& x, auto to) { return sort<1>(x, to); }));
static_assert(requests<rows_split>([](const auto& x, auto to) {
  return dynamic_slice<1, 4>(x, 3, to);
}));
static_assert(requests<rows_split>([](const auto& x, auto to) {
  return concatenate<1>(x, x, to);
}));
static_assert(requests<P<none, "data", "model">>([](const auto& x, auto to) {
  return stack<0>(x, x, to);
}));
static_assert(requests<wholly_split>([](const auto& x, auto to) {
  return transpose<1, 0>(x, to);
}));
static_assert(requests<P<none, "data", "model">>([](const auto& x, auto to) {
  return unsqueeze<0>(x, to);
}));
static_assert(requests<P<"model">>([](const auto& x, auto to) { return sum<0>(x, to); }));
static_assert(requests<P<"data">>([](const auto& x, auto to) { return sum<1>(x, to); }));
static_assert(requests<P<"data", none>>([](const auto& x, auto to) {
  return max<1>(x, keep_dims, to);
}));
static_assert(requests<P<"data">>([](const auto& x, auto to) { return mean<1>(x, to); }));
static_assert(requests<P<"data">>([](const auto& x, auto to) { return variance<1>(x, to); }));
static_assert(requests<P<"data">>([](const auto& x, auto to) {
  return standard_deviation<1>(x, correction{1}, to);
}));
static_assert(requests<P<"data">>([](const auto& x, auto to) { return logsumexp<1>(x, to); }));
static_assert(requests<P<"data">>([](const auto& x, auto to) { return l2_norm<1>(x, to); }));
static_assert(requests<P<"data">>([](const auto& x, auto to) { return l1_norm<1>(x, to); }));
static_assert(requests<P<"data">>([](const auto& x, auto to) { return count_nonzero<1>(x, to); }));
static_assert(requests<P<"data">>([](const auto& x, auto to) { return argmax<1>(x, to); }));
static_assert(requests<P<"data">>([](const auto& x, auto to) {
  return max_with_index<1>(x, to).first;
}));
static_assert(requests<P<"data", none>>([](const auto& x, auto to) {
  return top_k<1, 3>(x, to).second;
}));
static_assert(requests<P<"model", none, "data">>([](const auto& x, auto to) {
  return one_hot<10>(cast<std::int32_t>(x), to);
}));
static_assert(requests<rows_split>([](const auto& x, auto to) { return tril<-1>(x, to); }));
static_assert(requests<P<"model", none>>([](const auto& x, auto to) { return triu(x, to); }));
static_assert(requests<P<none, "data">>([](const auto& x, auto to) {
  return stencil(x, reshape<extents<1, 3>>(slice_in_dim<0, 0, 3>(sum<1>(x, as<P<none>>))), to);
}));
static_assert(requests<P<"data">>([](const auto& x, auto to) {
  return cross_entropy<1>(x, argmax<1>(x, as<P<"data">>), to);
}));
static_assert(requests<P<"model", "data">>([](const auto& x, auto to) {
  return einsum<"ij,kj->ik", min_plus>(x, x, to);
}));
constexpr auto heads = [](const auto& x) {
  const auto q = reshape<extents<1, 8, 16>>(x, as<P<none, none, none>>);
  return attention(q, q, q, as<P<none, "data", "model">>);
};
static_assert(std::is_same_v<layout_in<decltype(heads(abstract<X>()))>,
                             layout<pod, P<none, "data", "model">>>);

// So do elementwise functions of tensors and numbers, including user-defined ones.
struct half : elementwise_function<"half", linearity::additive> {};
static_assert(requests<rows_split>([](const auto& x, auto to) { return relu(x, to); }));
static_assert(requests<P<none, none>>([](const auto& x, auto to) { return exp(x, to); }));
static_assert(requests<rows_split>([](const auto& x, auto to) { return add(x, x, to); }));
static_assert(requests<rows_split>([](const auto& x, auto to) { return subtract(2, x, to); }));
static_assert(requests<rows_split>([](const auto& x, auto to) { return negate(x, to); }));
static_assert(requests<rows_split>([](const auto& x, auto to) { return maximum(x, 0, to); }));
static_assert(requests<rows_split>([](const auto& x, auto to) { return clamp(x, 0, 1, to); }));
static_assert(requests<rows_split>([](const auto& x, auto to) {
  return where(less(x, 1, to), x, 0.0F, to);
}));
static_assert(requests<rows_split>([](const auto& x, auto to) { return cast<int>(x, to); }));
static_assert(requests<rows_split>([](const auto& x, auto to) { return lerp(x, 1, x, to); }));
static_assert(requests<rows_split>([](const auto& x, auto to) { return addcmul(x, x, x, 2, to); }));
static_assert(requests<rows_split>([](const auto& x, auto to) { return hard_sigmoid(x, to); }));
static_assert(requests<rows_split>([](const auto& x, auto to) { return hard_swish(x, to); }));
static_assert(requests<rows_split>([](const auto& x, auto to) { return hypot(x, x, to); }));
static_assert(requests<rows_split>([](const auto& x, auto to) { return heaviside(x, 1, to); }));
static_assert(requests<rows_split>([](const auto& x, auto to) { return isclose(x, x, to); }));
static_assert(requests<rows_split>([](const auto& x, auto to) {
  return elementwise<half>(x, to);
}));
static_assert(requests<rows_split>([](const auto& x, auto to) {
  return dropout(x, random_key{1}, 0.5, to);
}));
static_assert(requests<rows_split>([](const auto& x, auto to) {
  return std::get<1>(split_at<0, 2, 6>(x, to));
}));

// They do what a reshard of the result would do, and what an error would suggest: slicing a
// replicated dimension is free, an operand with a conflicting split is gathered, and a pending sum
// that a function reads is reduced.
using whole = tensor<P<none, none>, 8, 16>;
template <class Target>
constexpr auto squashed = [](const auto& x) { return tanh(x, as<Target>); };
static_assert(trace(squashed<wholly_split>, abstract<whole>()).collectives() == 0);
static_assert(trace(squashed<P<none, none>>, abstract<X>()).collectives() == 2);
template <class Target>
constexpr auto added = [](const auto& x, const auto& y) { return add(x, y, as<Target>); };
using columns = tensor<P<none, "data">, 8, 16>;
using lines = tensor<P<"data", none>, 8, 16>;
static_assert(!is_legal<pointwise<functions::add>, paper_of<decltype(abstract<lines>())>,
                        paper_of<decltype(abstract<columns>())>>);
constexpr auto exchanged = trace(added<rows_split>, abstract<lines>(), abstract<columns>());
static_assert(exchanged.collectives() == 1 &&
              exchanged.collectives(collective::all_gather, "data") == 1);
using terms = sharded_tensor<float, extents<8, 16>, layout<pod, P<"data", none>, partial<"model">>>;
static_assert(trace(added<wholly_split>, abstract<terms>(), abstract<terms>())
                  .collectives(collective::reduce_scatter, "model") == 1);
static_assert(trace(squashed<rows_split>, abstract<terms>())
                  .collectives(collective::all_reduce, "model") == 1);
// Axes may be permitted too.
constexpr auto permitted = [](const auto& x, const auto& y) { return add(x, y, across<"data">); };
static_assert(trace(permitted, abstract<lines>(), abstract<columns>()) == exchanged);
// The parts of a tensor are taken from one gathered dimension.
constexpr auto parts = [](const auto& x) {
  const auto [q, k, v] = split_at<1, 4, 8>(x, as<P<"data", none>>);
  return concatenate<1>(v, q, k);
};
static_assert(trace(parts, abstract<X>()).collectives(collective::all_gather, "model") == 1);

// A sum is reduce-scattered at once; softmax communicates its two reductions and nothing else.
constexpr auto shared = [](const auto& x) { return sum<1>(x, as<P<"data,model">>); };
static_assert(trace(shared, abstract<tensor<P<"data", "model">, 8, 16>>()).collectives() == 1);
constexpr auto normalised = [](const auto& x) { return softmax<1>(x, as<P<"data", "model">>); };
static_assert(trace(normalised, abstract<X>()) ==
              trace([](const auto& x) { return softmax<1>(x, across<"model">); }, abstract<X>()));

// JAX's facts on `out_sharding`, on its meshes.
namespace asked {

struct four : mesh<axis<"x", 4>> {};
struct two : mesh<axis<"x", 2>> {};
struct square_of_two : mesh<axis<"x", 2>, axis<"y", 2>> {};
struct cube : mesh<axis<"x", 2>, axis<"y", 2>, axis<"z", 2>> {};
template <class Mesh, class Spec, index_t... N>
using tensor = sharded_tensor<float, extents<N...>, layout<Mesh, Spec>>;

// Three operands whose splits conflict are fetched: the contracted axis of two of them is that of a
// kept dimension of the third.
constexpr auto conflict = [](const auto& a, const auto& b, const auto& c) {
  return einsum<"bthD,bthi,bthj->ijD">(a, b, c, as<P<"x", none, none>>);
};
using conflict_of =
    decltype(conflict(abstract<tensor<four, P<none, none, none, "x">, 8, 32, 1, 16>>(),
                      abstract<tensor<four, P<"x", none, none, none>, 8, 32, 1, 16>>(),
                      abstract<tensor<four, P<"x", none, none, none>, 8, 32, 1, 8>>()));
static_assert(std::is_same_v<layout_in<conflict_of>, layout<four, P<"x", none, none>>>);

// A split dimension merges with those behind it.
constexpr auto merged = [](const auto& x) {
  return reshape<extents<1, 16, 1>>(x, as<P<none, "x", none>>);
};
using merges = tensor<two, P<"x", none, none>, 8, 2, 1>;
static_assert(trace(merged, abstract<merges>()).collectives() == 0);

// A broadcast dimension is created split: nothing moves.
constexpr auto spread = [](const auto& x) {
  return broadcast_to<extents<8, 24>>(x, as<P<"x", "y,z">>);
};
using row = tensor<cube, P<none, "y,z">, 1, 24>;
static_assert(
    std::is_same_v<layout_in<decltype(spread(abstract<row>()))>, layout<cube, P<"x", "y,z">>>);
static_assert(trace(spread, abstract<row>()).collectives() == 0);

// A look-up in a table with split columns, by split indices.
using table = tensor<square_of_two, P<none, "x">, 64, 16>;
using words = sharded_tensor<int, extents<8, 4>, layout<square_of_two, P<"x", none>>>;
constexpr auto look_up = [](const auto& embedding, const auto& at) {
  return take<0>(embedding, at, as<P<"x", none, none>>);
};
using looked_up = decltype(look_up(abstract<table>(), abstract<words>()));
static_assert(looked_up::extents_type::value == extents_desc{8, 4, 16});
static_assert(std::is_same_v<layout_in<looked_up>, layout<square_of_two, P<"x", none, none>>>);

// A sum over two axes stays pending on request, and nothing moves.
using sums = layout<square_of_two, P<none>, partial<"x,y">>;
constexpr auto left_pending = [](const auto& a, const auto& b) {
  return einsum<"bxyz,bxyz->b">(a, b, as<sums>);
};
using blocks = tensor<square_of_two, P<none, "x", none, "y">, 4, 4, 2, 2>;
static_assert(trace(left_pending, abstract<blocks>(), abstract<blocks>()).collectives() == 0);

}  // namespace asked

}  // namespace
