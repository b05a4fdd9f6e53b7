// SPDX-License-Identifier: BSL-1.0
// Every function takes a requested layout as its last argument: on paper, and of tensors whose
// layouts are values.
#include <shardwise/shardwise.hpp>

#include <tuple>
#include <type_traits>
#include <utility>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
template <class Spec, index_t... N>
using tensor = sharded_tensor<float, extents<N...>, layout<pod, Spec>>;
template <class Spec, index_t... N>
using whole_numbers = sharded_tensor<std::int32_t, extents<N...>, layout<pod, Spec>>;

using X = tensor<P<"data", "model">, 8, 16>;
using Row = tensor<P<"model">, 16>;
using Matrices = tensor<P<"data", none, "model">, 2, 4, 4>;
using Tall = tensor<P<"data", "model", none>, 2, 8, 4>;
using Images = tensor<P<none, "data", "model", none>, 2, 4, 8, 8>;
using Channels = tensor<P<none, "data", none, none>, 2, 8, 4, 4>;
using Ids = whole_numbers<P<"data">, 6>;
using Along = whole_numbers<P<"data", none>, 8, 2>;

/// The layout that is requested of a result of this rank.
template <int Rank>
struct target_of;
template <>
struct target_of<0> {
  using type = P<>;
};
template <>
struct target_of<1> {
  using type = P<"data">;
};
template <>
struct target_of<2> {
  using type = P<"data", none>;
};
template <>
struct target_of<3> {
  using type = P<"data", none, none>;
};
template <>
struct target_of<4> {
  using type = P<none, "data", none, none>;
};

/// True if all results have the layout.
template <class Spec, class Y>
struct has_layout : std::is_same<typename Y::layout_type, layout<pod, Spec>> {};
template <class Spec, class First, class Second>
struct has_layout<Spec, std::pair<First, Second>>
    : std::bool_constant<has_layout<Spec, First>::value && has_layout<Spec, Second>::value> {};
template <class Spec, class... Y>
struct has_layout<Spec, std::tuple<Y...>>
    : std::bool_constant<(... && has_layout<Spec, Y>::value)> {};

template <class X>
using value_of = any_tensor<typename X::value_type>;

/// Returns true if a function of such tensors takes a request for a result of rank `Rank`, on paper
/// and of tensors with layouts that are values.
template <int Rank, class... X, class F>
constexpr bool requests(const F& f) {
  using spec = typename target_of<Rank>::type;
  using made = std::remove_cvref_t<decltype(f(as<spec>, abstract<X>()...))>;
  using values = std::remove_cvref_t<decltype(f(as<spec>, std::declval<const value_of<X>&>()...))>;
  using sharded = std::remove_cvref_t<decltype(f(out_sharding(spec_desc{}),
                                                 std::declval<const value_of<X>&>()...))>;
  return has_layout<spec, made>::value && std::is_same_v<values, sharded> &&
         !std::is_same_v<values, refused_value>;
}

}  // namespace

