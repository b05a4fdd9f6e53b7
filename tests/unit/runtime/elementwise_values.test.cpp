// SPDX-License-Identifier: BSL-1.0
// Elementwise functions at the ends of their ranges return what IEEE 754 and NumPy define.
#include "support/catch.hpp"
#include <shardwise/shardwise.hpp>

#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

using namespace shardwise;

namespace {

struct pair : mesh<axis<"x", 2>> {};

template <class T>
using row = std::vector<T>;

/// Applies `f` to elements that are split unevenly over devices.
template <class T, class F>
auto applied(const row<T>& x, const F& f) {
  static const device_pool pool(pair{}, 2);
  layout_desc split;
  split.dims.resize(1);
  split.dims[0].push_back(0);
  split.uneven = true;
  const auto n = static_cast<index_t>(x.size());
  const auto host = to_host(f(distribute(pool, std::span<const T>(x), {n}, split)));
  using made = std::remove_cvref_t<decltype(*host.elements().begin())>;
  return row<made>(host.elements().begin(), host.elements().end());
}

/// Compares bits, apart from the sign and the payload of NaN.
template <class T>
bool same(T a, T b) {
  if constexpr (std::floating_point<T>)
    return (a != a && b != b) || (a == b && std::signbit(a) == std::signbit(b));
  else
    return a == b;
}

template <class T, class F, class Made>
void check(const char* name, const F& f, const row<T>& in, const row<Made>& out) {
  const auto got = applied<T>(in, f);
  REQUIRE(got.size() == out.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    CAPTURE(name, in[i], got[i], out[i]);
    REQUIRE(same<Made>(got[i], out[i]));
  }
}

template <class T>
void check_ends() {
  constexpr T inf = std::numeric_limits<T>::infinity();
  constexpr T nan = std::numeric_limits<T>::quiet_NaN();
  constexpr T pi = std::numbers::pi_v<T>;
  const auto one = [](auto f) { return [f](const any_tensor<T>& x) { return f(x); }; };
  const row<T> ends{0, T(-0.0), inf, -inf, nan};
  const auto at_ends = [&](const char* name, auto f, const row<T>& out) {
    check<T>(name, one(f), ends, out);
  };
  at_ends("sin", [](const auto& x) { return sin(x); }, {0, T(-0.0), nan, nan, nan});
  at_ends("cos", [](const auto& x) { return cos(x); }, {1, 1, nan, nan, nan});
  at_ends("tan", [](const auto& x) { return tan(x); }, {0, T(-0.0), nan, nan, nan});
  at_ends("atan", [](const auto& x) { return atan(x); }, {0, T(-0.0), pi / 2, -pi / 2, nan});
  at_ends("sinh", [](const auto& x) { return sinh(x); }, {0, T(-0.0), inf, -inf, nan});
  at_ends("cosh", [](const auto& x) { return cosh(x); }, {1, 1, inf, inf, nan});
  at_ends("asinh", [](const auto& x) { return asinh(x); }, {0, T(-0.0), inf, -inf, nan});
  at_ends("erf", [](const auto& x) { return erf(x); }, {0, T(-0.0), 1, -1, nan});
  at_ends("erfc", [](const auto& x) { return erfc(x); }, {1, 1, 0, 2, nan});
  at_ends("erfinv", [](const auto& x) { return erfinv(x); }, {0, T(-0.0), nan, nan, nan});
  at_ends("lgamma", [](const auto& x) { return lgamma(x); }, {inf, inf, inf, inf, nan});
  at_ends("digamma", [](const auto& x) { return digamma(x); }, {-inf, inf, inf, nan, nan});
  check<T>("erfinv", one([](const auto& x) { return erfinv(x); }), row<T>{1, -1, 2},
           row<T>{inf, -inf, nan});
  check<T>("lgamma", one([](const auto& x) { return lgamma(x); }), row<T>{1, 2, -1, -2},
           row<T>{0, 0, inf, inf});
  check<T>("digamma", one([](const auto& x) { return digamma(x); }), row<T>{-1, -2},
           row<T>{nan, nan});
  at_ends("exp2", [](const auto& x) { return exp2(x); }, {1, 1, inf, 0, nan});
  at_ends("expm1", [](const auto& x) { return expm1(x); }, {0, T(-0.0), inf, -1, nan});
  at_ends("log1p", [](const auto& x) { return log1p(x); }, {0, T(-0.0), inf, nan, nan});
  at_ends("log2", [](const auto& x) { return log2(x); }, {-inf, -inf, inf, nan, nan});
  at_ends("log10", [](const auto& x) { return log10(x); }, {-inf, -inf, inf, nan, nan});
  at_ends("cbrt", [](const auto& x) { return cbrt(x); }, {0, T(-0.0), inf, -inf, nan});
  at_ends("rsqrt", [](const auto& x) { return rsqrt(x); }, {inf, -inf, 0, nan, nan});
  at_ends("reciprocal", [](const auto& x) { return reciprocal(x); }, {inf, -inf, 0, T(-0.0), nan});
  at_ends("silu", [](const auto& x) { return silu(x); }, {0, T(-0.0), inf, T(-0.0), nan});
  at_ends("gelu_exact", [](const auto& x) { return gelu_exact(x); },
          {0, T(-0.0), inf, T(-0.0), nan});
  at_ends("leaky_relu", [](const auto& x) { return leaky_relu(x, T(0.5)); },
          {0, T(-0.0), inf, -inf, nan});
  at_ends("elu", [](const auto& x) { return elu(x, T(2)); }, {0, T(-0.0), inf, -2, nan});
  at_ends("clamp", [](const auto& x) { return clamp(x, T(-3), T(2)); }, {0, T(-0.0), 2, -3, nan});
  at_ends("sign", [](const auto& x) { return sign(x); }, {0, 0, 1, -1, nan});
  check<T>("softplus", one([](const auto& x) { return softplus(x); }), row<T>{inf, -inf, nan, 1000},
           row<T>{inf, 0, nan, 1000});
  const row<T> steps{T(-2.5), T(-1.5), T(-0.5), T(0.5), T(1.5), T(2.5), T(-0.0), inf, nan};
  check<T>("floor", one([](const auto& x) { return floor(x); }), steps,
           row<T>{-3, -2, -1, 0, 1, 2, T(-0.0), inf, nan});
  check<T>("ceil", one([](const auto& x) { return ceil(x); }), steps,
           row<T>{-2, -1, T(-0.0), 1, 2, 3, T(-0.0), inf, nan});
  check<T>("trunc", one([](const auto& x) { return trunc(x); }), steps,
           row<T>{-2, -1, T(-0.0), 0, 1, 2, T(-0.0), inf, nan});
  check<T>("round", one([](const auto& x) { return round(x); }), steps,
           row<T>{-2, -2, T(-0.0), 0, 2, 2, T(-0.0), inf, nan});
  check<T>("isnan", one([](const auto& x) { return isnan(x); }), ends,
           row<bool>{false, false, false, false, true});
  check<T>("isinf", one([](const auto& x) { return isinf(x); }), ends,
           row<bool>{false, false, true, true, false});
  check<T>("isfinite", one([](const auto& x) { return isfinite(x); }), ends,
           row<bool>{true, true, false, false, false});
  const row<T> beyond{-2, -1, 1, 2};
  check<T>("asin", one([](const auto& x) { return asin(x); }), beyond,
           row<T>{nan, -pi / 2, pi / 2, nan});
  check<T>("acos", one([](const auto& x) { return acos(x); }), beyond, row<T>{nan, pi, 0, nan});
  check<T>("acosh", one([](const auto& x) { return acosh(x); }), row<T>{T(0.5), 1, inf},
           row<T>{nan, 0, inf});
  check<T>("atanh", one([](const auto& x) { return atanh(x); }), beyond,
           row<T>{nan, -inf, inf, nan});

  // Remainders of divisions: NumPy's `remainder` has the sign of the divisor, `fmod` that of the
  // dividend.
  check<T>("remainder by 3", one([](const auto& x) { return remainder(x, T(3)); }),
           row<T>{-4, -3, 4, T(-0.0), inf, nan}, row<T>{2, 0, 1, 0, nan, nan});
  check<T>("remainder by -3", one([](const auto& x) { return remainder(x, T(-3)); }),
           row<T>{-4, -3, 4}, row<T>{-1, T(-0.0), -2});
  check<T>("remainder by infinity",
           one([](const auto& x) { return remainder(x, std::numeric_limits<T>::infinity()); }),
           row<T>{-4, 4}, row<T>{inf, 4});
  check<T>("remainder by 0", one([](const auto& x) { return remainder(x, T(0)); }), row<T>{1, -1},
           row<T>{nan, nan});
  check<T>("fmod by 3", one([](const auto& x) { return fmod(x, T(3)); }),
           row<T>{-4, -3, 4, T(-0.0), inf}, row<T>{-1, T(-0.0), 1, T(-0.0), nan});
  // Quotients rounded down, as in Python.
  check<T>("floor_divide by 3", one([](const auto& x) { return floor_divide(x, T(3)); }),
           row<T>{-4, -3, 4, T(-0.0), inf, nan}, row<T>{-2, -1, 1, T(-0.0), nan, nan});
  check<T>("floor_divide by infinity",
           one([](const auto& x) { return floor_divide(x, std::numeric_limits<T>::infinity()); }),
           row<T>{-4, 4}, row<T>{-1, 0});
  check<T>("floor_divide by 0", one([](const auto& x) { return floor_divide(x, T(0)); }),
           row<T>{1, -1, 0}, row<T>{inf, -inf, nan});
  check<T>("copysign", one([](const auto& x) { return copysign(T(2), x); }),
           row<T>{T(-0.0), 0, -inf}, row<T>{-2, 2, -2});
  check<T>("hypot", one([](const auto& x) { return hypot(x, std::numeric_limits<T>::max()); }),
           row<T>{0, inf}, row<T>{std::numeric_limits<T>::max(), inf});
  check<T>("xlogy", one([](const auto& x) { return xlogy(T(0), x); }), row<T>{0, inf, -1, nan},
           row<T>{0, 0, 0, nan});
  check<T>("sinc", one([](const auto& x) { return sinc(x); }), row<T>{0, T(0.5)},
           row<T>{1, T(2) / pi});
  check<T>("pow", one([](const auto& x) { return pow(x, T(0)); }), ends, row<T>{1, 1, 1, 1, 1});
  check<T>("pow of a negative number", one([](const auto& x) { return pow(x, T(3)); }),
           row<T>{-2, 2, T(-0.0), -inf}, row<T>{-8, 8, T(-0.0), -inf});
  check<T>("atan2", one([](const auto& y) { return atan2(y, T(-1)); }), row<T>{0, T(-0.0), inf},
           row<T>{pi, -pi, pi / 2});
  check<T>("logaddexp", one([](const auto& x) { return logaddexp(x, x); }),
           row<T>{inf, -inf, nan, 1000}, row<T>{inf, -inf, nan, T(1000) + std::log(T(2))});
  check<T>("logaddexp of infinity",
           one([](const auto& x) { return logaddexp(x, -std::numeric_limits<T>::infinity()); }),
           row<T>{3, -inf, inf, nan}, row<T>{3, -inf, inf, nan});
}

}  // namespace

