// SPDX-License-Identifier: BSL-1.0
// RMSprop, Adagrad, AMSGrad, LAMB and Adafactor: their formulas compared with loops on split
// parameters, steps on paper, masters that are split further.
#include "support/catch.hpp"
#include <shardwise/nn.hpp>
#include <shardwise/optim.hpp>
#include <shardwise/shardwise.hpp>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <type_traits>
#include <vector>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};
template <class T, class Spec, index_t... N>
using tensor = sharded_tensor<T, extents<N...>, layout<pod, Spec>>;
template <class T, class Spec, index_t... N>
using uneven_tensor = sharded_tensor<T, extents<N...>, layout<pod, Spec, partial<>, uneven>>;

/// A parameter of several matrices, as a loop sees it; a vector is a matrix of one row.
struct plain {
  index_t count, rows, columns;
  std::vector<double> w;

  [[nodiscard]] double root_mean_square(const std::vector<double>& x) const {
    double sum = 0;
    for (const double each : x) sum += each * each;
    return std::sqrt(sum / static_cast<double>(x.size()));
  }
};

/// Takes steps with the gradients `2 w + 0.5` on a split parameter, and the same in a loop.
template <class W, class Optimizer, class Loop>
void follows_on(const Optimizer& optimizer, Loop loop, plain by) {
  const device_pool pool{pod{}};
  for (std::size_t i = 0; i < by.w.size(); ++i)
    by.w[i] = std::sin(static_cast<double>(3 * i + 1)) + 0.2;
  std::vector<float> first(by.w.begin(), by.w.end());
  W w = distribute<W>(pool, first);
  auto state = optimizer.start(w);
  for (int s = 1; s <= 4; ++s) {
    const W g = w * 2.0F + 0.5F;
    optimizer(w, state, g, 0.1);
    std::vector<double> slope;
    for (const double each : by.w) slope.push_back(2 * each + 0.5);
    loop(by, slope, s);
    const auto made = to_host(w);
    std::size_t i = 0;
    for (const float each : made.elements())
      REQUIRE(each == Approx(by.w[i++]).epsilon(1e-4).margin(1e-5));
  }
}
template <class Optimizer, class Loop>
void follows(const Optimizer& optimizer, const Loop& loop) {
  const auto of = [](index_t count, index_t rows, index_t columns) {
    const auto all = static_cast<std::size_t>(count * rows * columns);
    return plain{count, rows, columns, std::vector<double>(all)};
  };
  follows_on<tensor<float, P<"data", "model">, 4, 6>>(optimizer, loop, of(1, 4, 6));
  follows_on<uneven_tensor<float, P<"data", "model">, 5, 3>>(optimizer, loop, of(1, 5, 3));
  follows_on<tensor<float, P<"model">, 6>>(optimizer, loop, of(1, 1, 6));
}

/// Applies `next(w, g, step)` to each element; a copy of it has the state of the element.
template <class Next>
auto each_by(const Next& next) {
  return
      [next, all = std::vector<Next>{}](plain& by, const std::vector<double>& g, int step) mutable {
        if (all.empty()) all.assign(by.w.size(), next);
        for (std::size_t i = 0; i < by.w.size(); ++i) by.w[i] = all[i](by.w[i], g[i], step);
      };
}

