// SPDX-License-Identifier: BSL-1.0
// Convolutions and pooling of typed tensors: halos, run-time sizes, gradients.
#include "support/catch.hpp"
#include <shardwise/nn.hpp>
#include <shardwise/shardwise.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

using namespace shardwise;

namespace {

struct line : mesh<axis<"x", 3>> {};
template <class Spec, index_t... N>
using tensor = sharded_tensor<double, extents<N...>, layout<line, Spec, partial<>, uneven>>;
using rows = tensor<P<none, none, "x", none>, 2, 2, 7, 4>;
using filter = tensor<P<none, none, none, none>, 3, 2, 3, 3>;
using whole = P<none, none, none, none>;

template <class A, class B>
void require_close(const A& a, const B& b) {
  const auto left = to_host(a), right = to_host(b);
  REQUIRE(left.elements().size() == right.elements().size());
  for (std::size_t i = 0; i < left.elements().size(); ++i)
    REQUIRE(std::abs(left.elements()[i] - right.elements()[i]) <= 1e-12);
}

}  // namespace

TEST_CASE("halos give what gathered dimensions give, and are counted") {
  const device_pool pool{line{}};
  const auto x = normal<rows>(pool, random_key{1});
  const auto w = normal<filter>(pool, random_key{2});
  const auto f = [&](const auto& a) { return convolution<paddings<1, 1>>(a, w, across<"x">); };
  const auto y = f(x);
  pool.reset_counters();
  sync(y);
  REQUIRE(pool.counters().collectives() == 1);
  REQUIRE(pool.counters().collectives(collective::halo_exchange) == 1);
  // The second device receives a row from each side.
  REQUIRE(pool.counters().bytes_moved() == 2 * (2 * 2 * 4) * 8);
  require_close(y, f(reshard<whole>(x)));
  const auto words = explain(f(x));
  REQUIRE(std::string(words.data(), words.size()).find("halo_exchange") != std::string::npos);
}

TEST_CASE("windows of sizes that the run tells are those of known sizes") {
  const device_pool pool{line{}};
  using known = tensor<P<"x", none, none>, 5, 2, 9>;
  using told = tensor<P<"x", none, none>, dyn, 2, dyn>;
  const auto w = normal<tensor<P<none, none, none>, 4, 2, 3>>(pool, random_key{2});
  const auto x = normal<known>(pool, random_key{1});
  const auto host = to_host(x);
  const auto same = distribute<told>(
      pool, [&](const global_index& at) { return host(at[0], at[1], at[2]); }, 5, 9);
  const auto f = [&](const auto& a) { return convolution<strides<2>, paddings<1, 0>>(a, w); };
  REQUIRE(f(same).extents()[2] == 4);
  require_close(f(same), f(x));
  require_close(max_pool<windows<2>>(same), max_pool<windows<2>>(x));
}

TEST_CASE("gradients of gradients of windows are those of whole tensors") {
  const device_pool pool{line{}};
  const auto x = normal<rows>(pool, random_key{3});
  const auto w = normal<filter>(pool, random_key{4});
  const auto loss = [&](const auto& a, const auto& b) {
    const auto y = convolution<strides<2, 1>, paddings<1, 1>>(a, b, across<"x">);
    const auto z = average_pool<windows<2, 2>, strides<1, 1>>(y * y, across<"x">);
    return reshard<P<>>(sum(max_pool<windows<2, 2>, strides<1, 1>>(z * z, across<"x">)));
  };
  // Along the inputs and along the weights, each while the other is a constant.
  const auto along_inputs = [&](const auto& a) {
    return gradient([&](const auto& b) {
      const auto d = gradient([&](const auto& c) { return loss(c, w); })(b);
      return reshard<P<>>(sum(d * d));
    })(a);
  };
  const auto along_weights = [&](const auto& a) {
    return gradient([&](const auto& b) {
      const auto d = gradient([&](const auto& c) { return loss(a, c); })(b);
      return reshard<P<>>(sum(d * d));
    })(w);
  };
  const auto close = [](const auto& a, const auto& b) {
    const auto left = to_host(a), right = to_host(b);
    double most = 0, apart = 0;
    for (std::size_t i = 0; i < left.elements().size(); ++i) {
      most = std::max(most, std::abs(right.elements()[i]));
      apart = std::max(apart, std::abs(left.elements()[i] - right.elements()[i]));
    }
    REQUIRE(most > 0);
    REQUIRE(apart <= 1e-12 * most);
  };
  close(along_inputs(x), along_inputs(reshard<whole>(x)));
  close(along_weights(x), along_weights(reshard<whole>(x)));
}

TEST_CASE("equal maxima share a gradient evenly, and NaN is the largest") {
  const device_pool pool{line{}};
  using numbers = tensor<P<none>, 4>;
  const auto x = distribute<numbers>(pool, std::vector<double>{2, 2, 1, std::nan("")});
  const auto y = to_host(max_pool<windows<2>>(x));
  REQUIRE(y(0) == 2);
  REQUIRE(std::isnan(y(1)));
  const auto d = to_host(
      gradient([](const auto& a) { return reshard<P<>>(sum(max_pool<windows<2>>(a))); })(x));
  REQUIRE(d(0) == 0.5);
  REQUIRE(d(1) == 0.5);
  REQUIRE(d(2) == 0);
  REQUIRE(d(3) == 1);
}
