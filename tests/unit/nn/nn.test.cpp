// SPDX-License-Identifier: BSL-1.0
// Modules: what they compute, their parameters, what they cost on paper.
#include "support/catch.hpp"
#include <shardwise/nn.hpp>
#include <shardwise/shardwise.hpp>

#include <array>
#include <cmath>
#include <string>
#include <vector>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};
struct one : mesh<axis<"data", 1>, axis<"model", 1>> {};

template <class M, class Spec, index_t... N>
using tensor = sharded_tensor<double, extents<N...>, layout<M, Spec>>;
template <class M, class Spec, index_t... N>
using indices = sharded_tensor<std::int32_t, extents<N...>, layout<M, Spec>>;

constexpr index_t batch = 4, positions = 6, width = 8, heads = 2, size = 4, words = 10;

using stream = P<"data", none, none>;
template <class M>
using norm = nn::layer_norm<tensor<M, P<none>, width>>;
template <class M>
using projection = tensor<M, P<none, "model", none>, width, heads, size>;
template <class M>
using attention_of_heads =
    nn::attention<projection<M>, projection<M>, projection<M>,
                  tensor<M, P<"model", none, none>, heads, size, width>, stream>;
template <class M>
using feed_forward =
    nn::mlp<nn::linear<tensor<M, P<none, "model">, width, 16>, tensor<M, P<"model">, 16>>,
            nn::linear<tensor<M, P<"model", none>, 16, width>, tensor<M, P<none>, width>, stream>>;
template <class M>
using block = nn::transformer_block<norm<M>, attention_of_heads<M>, feed_forward<M>>;

template <class Embedding, class Layers, class Norm, class Head>
struct gpt {
  Embedding embedding;
  Layers layers;
  Norm norm;
  Head head;

  template <class Ids>
  constexpr auto operator()(const Ids& ids) const {
    const auto h0 = embedding(ids);
    const auto h1 = layers[0](h0);
    const auto h2 = layers[1](h1);
    return head(norm(h2));
  }
};
template <class M>
using model =
    gpt<nn::embedding<tensor<M, P<"model", none>, words, width>, stream>, std::array<block<M>, 2>,
        norm<M>, nn::linear<tensor<M, P<none, "model">, width, words>>>;
template <class M>
using text_batch = indices<M, P<"data", none>, batch, positions>;

constexpr auto loss = [](const auto& m, const auto& ids, const auto& next) {
  return reshard<P<>>(nn::cross_entropy(m(ids), next, across<"model">));
};

// Forward: the table, the attention and the mlp of each layer, the two reductions of the cross
// entropy, and the mean over the batch.
constexpr auto cost = trace_nests<512, model<pod>, text_batch<pod>, text_batch<pod>>(loss);
static_assert(cost.collectives("model") == 1 + 2 * 2 + 2);
static_assert(cost.collectives("data") == 1);

// A mesh with `dyn` axes has the same costs for the same sizes.
struct any_pod : mesh<axis<"data", dyn>, axis<"model", dyn>> {};
constexpr auto cost_on = [](index_t data, index_t parts) {
  return trace_nests<512, model<any_pod>, text_batch<any_pod>, text_batch<any_pod>>(loss, data,
                                                                                    parts);
};
constexpr auto cost_of_any = cost_on(2, 2);
static_assert(cost_of_any.bytes_moved() == cost.bytes_moved());
static_assert(cost_of_any.flops() == cost.flops());
static_assert(cost_of_any.peak_bytes_per_device() == cost.peak_bytes_per_device());

template <class M>
std::vector<double> loss_and_gradient() {
  const device_pool pool{M{}};
  const auto m = nn::initialise<model<M>>(pool, random_key{7});
  const auto ids = generate<text_batch<M>>(pool, [](const global_index& at) {
    return static_cast<std::int32_t>((3 * at[0] + 7 * at[1]) % words);
  });
  const auto next = generate<text_batch<M>>(pool, [](const global_index& at) {
    return static_cast<std::int32_t>((5 * at[0] + at[1]) % words);
  });
  auto [value, gradients] = value_and_grad(loss)(m, ids, next);
  std::vector<double> out{to_host(value)()};
  for_each_parameter(gradients, [&](const leaf_path&, const auto& x) {
    const auto host = to_host(x);
    for (double each : host.elements()) out.push_back(each);
  });
  return out;
}

}  // namespace