struct rmsprop_loop {
  double momentum = 0, decay = 0, v = 0, m = 0;
  double operator()(double w, double g, int) {
    g += decay * w;
    v = 0.9 * v + 0.1 * g * g;
    m = momentum * m + g / (std::sqrt(v) + 1e-8);
    return w - 0.1 * m;
  }
};
struct adagrad_loop {
  double decay = 0, sum = 0;
  double operator()(double w, double g, int) {
    g += decay * w;
    sum += g * g;
    return w - 0.1 * g / (std::sqrt(sum) + 1e-10);
  }
};
struct amsgrad_loop {
  double m = 0, v = 0, most = 0;
  double operator()(double w, double g, int s) {
    g += 0.1 * w;
    m = 0.9 * m + 0.1 * g;
    v = 0.5 * v + 0.5 * g * g;
    most = std::max(most, v);
    return w - 0.1 * m / (1 - std::pow(0.9, s)) /
                   (std::sqrt(most) / std::sqrt(1 - std::pow(0.5, s)) + 1e-8);
  }
};
struct lamb_loop {
  std::vector<double> m, v;
  void operator()(plain& by, const std::vector<double>& g, int s) {
    m.resize(g.size());
    v.resize(g.size());
    std::vector<double> along;
    for (std::size_t i = 0; i < g.size(); ++i) {
      m[i] = 0.9 * m[i] + 0.1 * g[i];
      v[i] = 0.999 * v[i] + 0.001 * g[i] * g[i];
      along.push_back(m[i] / (1 - std::pow(0.9, s)) /
                          (std::sqrt(v[i] / (1 - std::pow(0.999, s))) + 1e-6) +
                      0.1 * by.w[i]);
    }
    const double trust = by.root_mean_square(by.w) / by.root_mean_square(along);
    for (std::size_t i = 0; i < g.size(); ++i) by.w[i] -= 0.1 * trust * along[i];
  }
};
// The algorithm of torch.optim.Adafactor.
struct adafactor_loop {
  double decay = 0;
  std::vector<double> rows, columns, squares;
  void operator()(plain& by, const std::vector<double>& g, int s) {
    const auto at = [&](index_t k, index_t r, index_t c) {
      return static_cast<std::size_t>((k * by.rows + r) * by.columns + c);
    };
    const double weight = std::pow(s, -0.8), epsilon = 1.1920929e-7;
    std::vector<double> along(g.size());
    const auto learn = [&](double& past, double now) { past += (now - past) * weight; };
    if (by.rows == 1) {
      squares.resize(g.size());
      for (std::size_t i = 0; i < g.size(); ++i) {
        learn(squares[i], g[i] * g[i]);
        along[i] = g[i] / std::sqrt(std::max(squares[i], epsilon * epsilon));
      }
    } else {
      rows.resize(static_cast<std::size_t>(by.count * by.rows));
      columns.resize(static_cast<std::size_t>(by.count * by.columns));
      for (index_t k = 0; k < by.count; ++k) {
        double* const row = rows.data() + k * by.rows;
        double* const column = columns.data() + k * by.columns;
        for (index_t r = 0; r < by.rows; ++r) {
          double sum = 0;
          for (index_t c = 0; c < by.columns; ++c) sum += g[at(k, r, c)] * g[at(k, r, c)];
          learn(row[r], sum / static_cast<double>(by.columns));
        }
        for (index_t c = 0; c < by.columns; ++c) {
          double sum = 0;
          for (index_t r = 0; r < by.rows; ++r) sum += g[at(k, r, c)] * g[at(k, r, c)];
          learn(column[c], sum / static_cast<double>(by.rows));
        }
        double all = 0;
        for (index_t r = 0; r < by.rows; ++r) all += row[r] / static_cast<double>(by.rows);
        for (index_t r = 0; r < by.rows; ++r)
          for (index_t c = 0; c < by.columns; ++c)
            along[at(k, r, c)] = g[at(k, r, c)] / std::sqrt(row[r] * column[c] / all);
      }
    }
    const double rate = std::min(0.1, 1 / std::sqrt(s));
    const double step = std::max(1e-3, by.root_mean_square(by.w)) * rate /
                        std::max(1.0, by.root_mean_square(along));
    for (std::size_t i = 0; i < g.size(); ++i)
      by.w[i] = by.w[i] * (1 - 0.1 * decay) - step * along[i];
  }
};

// The state of Adafactor: n + m numbers for a matrix of n m, split like its rows and columns.
using matrix = tensor<float, P<"data", "model">, 64, 32>;
using vector_of = tensor<float, P<"model">, 32>;
template <class W, class B>
struct layer {
  W weight;
  B bias;
};
using model = layer<matrix, vector_of>;
using factored = optim::adafactor_state<model>;
static_assert(std::is_same_v<std::tuple_element_t<0, decltype(factored::rows)>,
                             tensor<float, P<"data", none>, 64, 1>>);