// Reductions and statistics.
static_assert(requests<1, X>([](auto to, const auto& x) { return product<1>(x, to); }));
static_assert(requests<1, X>([](auto to, const auto& x) { return min<1>(x, to); }));
static_assert(requests<1, X>([](auto to, const auto& x) { return any<1>(x > 0.0F, to); }));
static_assert(requests<1, X>([](auto to, const auto& x) { return all<1>(x > 0.0F, to); }));
static_assert(requests<1, X>([](auto to, const auto& x) { return max_norm<1>(x, to); }));
static_assert(requests<1, X>([](auto to, const auto& x) { return lp_norm<1>(x, 3.0F, to); }));
static_assert(requests<1, X>([](auto to, const auto& x) { return nansum<1>(x, to); }));
static_assert(requests<1, X>([](auto to, const auto& x) { return nanmean<1>(x, to); }));
static_assert(requests<1, X>([](auto to, const auto& x) { return nanmax<1>(x, to); }));
static_assert(requests<1, X>([](auto to, const auto& x) { return nanmin<1>(x, to); }));
static_assert(requests<1, X>([](auto to, const auto& x) { return nanvar<1>(x, to); }));
static_assert(requests<1, X>([](auto to, const auto& x) { return median<1>(x, to); }));
static_assert(requests<1, X>([](auto to, const auto& x) { return quantile<1>(x, 0.3, to); }));
static_assert(requests<1, X>([](auto to, const auto& x) { return trapezoid<1>(x, 0.5, to); }));
static_assert(requests<2, X>([](auto to, const auto& x) { return cov(x, to); }));
static_assert(requests<2, X>([](auto to, const auto& x) { return corrcoef(x, to); }));
static_assert(requests<1, X>([](auto to, const auto& x) { return min_with_index<1>(x, to); }));
static_assert(requests<1, X>([](auto to, const auto& x) { return argmin<1>(x, to); }));
static_assert(requests<1, Ids>([](auto to, const auto& i) { return bincount<10>(i, to); }));
// Scans, orders and searches.
static_assert(requests<2, X>([](auto to, const auto& x) { return cummin<1>(x, to); }));
static_assert(requests<2, X>([](auto to, const auto& x) { return logcumsumexp<1>(x, to); }));
static_assert(requests<2, X>([](auto to, const auto& x) { return argsort<1>(x, to); }));
static_assert(requests<2, X>([](auto to, const auto& x) { return diff<1>(x, to); }));
static_assert(requests<1, Row>([](auto to, const auto& x) { return searchsorted(x, x, to); }));
static_assert(requests<2, X>([](auto to, const auto& x) { return glu<1>(x, to); }));
// Products.
static_assert(requests<2, X>([](auto to, const auto& x) {
  return matmul(x, transpose<1, 0>(x), to);
}));
static_assert(requests<0, Row>([](auto to, const auto& x) { return dot(x, x, to); }));
static_assert(requests<2, Row>([](auto to, const auto& x) { return outer(x, x, to); }));
static_assert(requests<2, Matrices>([](auto to, const auto& x) { return diagonal(x, to); }));
static_assert(requests<2, X>([](auto to, const auto& x) { return kron(x, x, to); }));
static_assert(requests<2, tensor<P<"data", none>, 8, 3>>([](auto to, const auto& x) {
  return cross(x, x, to);
}));
static_assert(requests<2, X>([](auto to, const auto& x) { return cdist(x, x, to); }));
// Windows and images.
static_assert(requests<4, Images>([](auto to, const auto& x) {
  return max_pool<windows<2, 2>>(x, to);
}));
static_assert(requests<4, Images>([](auto to, const auto& x) {
  return average_pool<windows<2, 2>>(x, to);
}));
static_assert(requests<4, Channels>([](auto to, const auto& x) {
  return pixel_shuffle<2>(x, to);
}));
static_assert(requests<4, Images>([](auto to, const auto& x) {
  return pixel_unshuffle<2>(x, to);
}));
static_assert(requests<4, Images>([](auto to, const auto& x) {
  return instance_norm(x, 1e-5, to);
}));
// Linear algebra.
static_assert(requests<3, Matrices>([](auto to, const auto& x) {
  return linalg::cholesky(x, to);
}));
static_assert(requests<3, Matrices>([](auto to, const auto& x) {
  return linalg::triangular_solve(x, x, to);
}));
static_assert(requests<3, Matrices>([](auto to, const auto& x) {
  return linalg::solve(x, x, to);
}));
static_assert(requests<3, Matrices>([](auto to, const auto& x) { return linalg::inverse(x, to); }));
static_assert(requests<3, Tall>([](auto to, const auto& x) { return linalg::pinv(x, to); }));
static_assert(requests<3, Matrices>([](auto to, const auto& x) {
  return linalg::matrix_power<3>(x, to);
}));
static_assert(requests<3, Tall>([](auto to, const auto& x) { return linalg::lstsq(x, x, to); }));
static_assert(requests<1, Matrices>([](auto to, const auto& x) {
  return linalg::determinant(x, to);
}));
static_assert(requests<1, Matrices>([](auto to, const auto& x) { return linalg::slogdet(x, to); }));
static_assert(requests<3, Tall>([](auto to, const auto& x) { return linalg::qr(x, to); }));
static_assert(requests<3, Tall, tensor<P<none, none>, 2, 4>>([](auto to, const auto& x,
                                                                const auto& tau) {
  return linalg::householder_product(x, tau, to);
}));
// Fourier transforms.
static_assert(requests<3, Tall>([](auto to, const auto& x) {
  return fourier::fft<1>(slice_in_dim<2, 0, 2>(x), to);
}));
static_assert(requests<3, X>([](auto to, const auto& x) { return fourier::rfft<1>(x, to); }));
static_assert(requests<2, Tall>([](auto to, const auto& x) {
  return fourier::irfft<1>(slice_in_dim<2, 0, 2>(x), to);
}));
// Shapes.
static_assert(requests<2, X>([](auto to, const auto& x) {
  return squeeze<0>(unsqueeze<0>(x), to);
}));
static_assert(requests<2, X>([](auto to, const auto& x) { return tile<1, 2>(x, to); }));
static_assert(requests<2, X>([](auto to, const auto& x) { return repeat<1, 2>(x, to); }));
static_assert(requests<2, X>([](auto to, const auto& x) { return slice_in_dim<1, 1, 9>(x, to); }));
static_assert(requests<1, X>([](auto to, const auto& x) { return index_at<0, 3>(x, to); }));
static_assert(requests<2, X>([](auto to, const auto& x) {
  return update_slice<1>(x, slice_in_dim<1, 0, 2>(x, across<"model">), 3, to);
}));
static_assert(requests<2, X>([](auto to, const auto& x) { return iota_like<1>(x, to); }));
static_assert(requests<2, X>([](auto to, const auto& x) { return full_like(x, 1.0F, to); }));
static_assert(requests<2, X>([](auto to, const auto& x) { return ones_like(x, to); }));
static_assert(requests<2, X>([](auto to, const auto& x) { return zeros_like(x, to); }));
static_assert(requests<2, X>([](auto to, const auto& x) { return bitcast<std::int32_t>(x, to); }));
// Indices.
static_assert(requests<2, X, Ids>([](auto to, const auto& x, const auto& i) {
  return embedding(x, i, to);
}));
static_assert(requests<2, X, Along>([](auto to, const auto& x, const auto& i) {
  return take_along<1>(x, i, to);
}));
static_assert(requests<2, X, Ids>([](auto to, const auto& x, const auto& i) {
  return scatter<0>(x, i, take<0>(x, i, as<P<none, "model">>), to);
}));
static_assert(requests<2, X, Along>([](auto to, const auto& x, const auto& i) {
  return put_along<1>(x, i, cast<float>(i), to);
}));
static_assert(requests<2, X, Along>([](auto to, const auto& x, const auto& i) {
  return segment_sum<0, 4>(x, index_at<1, 0>(i), to);
}));
static_assert(requests<2, Along>([](auto to, const auto& i) {
  return sum_along<1, 3>(cast<float>(i), i, to);
}));
// Elementwise functions that are compositions.
static_assert(requests<2, X>([](auto to, const auto& x) { return hardtanh(x, to); }));
static_assert(requests<2, X>([](auto to, const auto& x) { return relu6(x, to); }));
static_assert(requests<2, X>([](auto to, const auto& x) { return log_sigmoid(x, to); }));
static_assert(requests<2, X>([](auto to, const auto& x) { return selu(x, to); }));
static_assert(requests<2, X>([](auto to, const auto& x) { return celu(x, 1.0F, to); }));
static_assert(requests<2, X>([](auto to, const auto& x) { return soft_shrink(x, 1.0F, to); }));
static_assert(requests<2, X>([](auto to, const auto& x) { return hard_shrink(x, 1.0F, to); }));
static_assert(requests<2, X>([](auto to, const auto& x) { return logit(x, to); }));
static_assert(requests<2, X>([](auto to, const auto& x) { return deg2rad(x, to); }));
static_assert(requests<2, X>([](auto to, const auto& x) { return sinc(x, to); }));
static_assert(requests<2, X>([](auto to, const auto& x) { return nan_to_num(x, to); }));
// Random numbers.
static_assert(requests<2, X>([](auto to, const auto& x) {
  return uniform_like(x, random_key{1}, to);
}));
static_assert(requests<2, X>([](auto to, const auto& x) {
  return normal_like(x, random_key{1}, to);
}));