TEST_CASE("a split transformer has the loss and the gradients of one device") {
  const std::vector<double> split = loss_and_gradient<pod>(), whole = loss_and_gradient<one>();
  REQUIRE(split.size() == whole.size());
  REQUIRE(split[0] == Approx(std::log(double{words})).margin(0.5));
  double largest = 0;
  for (std::size_t i = 0; i < split.size(); ++i) {
    REQUIRE(std::abs(split[i] - whole[i]) < 1e-12);
    largest = std::max(largest, i == 0 ? 0 : std::abs(whole[i]));
  }
  REQUIRE(largest > 1e-3);
}

TEST_CASE("what a transformer costs on paper depends on the sizes of its mesh") {
  const cost_ledger alone = cost_on(1, 1);
  REQUIRE(alone.collectives() == 0);
  REQUIRE(alone.flops() > 3 * cost.flops());
  REQUIRE(cost_on(4, 1).collectives("data") == 1);
  REQUIRE(cost_on(4, 1).collectives("model") == 0);
}

TEST_CASE("parameters are found with their names") {
  const device_pool pool{pod{}};
  const auto m = nn::initialise<model<pod>>(pool, random_key{7});
  std::vector<std::string> names;
  for_each_parameter(
      m, [&](const leaf_path& name, const auto&) { names.emplace_back(name.data(), name.size()); });
  REQUIRE(names.size() == 1 + 2 * (2 + 4 + 2 + 4) + 2 + 1);
  REQUIRE(names[0] == "embedding.table");
  REQUIRE(names[3] == "layers.0.attention.query");
  REQUIRE(names.back() == "head.weight");
  REQUIRE(count_parameters(m) ==
          words * width * 2 + 2 * (4 * width + 4 * width * width + 2 * width * 16 + 16 + width) +
              2 * width);
}

TEST_CASE("causal attention agrees with the operation, and later positions do not matter") {
  const device_pool pool{pod{}};
  using hidden = tensor<pod, stream, batch, positions, width>;
  const auto m = nn::initialise<attention_of_heads<pod>>(pool, random_key{3});
  const auto x = normal<hidden>(pool, random_key{4});
  const auto q = einsum<"bsd,dhe->bhse">(x, m.query);
  const auto k = einsum<"bsd,dhe->bhse">(x, m.key);
  const auto v = einsum<"bsd,dhe->bhse">(x, m.value);
  const auto met = attention<attends::to_earlier>(q, k, v);
  const auto wanted = to_host(reshard<stream>(einsum<"bhse,hed->bsd">(met, m.out)));
  const auto made = to_host(m(x));
  for (std::size_t i = 0; i < made.elements().size(); ++i)
    REQUIRE(made.elements()[i] == Approx(wanted.elements()[i]).margin(1e-12));
}

