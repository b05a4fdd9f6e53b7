// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/activation.hpp"
#include "shardwise/operation/arithmetic.hpp"
#include "shardwise/operation/bitwise.hpp"
#include "shardwise/operation/cast.hpp"
#include "shardwise/operation/catalogue_entry.hpp"
#include "shardwise/operation/clamp.hpp"
#include "shardwise/operation/classification.hpp"
#include "shardwise/operation/comparison.hpp"
#include "shardwise/operation/elementwise_on_paper.hpp"
#include "shardwise/operation/exponential.hpp"
#include "shardwise/operation/finish_gradient.hpp"
#include "shardwise/operation/finite.hpp"
#include "shardwise/operation/gamma.hpp"
#include "shardwise/operation/logical.hpp"
#include "shardwise/operation/random_keys.hpp"
#include "shardwise/operation/rounding.hpp"
#include "shardwise/operation/special.hpp"
#include "shardwise/operation/stop_gradient.hpp"
#include "shardwise/operation/transcendental.hpp"
#include "shardwise/operation/trigonometric.hpp"

namespace shardwise::detail {

/// The part of the catalogue that has the functions that are applied element by element.
inline constexpr catalogued_operation elementwise_catalogue[] = {
    each_entry<functions::negate>("negate", 1, "negative"),
    each_entry<functions::abs>("abs", 1, "abs"),
    each_entry<functions::square>("square", 1, "square"),
    each_entry<functions::relu>("relu", 1, "relu"),
    each_entry<functions::sqrt>("sqrt", 1, "sqrt"),
    each_entry<functions::rsqrt>("rsqrt", 1, "rsqrt"),
    each_entry<functions::cbrt>("cbrt", 1, "cbrt"),
    each_entry<functions::reciprocal>("reciprocal", 1, "reciprocal"),
    each_entry<functions::exp>("exp", 1, "exp"),
    each_entry<functions::exp2>("exp2", 1, "exp2"),
    each_entry<functions::expm1>("expm1", 1, "expm1"),
    each_entry<functions::log>("log", 1, "log"),
    each_entry<functions::log1p>("log1p", 1, "log1p"),
    each_entry<functions::log2>("log2", 1, "log2"),
    each_entry<functions::log10>("log10", 1, "log10"),
    each_entry<functions::sin>("sin", 1, "sin"),
    each_entry<functions::cos>("cos", 1, "cos"),
    each_entry<functions::tan>("tan", 1, "tan"),
    each_entry<functions::asin>("asin", 1, "asin"),
    each_entry<functions::acos>("acos", 1, "acos"),
    each_entry<functions::atan>("atan", 1, "atan"),
    each_entry<functions::sinh>("sinh", 1, "sinh"),
    each_entry<functions::cosh>("cosh", 1, "cosh"),
    each_entry<functions::tanh>("tanh", 1, "tanh"),
    each_entry<functions::asinh>("asinh", 1, "asinh"),
    each_entry<functions::acosh>("acosh", 1, "acosh"),
    each_entry<functions::atanh>("atanh", 1, "atanh"),
    each_entry<functions::erf>("erf", 1, "erf"),
    each_entry<functions::erfc>("erfc", 1, "erfc"),
    each_entry<functions::erfinv>("erfinv", 1, "erfinv, erf_inv"),
    each_entry<functions::lgamma>("lgamma", 1, "gammaln, lgamma"),
    each_entry<functions::digamma>("digamma", 1, "digamma"),
    each_entry<functions::sigmoid>("sigmoid", 1, "sigmoid"),
    each_entry<functions::gelu>("gelu", 1, "gelu(approximate)"),
    each_entry<functions::gelu_exact>("gelu_exact", 1, "gelu"),
    each_entry<functions::silu>("silu", 1, "silu"),
    each_entry<functions::mish>("mish", 1, "mish"),
    each_entry<functions::soft_sign>("soft_sign", 1, "soft_sign, softsign"),
    each_entry<functions::softplus>("softplus", 1, "softplus"),
    each_entry<functions::floor>("floor", 1, "floor"),
    each_entry<functions::ceil>("ceil", 1, "ceil"),
    each_entry<functions::round>("round", 1, "round"),
    each_entry<functions::trunc>("trunc", 1, "trunc"),
    each_entry<functions::sign>("sign", 1, "sign"),
    each_entry<functions::isnan>("isnan", 1, "isnan"),
    each_entry<functions::isinf>("isinf", 1, "isinf"),
    each_entry<functions::isfinite>("isfinite", 1, "isfinite"),
    each_entry<functions::logical_not>("logical_not", 1, "logical_not"),
    each_entry<functions::bitwise_not>("bitwise_not", 1, "bitwise_not"),
    each_entry<functions::stop_gradient>("stop_gradient", 1, "stop_gradient, detach"),
    each_entry<functions::finish_gradient>("finish_gradient", 1, "MixedPrecision(reduce_dtype)"),
    each_entry<functions::add>("add", 2, "+"),
    each_entry<functions::subtract>("subtract", 2, "-"),
    each_entry<functions::subtract_constant>("subtract_constant", 2, "x - stop_gradient(y)"),
    each_entry<functions::multiply>("multiply", 2, "*, mul"),
    each_entry<functions::divide>("divide", 2, "/, div"),
    each_entry<functions::maximum>("maximum", 2, "maximum"),
    each_entry<functions::minimum>("minimum", 2, "minimum"),
    each_entry<functions::pow>("pow", 2, "pow, float_power"),
    each_entry<functions::atan2>("atan2", 2, "atan2"),
    each_entry<functions::logaddexp>("logaddexp", 2, "logaddexp"),
    each_entry<functions::remainder>("remainder", 2, "remainder, mod"),
    each_entry<functions::fmod>("fmod", 2, "fmod, rem"),
    each_entry<functions::floor_divide>("floor_divide", 2, "floor_divide, //"),
    each_entry<functions::hypot>("hypot", 2, "hypot"),
    each_entry<functions::copysign>("copysign", 2, "copysign"),
    each_entry<functions::xlogy>("xlogy", 2, "xlogy"),
    each_entry<functions::equal>("equal", 2, "==, eq"),
    each_entry<functions::not_equal>("not_equal", 2, "!=, ne"),
    each_entry<functions::less>("less", 2, "<, lt"),
    each_entry<functions::less_equal>("less_equal", 2, "<=, le"),
    each_entry<functions::greater>("greater", 2, ">, gt"),
    each_entry<functions::greater_equal>("greater_equal", 2, ">=, ge"),
    each_entry<functions::logical_and>("logical_and", 2, "logical_and"),
    each_entry<functions::logical_or>("logical_or", 2, "logical_or"),
    each_entry<functions::logical_xor>("logical_xor", 2, "logical_xor"),
    each_entry<functions::bitwise_and>("bitwise_and", 2, "bitwise_and"),
    each_entry<functions::bitwise_or>("bitwise_or", 2, "bitwise_or"),
    each_entry<functions::bitwise_xor>("bitwise_xor", 2, "bitwise_xor"),
    each_entry<functions::left_shift>("left_shift", 2, "left_shift"),
    each_entry<functions::right_shift>("right_shift", 2, "right_shift"),
    each_entry<functions::fold_in>("fold_in", 2, "random.fold_in", "i64[8] i64[8]"),
    each_entry<functions::split_key>("split_key", 2, "random.split", "i64[8] i64[8]"),
    each_entry<functions::masked>("masked", 2, "where(c, x, 0)", "f32[8,4] bool[8,4]"),
    each_entry<functions::leaky_relu>("leaky_relu", 2, "leaky_relu", "f32[8,4] f32[]"),
    each_entry<functions::elu>("elu", 2, "elu", "f32[8,4] f32[]"),
    each_entry<functions::clamp>("clamp", 3, "clamp, clip"),
    each_entry<functions::where>("where", 3, "where, select, masked_fill",
                                 "bool[8,4] f32[8,4] f32[8,4]"),
    composed_each_entry("hardtanh", "f32[8,4]", 1, "hardtanh", &composed_steps::hardtanh, false),
    composed_each_entry("relu6", "f32[8,4]", 1, "relu6", &composed_steps::hardtanh, false),
    composed_each_entry("hard_sigmoid", "f32[8,4]", 1, "hard_sigmoid, hardsigmoid",
                        &composed_steps::hard_sigmoid, true),
    composed_each_entry("hard_swish", "f32[8,4]", 1, "hard_swish, hardswish",
                        &composed_steps::hard_swish, true),
    composed_each_entry("log_sigmoid", "f32[8,4]", 1, "log_sigmoid, logsigmoid",
                        &composed_steps::log_sigmoid, true),
    composed_each_entry("selu", "f32[8,4]", 1, "selu", &composed_steps::selu, true),
    composed_each_entry("celu", "f32[8,4] f32[]", 2, "celu", &composed_steps::celu, true),
    composed_each_entry("soft_shrink", "f32[8,4] f32[]", 2, "softshrink",
                        &composed_steps::soft_shrink, false),
    composed_each_entry("hard_shrink", "f32[8,4] f32[]", 2, "hardshrink",
                        &composed_steps::hard_shrink, false),
    composed_each_entry("logit", "f32[8,4]", 1, "logit", &composed_steps::logit, true),
    composed_each_entry("deg2rad", "f32[8,4]", 1, "deg2rad, radians", &composed_steps::scaled,
                        true),
    composed_each_entry("rad2deg", "f32[8,4]", 1, "rad2deg, degrees", &composed_steps::scaled,
                        true),
    composed_each_entry("sinc", "f32[8,4]", 1, "sinc", &composed_steps::sinc, true),
    composed_each_entry("heaviside", "f32[8,4] f32[8,4]", 2, "heaviside",
                        &composed_steps::heaviside, false),
    composed_each_entry("nan_to_num", "f32[8,4]", 1, "nan_to_num", &composed_steps::nan_to_num,
                        false),
    composed_each_entry("isclose", "f32[8,4] f32[8,4]", 2, "isclose", &composed_steps::isclose,
                        true, false),
    composed_each_entry("lerp", "f32[8,4] f32[8,4] f32[]", 3, "lerp", &composed_steps::lerp, false),
    composed_each_entry("addcmul", "f32[8,4] f32[8,4] f32[8,4]", 3, "addcmul",
                        &composed_steps::addcmul, false),
    gathering(composed_entry<cast_judge>("cast", "type across?", "f32[8,4]", "type=bf16",
                                         "astype, to", &composed_steps::cast, 1, 1, true, false)),
};

}  // namespace shardwise::detail
