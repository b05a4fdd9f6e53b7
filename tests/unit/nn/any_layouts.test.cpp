// SPDX-License-Identifier: BSL-1.0
// Modules and losses of tensors whose layouts are values compute what they do with types.
#include "support/catch.hpp"
#include "support/values.hpp"
#include <shardwise/nn.hpp>
#include <shardwise/optim.hpp>
#include <shardwise/shardwise.hpp>

#include <array>
#include <type_traits>
#include <vector>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};
// The batch of 3 is split unevenly.
template <class T, class Spec, index_t... N>
using elements = sharded_tensor<T, extents<N...>, layout<pod, Spec, partial<>, uneven>>;
template <class Spec, index_t... N>
using tensor = elements<double, Spec, N...>;
using stream = P<"data", none, none>;
using untyped = any_tensor<double>;

template <class Read, class Heads, class Norm, class Mlp, class Last>
struct net {
  Read read;
  Heads heads;
  Norm norm;
  Mlp mlp;
  Last last;

  template <class Ids, class... Key>
  auto operator()(const Ids& ids, const Key&... seed) const {
    const auto h = read(ids);
    const auto met = h + heads(h);
    return last(nn::dropout<std::ratio<1, 4>>{}(met + mlp(norm(met)), seed...));
  }
};

constexpr index_t words = 5, width = 4, classes = 5;
using typed_net =
    net<nn::embedding<tensor<P<"model", none>, words, width>, stream>,
        nn::attention<tensor<P<none, "model", none>, width, 2, 3>,
                      tensor<P<none, "model", none>, width, 2, 3>,
                      tensor<P<none, "model", none>, width, 2, 3>,
                      tensor<P<"model", none, none>, 2, 3, width>, stream>,
        nn::layer_norm<tensor<P<none>, width>>,
        nn::mlp<nn::linear<tensor<P<none, "model">, width, 8>, tensor<P<"model">, 8>>,
                nn::linear<tensor<P<"model", none>, 8, width>, tensor<P<none>, width>, stream>>,
        nn::linear<tensor<P<none, "model">, width, classes>>>;
using any_net =
    net<nn::embedding<untyped, stream>, nn::attention<untyped, untyped, untyped, untyped, stream>,
        nn::layer_norm<untyped>,
        nn::mlp<nn::linear<untyped, untyped>, nn::linear<untyped, untyped, stream>>,
        nn::linear<untyped>>;

using Ids = elements<std::int32_t, P<"data", none>, 3, 4>;

/// The same model, whose layouts are values.
any_net forgotten(const typed_net& m) {
  return {{m.read.table},
          {m.heads.query, m.heads.key, m.heads.value, m.heads.out},
          {m.norm.scale, m.norm.shift},
          {{m.mlp.up.weight, m.mlp.up.bias}, {m.mlp.down.weight, m.mlp.down.bias}},
          {m.last.weight}};
}
std::vector<double> all_values(const auto& model) {
  std::vector<double> out;
  for_each_parameter(model, [&](const leaf_path&, const auto& w) {
    for (double each : values(w)) out.push_back(each);
  });
  return out;
}

constexpr auto both = across<"data", "model">;
constexpr auto loss = [](const auto& m, const auto& ids, const auto& wanted, const auto&... seed) {
  return reshard<P<>>(
      nn::cross_entropy(m(ids, seed...), wanted, nn::smoothing{0.1}, across<"model">));
};

}  // namespace

TEST_CASE("a model of tensors whose layouts are values has the loss and the gradients of types") {
  const device_pool pool{pod{}};
  const auto typed = nn::initialise<typed_net>(pool, random_key{1});
  const any_net m = forgotten(typed);
  const auto ids = generate<Ids>(
      pool, [](const global_index& at) { return std::int32_t((3 * at[0] + 2 * at[1]) % words); });
  const auto wanted = generate<Ids>(
      pool, [](const global_index& at) { return std::int32_t((at[0] + 2 * at[1]) % classes); });
  const any_tensor<std::int32_t> any_ids = ids, any_wanted = wanted;

  require_close(values(m(any_ids)), values(typed(ids)));
  require_close(values(m(ids)), values(typed(ids)));  // of both kinds
  const untyped logits = m(any_ids);
  REQUIRE(logits.layout() == decltype(typed(ids))::layout_type::value);

  const random_key seed{5};
  const auto [value, gradients] = value_and_grad(loss)(m, any_ids, any_wanted, seed);
  const auto [same, all] = value_and_grad(loss)(typed, ids, wanted, seed);
  require_close(values(value), values(same));
  require_close(all_values(gradients), all_values(all));
  STATIC_REQUIRE(
      std::is_same_v<std::remove_cvref_t<decltype(gradients.norm)>, nn::layer_norm<untyped>>);
  REQUIRE(gradients.mlp.up.weight.layout() == m.mlp.up.weight.layout());
}

