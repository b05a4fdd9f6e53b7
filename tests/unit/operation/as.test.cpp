// SPDX-License-Identifier: BSL-1.0
// Requested layouts of results: the elements are the same as without, and the communication is that
// on paper.
#include "support/catch.hpp"
#include <shardwise/shardwise.hpp>

#include <string>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
template <class Spec, index_t... N>
using tensor = sharded_tensor<double, extents<N...>, layout<pod, Spec>>;
using X = tensor<P<"data", "model">, 8, 16>;
using W = tensor<P<"model", none>, 16, 32>;

constexpr auto scattered = [](const auto& x, const auto& w) {
  return einsum<"bi,io->bo">(x, w, as<P<"data", "model">>);
};
constexpr auto cut = [](const auto& x) { return reshape<extents<128>>(x, as<P<"model">>); };

}  // namespace

TEST_CASE("a result gets the layout that it is asked for, at the cost on paper") {
  const device_pool pool{pod{}};
  const auto x = iota<X>(pool);
  const auto w = iota<W>(pool);
  sync(pool);
  pool.reset_counters();
  const auto y = scattered(x, w);
  sync(pool);
  constexpr auto cost = trace(scattered, abstract<X>(), abstract<W>());
  REQUIRE(pool.counters() == cost);
  REQUIRE(to_host(y) == to_host(reshard<P<none, none>>(einsum<"bi,io->bo">(x, w))));
}

TEST_CASE("a reshape fetches what has no place in its result") {
  const device_pool pool{pod{}};
  const auto x = iota<X>(pool);
  sync(pool);
  pool.reset_counters();
  const auto flat = cut(x);
  REQUIRE(to_text(pod::value, desc_of(flat)) == "f64[128@model]");
  sync(pool);
  constexpr auto cost_of_cut = trace(cut, abstract<X>());
  REQUIRE(pool.counters() == cost_of_cut);
  REQUIRE(to_host(flat) == to_host(iota<tensor<P<none>, 128>>(pool)));
}

TEST_CASE("tensors whose layouts are values take it too, and explain says what moves") {
  const device_pool pool{pod{}};
  const any_tensor<double> x = iota<X>(pool), w = iota<W>(pool);
  const auto y = einsum<"bi,io->bo">(x, w, as<P<"data", "model">>);
  REQUIRE(std::string(explain(y)).find("reduce_scatter") != std::string::npos);
  REQUIRE(y.layout() == layout<pod, P<"data", "model">>::value);
  REQUIRE(to_host(y) == to_host(scattered(as<X>(x), as<W>(w))));
  // Axes that cannot split the result are fetched.
  const auto flat = reshape<extents<128>>(x, as<P<"model">>);
  REQUIRE(to_host(flat) == to_host(iota<tensor<P<none>, 128>>(pool)));
}

namespace {

void require_near(const auto& found, const auto& expected) {
  REQUIRE(found.elements().size() == expected.elements().size());
  for (std::size_t i = 0; i < found.elements().size(); ++i)
    REQUIRE(found.elements()[i] == Approx(expected.elements()[i]).epsilon(1e-12).margin(1e-12));
}

struct other : mesh<axis<"data", 4>> {};

// The layout is the last argument of composed operations too, as a type or as a value.
template <class F, class G>
void require_same(const F& asked, const G& plain) {
  const device_pool pool{pod{}};
  const auto x = iota<X>(pool) * 0.125;
  const auto whole = reshard<P<none, none>>(x);
  const auto y = asked(x, as<P<"data", none>>);
  static_assert(std::is_same_v<typename std::remove_cvref_t<decltype(y)>::layout_type,
                               layout<pod, P<"data", none>>>);
  const auto expected = to_host(reshard<P<none, none>>(plain(whole)));
  require_near(to_host(y), expected);

  const any_tensor<double> any(x);
  const spec_desc spec{{"data", ""}};
  const auto by_type = asked(any, as<P<"data", none>>);
  const auto by_spec = asked(any, out_sharding(spec));
  const auto by_layout = asked(any, out_sharding(layout<pod, P<"data,model", none>>::value));
  REQUIRE(by_type.layout() == layout<pod, P<"data", none>>::value);
  REQUIRE(by_spec.layout() == by_type.layout());
  REQUIRE(by_layout.layout() == layout<pod, P<"data,model", none>>::value);
  require_near(to_host(by_type), expected);
  require_near(to_host(by_spec), expected);
  require_near(to_host(by_layout), expected);
}

}  // namespace

