// SPDX-License-Identifier: BSL-1.0
// A program of many operations, compiled with optimisation and without a single warning.
#include <shardwise/nn.hpp>
#include <shardwise/optim.hpp>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct four : mesh<axis<"x", 2>, axis<"y", 2>> {};
using X = sharded_tensor<float, extents<8, 8>, layout<four, P<"x", none>>>;
using W = sharded_tensor<float, extents<8, 8>, layout<four, P<none, "y">>>;
using flexible = any_tensor<float>;

flexible changes(const flexible& x, const flexible& y);
flexible changes(const flexible& x, const flexible& y) {
  const flexible mixed = softmax<-1>(x) + log_softmax<-1>(y) * cumsum<1>(x);
  const flexible moved = concatenate<1>(mixed, sort<1>(y));
  return where(moved > 0.0F, max<1>(moved, keep_dims), mean<1>(moved, keep_dims));
}

struct model {
  W w;
};

float learns(device_pool& pool, model& m, const X& x);
float learns(device_pool& pool, model& m, const X& x) {
  constexpr optim::adamw update{};
  auto state = update.start(m);
  const auto loss = [](const auto& now, const auto& each) {
    return reshard<P<>>(mean(square(gelu(einsum<"bi,io->bo">(each, now.w)) - 1.0F)));
  };
  const auto value = step(pool, [&] {
    auto [found, gradients] = value_and_grad(loss)(m, x);
    update(m, state, gradients, 0.01F);
    return found;
  });
  return to_host(value)();
}

int main() {
  device_pool pool{four{}};
  const auto x = normal<X>(pool, random_key{1});
  model m{normal<W>(pool, random_key{2})};
  const flexible y = changes(x, sin(x));
  return learns(pool, m, x) > 0.0F && to_host(y).size() > 0 ? 0 : 1;
}