TEST_CASE("initial weights have the moments that their names promise") {
  const device_pool pool{pod{}};
  using W = tensor<pod, P<"data", "model">, 200, 100>;
  const auto moments = [](const W& w) {
    double sum = 0, squares = 0, largest = 0;
    const auto host = to_host(w);
    for (double x : host.elements()) {
      sum += x;
      squares += x * x;
      largest = std::max(largest, std::abs(x));
    }
    REQUIRE(std::abs(sum / 20000) < 0.01);
    return std::pair{squares / 20000, largest};
  };
  REQUIRE(moments(nn::kaiming_normal<W>(pool, random_key{1})).first ==
          Approx(2.0 / 200).epsilon(0.03));
  REQUIRE(moments(nn::kaiming_uniform<W>(pool, random_key{1})).first ==
          Approx(2.0 / 200).epsilon(0.03));
  REQUIRE(moments(nn::xavier_normal<W>(pool, random_key{1})).first ==
          Approx(2.0 / 300).epsilon(0.03));
  REQUIRE(moments(nn::xavier_uniform<W>(pool, random_key{1})).first ==
          Approx(2.0 / 300).epsilon(0.03));
  // Narrow weights are rounded, and have no other mean.
  using N = sharded_tensor<bfloat16, extents<200, 100>, layout<pod, P<"data", "model">>>;
  double narrow = 0;
  for (const bfloat16 x : to_host(nn::kaiming_uniform<N>(pool, random_key{1})).elements())
    narrow += static_cast<float>(x);
  double wide = 0;
  for (const double x :
       to_host(
           cast<double>(nn::kaiming_uniform<
                        sharded_tensor<float, extents<200, 100>, layout<pod, P<"data", "model">>>>(
               pool, random_key{1})))
           .elements())
    wide += x;
  REQUIRE(narrow / 20000 == Approx(wide / 20000).margin(1e-5));
  // A filter of 40 features, of 3 of 6 channels in 2 groups, over windows of 3 and 5.
  using F = tensor<pod, P<"data", none, none, none>, 40, 3, 3, 5>;
  const auto variance_of = [](const F& f) {
    double squares = 0;
    const auto host = to_host(f);
    for (double x : host.elements()) squares += x * x / 1800;
    return squares;
  };
  using enum nn::weight_of;
  REQUIRE(variance_of(nn::kaiming_normal<F, filter>(pool, random_key{1})) ==
          Approx(2.0 / 45).epsilon(0.1));
  REQUIRE(variance_of(nn::kaiming_uniform<F, filter>(pool, random_key{1})) ==
          Approx(2.0 / 45).epsilon(0.1));
  REQUIRE(variance_of(nn::xavier_normal<F, filter>(pool, random_key{1})) ==
          Approx(2.0 / (45 + 600)).epsilon(0.1));
  REQUIRE(variance_of(nn::xavier_uniform<F, merge>(pool, random_key{1})) ==
          Approx(2.0 / (360 + 5)).epsilon(0.1));
  using convolved = nn::convolution<F>;
  REQUIRE(variance_of(nn::initialise<convolved>(pool, random_key{1}).filter) ==
          Approx(0.7737 / 45).epsilon(0.1));
  const auto [variance, largest] = moments(nn::truncated_normal<W>(pool, random_key{1}, 0.5));
  REQUIRE(largest <= 1.0);
  REQUIRE(largest > 0.99);
  REQUIRE(variance == Approx(0.25 * 0.7737).epsilon(0.03));
}

namespace {

template <class Token, class Positions, class Head>
struct vision {
  Token token;
  Positions positions;
  Head head;
};

}  // namespace

TEST_CASE("learnt vectors are small, and patterns choose other initial values") {
  const device_pool pool{pod{}};
  using vit = vision<tensor<pod, P<none, none, none>, 1, 1, 64>,
                     tensor<pod, P<none, none, "model">, 1, 16, 64>,
                     nn::linear<tensor<pod, P<none, none>, 64, 8>, tensor<pod, P<none>, 8>>>;
  const auto root_mean_square = [](const auto& x) {
    double squares = 0;
    const auto host = to_host(x);
    for (double each : host.elements()) squares += each * each;
    return std::sqrt(squares / static_cast<double>(host.elements().size()));
  };
  const auto m = nn::initialise<vit>(pool, random_key{1});
  REQUIRE(root_mean_square(m.token) == Approx(0.0176).epsilon(0.3));
  REQUIRE(root_mean_square(m.positions) == Approx(0.0176).epsilon(0.1));
  const auto zero = [&]<class X>(std::type_identity<X>, random_key) { return zeros<X>(pool); };
  const auto wide = [&]<class X>(std::type_identity<X>, random_key key) {
    return nn::truncated_normal<X>(pool, key, 3);
  };
  const auto other = nn::initialise<vit>(pool, random_key{1}, nn::initial{"head.weight", zero},
                                         nn::initial{"head.*", wide});
  REQUIRE(root_mean_square(other.head.weight) == 0);
  REQUIRE(root_mean_square(other.head.bias) > 1);
  // The others keep their keys.
  REQUIRE(to_host(other.positions)(0, 3, 5) == to_host(m.positions)(0, 3, 5));
  REQUIRE_THROWS_WITH(nn::initialise<vit>(pool, random_key{1}, nn::initial{"haed.*", zero}),
                      contains("'haed.*' is the name of no tensor"));
}