TEST_CASE("functions have the values of IEEE and NumPy at their ends") {
  check_ends<float>();
  check_ends<double>();
}

TEST_CASE("narrow fractions are computed as float and rounded once") {
  const auto narrow =
      applied<bfloat16>({bfloat16(1.5F), bfloat16(-3)}, [](const auto& x) { return sin(x); });
  REQUIRE(static_cast<float>(narrow[1]) == static_cast<float>(bfloat16(std::sin(-3.0F))));
  REQUIRE(static_cast<float>(narrow[0]) == static_cast<float>(bfloat16(std::sin(1.5F))));
}

TEST_CASE("integers round, rest and shift without undefined results") {
  using i32 = std::int32_t;
  constexpr i32 least = std::numeric_limits<i32>::min();
  const auto by = [](auto f, i32 number) {
    return [f, number](const any_tensor<i32>& x) { return f(x, number); };
  };
  const auto rest = [](const auto& a, const auto& b) { return remainder(a, b); };
  const auto cut = [](const auto& a, const auto& b) { return fmod(a, b); };
  const auto up = [](const auto& a, const auto& b) { return left_shift(a, b); };
  const auto down = [](const auto& a, const auto& b) { return right_shift(a, b); };
  check<i32>("remainder by 3", by(rest, 3), {-4, -3, 4, least}, row<i32>{2, 0, 1, 1});
  check<i32>("remainder by -3", by(rest, -3), {-4, -3, 4}, row<i32>{-1, 0, -2});
  check<i32>("remainder by 0", by(rest, 0), {-4, 4}, row<i32>{0, 0});
  check<i32>("remainder by -1", by(rest, -1), {least, 4}, row<i32>{0, 0});
  check<i32>("fmod by 3", by(cut, 3), {-4, 4}, row<i32>{-1, 1});
  const auto floored = [](const auto& a, const auto& b) { return floor_divide(a, b); };
  check<i32>("floor_divide by 3", by(floored, 3), {-4, -3, 4}, row<i32>{-2, -1, 1});
  check<i32>("floor_divide by -3", by(floored, -3), {-4, -3, 4}, row<i32>{1, 1, -2});
  check<i32>("floor_divide by 0", by(floored, 0), {-4, 4}, row<i32>{0, 0});
  check<i32>("left shift", by(up, 31), {1, 2, -1}, row<i32>{least, 0, least});
  check<i32>("left shift by all", by(up, 32), {1, -1}, row<i32>{0, 0});
  check<i32>("left shift by less than none", by(up, -1), {1, -1}, row<i32>{0, 0});
  check<i32>("right shift", by(down, 1), {5, -5, least}, row<i32>{2, -3, least / 2});
  check<i32>("right shift by all", by(down, 99), {5, -5}, row<i32>{0, -1});
  check<i32>(
      "floor", [](const any_tensor<i32>& x) { return floor(x); }, {-4, 4}, row<i32>{-4, 4});
  check<i32>(
      "sign", [](const any_tensor<i32>& x) { return sign(x); }, {-4, 0, 4}, row<i32>{-1, 0, 1});
  check<i32>(
      "isnan", [](const any_tensor<i32>& x) { return isnan(x); }, {-4, 0}, row<bool>{false, false});
  check<std::uint8_t>(
      "shift of bytes",
      [](const any_tensor<std::uint8_t>& x) { return left_shift(x, std::uint8_t{4}); },
      {0x1F, 0xF0}, row<std::uint8_t>{0xF0, 0});
  check<std::uint8_t>(
      "not of bytes", [](const any_tensor<std::uint8_t>& x) { return bitwise_not(x); },
      {0x1F, 0xF0}, row<std::uint8_t>{0xE0, 0x0F});
}

