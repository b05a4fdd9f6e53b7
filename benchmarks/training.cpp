// SPDX-License-Identifier: BSL-1.0
#include "harness.hpp"
#include <shardwise/nn.hpp>
#include <shardwise/optim.hpp>
#include <shardwise/shardwise.hpp>

#include <Eigen/Core>

#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

using namespace shardwise;

namespace {

template <index_t Devices>
struct line : mesh<axis<"data", Devices>> {};
template <class T, index_t Devices, class Spec, index_t... N>
using tensor = sharded_tensor<T, extents<N...>, layout<line<Devices>, Spec>>;
template <index_t Devices, index_t In, index_t Out>
using dense = nn::linear<tensor<float, Devices, P<none, none>, In, Out>,
                         tensor<float, Devices, P<none>, Out>>;

template <class First, class Second>
struct two_layers {
  First first;
  Second second;

  template <class X>
  constexpr auto operator()(const X& x) const {
    return second(relu(first(x)));
  }
};
template <class First, class Second, class Third>
struct three_layers {
  First first;
  Second second;
  Third third;

  template <class X>
  constexpr auto operator()(const X& x) const {
    return third(relu(second(relu(first(x)))));
  }
};

constexpr float rate = 0.01F, momentum = 0.9F;
constexpr auto loss = [](const auto& m, const auto& x, const auto& wanted) {
  return reshard<P<>>(nn::cross_entropy(m(x), wanted));
};
constexpr optim::training_step learn{loss, optim::sgd{.momentum = double{momentum}}};

/// A model with its state and a batch, and the step that is compiled once.
template <class Model, index_t Devices, index_t Batch, index_t In, index_t Out>
struct subject {
  device_pool pool{line<Devices>{}, static_cast<unsigned>(Devices)};
  Model model = nn::initialise<Model>(pool, random_key{1});
  optim::sgd_state<Model> state = learn.optimizer.start(model);
  tensor<float, Devices, P<"data", none>, Batch, In> x =
      normal<tensor<float, Devices, P<"data", none>, Batch, In>>(pool, random_key{2});
  tensor<std::int32_t, Devices, P<"data">, Batch> wanted =
      generate<tensor<std::int32_t, Devices, P<"data">, Batch>>(
          pool, [](const global_index& at) { return static_cast<std::int32_t>(at[0] % Out); });
  compiled_step<std::remove_const_t<decltype(learn)>> train = step(learn);

  void operator()() { bench::keep(train(model, state, rate, x, wanted)); }
};

/// The same step written with Eigen: every array is there from the beginning.
class eigen_network {
  using matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using row = Eigen::Matrix<float, 1, Eigen::Dynamic>;
  struct layer {
    matrix w, dw, mw, out, d;
    row b, db, mb;
  };

 public:
  eigen_network(index_t batch, const std::vector<index_t>& sizes)
      : x_(matrix::Random(batch, sizes[0])) {
    for (std::size_t i = 1; i < sizes.size(); ++i) {
      const index_t in = sizes[i - 1], out = sizes[i];
      const matrix w = matrix::Random(in, out) * 0.05F;
      layers_.push_back({w, w, w * 0.0F, matrix::Zero(batch, out), matrix::Zero(batch, out),
                         row::Zero(out), row::Zero(out), row::Zero(out)});
    }
  }
  void step() {
    slopes(x_.rows());
    for (layer& at : layers_) {
      at.mw = at.mw * momentum + at.dw;
      at.w -= at.mw * rate;
      at.mb = at.mb * momentum + at.db;
      at.b -= at.mb * rate;
    }
    bench::keep(loss_);
  }
  /// The gradients of a mean over `count` rows, of which these are some.
  void slopes(index_t count) {
    const auto batch = static_cast<float>(count);
    products_forward([](layer& at, bool is_last) {
      at.out.rowwise() += at.b;
      if (!is_last) at.out = at.out.cwiseMax(0.0F);
    });
    layer& last = layers_.back();
    for (index_t i = 0; i < x_.rows(); ++i) {
      auto scores = last.out.row(i).array();
      auto p = last.d.row(i).array();
      p = (scores - scores.maxCoeff()).exp();
      const float sum = p.sum();
      p /= sum * batch;
      loss_ += std::log(sum);
      last.d(i, i % last.d.cols()) -= 1.0F / batch;
    }
    products_backward([](layer& at, layer* before) {
      if (before == nullptr) {
        at.db = at.d.colwise().sum();
        return;
      }
      before->d = (before->out.array() > 0.0F).select(before->d, 0.0F);
    });
  }
  /// Reduces the gradients of two halves of a batch, and updates one half of the parameters of both
  /// with the sum.
  static void update_half(eigen_network& one, eigen_network& other, bool is_upper) {
    for (std::size_t i = 0; i < one.layers_.size(); ++i) {
      layer &a = one.layers_[i], &b = other.layers_[i];
      const index_t half = a.w.rows() / 2;
      const index_t first = is_upper ? half : 0, count = is_upper ? a.w.rows() - half : half;
      auto mw = a.mw.middleRows(first, count);
      auto w = a.w.middleRows(first, count);
      mw = mw * momentum + a.dw.middleRows(first, count) + b.dw.middleRows(first, count);
      w -= mw * rate;
      b.w.middleRows(first, count) = w;
      if (is_upper) continue;
      a.mb = a.mb * momentum + a.db + b.db;
      a.b -= a.mb * rate;
      b.b = a.b;
    }
  }
  [[nodiscard]] index_t rows() const { return x_.rows(); }
  /// The matrix products of the step and nothing else.
  void products() {
    products_forward([](layer&, bool) {});
    products_backward([](layer&, layer*) {});
    bench::keep(layers_);
  }

