// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/export/lower_algebra.hpp"
#include "shardwise/export/lower_attention.hpp"
#include "shardwise/export/lower_contractions.hpp"
#include "shardwise/export/lower_functions.hpp"
#include "shardwise/export/lower_indices.hpp"
#include "shardwise/export/lower_order.hpp"
#include "shardwise/export/lower_pool.hpp"
#include "shardwise/export/lower_random.hpp"
#include "shardwise/export/lower_windows.hpp"
#include "shardwise/export/lowering_table.hpp"

namespace shardwise::internal {
namespace table_parts {

namespace e = elementwise_lowerings;
namespace s = shape_lowerings;
namespace c = contraction_lowerings;
namespace w = window_lowerings;
namespace i = index_lowerings;
namespace o = order_lowerings;
namespace a = attention_lowerings;
namespace r = random_lowerings;
namespace l = algebra_lowerings;

inline constexpr lowering_row functions[] = {
    {"identity", "its operand", &e::identity},
    {"stop_gradient", "its operand", &e::identity},
    {"finish_gradient", "its operand", &e::identity},
    {"negate", "negate"},
    {"abs", "abs", &e::abs},
    {"square", "multiply", &e::square},
    {"relu", "compare, select", &e::relu},
    {"sqrt", "sqrt"},
    {"rsqrt", "rsqrt"},
    {"cbrt", "cbrt"},
    {"reciprocal", "divide", &e::reciprocal},
    {"exp", "exponential"},
    {"exp2", "power", &e::exp2},
    {"expm1", "exponential_minus_one"},
    {"log", "log"},
    {"log1p", "log_plus_one"},
    {"log2", "log, divide", &e::logarithm<true>},
    {"log10", "log, divide", &e::logarithm<false>},
    {"sin", "sine"},
    {"cos", "cosine"},
    {"tan", "tan"},
    {"asin", "atan2, sqrt", &e::asin},
    {"acos", "atan2, sqrt", &e::acos},
    {"atan", "atan2", &e::atan},
    {"sinh", "exponential, exponential_minus_one", &e::sinh},
    {"cosh", "exponential", &e::cosh},
    {"tanh", "tanh"},
    {"asinh", "log, log_plus_one, sqrt", &e::asinh},
    {"acosh", "log, sqrt", &e::acosh},
    {"atanh", "log_plus_one", &e::atanh},
    {"erf", "custom_call @mhlo.erf", &e::error_function},
    {"erfc", "custom_call @mhlo.erf, subtract", &e::rest_of_error_function},
    {"erfinv", without_counterpart_words, &l::without_counterpart},
    {"lgamma", without_counterpart_words, &l::without_counterpart},
    {"digamma", without_counterpart_words, &l::without_counterpart},
    {"sigmoid", "logistic"},
    {"gelu", "logistic, multiply", &e::gelu},
    {"gelu_exact", "custom_call @mhlo.erf, multiply", &e::gelu_exact},
    {"silu", "logistic, multiply", &e::silu},
    {"mish", "exponential, divide", &e::mish},
    {"soft_sign", "abs, divide", &e::soft_sign},
    {"softplus", "exponential, log_plus_one", &e::softplus},
    {"floor", "floor", &e::rounded<"floor">},
    {"ceil", "ceil", &e::rounded<"ceil">},
    {"round", "round_nearest_even", &e::rounded<"round_nearest_even">},
    {"trunc", "floor, ceil, select", &e::trunc},
    {"sign", "sign", &e::sign},
    {"isnan", "compare", &e::isnan},
    {"isinf", "abs, compare", &e::isinf},
    {"isfinite", "is_finite", &e::isfinite},
    {"logical_not", "not"},
    {"bitwise_not", "not"},
    {"+", "add"},
    {"-", "subtract"},
    {"subtract_constant", "subtract"},
    {"*", "multiply"},
    {"/", "divide", &e::divide},
    {"maximum", "maximum"},
    {"minimum", "minimum"},
    {"pow", "power"},
    {"atan2", "atan2"},
    {"logaddexp", "exponential, log_plus_one", &e::logaddexp},
    {"remainder", "remainder, select", &e::remainder},
    {"fmod", "remainder", &e::fmod},
    {"floor_divide", "remainder, divide", &e::floor_divide},
    {"hypot", "sqrt, multiply", &e::hypot},
    {"copysign", "bitcast_convert, select", &e::copysign},
    {"xlogy", "log, multiply, select", &e::xlogy},
    {"equal", "compare", &e::comparison<"EQ">},
    {"not_equal", "compare", &e::comparison<"NE">},
    {"less", "compare", &e::comparison<"LT">},
    {"less_equal", "compare", &e::comparison<"LE">},
    {"greater", "compare", &e::comparison<"GT">},
    {"greater_equal", "compare", &e::comparison<"GE">},
    {"logical_and", "and"},
    {"logical_or", "or"},
    {"logical_xor", "xor"},
    {"bitwise_and", "and"},
    {"bitwise_or", "or"},
    {"bitwise_xor", "xor"},
    {"left_shift", "shift_left, select", &e::left_shift},
    {"right_shift", "shift_right_arithmetic, select", &e::right_shift},
    {"fold_in", "the rounds of Philox: multiply, xor", &r::derived_key<stream::fold>},
    {"split_key", "the rounds of Philox: multiply, xor", &r::derived_key<stream::split>},
    {"masked", "select", &e::masked},
    {"leaky_relu", "multiply, select", &e::leaky_relu},
    {"elu", "exponential_minus_one, select", &e::elu},
    {"clamp", "maximum, minimum", &e::clamp},
    {"where", "select", &e::where},
};

inline constexpr lowering_row others[] = {
    {"reduce", "reduce", &c::reduce},
    {"sum_of_squares", "multiply, reduce", &c::sum_of_squares},
    {"einsum", "dot_general, reduce, transpose", &c::einsum},
    {"einsum min_plus", "add, reduce",
     &c::semiring<c::semiring_product::add_lengths, reduction::min>},
    {"einsum max_plus", "add, reduce",
     &c::semiring<c::semiring_product::add_lengths, reduction::max>},
    {"einsum max_times", "multiply, reduce",
     &c::semiring<c::semiring_product::multiply, reduction::max>},
    {"einsum or_and", "and, reduce", &c::semiring<c::semiring_product::both, reduction::max>},
    {"convolution", "convolution", &w::convolution},
    {"convolution_weights", "convolution", &w::convolution_weights},
    {"stencil", "convolution", &w::stencil},
    {"stencil_weights", "convolution", &w::stencil_weights},
    {"pool", "reduce_window", &w::pool},
    {"pool_matches", "slice, compare, add", &w::pool_matches},
    {"pool_spread", "slice, compare, pad, add", &w::pool_spread},
    {"interpolate", "dot_general with constant weights", &w::interpolate},
    {"cholesky", "cholesky", &l::cholesky},
    {"triangular_solve", "triangular_solve", &l::triangular_solve},
    {"solve", without_counterpart_words, &l::without_counterpart},
    {"inverse", without_counterpart_words, &l::without_counterpart},
    {"determinant", without_counterpart_words, &l::without_counterpart},
    {"slogdet", without_counterpart_words, &l::without_counterpart},
    {"orthonormal_columns", without_counterpart_words, &l::without_counterpart},
    {"eigenvectors", without_counterpart_words, &l::without_counterpart},
    {"singular_vectors", without_counterpart_words, &l::without_counterpart},
    {"householder_product", without_counterpart_words, &l::without_counterpart},
    {"fft", "complex, fft, real, imag", &l::fourier<false>},
    {"ifft", "complex, fft, real, imag", &l::fourier<true>},
    {"rfft", "fft, real, imag", &l::rfft},
    {"irfft", "complex, fft", &l::irfft},
    {"transpose", "transpose", &s::transpose},
    {"reshape", "reshape", &s::reshape},
    {"broadcast_to", "broadcast_in_dim", &s::broadcast_to},
    {"squeeze", "reshape", &s::reshape},
    {"unsqueeze", "reshape", &s::reshape},
    {"flip", "reverse", &s::flip},
    {"roll", "slice, concatenate", &s::roll},
    {"tile", "broadcast_in_dim, reshape", &s::tile},
    {"repeat", "broadcast_in_dim, reshape", &s::repeat},
    {"concatenate", "concatenate", &s::concatenate},
    {"stack", "reshape, concatenate", &s::stack},
    {"pad", "pad; slice and concatenate for edges", &s::pad},
    {"slice", "slice, reverse", &s::slice},
    {"dynamic_slice", "dynamic_slice", &i::dynamic_slice},
    {"update_slice", "dynamic_update_slice", &i::update_slice},
    {"tril", "iota, select", &s::triangle<false>},
    {"triu", "iota, select", &s::triangle<true>},
    {"iota_like", "iota", &s::iota_like},
    {"propagation_barrier", "its operand", &s::identity},
    {"full_like", "broadcast_in_dim", &s::full_like},
    {"bitcast", "bitcast_convert", &s::bitcast},
    {"take", "gather, select", &i::take},
    {"take_along", "gather, select", &i::take_along},
    {"scatter", "scatter", &i::scatter<false>},
    {"put_along", "scatter", &i::scatter<true>},
    {"segment_sum", "scatter", &i::segment_sum},
    {"sum_along", "scatter", &i::sum_along},
    {"one_hot", "iota, compare, convert", &s::one_hot},
    {"cumsum", "reduce_window", &o::scan<reduction::sum>},
    {"cumprod", "reduce_window", &o::scan<reduction::product>},
    {"cummax", "reduce_window", &o::scan<reduction::max>},
    {"cummin", "reduce_window", &o::scan<reduction::min>},
    {"cummax_pick", "reduce_window, gather", &o::pick<reduction::max>},
    {"cummin_pick", "reduce_window, gather", &o::pick<reduction::min>},
    {"cummax_share", "reduce_window, scatter", &o::share<reduction::max>},
    {"cummin_share", "reduce_window, scatter", &o::share<reduction::min>},
    {"logcumsumexp", "pad, exponential, log_plus_one", &o::logcumsumexp},
    {"logcumsumexp_pick", "pad, exponential, log_plus_one", &o::logcumsumexp_pick},
    {"logcumsumexp_share", "pad, exponential, log_plus_one", &o::logcumsumexp_share},
    {"sort", "sort", &o::sort},
    {"argsort", "sort of values and iota", &o::argsort},
    {"top_k", "sort of values and iota, slice", &o::top_k},
    {"max_with_index", "reduce of values and iota", &o::extreme_with_index<reduction::max>},
    {"min_with_index", "reduce of values and iota", &o::extreme_with_index<reduction::min>},
    {"attention", "dot_general, exponential, reduce", &a::attention},
    {"attention_gradient", "dot_general, exponential, reduce", &a::attention_gradient},
    {"attention_gradients", "dot_general, exponential, reduce", &a::attention_gradients},
    {"attention_second_gradient", without_counterpart_words, &l::without_counterpart},
    {"rotary", "slice, multiply, concatenate", &a::rotary},
    {"dropout", "the rounds of Philox, compare, select", &r::dropout},
    {"uniform_like", "the rounds of Philox, convert", &r::uniform_like},
    {"normal_like", without_counterpart_words, &l::without_counterpart},
};

}  // namespace table_parts

SHARDWISE_INLINE const lowering_row* find_lowering(text_view name) noexcept {
  const std::string_view words(name.data(), name.size());
  for (const lowering_row& row : table_parts::functions)
    if (row.name == words) return &row;
  for (const lowering_row& row : table_parts::others)
    if (row.name == words) return &row;
  static constexpr lowering_row conversion{"cast", "convert, select", &elementwise_lowerings::cast};
  return words.starts_with("cast_") ? &conversion : nullptr;
}

SHARDWISE_INLINE mlir_values lower_by(const lowering_row& row, lowering& at) {
  if (row.lower != nullptr) return row.lower(at);
  return {at.op(row.becomes, at.all(), at.result())};
}

}  // namespace shardwise::internal
