// SPDX-License-Identifier: BSL-1.0
#include "shardwise/kernel/wide_kernel.hpp"

#include "shardwise/kernel/pointwise_kernel.hpp"
#include "support/catch.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

using namespace shardwise;
using namespace shardwise::fused;

namespace {

template <class F, class... A>
using f = call<F, A...>;
using x = argument<0>;
using y = argument<1>;
using z = argument<2>;
namespace g = functions;

template <class T>
using bits_of = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

/// Ends, zeros of both signs, subnormal numbers, infinities; NaNs of both signs, one of which
/// signals.
template <class T>
std::vector<T> special_numbers() {
  using limits = std::numeric_limits<T>;
  std::vector<T> all{
      T(0), T(1), T(-1), T(2), T(-3), limits::max(), limits::min(), limits::lowest(), T(7), T(100)};
  if constexpr (std::is_floating_point_v<T>) {
    for (T number : {T(0), limits::denorm_min(), T(0.1), limits::infinity(), limits::quiet_NaN(),
                     limits::epsilon(), limits::min() - limits::denorm_min()}) {
      all.push_back(number);
      all.push_back(-number);
    }
    all.push_back(std::bit_cast<T>(std::bit_cast<bits_of<T>>(limits::infinity()) + 5));
  } else {
    for (T number : {T(limits::max() - 1), T(limits::min() + 1), T(limits::max() / 2)})
      all.push_back(number);
  }
  return all;
}

/// Three operands that hold every triple of special numbers, then random bits.
template <class T>
struct operands {
  std::vector<T> numbers[3];