TEST_CASE("a model of another mesh is not initialised in a pool") {
  struct other : mesh<axis<"data", 4>, axis<"model", 2>> {};
  const device_pool pool{pod{}}, another{other{}};
  using W = tensor<other, P<"data", none>, 8, 4>;
  const nn::linear<W> layer{zeros<W>(another)};
  REQUIRE_THROWS_WITH(nn::initialise(pool, random_key{1}, layer), contains("pool_size_differs"));
  REQUIRE(to_host(nn::initialise(another, random_key{1}, layer).weight) ==
          to_host(nn::initialise<nn::linear<W>>(another, random_key{1}).weight));
}

TEST_CASE("a transposed convolution is a module") {
  const device_pool pool{pod{}};
  using up = nn::with<strides<2, 2>, paddings<1, 1>>;
  using images = tensor<pod, P<"data", none, none, none>, 4, 6, 3, 3>;
  const auto x = normal<images>(pool, random_key{3});
  using filter = tensor<pod, P<none, "model", none, none>, 6, 2, 4, 4>;
  const auto by_features =
      nn::initialise<nn::convolution_transpose<filter, tensor<pod, P<"model">, 2>, up>>(
          pool, random_key{1});
  const auto y = by_features(x);
  const auto wanted =
      to_host(convolution_transpose<strides<2, 2>, paddings<1, 1>>(x, by_features.filter));
  REQUIRE(to_host(y)(3, 1, 5, 5) == Approx(wanted(3, 1, 5, 5)));
  REQUIRE(y.extents()[2] == 6);
  // Split by channels, the sum is finished before the bias is added.
  using channels = tensor<pod, P<"model", none, none, none>, 6, 2, 4, 4>;
  const nn::convolution_transpose<channels, tensor<pod, P<none>, 2>, up,
                                  P<"data", none, none, none>>
      by_channels{reshard<P<"model", none, none, none>>(by_features.filter),
                  ones<tensor<pod, P<none>, 2>>(pool)};
  const auto z = by_channels(reshard<P<"data", "model", none, none>>(x));
  REQUIRE(to_host(z)(3, 1, 5, 5) == Approx(1 + wanted(3, 1, 5, 5)));
  const nn::convolution_transpose<filter, nn::no_bias, up> alone{by_features.filter};
  REQUIRE(to_host(alone(x))(0, 0, 2, 4) == Approx(wanted(0, 0, 2, 4)));
}

TEST_CASE("batch norm trains with the moments of a batch and evaluates with running moments") {
  const device_pool pool{pod{}};
  using images = tensor<pod, P<"data", "model", none>, 6, 4, 3>;
  using channels = tensor<pod, P<"model">, 4>;
  using norm_of =
      nn::batch_norm<channels, channels, nn::running_moments<channels>, across_axes<"data">>;
  auto norm = nn::initialise<norm_of>(pool, random_key{1});
  norm.scale = full<channels>(pool, 2);
  norm.shift = ones<channels>(pool);
  const auto x = normal<images>(pool, random_key{3});
  constexpr auto square_loss = [](const norm_of& n, const images& y) {
    const auto [z, running] = n(y, nn::momentum{0.1});
    return std::pair{reshard<P<>>(mean(square(z))), running};
  };
  const auto [results, gradients] = value_and_grad(square_loss)(norm, x);
  const auto& [value, moved] = results;
  const auto host = to_host(x);
  double center = 0, squares = 0;
  for (int n = 0; n < 6; ++n)
    for (int i = 0; i < 3; ++i) center += host(n, 1, i) / 18;
  for (int n = 0; n < 6; ++n)
    for (int i = 0; i < 3; ++i) squares += std::pow(host(n, 1, i) - center, 2);
  REQUIRE(to_host(value)() == Approx(4 + 1).epsilon(1e-4));
  REQUIRE(to_host(gradients.shift)(1) == Approx(2.0 / 4));
  REQUIRE(to_host(moved.mean)(1) == Approx(0.1 * center));
  REQUIRE(to_host(moved.variance)(1) == Approx(0.9 + 0.1 * squares / 17));
  const auto [trained, same] = norm(x, nn::momentum{});
  REQUIRE_THROWS_WITH(norm(x, nn::momentum{1.5}), contains("number_is_out_of_range"));
  REQUIRE(to_host(same.mean)(1) == to_host(moved.mean)(1));
  REQUIRE(to_host(trained)(5, 1, 2) ==
          Approx(1 + 2 * (host(5, 1, 2) - center) / std::sqrt(squares / 18 + 1e-5)));
  norm.running.value = moved;
  REQUIRE(to_host(norm(x))(5, 1, 2) ==
          Approx(1 + 2 * (host(5, 1, 2) - 0.1 * center) / std::sqrt(0.9 + 0.1 * squares / 17)));
  std::vector<std::string> names;
  for_each_parameter(norm, [&](const leaf_path& name, const auto&) {
    names.emplace_back(name.data(), name.size());
  });
  REQUIRE(names == std::vector<std::string>{"scale", "shift", "running.mean", "running.variance"});
  // The other norms of channels are those of the functions.
  const nn::group_norm<2, channels> groups{norm.scale, norm.shift};
  const nn::instance_norm<channels> alone{norm.scale, norm.shift};
  REQUIRE(to_host(groups(x))(5, 1, 2) ==
          to_host(group_norm<2>(x, norm.scale, norm.shift, 1e-5))(5, 1, 2));
  REQUIRE(to_host(alone(x))(5, 1, 2) ==
          to_host(instance_norm(x, norm.scale, norm.shift, 1e-5))(5, 1, 2));
}