TEST_CASE("a model of tensors whose layouts are values is trained by steps") {
  const device_pool pool{pod{}};
  auto typed = nn::initialise<typed_net>(pool, random_key{1});
  any_net m = forgotten(typed);
  const auto ids = generate<Ids>(
      pool, [](const global_index& at) { return std::int32_t((3 * at[0] + 2 * at[1]) % words); });
  const any_tensor<std::int32_t> any_ids = ids;
  const auto train = [](auto& model, const auto& in) {
    constexpr optim::training_step learn{loss, optim::adamw{.weight_decay = 0.01}, 1.0};
    auto state = learn.optimizer.start(model);
    auto go = step(learn);
    std::vector<double> losses;
    for (int i = 0; i < 5; ++i)
      losses.push_back(to_host(go(model, state, 0.05, in, in)).elements()[0]);
    REQUIRE(go.programs() == 1);
    return losses;
  };
  const auto losses = train(m, any_ids);
  require_close(losses, train(typed, ids));
  REQUIRE(losses.back() < losses.front());
  require_close(all_values(m), all_values(typed));
}

TEST_CASE("losses of tensors whose layouts are values are those of types") {
  const device_pool pool{pod{}};
  using X = tensor<P<"data", "model">, 3, classes>;
  using Labels = elements<std::int32_t, P<"data">, 3>;
  const auto x = normal<X>(pool, random_key{1}), y = normal<X>(pool, random_key{2});
  const auto labels = distribute<Labels>(pool, std::vector<std::int32_t>{3, -100, 1});
  const auto weights =
      distribute<tensor<P<none>, classes>>(pool, std::vector<double>{1, 2, 3, 4, 5});
  const untyped a = x, b = y, w = weights;
  const any_tensor<std::int32_t> classes_of = labels;
  const auto check = [](const auto& f, const auto& from, const auto& given) {
    const auto total = [&](const auto& each) { return reshard<P<>>(f(each, given)); };
    return std::pair{values(total(from)), values(gradient(total)(from))};
  };
  const auto agree = [&](const auto& f, const auto& typed, const auto& valued) {
    const auto wanted = check(f, x, typed), made = check(f, a, valued);
    require_close(made.first, wanted.first);
    require_close(made.second, wanted.second);
  };
  agree([](const auto& p, const auto& q) { return nn::mse(p, q); }, y, b);
  agree([](const auto& p, const auto& q) { return nn::l1(p, q); }, y, b);
  agree([](const auto& p, const auto& q) { return nn::huber(p, q, 0.5); }, y, b);
  agree([](const auto& p, const auto& q) { return nn::hinge(p, q); }, y, b);
  agree([](const auto& p, const auto& q) { return nn::binary_cross_entropy(p, sigmoid(q)); }, y, b);
  agree(
      [](const auto& p, const auto& q) {
        return nn::kl_divergence(log_softmax<1>(p, both), softmax<1>(q, both));
      },
      y, b);
  agree([](const auto& p, const auto& q) { return mean(nn::cosine_similarity<1>(p, q, both)); }, y,
        b);
  agree(
      [](const auto& p, const auto& q) { return nn::nll(log_softmax<1>(p, both), maximum(q, 0)); },
      labels, classes_of);
  agree([](const auto& p, const auto& q) { return nn::cross_entropy_ignoring<-100>(p, q, both); },
        labels, classes_of);
  const auto weighted = [](const auto& p, const auto& all) {
    return nn::cross_entropy_ignoring<-100>(p, all.first, all.second, nn::smoothing{0.2}, both);
  };
  agree(weighted, std::pair{labels, weights}, std::pair{classes_of, w});
  const untyped fewer = full<double>(pool, 1.0, {4}, spec_desc{{""}});
  REQUIRE_THROWS_WITH(nn::cross_entropy(a, classes_of, fewer, both),
                      contains("operand_sizes_differ"));
  REQUIRE_THROWS_WITH(nn::mse(a, fewer), contains("operand_rank_differs"));
}

TEST_CASE("batch norm of values trains and evaluates as it does of types") {
  const device_pool pool{pod{}};
  using X = tensor<P<"data", "model", none>, 3, 4, 5>;
  using V = tensor<P<"model">, 4>;
  using uneven = sharded_tensor<X::value_type, extents<dyn, 4, 5>, X::layout_type>;
  const auto x = normal<X>(pool, random_key{1});
  const nn::batch_norm<V, V, nn::running_moments<V>, across_axes<"data">> typed{
      ones<V>(pool), zeros<V>(pool), {{zeros<V>(pool), ones<V>(pool)}}};
  nn::batch_norm<untyped, untyped, nn::running_moments<untyped>, across_axes<"data">> norm{
      typed.scale, typed.shift, {{typed.running.value.mean, typed.running.value.variance}}};
  const auto [y, moved] = norm(untyped(x), nn::momentum{0.1});
  const auto [same, all] = typed(x, nn::momentum{0.1});
  require_close(values(y), values(same));
  norm.running.value = moved;
  require_close(values(norm.running.value.variance), values(all.variance));
  auto next = typed;
  next.running.value = all;
  require_close(values(norm(untyped(x))), values(next(x)));
  // An empty batch has no moments.
  const auto [none, kept] = norm(untyped(normal<uneven>(pool, random_key{1}, 0)), nn::momentum{});
  REQUIRE(none.extents()[0] == 0);
  require_close(values(kept.mean), values(all.mean));
  require_close(values(kept.variance), values(all.variance));
  const auto [typed_none, typed_kept] =
      next(normal<uneven>(pool, random_key{1}, 0), nn::momentum{});
  require_close(values(typed_kept.mean), values(all.mean));
  require_close(values(typed_kept.variance), values(all.variance));
  const nn::batch_norm<untyped> alone{norm.scale, norm.shift, norm.running};
  REQUIRE_THROWS_WITH(alone(untyped(x), nn::momentum{}), contains("dimension_is_split"));
}
