// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/across.hpp"
#include "shardwise/operation/activation.hpp"
#include "shardwise/operation/arithmetic.hpp"
#include "shardwise/operation/attention.hpp"
#include "shardwise/operation/bitwise.hpp"
#include "shardwise/operation/broadcast_to.hpp"
#include "shardwise/operation/cast.hpp"
#include "shardwise/operation/catalogue_collective.hpp"
#include "shardwise/operation/catalogue_entry.hpp"
#include "shardwise/operation/clamp.hpp"
#include "shardwise/operation/classification.hpp"
#include "shardwise/operation/comparison.hpp"
#include "shardwise/operation/concatenate.hpp"
#include "shardwise/operation/convolution.hpp"
#include "shardwise/operation/cross_entropy.hpp"
#include "shardwise/operation/cumprod.hpp"
#include "shardwise/operation/cumsum.hpp"
#include "shardwise/operation/dropout.hpp"
#include "shardwise/operation/dynamic_slice.hpp"
#include "shardwise/operation/einsum_operation.hpp"
#include "shardwise/operation/exponential.hpp"
#include "shardwise/operation/finish_gradient.hpp"
#include "shardwise/operation/flip.hpp"
#include "shardwise/operation/iota_like.hpp"
#include "shardwise/operation/layer_norm.hpp"
#include "shardwise/operation/logical.hpp"
#include "shardwise/operation/max_with_index.hpp"
#include "shardwise/operation/one_hot.hpp"
#include "shardwise/operation/pad.hpp"
#include "shardwise/operation/pool.hpp"
#include "shardwise/operation/random_keys.hpp"
#include "shardwise/operation/reduce.hpp"
#include "shardwise/operation/reshape.hpp"
#include "shardwise/operation/roll.hpp"
#include "shardwise/operation/rotary.hpp"
#include "shardwise/operation/rounding.hpp"
#include "shardwise/operation/scatter.hpp"
#include "shardwise/operation/segment_sum.hpp"
#include "shardwise/operation/slice.hpp"
#include "shardwise/operation/softmax.hpp"
#include "shardwise/operation/sort.hpp"
#include "shardwise/operation/split_at.hpp"
#include "shardwise/operation/squeeze.hpp"
#include "shardwise/operation/stack.hpp"
#include "shardwise/operation/stencil.hpp"
#include "shardwise/operation/stop_gradient.hpp"
#include "shardwise/operation/take.hpp"
#include "shardwise/operation/tile.hpp"
#include "shardwise/operation/transcendental.hpp"
#include "shardwise/operation/transpose.hpp"
#include "shardwise/operation/triangle.hpp"
#include "shardwise/operation/trigonometric.hpp"

