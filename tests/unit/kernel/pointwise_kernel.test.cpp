// SPDX-License-Identifier: BSL-1.0
#include "shardwise/kernel/pointwise_kernel.hpp"

#include "support/catch.hpp"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

using namespace shardwise;
using namespace shardwise::fused;

namespace {

template <class F, class... A>
using f = call<F, A...>;
using x = argument<0>;
using y = argument<1>;
using z = argument<2>;
using extents_t = inplace_vector<index_t, max_rank>;

/// relu(x * y + z) - x: every operand is read, one of them twice.
using chain = f<functions::subtract,
                f<functions::relu, f<functions::add, f<functions::multiply, x, y>, z>>, x>;

/// A view into its own storage: row-major, column-major, spread, broadcast or with gaps.
template <class T>
struct view {
  std::vector<T> storage;
  strided<T> where;

  view(const extents_t& extents, int kind, int seed) {
    extents_t order = extents, strides;
    strides.resize(extents.size());
    const int rank = extents.ssize();
    index_t step = kind == 2 ? 3 : 1;
    for (int i = 0; i < rank; ++i) {
      const int d = kind == 1 ? i : rank - 1 - i;  // 1 is column-major
      const bool repeats = (kind == 3 && d == rank - 1) || (kind == 4 && d == 0) || kind == 5;
      strides[d] = repeats ? 0 : step;
      if (!repeats) step *= order[d] + (kind == 6 ? 1 : 0);
    }
    storage.resize(static_cast<std::size_t>(step) + 1);
    for (std::size_t i = 0; i < storage.size(); ++i)
      storage[i] = static_cast<T>((static_cast<int>(i) * 7 + seed) % 23 - 11);
    where = {storage.data(), extents, strides};
  }
  [[nodiscard]] strided<const T> read() const { return {where.data, where.extents, where.strides}; }
};

template <class T>
index_t offset(const strided<T>& v, index_t number) {
  index_t at = 0;
  for (int d = v.rank() - 1; d >= 0; --d) {
    at += number % v.extents[d] * v.strides[d];
    number /= v.extents[d];
  }
  return at;
}

template <class T>
void check_chain(const extents_t& extents, int a, int b, int c, int o, bool in_place) {
  const view<T> third(extents, c, 2), second(extents, b, 1);
  view<T> first(extents, a, 0), result(extents, o, 3);
  if (in_place) result = first;
  strided<T> out = in_place ? first.where : result.where;
  out.data = in_place ? first.storage.data() : result.storage.data();
  std::vector<T> expected;
  const auto p = first.read(), q = second.read(), r = third.read();
  for (index_t i = 0; i < out.size(); ++i) {
    const T u = p.data[offset(p, i)];
    const T sum = static_cast<T>(u * q.data[offset(q, i)] + r.data[offset(r, i)]);
    expected.push_back(static_cast<T>((sum < 0 ? T{0} : sum) - u));
  }
  run_pointwise<T>(chain{}, {p, q, r}, out);
  for (index_t i = 0; i < out.size(); ++i)
    if (out.data[offset(out, i)] != expected[static_cast<std::size_t>(i)]) {
      CAPTURE(a, b, c, o, in_place, i, extents.ssize());
      REQUIRE(out.data[offset(out, i)] == expected[static_cast<std::size_t>(i)]);
    }
}

template <class T>
void check_all_strides() {
  const extents_t shapes[] = {{},
                              {1},
                              {7},
                              {300},
                              {0},
                              {4, 0},
                              {3, 5},
                              {2, 300},
                              {300, 3},
                              {70, 65},
                              {2, 3, 5},
                              {1, 64, 1},
                              {2, 1, 3, 70},
                              {9, 8, 7},
                              {513, 2},
                              {2, 2, 2, 2, 2, 2, 2, 2}};
  for (const extents_t& extents : shapes)
    for (int a = 0; a < 7; ++a)
      for (int b = 0; b < 7; ++b)
        for (int o : {0, 1, 2, 6}) {
          check_chain<T>(extents, a, b, (a + b) % 7, o, false);
          if (a < 3 || a == 6) check_chain<T>(extents, a, b, o, 0, true);
        }
}

/// The bits of f(x) for 1000 numbers, computed in pieces of every length from every offset.
template <class T, class Tree>
void check_bits(const Tree& tree, double low, double high) {
  constexpr index_t n = 1000;
  std::vector<T> in(n), other(n), third(n), whole(n), piece(n + 1);
  for (std::size_t i = 0; i < n; ++i) {
    in[i] = static_cast<T>(low + (high - low) * static_cast<double>(i) / n);
    other[i] = static_cast<T>(1 + static_cast<int>(i % 13));
    third[i] = static_cast<T>(static_cast<int>(i % 7) - 3);
  }
  const auto run = [&](index_t from, index_t count, T* out) {
    run_pointwise<T>(tree,
                     {strided<const T>{in.data() + from, {count}, {1}},
                      strided<const T>{other.data() + from, {count}, {1}},
                      strided<const T>{third.data() + from, {count}, {1}}},
                     strided<T>{out, {count}, {1}});
  };
  run(0, n, whole.data());
  for (index_t from = 0; from < n; from += from < 70 ? 1 : 97)
    for (index_t count = 1; from + count <= n; count += count < 70 ? 3 : 61) {
      run(from, count, piece.data() + 1);
      const bool same = std::memcmp(piece.data() + 1, whole.data() + from,
                                    static_cast<std::size_t>(count) * sizeof(T)) == 0;
      if (!same) REQUIRE((same && from == count));
    }
}

template <class T>
void check_bits_of_arithmetic() {
  check_bits<T>(f<functions::identity, x>{}, -50, 50);
  check_bits<T>(f<functions::negate, x>{}, -50, 50);
  check_bits<T>(f<functions::add, x, y>{}, -50, 50);
  check_bits<T>(f<functions::subtract, x, y>{}, -50, 50);
  check_bits<T>(f<functions::multiply, x, y>{}, -50, 50);
  check_bits<T>(f<functions::divide, x, y>{}, -50, 50);
  check_bits<T>(f<functions::maximum, x, z>{}, -50, 50);
  check_bits<T>(f<functions::minimum, x, z>{}, -50, 50);
  check_bits<T>(f<functions::abs, x>{}, -50, 50);
  check_bits<T>(f<functions::square, x>{}, -50, 50);
  check_bits<T>(f<functions::relu, x>{}, -50, 50);
  check_bits<T>(f<functions::equal, x, z>{}, -50, 50);
  check_bits<T>(f<functions::less, x, z>{}, -50, 50);
  check_bits<T>(f<functions::less_equal, x, z>{}, -50, 50);
  check_bits<T>(f<functions::greater, x, z>{}, -50, 50);
  check_bits<T>(f<functions::greater_equal, x, z>{}, -50, 50);
  check_bits<T>(f<functions::where, z, x, y>{}, -50, 50);
  check_bits<T>(chain{}, -50, 50);
}

template <class T>
void check_bits_of_transcendental() {
  check_bits<T>(f<functions::sqrt, x>{}, 0, 50);
  check_bits<T>(f<functions::exp, x>{}, -90, 90);
  check_bits<T>(f<functions::log, x>{}, 0, 50);
  check_bits<T>(f<functions::tanh, x>{}, -10, 10);
  check_bits<T>(f<functions::sigmoid, x>{}, -90, 90);
  check_bits<T>(f<functions::gelu, x>{}, -10, 10);
  check_bits<T>(f<functions::gelu, f<functions::add, f<functions::multiply, x, y>, z>>{}, -3, 3);
}

}  // namespace

