// SPDX-License-Identifier: BSL-1.0
// Functions mapped over batches, on paper: the types of their results, and what they cost.
#include <shardwise/paper.hpp>

#include <type_traits>
#include <utility>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
template <class Spec, index_t... N>
using tensor = sharded_tensor<float, extents<N...>, layout<pod, Spec>>;
template <class F, class... X>
using mapped = paper_of<decltype(std::declval<F>()(abstract<X>()...))>;

// One element of a batch has neither its dimension nor its axes; results get both back, in front.
constexpr auto rows = [](const auto& x) {
  using each = std::remove_cvref_t<decltype(x)>;
  static_assert(std::is_same_v<typename each::layout_type, layout<pod, P<none, "model">>>);
  static_assert(std::is_same_v<typename each::extents_type, extents<16, 8>>);
  return sum<1>(x);
};
using X = tensor<P<"data", none, "model">, 6, 16, 8>;
constexpr auto mapped_rows = vmap(rows);
static_assert(to_text(pod::value, mapped<decltype(mapped_rows), X>::value) ==
              "f32[6@data, 16]{partial sum: model}");

// Any dimension may be the batch, and arguments may be shared.
using W = tensor<P<"model", none>, 8, 4>;
constexpr auto product = [](const auto& x, const auto& w) { return einsum<"i,io->o">(x, w); };
using columns = tensor<P<"model", "data">, 8, 6>;
constexpr auto by_columns = vmap<1, none>(product);
static_assert(to_text(pod::value, mapped<decltype(by_columns), columns, W>::value) ==
              "f32[6@data, 4]{partial sum: model}");
constexpr auto recorded = trace_program(by_columns, abstract<columns>(), abstract<W>());
// A transpose, and one product of the whole batch.
static_assert(recorded.count == 4);
static_assert(recorded.code[3].what->name == "einsum");

// An operation that does not know batches is applied to one element after the other.
constexpr auto sorted = [](const auto& x) { return sort<0>(x); };
using S = tensor<P<"data", none>, 6, 8>;
constexpr auto mapped_sort = trace_program(vmap(sorted), abstract<S>());
static_assert(mapped_sort.code[1].what->name == "vmap");
static_assert(label_of(*mapped_sort.code[1].what, mapped_sort.view().how(1)) == "vmap sort 0");
static_assert(trace(vmap(sorted), abstract<S>()).flops() ==
              trace([](const auto& x) { return sort<1>(x); }, abstract<S>()).flops());

// Maps nest, and a gradient may be inside or outside of them.
constexpr auto twice = vmap(vmap(sorted));
using Y = tensor<P<"data", "model", none>, 6, 4, 8>;
static_assert(trace(twice, abstract<Y>()).collectives() == 0);
static_assert(to_text(pod::value, mapped<decltype(twice), Y>::value) == "f32[6@data, 4@model, 8]");
constexpr auto loss = [](const auto& w, const auto& x) { return sum(tanh(product(x, w))); };
using whole = tensor<P<none, none>, 8, 4>;
constexpr auto each_gradient = vmap<none, 0>(gradient(loss));
static_assert(to_text(pod::value, mapped<decltype(each_gradient), whole, S>::value) ==
              "f32[6@data, 8, 4]");
static_assert(trace(each_gradient, abstract<whole>(), abstract<S>()).collectives() == 0);
constexpr auto mean_loss = [](const auto& w, const auto& x) {
  return mean(vmap<none, 0>(loss)(w, x));
};
static_assert(trace(gradient(mean_loss), abstract<whole>(), abstract<S>())
                  .collectives(collective::all_reduce, "data") == 1);

// The results of JAX's scatter under vmap, with the layouts of its gradients.
struct square_mesh : mesh<axis<"x", 2>, axis<"y", 2>> {};
template <class T, class Spec, index_t... N>
using on_square = sharded_tensor<T, extents<N...>, layout<square_mesh, Spec>>;
using table = on_square<float, P<"x", none, "y">, 2, 10, 8>;
using places = on_square<int, P<"x">, 2>;
using updates = on_square<float, P<"x", "y">, 2, 8>;
template <scatter_mode Mode>
constexpr auto scattered = vmap([](const auto& into, const auto& at, const auto& row) {
  return scatter<0, Mode>(into, reshape<extents<1>>(at), reshape<extents<1, 8>>(row));
});
template <scatter_mode Mode>
constexpr bool is_as_in_jax = [] {
  using result = mapped<decltype(scattered<Mode>), table, places, updates>;
  constexpr auto slopes = gradient<0, 2>([](const auto& into, const auto& at, const auto& row) {
    return sum(scattered<Mode>(into, at, row));
  });
  const auto [d_into, d_row] = slopes(abstract<table>(), abstract<places>(), abstract<updates>());
  return result::value == paper_of<decltype(abstract<table>())>::value &&
         paper_of<decltype(d_into)>::value == paper_of<decltype(abstract<table>())>::value &&
         paper_of<decltype(d_row)>::value == paper_of<decltype(abstract<updates>())>::value;
}();
static_assert(is_as_in_jax<scatter_mode::set> && is_as_in_jax<scatter_mode::add> &&
              is_as_in_jax<scatter_mode::min> && is_as_in_jax<scatter_mode::max>);

}  // namespace
