// SPDX-License-Identifier: BSL-1.0
// Training steps of whole models, in every form.
#include "support/catch.hpp"
#include "unit/export/exported.hpp"
#include <shardwise/nn.hpp>
#include <shardwise/optim.hpp>
#include <shardwise/shardwise.hpp>

#include <string>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};

template <class Spec, index_t... N>
using tensor = sharded_tensor<float, extents<N...>, layout<pod, Spec>>;
using rows = P<"data", none>;
using stream = P<"data", none, none>;
using images = P<"data", none, none, none>;

using mlp = nn::mlp<nn::linear<tensor<P<none, "model">, 6, 8>, tensor<P<"model">, 8>>,
                    nn::linear<tensor<P<"model", none>, 8, 4>, tensor<P<none>, 4>, rows>>;

using norm = nn::layer_norm<tensor<P<none>, 8>>;
using into = tensor<P<none, "model", none>, 8, 4, 2>;
using merge = tensor<P<"model", none, none>, 4, 2, 8>;
using block = nn::transformer_block<
    norm, nn::attention<into, into, into, merge, stream>,
    nn::mlp<nn::linear<tensor<P<none, "model">, 8, 16>, tensor<P<"model">, 16>>,
            nn::linear<tensor<P<"model", none>, 16, 8>, tensor<P<none>, 8>, stream>>>;
struct reader {
  nn::embedding<tensor<P<"model", none>, 10, 8>, stream> read;
  block layer;
  nn::linear<tensor<P<none, "model">, 8, 10>> head;

  constexpr auto operator()(const auto& text) const {
    const auto h0 = read(text);
    const auto h1 = layer(h0);
    return head(h1);
  }
};

struct looker {
  nn::convolution<tensor<P<none, none, none, none>, 4, 2, 3, 3>, tensor<P<none>, 4>,
                  nn::with<paddings<1, 1>>>
      first;
  nn::linear<tensor<P<none, none>, 4, 3>, tensor<P<none>, 3>> head;

  constexpr auto operator()(const auto& x) const {
    const auto pooled = max_pool<windows<2, 2>>(relu(first(x)));
    return head(mean<2, 3>(average_pool<windows<2, 2>>(pooled)));
  }
};

constexpr auto squared_error = [](const auto& m, const auto& x, const auto& wanted) {
  return reshard<P<>>(nn::mse(m(x), wanted));
};
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