TEST_CASE("a fused tree is computed whatever the strides, in place or not") {
  check_all_strides<float>();
  check_all_strides<double>();
  check_all_strides<std::int32_t>();
  check_all_strides<std::int64_t>();
}

TEST_CASE("the bits of an element do not depend on where it lies") {
  check_bits_of_arithmetic<float>();
  check_bits_of_arithmetic<double>();
  check_bits_of_arithmetic<std::int32_t>();
  check_bits_of_arithmetic<std::int64_t>();
  check_bits_of_transcendental<float>();
  check_bits_of_transcendental<double>();
}

TEST_CASE("a broadcast operand gives the bits of its copies") {
  constexpr index_t rows = 5, columns = 131;
  std::vector<float> in(rows * columns), bias(columns), copies(rows * columns);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i) * 0.37F - 100;
  for (std::size_t i = 0; i < bias.size(); ++i) bias[i] = static_cast<float>(i) * 0.11F;
  for (std::size_t i = 0; i < in.size(); ++i) copies[i] = bias[i % columns];
  using tree = f<functions::tanh, f<functions::add, f<functions::multiply, x, y>, y>>;
  std::vector<float> one(in.size()), two(in.size());
  const strided<const float> a{in.data(), {rows, columns}, {columns, 1}};
  run_pointwise<float>(tree{}, {a, strided<const float>{bias.data(), {rows, columns}, {0, 1}}},
                       strided<float>{one.data(), {rows, columns}, {columns, 1}});
  run_pointwise<float>(tree{},
                       {a, strided<const float>{copies.data(), {rows, columns}, {columns, 1}}},
                       strided<float>{two.data(), {rows, columns}, {columns, 1}});
  CHECK(std::memcmp(one.data(), two.data(), one.size() * sizeof(float)) == 0);
}

TEST_CASE("constants take part in a tree") {
  const std::vector<double> in{1, 2, 3};
  std::vector<double> out(3);
  const f<functions::multiply, constant<float>, f<functions::add, x, constant<double>>> tree{
      {2}, {{}, {0.5}}};
  run_pointwise<double>(tree, {strided<const double>{in.data(), {3}, {1}}},
                        strided<double>{out.data(), {3}, {1}});
  CHECK(out == std::vector<double>{3, 5, 7});
}