TEST_CASE("composed operations give the layout that is requested, of types and of values") {
  require_same([](const auto& x, const auto& to) { return softmax<1>(x, to); },
               [](const auto& x) { return softmax<1>(x); });
  require_same([](const auto& x, const auto& to) { return layer_norm<1>(x, 1e-5, to); },
               [](const auto& x) { return layer_norm<1>(x, 1e-5); });
  require_same([](const auto& x, const auto& to) { return mean<1>(x, keep_dims, to); },
               [](const auto& x) { return mean<1>(x, keep_dims); });
  require_same([](const auto& x, const auto& to) { return variance<1>(x, keep_dims, to); },
               [](const auto& x) { return variance<1>(x, keep_dims); });
  require_same([](const auto& x, const auto& to) { return logsumexp<1>(x, keep_dims, to); },
               [](const auto& x) { return logsumexp<1>(x, keep_dims); });
}

TEST_CASE("operations along a dimension fetch it where a layout is requested") {
  require_same([](const auto& x, const auto& to) { return cumsum<1>(x, to); },
               [](const auto& x) { return cumsum<1>(x); });
  require_same([](const auto& x, const auto& to) { return flip<1>(x, to); },
               [](const auto& x) { return flip<1>(x); });
  require_same([](const auto& x, const auto& to) { return roll<1, 3>(x, to); },
               [](const auto& x) { return roll<1, 3>(x); });
  require_same([](const auto& x, const auto& to) { return tril<1>(x, to); },
               [](const auto& x) { return tril<1>(x); });
  require_same([](const auto& x, const auto& to) { return pad<0, 0, 1, 2>(x, to); },
               [](const auto& x) { return pad<0, 0, 1, 2>(x); });
  require_same([](const auto& x, const auto& to) { return pad<0, 0, 1, 2>(x, -1.0, to); },
               [](const auto& x) { return pad<0, 0, 1, 2>(x, -1.0); });
  require_same([](const auto& x, const auto& to) { return concatenate<1>(x, x, to); },
               [](const auto& x) { return concatenate<1>(x, x); });
  require_same([](const auto& x, const auto& to) { return top_k<1, 4>(x, to).first; },
               [](const auto& x) { return top_k<1, 4>(x).first; });
}

TEST_CASE("elementwise functions give the layout that is requested, of tensors and numbers") {
  require_same([](const auto& x, const auto& to) { return relu(x, to); },
               [](const auto& x) { return relu(x); });
  require_same([](const auto& x, const auto& to) { return add(x, x, to); },
               [](const auto& x) { return x + x; });
  require_same([](const auto& x, const auto& to) { return divide(2, x, to); },
               [](const auto& x) { return 2 / x; });
  require_same([](const auto& x, const auto& to) { return negate(multiply(x, 3.0), to); },
               [](const auto& x) { return -(x * 3.0); });
  require_same([](const auto& x, const auto& to) { return clamp(x, 0.5, x, to); },
               [](const auto& x) { return clamp(x, 0.5, x); });
  require_same([](const auto& x, const auto& to) { return lerp(x, 1.0, x, to); },
               [](const auto& x) { return lerp(x, 1.0, x); });
  require_same([](const auto& x, const auto& to) { return addcmul(x, x, x, 0.5, to); },
               [](const auto& x) { return addcmul(x, x, x, 0.5); });
  require_same([](const auto& x, const auto& to) { return hard_sigmoid(x, to); },
               [](const auto& x) { return hard_sigmoid(x); });
  require_same([](const auto& x, const auto& to) { return dropout(x, random_key{3}, 0.25, to); },
               [](const auto& x) { return dropout(x, random_key{3}, 0.25); });
  require_same([](const auto& x, const auto& to) { return std::get<1>(split_at<1, 4, 12>(x, to)); },
               [](const auto& x) { return std::get<1>(split_at<1, 4, 12>(x)); });
}

