// SPDX-License-Identifier: BSL-1.0
// Fourier transforms beside those of Eigen, line by line: one thread and a million elements.
#include "harness.hpp"
#include <shardwise/shardwise.hpp>

#include <unsupported/Eigen/FFT>

#include <complex>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

using namespace shardwise;

namespace {

struct one : mesh<axis<"data", 1>> {};

/// Lines of random numbers in a pool, the same on the host, and a place for their transforms.
template <index_t Lines, index_t Length>
struct lines_of {
  using X = sharded_tensor<float, extents<Lines, Length>, layout<one, P<"data", none>>>;
  using Y = sharded_tensor<float, extents<Lines, Length, 2>, layout<one, P<"data", none, none>>>;

  device_pool pool{one{}, 1};
  X x = normal<X>(pool, random_key{1});
  Y pairs = normal<Y>(pool, random_key{2});
  std::vector<float> host = on_host<float>(x);
  std::vector<std::complex<float>> host_pairs = [this] {
    const std::vector<float> parts = on_host<float>(pairs);
    std::vector<std::complex<float>> all;
    for (std::size_t i = 0; i < parts.size(); i += 2) all.emplace_back(parts[i], parts[i + 1]);
    return all;
  }();
  std::vector<std::complex<float>> out =
      std::vector<std::complex<float>>(static_cast<std::size_t>(Lines * Length));
  Eigen::FFT<float> eigen{Eigen::default_fft_impl<float>(), Eigen::FFT<float>::HalfSpectrum};

  template <class T, class Tensor>
  static std::vector<T> on_host(const Tensor& tensor) {
    const auto made = to_host(tensor);
    return {made.elements().begin(), made.elements().end()};
  }
};

template <index_t Lines, index_t Length>
void add_rows(std::vector<bench::row>& all) {
  using operands = lines_of<Lines, Length>;
  const auto x = std::make_shared<operands>();
  const auto add = [&](const char* name, const auto& f, const auto& peer) {
    all.push_back(
        {std::string(name) + ", " + std::to_string(Lines) + " x " + std::to_string(Length),
         "Eigen, line by line",
         [x, f] {
           const auto y = f(*x);
           sync(y);
           bench::keep(y);
         },
         [x, peer] {
           for (index_t r = 0; r < Lines; ++r) peer(*x, r * Length);
           bench::keep(x->out);
         },
         1, 1});
  };
  add(
      "rfft of lines", [](const operands& a) { return fourier::rfft<1>(a.x); },
      [](operands& held, index_t at) {
        held.eigen.fwd(held.out.data() + at, held.host.data() + at, Length);
      });
  add(
      "fft of lines", [](const operands& a) { return fourier::fft<1>(a.pairs); },
      [](operands& held, index_t at) {
        held.eigen.fwd(held.out.data() + at, held.host_pairs.data() + at, Length);
      });
}

std::vector<bench::row> rows() {
  std::vector<bench::row> all;
  add_rows<1024, 1024>(all);
  add_rows<1000, 1000>(all);
  add_rows<1000, 1009>(all);
  add_rows<1, 1048576>(all);
  return all;
}

const bench::add here(rows);

}  // namespace