static_assert(std::is_same_v<std::tuple_element_t<0, decltype(factored::columns)>,
                             tensor<float, P<none, "model">, 1, 32>>);
static_assert(std::is_same_v<std::tuple_element_t<1, decltype(factored::rows)>, vector_of>);
static_assert(nest_elements<factored> == 64 + 32 + 32 + 1);

// What a step communicates, on paper: nothing if the formula is of elements, otherwise means.
template <class Optimizer>
constexpr auto cost_of = [] {
  const auto update = [](auto m, auto state, const auto& g, const auto& rate) {
    Optimizer{}(m, state, g, rate);
    return std::tuple{m, state};
  };
  return trace_nests<512, model, typename Optimizer::template state<model>, model,
                     scalar<double, pod>>(update);
}();
static_assert(cost_of<optim::rmsprop>.collectives() == 0);
static_assert(cost_of<optim::adagrad>.collectives() == 0);
static_assert(cost_of<optim::amsgrad>.collectives() == 0);
// Two norms of each parameter.
static_assert(cost_of<optim::lamb>.collectives() == 2 * 2);
// The means of rows, of columns and of both, and two numbers of each parameter.
static_assert(cost_of<optim::adafactor>.collectives() == 3 + 2 * 2);

}  // namespace

TEST_CASE("RMSprop, Adagrad, AMSGrad, LAMB and Adafactor follow their formulas") {
  follows(optim::rmsprop{.decay = 0.9}, each_by(rmsprop_loop{}));
  follows(optim::rmsprop{.decay = 0.9, .momentum = 0.8, .weight_decay = 0.1},
          each_by(rmsprop_loop{0.8, 0.1}));
  follows(optim::adagrad{}, each_by(adagrad_loop{}));
  follows(optim::adagrad{.initial = 0.5, .weight_decay = 0.1}, each_by(adagrad_loop{0.1, 0.5}));
  follows(optim::amsgrad{.beta2 = 0.5, .weight_decay = 0.1}, each_by(amsgrad_loop{}));
  follows(optim::lamb{.weight_decay = 0.1}, lamb_loop{});
  follows(optim::adafactor{}, adafactor_loop{});
  follows(optim::adafactor{.weight_decay = 0.1}, adafactor_loop{0.1, {}, {}, {}});
  follows_on<tensor<float, P<none, "model", "data">, 2, 4, 6>>(
      optim::adafactor{}, adafactor_loop{}, plain{2, 4, 6, std::vector<double>(48)});
}