TEST_CASE("elementwise functions of splits that conflict exchange what an error would suggest") {
  const device_pool pool{pod{}};
  using rows = tensor<P<"data", none>, 8, 16>;
  using columns = tensor<P<none, "data">, 8, 16>;
  const auto sum_of = [](const auto& a, const auto& b) { return add(a, b, as<P<"data", none>>); };
  const auto x = iota<rows>(pool);
  const auto y = iota<columns>(pool) * 2.0;
  const auto expected = to_host(x + reshard<P<"data", none>>(y));
  sync(pool);
  pool.reset_counters();
  const auto typed = sum_of(x, y);
  sync(pool);
  constexpr auto cost = trace(sum_of, abstract<rows>(), abstract<columns>());
  REQUIRE(pool.counters().collectives() == cost.collectives());
  REQUIRE(to_host(typed) == expected);
  const any_tensor<double> any_x(x), any_y(y);
  REQUIRE_THROWS_WITH(add(any_x, any_y), Catch::Contains("reshard"));
  REQUIRE(to_host(sum_of(any_x, any_y)) == expected);
  REQUIRE(to_host(add(any_x, any_y, across<"data">)) == expected);
  REQUIRE_THROWS_WITH(add(any_x, any_y, across<"model">), Catch::Contains("reshard"));
  REQUIRE(to_host(add(y, any_x, out_sharding(spec_desc{{"data", ""}}))) == expected);
  // One value as both operands, one of which is resharded, and a pending sum that is read.
  const auto pending = einsum<"bi,io->bo">(iota<X>(pool), iota<W>(pool));
  const auto read = relu(any_tensor<double>(pending), as<P<"data", "model">>);
  REQUIRE(to_host(read) == to_host(relu(reshard<P<"data", none>>(pending))));
}

TEST_CASE("contractions whose equation is a value take the requested layout of their result") {
  const device_pool pool{pod{}};
  const any_tensor<double> x = iota<X>(pool), w = iota<W>(pool);
  const any_tensor<double> v = iota<tensor<P<none, "data">, 32, 4>>(pool);
  const spec_desc spec{{"data", "model"}};
  const auto y = einsum("bi,io,oj->bj", x, w, v, out_sharding(spec));
  REQUIRE(y.layout() == layout<pod, P<"data", "model">>::value);
  const auto typed = einsum<"bi,io,oj->bj">(
      as<X>(x), as<W>(w), reshard<P<none, none>>(as<tensor<P<none, "data">, 32, 4>>(v)),
      as<P<"data", "model">>);
  REQUIRE(to_host(y) == to_host(typed));
  // An `einsum` that is an error without it.
  const auto whole = reshard(x, spec_desc{{"", ""}});
  const auto nearest = einsum<min_plus>("ij,kj->ik", x, x, out_sharding(spec_desc{{"", "data"}}));
  REQUIRE_THROWS_WITH(einsum<min_plus>("ij,kj->ik", x, x), Catch::Contains("data"));
  REQUIRE(to_host(nearest) == to_host(einsum<min_plus>("ij,kj->ik", whole, whole)));
}

TEST_CASE("a layout of another mesh is refused by name") {
  const device_pool pool{pod{}};
  const any_tensor<double> x = iota<X>(pool);
  REQUIRE_THROWS_WITH(softmax<1>(x, as<layout<other, P<"data", none>>>), Catch::Contains("mesh"));
}

TEST_CASE("gradients go through a requested layout") {
  const device_pool pool{pod{}};
  const auto x = iota<X>(pool) * 0.125;
  const auto asked = [](const auto& a) { return sum(square(softmax<1>(a, as<P<"data", none>>))); };
  const auto plain = [](const auto& a) { return sum(square(softmax<1>(a))); };
  const auto dx = gradient<0>(asked)(x);
  const auto dy = gradient<0>(plain)(reshard<P<none, none>>(x));
  require_near(to_host(dx), to_host(dy));
}