TEST_CASE("losses") {
  const device_pool pool{pod{}};
  using rows = tensor<pod, P<"data", none>, 4, 3>;
  const auto x = generate<rows>(pool, [](const global_index& at) { return 0.5 * double(at[1]); });
  const auto labels = generate<indices<pod, P<"data">, 4>>(
      pool, [](const global_index& at) { return static_cast<std::int32_t>(at[0] % 3); });
  const double total = std::log(1 + std::exp(0.5) + std::exp(1.0));
  const double wanted = total - (0 + 0.5 + 1 + 0) / 4;
  REQUIRE(to_host(reshard<P<>>(nn::cross_entropy(x, labels)))() == Approx(wanted));
  const auto p = log_softmax<1>(x);
  REQUIRE(to_host(reshard<P<>>(nn::nll(p, labels)))() == Approx(wanted));
  REQUIRE(to_host(reshard<P<>>(nn::mse(x, x * 0.0)))() == Approx((0.25 + 1) / 3));
  REQUIRE(to_host(reshard<P<>>(nn::l1(x * 0.0, x)))() == Approx((0.5 + 1) / 3));
  // Every row is 0, 0.5, 1, and the target is a quarter. Large logits do not overflow.
  const auto entropy = [](double logit) { return std::log(1 + std::exp(logit)) - logit * 0.25; };
  const auto quarter = x * 0.0 + 0.25;
  REQUIRE(to_host(reshard<P<>>(nn::binary_cross_entropy(x, quarter)))() ==
          Approx((entropy(0) + entropy(0.5) + entropy(1)) / 3));
  REQUIRE(to_host(reshard<P<>>(nn::binary_cross_entropy(x * 0.0 + 2000.0, quarter)))() == 1500.0);
  // Differences of 0, 0.5 and 1, of which the last two are above the bound.
  REQUIRE(to_host(reshard<P<>>(nn::huber(x, x * 0.0, 0.5)))() == Approx((0.125 + 0.375) / 3));
  REQUIRE(to_host(reshard<P<>>(nn::huber(x, x * 0.0)))() == Approx((0.125 + 0.5) / 3));
  // It is a square at residuals of 0 too.
  const auto bend = gradient([](const auto& a) {
    return sum(gradient([](const auto& b) { return nn::huber(b, b * 0.0); })(a));
  })(x * 0.0);
  for (const auto each : to_host(bend).elements()) REQUIRE(each == Approx(1.0 / 12));
  REQUIRE(to_host(reshard<P<>>(nn::smooth_l1(x, x * 0.0, 0.5)))() == Approx((0.25 + 0.75) / 3));
  REQUIRE(to_host(reshard<P<>>(nn::hinge(x * 4.0, x * 0.0 - 1.0)))() == Approx((1 + 3 + 5) / 3.0));
  // A distribution that is 0 somewhere, and a divergence of 0 from itself.
  const auto wanted_p = x / 1.5;
  REQUIRE(to_host(reshard<P<>>(nn::kl_divergence(p, wanted_p)))() ==
          Approx(((std::log(1.0 / 3) - 0.5 + total) / 3 + (std::log(2.0 / 3) - 1 + total) * 2 / 3) /
                 3));
  REQUIRE(to_host(reshard<P<>>(nn::kl_divergence(p, exp(p))))() == Approx(0).margin(1e-15));
  // Terms without probability count nothing, whatever the logarithm.
  const auto certain =
      generate<rows>(pool, [](const global_index& at) { return double(at[1] == 2); });
  REQUIRE(to_host(reshard<P<>>(nn::kl_divergence(log(certain), certain)))() == 0);
  for (const double slope : to_host(gradient([&](const auto& q) {
                              return reshard<P<>>(nn::kl_divergence(q, certain));
                            })(rows(log(certain))))
                                .elements())
    REQUIRE((slope == 0 || slope == Approx(-1.0 / 12)));
  REQUIRE_THROWS_WITH(nn::huber(x, x * 0.0, 0.0), contains("number_is_out_of_range"));
  REQUIRE_THROWS_WITH(nn::smooth_l1(x, x * 0.0, -1.0), contains("number_is_out_of_range"));
  const auto unit = to_host(nn::normalize<1>(x));
  REQUIRE(unit(1, 2) == Approx(1 / std::sqrt(1.25)));
  REQUIRE(to_host(nn::cosine_similarity<1>(x, x * 3.0))(0) == Approx(1));
  REQUIRE(to_host(nn::cosine_similarity<1>(x, x * 0.0))(0) == 0);
  // Products of 16-bit elements are added beyond their range.
  using long_rows = sharded_tensor<float16, extents<2, 1024>, layout<pod, P<none, none>>>;
  const auto far = full<long_rows>(pool, float16(16.0F));
  REQUIRE(static_cast<float>(to_host(nn::cosine_similarity<1>(far, far))(1)) == 1.0F);
  // Norms too, and the least norm is below their range.
  const auto farther = full<long_rows>(pool, float16(4096.0F));
  REQUIRE(static_cast<float>(to_host(nn::normalize<1>(farther))(1, 2)) == 1.0F / 32);
  const any_tensor<float16> untyped = farther;
  REQUIRE(static_cast<float>(to_host(nn::normalize<1>(untyped)).elements()[5]) == 1.0F / 32);
  REQUIRE(static_cast<float>(to_host(nn::normalize<1>(zeros<long_rows>(pool)))(1, 2)) == 0.0F);
  const auto whole_p = reshard<P<none, none>>(p);
  REQUIRE_THROWS_WITH(nn::nll(whole_p, slice_in_dim<0, 0, 3>(reshard<P<none>>(labels))),
                      contains("operand_sizes_differ"));
  const auto y = to_host(nn::dropout<std::ratio<1, 2>>{}(x + 1.0, random_key{1}));
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 3; ++j) REQUIRE((y(i, j) == 0 || y(i, j) == Approx(2 * (1 + 0.5 * j))));
}

namespace {

/// Members that are not tensors, after those that are, at two levels.
template <class W>
struct activation {
  W weight;
  std::array<float, 2> gains{2, 3};
  int count;
};
template <class W, class B>
struct with_settings {
  activation<W> first;
  nn::frozen<B> bias;
  double slope = 0.1;
  bool is_centred = true;
};

}  // namespace

TEST_CASE("a model that is made from its type keeps the default values of its members") {
  using settings = with_settings<tensor<pod, P<none, "model">, 4, 4>, tensor<pod, P<none>, 4>>;
  const device_pool pool{pod{}};
  const auto made = nn::initialise<settings>(pool, random_key{1});
  REQUIRE(made.first.gains == std::array<float, 2>{2, 3});
  REQUIRE(made.first.count == 0);
  REQUIRE(made.slope == 0.1);
  REQUIRE(made.is_centred);
  // On paper too, where the cost may depend on them.
  constexpr auto ledger = trace_nests<64, settings>(
      [](const auto& m) { return m.first.weight * static_cast<float>(m.first.gains[1] - 3); });
  STATIC_REQUIRE(ledger.flops() == 8);
}