  operands() {
    const std::vector<T> special = special_numbers<T>();
    for (T a : special)
      for (T b : special)
        for (T c : special) add(a, b, c);
    std::mt19937_64 random(7);
    const auto any = [&] { return std::bit_cast<T>(static_cast<bits_of<T>>(random())); };
    for (int i = 0; i < 5000; ++i) add(any(), any(), any());
    while (size() % detail::step<T> != 0) add(any(), any(), any());
  }
  void add(T a, T b, T c) {
    numbers[0].push_back(a);
    numbers[1].push_back(b);
    numbers[2].push_back(c);
  }
  [[nodiscard]] index_t size() const { return static_cast<index_t>(numbers[0].size()); }
};

template <class T>
bool is_nan(T number) {
  return number != number;
}

/// A pass of a single function; in longer ones an operand may meet a computed NaN.
template <class Tree>
inline constexpr bool is_single = false;
template <class F, std::size_t... I>
inline constexpr bool is_single<f<F, argument<I>...>> = true;

/// Compares bits; if several operands are NaN, compilers choose which one arithmetic returns.
template <class T>
bool same(T a, T b, bool chosen) {
  return std::memcmp(&a, &b, sizeof(T)) == 0 || (chosen && is_nan(a) && is_nan(b));
}

/// Compares wide kernels with packets: to other memory, in place of each operand, and with a
/// repeated operand. Returns true if this machine has wide registers.
template <class T, class Tree>
bool check_wide(const Tree& tree) {
  static const operands<T> in;
  constexpr index_t step = detail::step<T>;
  constexpr index_t guard = 64;
  const index_t n = in.size();
  const auto length = static_cast<std::size_t>(n);
  for (int repeated = -1; repeated < 3; ++repeated)
    for (int place = -1; place < 3; ++place) {
      if (place >= 0 && place == repeated) continue;
      std::vector<T> apart(length), into(length + 2 * guard, T(42)), copy;
      const T* from[3]{in.numbers[0].data(), in.numbers[1].data(), in.numbers[2].data()};
      index_t moves[3]{step, step, step};
      if (repeated >= 0) moves[repeated] = 0;
      const T* wide_from[3]{from[0], from[1], from[2]};
      // Any alignment will do.
      T* const out = into.data() + guard + 1;
      if (place >= 0) {
        std::copy_n(from[place], length, out);
        wide_from[place] = out;
      }
      detail::run_packets(tree, from, moves, apart.data(), n / step, 0);
      if (!detail::run_wide<step>(tree, wide_from, moves, out, n / step, 0)) return false;
      for (std::size_t i = 0; i < length; ++i) {
        int nans = 0;
        for (int k = 0; k < 3; ++k)
          nans += is_nan(from[k][k == repeated ? i % static_cast<std::size_t>(step) : i]);
        if (!same(out[i], apart[i], nans > 1 || !is_single<Tree>)) {
          CAPTURE(i, repeated, place, out[i], apart[i]);
          FAIL("bits differ");
        }
      }
      // Nothing else is written.
      for (index_t i = 0; i <= guard; ++i)
        if (into[static_cast<std::size_t>(i)] != T(42)) FAIL("written before the first element");
      for (index_t i = guard + 1 + n; i < n + 2 * guard; ++i)
        if (into[static_cast<std::size_t>(i)] != T(42)) FAIL("written after the last element");
    }
  return true;
}

/// All offsets and lengths: the bits, including those of NaN, equal those of the whole run.
template <class T, class Tree>
void check_pieces(const Tree& tree) {
  constexpr index_t n = 600;
  static const operands<T> in;
  const auto run = [&](index_t from, index_t count, T* out, const T* first) {
    run_pointwise<T>(tree,
                     {strided<const T>{first, {count}, {1}},
                      strided<const T>{in.numbers[1].data() + 3000 + from, {count}, {1}},
                      strided<const T>{in.numbers[2].data() + 3000 + from, {count}, {1}}},
                     strided<T>{out, {count}, {1}});
  };
  const T* const a = in.numbers[0].data() + 3000;
  std::vector<T> whole(n), piece(n + 1);
  run(0, n, whole.data(), a);
  for (const bool in_place : {false, true})
    for (index_t from = 0; from < n; from += from < 40 ? 1 : 83)
      for (index_t count = 1; from + count <= n; count += count < 70 ? 1 : 61) {
        T* const out = piece.data() + from % 2;
        if (in_place) std::copy_n(a + from, count, out);
        run(from, count, out, in_place ? out : a + from);
        const bool equal =
            std::memcmp(out, whole.data() + from, static_cast<std::size_t>(count) * sizeof(T)) == 0;
        if (!equal) REQUIRE((equal && from == count));
      }
}

/// A pass of so many functions that compilers prefer calls to inlining.
template <int Levels>
struct grown {
  using half = typename grown<Levels - 1>::type;
  using type = f<g::maximum, f<g::add, half, f<g::multiply, y, half>>, f<g::where, x, half, z>>;
};
template <>
struct grown<0> {
  using type = f<g::minimum, f<g::subtract, x, z>, f<g::negate, y>>;
};

template <class T>
void check_all() {
  bool wide = check_wide<T>(f<g::identity, x>{});
  wide = check_wide<T>(f<g::negate, x>{}) && wide;
  wide = check_wide<T>(f<g::add, x, y>{}) && wide;
  wide = check_wide<T>(f<g::subtract, x, y>{}) && wide;
  wide = check_wide<T>(f<g::multiply, x, y>{}) && wide;
  wide = check_wide<T>(f<g::maximum, x, y>{}) && wide;
  wide = check_wide<T>(f<g::minimum, x, y>{}) && wide;
  wide = check_wide<T>(f<g::abs, x>{}) && wide;
  wide = check_wide<T>(f<g::square, x>{}) && wide;
  wide = check_wide<T>(f<g::relu, x>{}) && wide;
  wide = check_wide<T>(f<g::equal, x, y>{}) && wide;
  wide = check_wide<T>(f<g::less, x, y>{}) && wide;
  wide = check_wide<T>(f<g::less_equal, x, y>{}) && wide;
  wide = check_wide<T>(f<g::greater, x, y>{}) && wide;
  wide = check_wide<T>(f<g::greater_equal, x, y>{}) && wide;
  wide = check_wide<T>(f<g::not_equal, x, y>{}) && wide;
  wide = check_wide<T>(f<g::where, x, y, z>{}) && wide;
  wide = check_wide<T>(f<g::add, f<g::multiply, x, y>, z>{}) && wide;
  wide = check_wide<T>(
             f<g::multiply, f<g::relu, f<g::add, x, constant<float>>>, z>{{{{}, {0.5F}}}, {}}) &&
         wide;
  wide = check_wide<T>(typename grown<2>::type{}) && wide;
  // All or none: the set of kernels is chosen once for a machine.
  CHECK(wide == check_wide<T>(f<g::add, x, y>{}));
  // Integers are divided one by one on every machine.
  CHECK(check_wide<T>(f<g::divide, x, y>{}) == (wide && std::is_floating_point_v<T>));

  check_pieces<T>(f<g::add, x, y>{});
  check_pieces<T>(f<g::divide, x, y>{});
  check_pieces<T>(f<g::maximum, x, y>{});
  check_pieces<T>(f<g::where, x, y, z>{});
  check_pieces<T>(f<g::relu, f<g::add, f<g::multiply, x, y>, z>>{});
}

}  // namespace

TEST_CASE("wide arithmetic has the bits of packets, in place or not, special numbers or any") {
  check_all<float>();
  check_all<double>();
  check_all<std::int32_t>();
  check_all<std::int64_t>();
}

TEST_CASE("functions that are not exact are left to packets") {
  const std::vector<float> in(16, 0.5F);
  std::vector<float> out(16);
  const float* const from[1]{in.data()};
  const index_t moves[1]{16};
  CHECK(!detail::run_wide<16>(f<g::exp, x>{}, from, moves, out.data(), 1, 0));
  CHECK(!detail::run_wide<16>(f<g::negate, f<g::gelu, x>>{}, from, moves, out.data(), 1, 0));
  CHECK(out == std::vector<float>(16));
}