 private:
  template <class F>
  void products_forward(const F& then) {
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      layers_[i].out.noalias() = (i == 0 ? x_ : layers_[i - 1].out) * layers_[i].w;
      then(layers_[i], i + 1 == layers_.size());
    }
  }
  template <class F>
  void products_backward(const F& then) {
    for (std::size_t i = layers_.size(); i-- > 0;) {
      layer& at = layers_[i];
      at.dw.noalias() = (i == 0 ? x_ : layers_[i - 1].out).transpose() * at.d;
      then(at, nullptr);
      if (i == 0) break;
      layers_[i - 1].d.noalias() = at.d * at.w.transpose();
      then(at, &layers_[i - 1]);
    }
  }

  matrix x_;
  std::vector<layer> layers_;
  float loss_ = 0;
};

/// The same step of two threads, which have half of the batch and the whole of the model each.
class by_four_hands {
 public:
  by_four_hands(index_t batch, const std::vector<index_t>& sizes)
      : halves_{eigen_network(batch / 2, sizes), eigen_network(batch / 2, sizes)} {}
  void step() {
    team_.run(2, [&](index_t i) { half(i).slopes(2 * half(i).rows()); });
    team_.run(2, [&](index_t i) { eigen_network::update_half(halves_[0], halves_[1], i == 1); });
  }
  void products() {
    team_.run(2, [&](index_t i) { half(i).products(); });
  }

 private:
  [[nodiscard]] eigen_network& half(index_t i) { return halves_[static_cast<std::size_t>(i)]; }

  std::array<eigen_network, 2> halves_;
  worker_team team_{2};
};

template <index_t Devices>
using large = subject<
    three_layers<dense<Devices, 784, 1024>, dense<Devices, 1024, 1024>, dense<Devices, 1024, 10>>,
    Devices, 512, 784, 10>;
template <index_t Devices>
using tiny =
    subject<two_layers<dense<Devices, 64, 32>, dense<Devices, 32, 10>>, Devices, 64, 64, 10>;

/// A step beside the whole of it by hand, and beside its products alone.
template <class Subject, class Peer>
void add_rows(std::vector<bench::row>& to, const std::string& name,
              const std::shared_ptr<Peer>& peer, double goal, double goal_of_products) {
  const auto ours = std::make_shared<Subject>();
  to.push_back({name, "Eigen by hand", [ours] { (*ours)(); }, [peer] { peer->step(); }, 1, goal});
  to.push_back({name, "its products alone", [ours] { (*ours)(); }, [peer] { peer->products(); }, 1,
                goal_of_products});
}

const bench::add here([] {
  std::vector<bench::row> all;
  const auto small = std::make_shared<eigen_network>(64, std::vector<index_t>{64, 32, 10});
  const auto big = std::make_shared<eigen_network>(512, std::vector<index_t>{784, 1024, 1024, 10});
  add_rows<tiny<1>>(all, "step of MLP 64-32-10, batch 64", small, 1 / 1.1, 1 / 1.6);
  add_rows<large<1>>(all, "step of MLP 784-1024-1024-10, batch 512", big, 0.95, 0.87);
  const auto split =
      std::make_shared<by_four_hands>(512, std::vector<index_t>{784, 1024, 1024, 10});
  add_rows<large<2>>(all, "the same on 2 devices, 2 cores", split, 0.95, 0.87);
  return all;
});

}  // namespace