namespace {
using X = sharded_tensor<float, extents<6>, layout<pair, P<"x">>>;
using I = sharded_tensor<std::int32_t, extents<6>, layout<pair, P<"x">>>;
using terms = paper_tensor<float, extents<6>, layout<pair, P<none>, partial<"x">>>;

template <class Y, class T, class Layout>
inline constexpr bool is_tensor =
    std::is_same_v<typename Y::value_type, T>&& std::is_same_v<typename Y::layout_type, Layout>;
}  // namespace

TEST_CASE("the same functions of tensors with types have the same bits, fused or not") {
  static_assert(is_tensor<decltype(sin(std::declval<const X&>())), float, X::layout_type>);
  static_assert(is_tensor<decltype(isnan(std::declval<const X&>())), bool, X::layout_type>);
  static_assert(
      is_tensor<decltype(bitwise_and(std::declval<const I&>(), 3)), std::int32_t, X::layout_type>);
  static_assert(!is_legal<pointwise<functions::sin>, terms>);
  static_assert(!is_legal<pointwise<functions::clamp>, terms, terms, terms>);
  const device_pool pool(pair{}, 2);
  const X x = generate<X>(
      pool, [](const global_index& at) { return static_cast<float>(at[0]) * 0.7F - 2; });
  const any_tensor<float> any = x;
  const auto agree = [&](const auto& f) {
    const auto typed = to_host(f(x));
    const auto untyped = to_host(f(any));
    const sharded_tensor alone = f(x);
    REQUIRE(typed == untyped);
    REQUIRE(to_host(alone) == typed);
  };
  agree([](const auto& a) { return sin(a * 2.0F) + cos(a); });
  agree([](const auto& a) { return clamp(silu(a) * 3.0F, -1, 1) + leaky_relu(a, 0.1F); });
  agree([](const auto& a) { return lerp(a, square(a), 0.25F); });
  agree([](const auto& a) { return addcmul(a, a + 1, a - 1, 0.5F); });
  agree([](const auto& a) { return where(isfinite(log2(a)), a, 0.0F); });
  agree([](const auto& a) { return pow(abs(a), 1.5F) - pow(2.0F, a); });
  agree([](const auto& a) { return hard_sigmoid(a) + hardtanh(a) + gelu_exact(a); });
  agree([](const auto& a) { return log_sigmoid(a) + mish(a); });
  agree([](const auto& a) { return not_equal(floor(a), a); });
  agree([](const auto& a) { return bitwise_xor(cast<std::int32_t>(a), 5); });
}
