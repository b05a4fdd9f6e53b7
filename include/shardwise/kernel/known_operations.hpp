// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/operation.hpp"
#include "shardwise/operation/cholesky.hpp"
#include "shardwise/operation/determinant.hpp"
#include "shardwise/operation/eigh.hpp"
#include "shardwise/operation/qr.hpp"
#include "shardwise/operation/solve.hpp"
#include "shardwise/operation/triangular_solve.hpp"
#include "shardwise/plan/collective_operation.hpp"
#include "shardwise/plan/manual_operation.hpp"
#include "shardwise/plan/structure.hpp"

#include <cstdint>

namespace shardwise {

// The operations of the library as values, which are instantiated in the compiled library, so that
// what they point to, such as rules and gradients, is compiled only there. Other classes are
// compiled where they are used, as in programs of headers alone.

SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::identity>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::negate>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::abs>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::square>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::relu>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::sqrt>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::rsqrt>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::cbrt>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::reciprocal>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::exp>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::exp2>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::expm1>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::log>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::log1p>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::log2>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::log10>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::sin>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::cos>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::tan>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::asin>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::acos>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::atan>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::sinh>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::cosh>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::tanh>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::asinh>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::acosh>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::atanh>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::erf>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::erfc>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::erfinv>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::lgamma>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::digamma>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::sigmoid>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::gelu>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::gelu_exact>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::silu>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::mish>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::soft_sign>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::softplus>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::floor>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::ceil>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::round>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::trunc>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::sign>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::isnan>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::isinf>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::isfinite>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::logical_not>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::bitwise_not>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::stop_gradient>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::finish_gradient>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::add>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::subtract>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::subtract_constant>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::multiply>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::divide>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::maximum>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::minimum>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::pow>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::atan2>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::logaddexp>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::remainder>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::fmod>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::floor_divide>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::hypot>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::copysign>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::xlogy>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::equal>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::not_equal>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::less>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::less_equal>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::greater>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::greater_equal>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::logical_and>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::logical_or>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::logical_xor>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::bitwise_and>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::bitwise_or>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::bitwise_xor>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::fold_in>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::split_key>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::left_shift>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::right_shift>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::leaky_relu>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::elu>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::clamp>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::where>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::masked>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::cast<float>>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::cast<double>>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::cast<std::int32_t>>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::cast<std::int64_t>>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::cast<bool>>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::cast<std::int8_t>>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::cast<std::uint8_t>>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::cast<bfloat16>>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::cast<float16>>>;
SHARDWISE_EXTERN template const operation operation_of<pointwise<functions::rounded_terms<float>>>;
SHARDWISE_EXTERN template const operation
    operation_of<pointwise<functions::rounded_terms<bfloat16>>>;
SHARDWISE_EXTERN template const operation
    operation_of<pointwise<functions::rounded_terms<float16>>>;
SHARDWISE_EXTERN template const operation operation_of<argsort_operation>;
SHARDWISE_EXTERN template const operation operation_of<attention_operation>;
SHARDWISE_EXTERN template const operation operation_of<attention_gradient_operation>;
SHARDWISE_EXTERN template const operation operation_of<attention_gradients_operation>;
SHARDWISE_EXTERN template const operation operation_of<attention_second_gradient_operation>;
SHARDWISE_EXTERN template const operation operation_of<bitcast_operation>;
SHARDWISE_EXTERN template const operation operation_of<broadcast_to_operation>;
SHARDWISE_EXTERN template const operation operation_of<cholesky_operation>;
SHARDWISE_EXTERN template const operation operation_of<concatenate_operation>;
SHARDWISE_EXTERN template const operation operation_of<convolution_operation>;
SHARDWISE_EXTERN template const operation operation_of<convolution_weights_operation>;
SHARDWISE_EXTERN template const operation operation_of<cummax_operation>;
SHARDWISE_EXTERN template const operation operation_of<cummax_pick_operation>;
SHARDWISE_EXTERN template const operation operation_of<cummax_share_operation>;
SHARDWISE_EXTERN template const operation operation_of<cummin_operation>;
SHARDWISE_EXTERN template const operation operation_of<cummin_pick_operation>;
SHARDWISE_EXTERN template const operation operation_of<cummin_share_operation>;
SHARDWISE_EXTERN template const operation operation_of<cumprod_operation>;
SHARDWISE_EXTERN template const operation operation_of<cumsum_operation>;
SHARDWISE_EXTERN template const operation operation_of<determinant_operation>;
SHARDWISE_EXTERN template const operation operation_of<dropout_operation>;
SHARDWISE_EXTERN template const operation operation_of<dynamic_slice_operation>;
SHARDWISE_EXTERN template const operation operation_of<eigenvectors_operation>;
SHARDWISE_EXTERN template const operation operation_of<einsum_operation>;
SHARDWISE_EXTERN template const operation operation_of<fft_operation>;
SHARDWISE_EXTERN template const operation operation_of<flip_operation>;
SHARDWISE_EXTERN template const operation operation_of<full_like_operation>;
SHARDWISE_EXTERN template const operation operation_of<ifft_operation>;
SHARDWISE_EXTERN template const operation operation_of<householder_product_operation>;
SHARDWISE_EXTERN template const operation operation_of<interpolate_operation>;
SHARDWISE_EXTERN template const operation operation_of<inverse_operation>;
SHARDWISE_EXTERN template const operation operation_of<normal_like_operation>;
SHARDWISE_EXTERN template const operation operation_of<orthonormal_columns_operation>;
SHARDWISE_EXTERN template const operation operation_of<propagation_barrier_operation>;
SHARDWISE_EXTERN template const operation operation_of<reduction_operation>;
SHARDWISE_EXTERN template const operation operation_of<iota_like_operation>;
SHARDWISE_EXTERN template const operation operation_of<irfft_operation>;
SHARDWISE_EXTERN template const operation operation_of<logcumsumexp_operation>;
SHARDWISE_EXTERN template const operation operation_of<logcumsumexp_pick_operation>;
SHARDWISE_EXTERN template const operation operation_of<logcumsumexp_share_operation>;
SHARDWISE_EXTERN template const operation operation_of<max_with_index_operation>;
SHARDWISE_EXTERN template const operation operation_of<min_with_index_operation>;
SHARDWISE_EXTERN template const operation operation_of<one_hot_operation>;
SHARDWISE_EXTERN template const operation operation_of<pad_operation>;
SHARDWISE_EXTERN template const operation operation_of<pool_operation>;
SHARDWISE_EXTERN template const operation operation_of<pool_matches_operation>;
SHARDWISE_EXTERN template const operation operation_of<pool_spread_operation>;
SHARDWISE_EXTERN template const operation operation_of<put_along_operation>;
SHARDWISE_EXTERN template const operation operation_of<repeat_operation>;
SHARDWISE_EXTERN template const operation operation_of<reshape_operation>;
SHARDWISE_EXTERN template const operation operation_of<rfft_operation>;
SHARDWISE_EXTERN template const operation operation_of<roll_operation>;
SHARDWISE_EXTERN template const operation operation_of<rotary_operation>;
SHARDWISE_EXTERN template const operation operation_of<scatter_operation>;
SHARDWISE_EXTERN template const operation operation_of<segment_sum_operation>;
SHARDWISE_EXTERN template const operation operation_of<semiring_operation<max_plus_semiring>>;
SHARDWISE_EXTERN template const operation operation_of<semiring_operation<max_times_semiring>>;
SHARDWISE_EXTERN template const operation operation_of<semiring_operation<min_plus_semiring>>;
SHARDWISE_EXTERN template const operation operation_of<semiring_operation<or_and_semiring>>;
SHARDWISE_EXTERN template const operation operation_of<singular_vectors_operation>;
SHARDWISE_EXTERN template const operation operation_of<slice_operation>;
SHARDWISE_EXTERN template const operation operation_of<slogdet_operation>;
SHARDWISE_EXTERN template const operation operation_of<solve_operation>;
SHARDWISE_EXTERN template const operation operation_of<sort_operation>;
SHARDWISE_EXTERN template const operation operation_of<squeeze_operation>;
SHARDWISE_EXTERN template const operation operation_of<stack_operation>;
SHARDWISE_EXTERN template const operation operation_of<stencil_operation>;
SHARDWISE_EXTERN template const operation operation_of<stencil_weights_operation>;
SHARDWISE_EXTERN template const operation operation_of<sum_along_operation>;
SHARDWISE_EXTERN template const operation operation_of<sum_of_squares_operation>;
SHARDWISE_EXTERN template const operation operation_of<take_operation>;
SHARDWISE_EXTERN template const operation operation_of<take_along_operation>;
SHARDWISE_EXTERN template const operation operation_of<tile_operation>;
SHARDWISE_EXTERN template const operation operation_of<top_k_operation>;
SHARDWISE_EXTERN template const operation operation_of<transpose_operation>;
SHARDWISE_EXTERN template const operation operation_of<triangular_solve_operation>;
SHARDWISE_EXTERN template const operation operation_of<tril_operation>;
SHARDWISE_EXTERN template const operation operation_of<triu_operation>;
SHARDWISE_EXTERN template const operation operation_of<uniform_like_operation>;
SHARDWISE_EXTERN template const operation operation_of<unsqueeze_operation>;
SHARDWISE_EXTERN template const operation operation_of<update_slice_operation>;
SHARDWISE_EXTERN template const operation operation_of<argument_operation>;
SHARDWISE_EXTERN template const operation operation_of<call_operation>;
SHARDWISE_EXTERN template const operation operation_of<collective_operation>;
SHARDWISE_EXTERN template const operation operation_of<constant_operation>;
SHARDWISE_EXTERN template const operation operation_of<input_operation>;
SHARDWISE_EXTERN template const operation operation_of<manual_collective_operation>;
SHARDWISE_EXTERN template const operation operation_of<manual_operation>;
SHARDWISE_EXTERN template const operation operation_of<result_operation>;

}  // namespace shardwise