namespace shardwise {

/// All operations of the library that have operands, by the names of their functions; operators
/// have names here too. Tools and documentation are generated from this list.
///
///     for (const catalogued_operation& one : catalogue) names.push_back(one.name);
inline constexpr catalogued_operation catalogue[] = {
    // Elementwise functions.
    detail::each_entry<functions::negate>("negate", 1, "negative"),
    detail::each_entry<functions::abs>("abs", 1, "abs"),
    detail::each_entry<functions::square>("square", 1, "square"),
    detail::each_entry<functions::relu>("relu", 1, "relu"),
    detail::each_entry<functions::sqrt>("sqrt", 1, "sqrt"),
    detail::each_entry<functions::rsqrt>("rsqrt", 1, "rsqrt"),
    detail::each_entry<functions::cbrt>("cbrt", 1, "cbrt"),
    detail::each_entry<functions::reciprocal>("reciprocal", 1, "reciprocal"),
    detail::each_entry<functions::exp>("exp", 1, "exp"),
    detail::each_entry<functions::exp2>("exp2", 1, "exp2"),
    detail::each_entry<functions::expm1>("expm1", 1, "expm1"),
    detail::each_entry<functions::log>("log", 1, "log"),
    detail::each_entry<functions::log1p>("log1p", 1, "log1p"),
    detail::each_entry<functions::log2>("log2", 1, "log2"),
    detail::each_entry<functions::log10>("log10", 1, "log10"),
    detail::each_entry<functions::sin>("sin", 1, "sin"),
    detail::each_entry<functions::cos>("cos", 1, "cos"),
    detail::each_entry<functions::tan>("tan", 1, "tan"),
    detail::each_entry<functions::asin>("asin", 1, "asin"),
    detail::each_entry<functions::acos>("acos", 1, "acos"),
    detail::each_entry<functions::atan>("atan", 1, "atan"),
    detail::each_entry<functions::sinh>("sinh", 1, "sinh"),
    detail::each_entry<functions::cosh>("cosh", 1, "cosh"),
    detail::each_entry<functions::tanh>("tanh", 1, "tanh"),
    detail::each_entry<functions::asinh>("asinh", 1, "asinh"),
    detail::each_entry<functions::acosh>("acosh", 1, "acosh"),
    detail::each_entry<functions::atanh>("atanh", 1, "atanh"),
    detail::each_entry<functions::erf>("erf", 1, "erf"),
    detail::each_entry<functions::erfc>("erfc", 1, "erfc"),
    detail::each_entry<functions::sigmoid>("sigmoid", 1, "sigmoid"),
    detail::each_entry<functions::gelu>("gelu", 1, "gelu(approximate)"),
    detail::each_entry<functions::gelu_exact>("gelu_exact", 1, "gelu"),
    detail::each_entry<functions::silu>("silu", 1, "silu"),
    detail::each_entry<functions::softplus>("softplus", 1, "softplus"),
    detail::each_entry<functions::floor>("floor", 1, "floor"),
    detail::each_entry<functions::ceil>("ceil", 1, "ceil"),
    detail::each_entry<functions::round>("round", 1, "round"),
    detail::each_entry<functions::trunc>("trunc", 1, "trunc"),
    detail::each_entry<functions::sign>("sign", 1, "sign"),
    detail::each_entry<functions::isnan>("isnan", 1, "isnan"),
    detail::each_entry<functions::isinf>("isinf", 1, "isinf"),
    detail::each_entry<functions::isfinite>("isfinite", 1, "isfinite"),
    detail::each_entry<functions::logical_not>("logical_not", 1, "logical_not"),
    detail::each_entry<functions::bitwise_not>("bitwise_not", 1, "bitwise_not"),
    detail::each_entry<functions::stop_gradient>("stop_gradient", 1, "stop_gradient, detach"),
    detail::each_entry<functions::finish_gradient>("finish_gradient", 1,
                                                   "MixedPrecision(reduce_dtype)"),
    detail::each_entry<functions::add>("add", 2, "+"),
    detail::each_entry<functions::subtract>("subtract", 2, "-"),
    detail::each_entry<functions::subtract_constant>("subtract_constant", 2,
                                                     "x - stop_gradient(y)"),
    detail::each_entry<functions::multiply>("multiply", 2, "*, mul"),
    detail::each_entry<functions::divide>("divide", 2, "/, div"),
    detail::each_entry<functions::maximum>("maximum", 2, "maximum"),
    detail::each_entry<functions::minimum>("minimum", 2, "minimum"),
    detail::each_entry<functions::pow>("pow", 2, "pow, float_power"),
    detail::each_entry<functions::atan2>("atan2", 2, "atan2"),
    detail::each_entry<functions::logaddexp>("logaddexp", 2, "logaddexp"),
    detail::each_entry<functions::remainder>("remainder", 2, "remainder, mod"),
    detail::each_entry<functions::fmod>("fmod", 2, "fmod, rem"),
    detail::each_entry<functions::equal>("equal", 2, "==, eq"),
    detail::each_entry<functions::not_equal>("not_equal", 2, "!=, ne"),
    detail::each_entry<functions::less>("less", 2, "<, lt"),
    detail::each_entry<functions::less_equal>("less_equal", 2, "<=, le"),
    detail::each_entry<functions::greater>("greater", 2, ">, gt"),
    detail::each_entry<functions::greater_equal>("greater_equal", 2, ">=, ge"),
    detail::each_entry<functions::logical_and>("logical_and", 2, "logical_and"),
    detail::each_entry<functions::logical_or>("logical_or", 2, "logical_or"),
    detail::each_entry<functions::logical_xor>("logical_xor", 2, "logical_xor"),
    detail::each_entry<functions::bitwise_and>("bitwise_and", 2, "bitwise_and"),
    detail::each_entry<functions::bitwise_or>("bitwise_or", 2, "bitwise_or"),
    detail::each_entry<functions::bitwise_xor>("bitwise_xor", 2, "bitwise_xor"),
    detail::each_entry<functions::left_shift>("left_shift", 2, "left_shift"),
    detail::each_entry<functions::right_shift>("right_shift", 2, "right_shift"),
    detail::each_entry<functions::fold_in>("fold_in", 2, "random.fold_in", "i64[8] i64[8]"),
    detail::each_entry<functions::split_key>("split_key", 2, "random.split", "i64[8] i64[8]"),
    detail::each_entry<functions::masked>("masked", 2, "where(c, x, 0)", "f32[8,4] bool[8,4]"),
    detail::each_entry<functions::leaky_relu>("leaky_relu", 2, "leaky_relu", "f32[8,4] f32[]"),
    detail::each_entry<functions::elu>("elu", 2, "elu", "f32[8,4] f32[]"),
    detail::each_entry<functions::clamp>("clamp", 3, "clamp, clip"),
    detail::each_entry<functions::where>("where", 3, "where, select",
                                         "bool[8,4] f32[8,4] f32[8,4]"),
    detail::composed_entry<detail::elementwise_judge>("hardtanh", "", "f32[8,4]", "", "hardtanh",
                                                      &detail::composed_steps::hardtanh, 1, 1, true,
                                                      false),
    detail::composed_entry<detail::elementwise_judge>(
        "hard_sigmoid", "", "f32[8,4]", "", "hardsigmoid", &detail::composed_steps::hard_sigmoid),
    detail::composed_entry<detail::elementwise_judge>("log_sigmoid", "", "f32[8,4]", "",
                                                      "log_sigmoid, logsigmoid",
                                                      &detail::composed_steps::log_sigmoid),
    detail::composed_entry<detail::elementwise_judge>("mish", "", "f32[8,4]", "", "mish",
                                                      &detail::composed_steps::mish),
    detail::composed_entry<detail::elementwise_judge>("lerp", "", "f32[8,4] f32[8,4] f32[]", "",
                                                      "lerp", &detail::composed_steps::lerp, 3, 3,
                                                      true, false),
    detail::composed_entry<detail::elementwise_judge>(
        "addcmul", "", "f32[8,4] f32[8,4] f32[8,4]", "", "addcmul",
        &detail::composed_steps::addcmul, 3, 3, true, false),
    detail::composed_entry<pointwise<functions::cast<float>>>(
        "cast", "type", "f32[8,4]", "type=bf16", "astype, to", &detail::composed_steps::cast, 1, 1,
        true, false),
    // Reductions.
    detail::reduction_entry<reduction::sum>("sum", "sum"),
    detail::reduction_entry<reduction::product>("product", "prod"),
    detail::reduction_entry<reduction::max>("max", "max, amax"),
    detail::reduction_entry<reduction::min>("min", "min, amin"),
    detail::reduced_entry<reduction_operation, reduction::sum>("mean", "mean",
                                                               &detail::composed_steps::mean),
    detail::reduced_entry<detail::reduction_of_made, reduction::sum>(
        "any", "any", &detail::composed_steps::any, "bool[8,4]", false, false),
    detail::reduced_entry<detail::reduction_of_made, reduction::sum>(
        "all", "all", &detail::composed_steps::all, "bool[8,4]", false, false),
    detail::reduced_entry<detail::reduction_of_made, reduction::sum>(
        "count_nonzero", "count_nonzero", &detail::composed_steps::count_nonzero, "bool[8,4]",
        false, false),
    detail::reduced_entry<detail::reduction_of_made, reduction::sum>(
        "l1_norm", "vector_norm(ord=1)", &detail::composed_steps::l1_norm, "f32[8,4]", false),
    detail::reduced_entry<detail::reduction_of_whole, reduction::sum>(
        "l2_norm", "vector_norm", &detail::composed_steps::l2_norm),
    detail::reduced_entry<detail::reduction_of_made, reduction::max>(
        "max_norm", "vector_norm(ord=inf)", &detail::composed_steps::max_norm, "f32[8,4]", false),
    detail::composed_entry<detail::reduction_of_whole>(
        "variance", "dims? keep_dims? correction? across?", "f32[8,4]", "dims=1", "var",
        &detail::composed_steps::variance, 1, 1, true, true,
        &detail::reduction_how<reduction::sum>),
    detail::composed_entry<detail::reduction_of_whole>(
        "standard_deviation", "dims? keep_dims? correction? across?", "f32[8,4]", "dims=1", "std",
        &detail::composed_steps::standard_deviation, 1, 1, true, true,
        &detail::reduction_how<reduction::sum>),
    detail::reduced_entry<detail::reduction_of_whole, reduction::sum>(
        "logsumexp", "logsumexp", &detail::composed_steps::logsumexp),
    detail::search_entry<max_with_index_operation>("max_with_index", "max(dim)", false),
    detail::search_entry<min_with_index_operation>("min_with_index", "min(dim)", false),
    detail::search_entry<max_with_index_operation>("argmax", "argmax", true),
    detail::search_entry<min_with_index_operation>("argmin", "argmin", true),
    // Contractions.
    detail::composed_entry<detail::contraction_judge>(
        "einsum", "equation semiring?", "f32[8,16] f32[16,4]", "equation=bi,io->bo",
        "einsum, dot_general, matmul", &detail::composed_steps::contraction, 1, max_operands, true,
        false, &detail::einsum_how),
    detail::whole_entry<convolution_operation>(
        "convolution", "stride? padding? dilation? groups? across?", "f32[2,4,8,8] f32[6,4,3,3]",
        "padding=1,1", "conv_general_dilated, conv1d, conv2d, conv3d", 2, 2,
        &detail::convolution_how),
    detail::whole_entry<stencil_operation>(
        "stencil", "padding? dilation? across?", "f32[2,8,8] f32[3,3]", "",
        "conv2d(padding=same) of one channel", 2, 2, &detail::stencil_how),
    detail::pool_entry<reduction::max>("max_pool", "reduce_window(max), max_pool1d, max_pool2d"),
    detail::pool_entry<reduction::sum>("average_pool",
                                       "reduce_window(add), avg_pool1d, avg_pool2d"),
    // Shapes.
    detail::whole_entry<transpose_operation>("transpose", "order", "f32[8,4]", "order=1,0",
                                             "transpose, permute"),
    detail::whole_entry<reshape_operation>("reshape", "shape", "f32[8,4]", "shape=8x2x2",
                                           "reshape, view"),
    detail::whole_entry<broadcast_to_operation>("broadcast_to", "shape", "f32[8,1]", "shape=2x8x4",
                                                "broadcast_to, expand"),
    detail::whole_entry<squeeze_operation>("squeeze", "dims", "f32[8,1]", "dims=1", "squeeze"),
    detail::making_entry<unsqueeze_operation>("unsqueeze", "dims", "f32[8,4]", "dims=1",
                                              "expand_dims, unsqueeze", 1),
    detail::whole_entry<flip_operation>("flip", "dims across?", "f32[8,4]", "dims=1", "flip, rev"),
    detail::whole_entry<roll_operation>("roll", "dim places across?", "f32[8,4]", "dim=1 places=1",
                                        "roll"),
    detail::whole_entry<tile_operation>("tile", "counts across?", "f32[8,4]", "counts=1,2",
                                        "tile, repeat"),
    detail::whole_entry<repeat_operation>("repeat", "dim count across?", "f32[8,4]",
                                          "dim=1 count=2", "repeat, repeat_interleave"),
    detail::whole_entry<concatenate_operation>("concatenate", "dim", "f32[8,4] f32[8,2]", "dim=1",
                                               "concatenate, cat", 1, max_operands),
    detail::making_entry<stack_operation>("stack", "dim", "f32[8,4] f32[8,4]", "dim=0", "stack",
                                          max_operands),
    detail::composed_entry<detail::split_judge>("split_at", "dim ends", "f32[8,4]",
                                                "dim=1 ends=1,3", "split",
                                                &detail::composed_steps::split, 1, 1, true, false),
    detail::whole_entry<pad_operation>("pad", "amounts mode? across?", "f32[8,4]",
                                       "amounts=0,0,1,2", "pad", 1, 2, &detail::pad_how),
    detail::whole_entry<slice_operation>("slice_in_dim", "dim begin? end? step? across?",
                                         "f32[8,4]", "dim=1 begin=1 end=3",
                                         "slice, slice_in_dim, x[a:b]", 1, 1, &detail::slice_how),
    detail::whole_entry<slice_operation>("index_at", "dim index across?", "f32[8,4]",
                                         "dim=1 index=0", "x[i], select", 1, 1, &detail::index_how),
    detail::whole_entry<dynamic_slice_operation>("dynamic_slice", "dim size across?",
                                                 "f32[8,4] i64[]", "dim=1 size=2",
                                                 "dynamic_slice, narrow", 2, 2),
    detail::whole_entry<update_slice_operation>("update_slice", "dim across?",
                                                "f32[8,4] f32[8,2] i64[]", "dim=1",
                                                "dynamic_update_slice, slice_scatter", 3, 3),
    detail::whole_entry<tril_operation>("tril", "diagonal?", "f32[8,4]", "diagonal=0", "tril"),
    detail::whole_entry<triu_operation>("triu", "diagonal?", "f32[8,4]", "diagonal=0", "triu"),
    detail::whole_entry<iota_like_operation>("iota_like", "dim", "f32[8,4]", "dim=1",
                                             "broadcasted_iota"),
    // Indices.
    detail::whole_entry<take_operation>("take", "dim out_of_range? across?", "f32[8,4] i32[6]",
                                        "dim=0", "take, gather, index_select", 2, 2),
    detail::composed_entry<take_operation>("embedding", "out_of_range? across?", "f32[8,4] i32[6]",
                                           "", "embedding", nullptr, 2, 2, true, false,
                                           &detail::embedding_how),
    detail::whole_entry<take_along_operation>("take_along", "dim out_of_range? across?",
                                              "f32[8,4] i32[8,2]", "dim=1",
                                              "take_along_axis, gather", 2, 2),
    detail::whole_entry<scatter_operation>("scatter_set", "dim out_of_range? across?",
                                           "f32[8,4] i32[6] f32[6,4]", "dim=0", "scatter", 3, 3,
                                           &detail::scatter_how<scatter_mode::set>),
    detail::whole_entry<scatter_operation>(
        "scatter_add", "dim out_of_range? across?", "f32[8,4] i32[6] f32[6,4]", "dim=0",
        "scatter_add, index_add", 3, 3, &detail::scatter_how<scatter_mode::add>),
    detail::whole_entry<scatter_operation>(
        "scatter_max", "dim out_of_range? across?", "f32[8,4] i32[6] f32[6,4]", "dim=0",
        "scatter_max, index_reduce", 3, 3, &detail::scatter_how<scatter_mode::max>),
    detail::whole_entry<scatter_operation>(
        "scatter_min", "dim out_of_range? across?", "f32[8,4] i32[6] f32[6,4]", "dim=0",
        "scatter_min, index_reduce", 3, 3, &detail::scatter_how<scatter_mode::min>),
    detail::whole_entry<segment_sum_operation>("segment_sum", "dim count out_of_range? across?",
                                               "f32[8,4] i32[8]", "dim=0 count=3", "segment_sum", 2,
                                               2),
    detail::whole_entry<sum_along_operation>("sum_along", "dim count out_of_range? across?",
                                             "f32[8,4] i32[8,4]", "dim=1 count=3", "scatter_add", 2,
                                             2),
    detail::whole_entry<one_hot_operation>("one_hot", "classes type?", "i32[8]", "classes=10",
                                           "one_hot", 1, 1, &detail::one_hot_how),
    // Scans and sorting.
    detail::whole_entry<cumsum_operation>("cumsum", "dim across?", "f32[8,4]", "dim=1", "cumsum"),
    detail::whole_entry<cumprod_operation>("cumprod", "dim across?", "f32[8,4]", "dim=1",
                                           "cumprod"),
    detail::whole_entry<cummax_operation>("cummax", "dim across?", "f32[8,4]", "dim=1", "cummax"),
    detail::whole_entry<cummin_operation>("cummin", "dim across?", "f32[8,4]", "dim=1", "cummin"),
    detail::whole_entry<sort_operation>("sort", "dim descending? across?", "f32[8,4]", "dim=1",
                                        "sort"),
    detail::whole_entry<argsort_operation>("argsort", "dim descending? across?", "f32[8,4]",
                                           "dim=1", "argsort"),
    detail::top_k_entry(),
    // Composed operations.
    detail::composed_entry<softmax_operation>("softmax", "dim across?", "f32[8,4]", "dim=1",
                                              "softmax", &detail::composed_steps::softmax),
    detail::composed_entry<softmax_operation>("log_softmax", "dim across?", "f32[8,4]", "dim=1",
                                              "log_softmax", &detail::composed_steps::log_softmax),
    detail::composed_entry<detail::scaled_judge>("layer_norm", "dims across?",
                                                 "f32[8,4] f32[4] f32[4]", "dims=1", "layer_norm",
                                                 &detail::composed_steps::layer_norm, 1, 3),
    detail::composed_entry<detail::scaled_judge>("rms_norm", "dims across?", "f32[8,4] f32[4]",
                                                 "dims=1", "rms_norm",
                                                 &detail::composed_steps::rms_norm, 1, 2),
    detail::composed_entry<cross_entropy_operation>("cross_entropy", "dim across?",
                                                    "f32[8,4] i32[8]", "dim=1", "cross_entropy",
                                                    &detail::composed_steps::cross_entropy, 2, 2),
    detail::fractional_entry<attention_operation>(
        "attention", "attends? across?", "f32[2,6,8] f32[2,4,8] f32[2,4,8]", "attends=to_all",
        "scaled_dot_product_attention", 3, 4),
    detail::fractional_entry<rotary_operation>("rotary", "pairs? across?",
                                               "f32[2,6,8] f32[6,4] f32[6,4]", "pairs=halves",
                                               "rotary embedding", 3, 3),
    detail::fractional_entry<dropout_operation>("dropout", "", "f32[8,4] i64[] f32[]", "",
                                                "dropout", 3, 3),
    // Collectives on manual axes.
    detail::collective_entry<collective::all_reduce>("all_reduce", "axes reduction?", "axes=y",
                                                     "psum, pmax, pmin, all_reduce"),
    detail::device_mean_entry(),
    detail::collective_entry<collective::all_reduce>("all_and", "axes", "axes=y",
                                                     "all_reduce (and)", "bool[8,4]{V:y}",
                                                     &detail::reduction_called<reduction::min>),
    detail::collective_entry<collective::all_reduce>("all_or", "axes", "axes=y", "all_reduce (or)",
                                                     "bool[8,4]{V:y}",
                                                     &detail::reduction_called<reduction::max>),
    detail::collective_entry<collective::all_gather>("all_gather", "axes dim", "axes=y dim=0",
                                                     "all_gather"),
    detail::collective_entry<collective::reduce_scatter>(
        "reduce_scatter", "axes dim reduction?", "axes=y dim=0", "psum_scatter, reduce_scatter"),
    detail::collective_entry<collective::all_to_all>("all_to_all", "axes split concat",
                                                     "axes=y split=0 concat=1", "all_to_all"),
    detail::collective_entry<collective::collective_permute>(
        "permute", "axes sends", "axes=y sends=0,1", "ppermute, collective_permute"),
    detail::collective_entry<collective::collective_permute>("shift", "axes places edge?",
                                                             "axes=y places=1", "ppermute"),
    detail::collective_entry<collective::broadcast>("broadcast", "axes index", "axes=y index=0",
                                                    "collective_broadcast"),
    detail::collective_entry<collective::slice>("vary", "axes", "axes=y", "pvary", "f32[8,4]"),
    detail::collective_entry<collective::slice>("all_slice", "axes dim", "axes=y dim=0",
                                                "all_slice, dynamic_slice by axis_index",
                                                "f32[8,4]"),
    detail::collective_entry<collective::slice>("as_terms", "axes", "axes=y", "unreduced",
                                                "f32[8,4]{V:y}", &detail::terms_called),
    detail::composed_entry<detail::reshard_judge>("reshard", "", "f32[8,4]", "",
                                                  "reshard, redistribute, mark_sharding", nullptr,
                                                  1, 1, true, false),
};

/// Returns the operation of this name, or null.
[[nodiscard]] constexpr const catalogued_operation* find_operation(text_view name) noexcept {
  for (const catalogued_operation& one : catalogue)
    if (one.name == name) return &one;
  return nullptr;
}

}  // namespace shardwise
