// SPDX-License-Identifier: BSL-1.0
// Training steps of whole models, in every form.
#include "unit/export/nets.hpp"

#include "support/catch.hpp"
#include "unit/export/exported.hpp"
#include <shardwise/optim.hpp>
#include <shardwise/shardwise.hpp>

#include <string>

using namespace shardwise;

namespace {

using namespace exported::nets;

constexpr auto next_token = [](const auto& m, const auto& seen, const auto& next) {
  return reshard<P<>>(nn::cross_entropy(m(seen), next, across<"model">));
};

/// Exports the step of a model, which is trained once, in every form.
template <class Model, class Loss, class X, class Y>
void check_step(const std::string& name, const Loss& loss, const X& x, const Y& y,
                const device_pool& pool, bool has_local_form = true) {
  auto model = nn::initialise<Model>(pool, random_key{5});
  const optim::adamw adam;
  auto state = adam.start(model);
  auto train = step(optim::training_step{loss, adam, 1.0});
  static_cast<void>(train(model, state, 0.05F, x, y));
  const program_view code = train.code(model, state, 0.05F, x, y);
  CHECK(exported::keep_all_forms(name, code) == "");
  const exported_text local = export_stablehlo(code, {.form = export_form::per_device});
  CAPTURE(local.advice);
  CHECK(local.ok() == has_local_form);
}

}  // namespace

TEST_CASE("the steps of a perceptron, a transformer and a convolution net are exported") {
  const device_pool pool{pod{}};
  check_step<mlp>("mlp step", squared_error, normal<tensor<rows, 16, 6>>(pool, random_key{6}),
                  normal<tensor<rows, 16, 4>>(pool, random_key{7}), pool);
  using Tokens = sharded_tensor<std::int32_t, extents<4, 6>, layout<pod, P<"data", none>>>;
  const Tokens seen = full<Tokens>(pool, 3), next = full<Tokens>(pool, 4);
  check_step<reader>("transformer step", next_token, seen, next, pool);
  check_step<looker>("convolution step", squared_error,
                     normal<tensor<images, 4, 2, 8, 8>>(pool, random_key{8}),
                     normal<tensor<rows, 4, 3>>(pool, random_key{9}), pool);
}