namespace {

struct one : mesh<axis<"data", 1>, axis<"model", 1>> {};
template <class M, class T, class Spec, index_t... N>
using on = sharded_tensor<T, extents<N...>, layout<M, Spec>>;
template <class M, class T>
using net =
    nn::mlp<nn::linear<on<M, T, P<none, "model">, 6, 8>, on<M, T, P<"model">, 8>>,
            nn::linear<on<M, T, P<"model", none>, 8, 4>, on<M, T, P<none>, 4>, P<"data", none>>>;

constexpr auto loss = [](const auto& m, const auto& x, const auto& wanted) {
  using T = typename std::remove_cvref_t<decltype(m.up.weight)>::value_type;
  return reshard<P<>>(nn::mse(cast<float>(m(cast<T>(x))), wanted));
};

struct trained {
  std::vector<float> weights, losses;
};
/// Trains a network in compiled steps with a rate of double.
template <class M, class T, class Step>
trained train(const Step& learn, const auto& optimizer) {
  const device_pool pool{M{}};
  auto m = cast_nest<T>(nn::initialise<net<M, float>>(pool, random_key{5}));
  auto state = optimizer.start(m);
  const auto x = normal<on<M, float, P<"data", none>, 16, 6>>(pool, random_key{6});
  const on<M, float, P<"data", none>, 16, 4> wanted =
      tanh(normal<on<M, float, P<"data", none>, 16, 4>>(pool, random_key{7}));
  auto go = step(learn);
  trained out;
  for (int s = 0; s < 12; ++s) out.losses.push_back(to_host(go(m, state, 0.03, x, wanted))());
  REQUIRE(go.programs() == 1);
  for_each_parameter(m, [&](const leaf_path&, const auto& w) {
    for (const auto each : to_host(w).elements()) out.weights.push_back(static_cast<float>(each));
  });
  return out;
}
template <class Optimizer>
void trains(const Optimizer& optimizer) {
  const optim::training_step learn{loss, optimizer, 1.0};
  const trained split = train<pod, float>(learn, optimizer);
  const trained whole = train<one, float>(learn, optimizer);
  REQUIRE(split.losses.back() < 0.95F * split.losses.front());
  for (std::size_t i = 0; i < whole.weights.size(); ++i)
    REQUIRE(split.weights[i] == Approx(whole.weights[i]).epsilon(1e-3).margin(1e-3));
  // Master copies that are split further, of parameters of bfloat16.
  const auto wide = optim::with_masters<"data">(optimizer);
  const trained narrow = train<pod, bfloat16>(optim::training_step{loss, wide}, wide);
  REQUIRE(narrow.losses.back() < 0.97F * narrow.losses.front());
}
/// The same for narrow parameters alone, and for a scaled loss.
template <class Optimizer>
void trains_narrow(const Optimizer& optimizer) {
  const optim::training_step learn{loss, optimizer, 1.0};
  const trained rough = train<pod, bfloat16>(learn, optimizer);
  REQUIRE(rough.losses.back() < rough.losses.front());
  const optim::scaled_training_step scaled{loss, optimizer, optim::loss_scale{.first = 1024}, 1.0};
  const trained same = train<pod, float>(scaled, scaled),
                wanted = train<pod, float>(learn, optimizer);
  for (std::size_t i = 0; i < same.weights.size(); ++i)
    REQUIRE(same.weights[i] == Approx(wanted.weights[i]).epsilon(1e-4).margin(1e-5));
}

template <class Optimizer>
void runs_as_on_paper(const Optimizer& optimizer) {
  const device_pool pool{pod{}};
  model m{normal<matrix>(pool, random_key{1}), ones<vector_of>(pool)};
  const model g = m;
  auto state = optimizer.start(m);
  sync(pool);
  pool.reset_counters();
  optimizer(m, state, g, full<scalar<double, pod>>(pool, 0.1));
  sync(pool);
  REQUIRE(pool.counters().collectives("data") == cost_of<Optimizer>.collectives("data"));
  REQUIRE(pool.counters().collectives("model") == cost_of<Optimizer>.collectives("model"));

  // The same for parameters whose layouts are values.
  layer<any_tensor<float>, any_tensor<float>> any{normal<matrix>(pool, random_key{1}),
                                                  ones<vector_of>(pool)};
  const auto any_g = any;
  auto any_state = optimizer.start(any);
  optimizer(any, any_state, any_g, 0.1);
  const auto same = [](const auto& x, const auto& y) {
    const auto left = to_host(x), right = to_host(y);
    const auto& all = left.elements();
    return std::equal(all.begin(), all.end(), right.elements().begin());
  };
  REQUIRE(same(m.weight, as<matrix>(any.weight)));
  REQUIRE(same(m.bias, as<vector_of>(any.bias)));
}

}  // namespace

TEST_CASE("more optimizers train split models, with masters and scaled losses") {
  trains(optim::rmsprop{.momentum = 0.5});
  trains(optim::adagrad{});
  trains(optim::amsgrad{});
  trains(optim::lamb{});
  trains(optim::adafactor{});
  trains_narrow(optim::lamb{});
  trains_narrow(optim::adafactor{});
}

TEST_CASE("more optimizers communicate what they do on paper, also with layouts that are values") {
  runs_as_on_paper(optim::rmsprop{});
  runs_as_on_paper(optim::adagrad{});
  runs_as_on_paper(optim::amsgrad{});
  runs_as_on_paper(optim::lamb{});
  runs_as_on_paper(optim::adafactor{});
}
