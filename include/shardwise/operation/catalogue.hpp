// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/across.hpp"
#include "shardwise/operation/attention.hpp"
#include "shardwise/operation/bitcast.hpp"
#include "shardwise/operation/broadcast_to.hpp"
#include "shardwise/operation/catalogue_collective.hpp"
#include "shardwise/operation/catalogue_elementwise.hpp"
#include "shardwise/operation/catalogue_entry.hpp"
#include "shardwise/operation/concatenate.hpp"
#include "shardwise/operation/convolution.hpp"
#include "shardwise/operation/cross_entropy.hpp"
#include "shardwise/operation/cumprod.hpp"
#include "shardwise/operation/cumsum.hpp"
#include "shardwise/operation/dropout.hpp"
#include "shardwise/operation/dynamic_slice.hpp"
#include "shardwise/operation/einsum_operation.hpp"
#include "shardwise/operation/flip.hpp"
#include "shardwise/operation/fourier_operation.hpp"
#include "shardwise/operation/full_like.hpp"
#include "shardwise/operation/glu.hpp"
#include "shardwise/operation/householder_product.hpp"
#include "shardwise/operation/index_at.hpp"
#include "shardwise/operation/iota_like.hpp"
#include "shardwise/operation/layer_norm.hpp"
#include "shardwise/operation/logcumsumexp.hpp"
#include "shardwise/operation/matrices_on_paper.hpp"
#include "shardwise/operation/max_with_index.hpp"
#include "shardwise/operation/one_hot.hpp"
#include "shardwise/operation/pad.hpp"
#include "shardwise/operation/pool.hpp"
#include "shardwise/operation/propagation_barrier.hpp"
#include "shardwise/operation/put_along.hpp"
#include "shardwise/operation/random_like.hpp"
#include "shardwise/operation/reduce.hpp"
#include "shardwise/operation/reshape.hpp"
#include "shardwise/operation/roll.hpp"
#include "shardwise/operation/rotary.hpp"
#include "shardwise/operation/scatter.hpp"
#include "shardwise/operation/segment_sum.hpp"
#include "shardwise/operation/slice.hpp"
#include "shardwise/operation/softmax.hpp"
#include "shardwise/operation/sort.hpp"
#include "shardwise/operation/split_at.hpp"
#include "shardwise/operation/squeeze.hpp"
#include "shardwise/operation/stack.hpp"
#include "shardwise/operation/stencil.hpp"
#include "shardwise/operation/take.hpp"
#include "shardwise/operation/tile.hpp"
#include "shardwise/operation/transpose.hpp"
#include "shardwise/operation/triangle.hpp"

#include <array>
#include <cstddef>

namespace shardwise {

namespace detail {

/// The part of the catalogue that has all other operations.
inline constexpr catalogued_operation whole_catalogue[] = {
    // Reductions.
    reduction_entry<reduction::sum>("sum", "sum"),
    reduction_entry<reduction::product>("product", "prod"),
    reduction_entry<reduction::max>("max", "max, amax"),
    reduction_entry<reduction::min>("min", "min, amin"),
    reduced_entry<reduction_operation, reduction::sum>("mean", "mean", &composed_steps::mean),
    reduced_entry<reduction_of_made, reduction::sum>("any", "any", &composed_steps::any,
                                                     "bool[8,4]", false, false),
    reduced_entry<reduction_of_made, reduction::sum>("all", "all", &composed_steps::all,
                                                     "bool[8,4]", false, false),
    reduced_entry<reduction_of_made, reduction::sum>("count_nonzero", "count_nonzero",
                                                     &composed_steps::count_nonzero, "bool[8,4]",
                                                     false, false),
    reduced_entry<reduction_of_made, reduction::sum>("l1_norm", "vector_norm(ord=1)",
                                                     &composed_steps::l1_norm, "f32[8,4]", false),
    reduced_entry<reduction_of_whole, reduction::sum>("l2_norm", "vector_norm",
                                                      &composed_steps::l2_norm),
    reduced_entry<reduction_of_made, reduction::max>("max_norm", "vector_norm(ord=inf)",
                                                     &composed_steps::max_norm, "f32[8,4]", false),
    composed_entry<lp_norm_judge>("lp_norm", "dims? keep_dims? across?", "f32[8,4] f32[]", "dims=1",
                                  "vector_norm(ord=p)", &composed_steps::lp_norm, 2, 2, true, true,
                                  &reduction_how<reduction::sum>),
    composed_entry<reduction_of_whole>("variance", "dims? keep_dims? correction? across?",
                                       "f32[8,4]", "dims=1", "var", &composed_steps::variance, 1, 1,
                                       true, true, &reduction_how<reduction::sum>),
    composed_entry<reduction_of_whole>(
        "standard_deviation", "dims? keep_dims? correction? across?", "f32[8,4]", "dims=1", "std",
        &composed_steps::standard_deviation, 1, 1, true, true, &reduction_how<reduction::sum>),
    reduced_entry<reduction_of_whole, reduction::sum>("logsumexp", "logsumexp",
                                                      &composed_steps::logsumexp),
    reduced_entry<reduction_of_made, reduction::sum>(
        "nansum", "nansum", &composed_steps::without_nan<reduction::sum>, "f32[8,4]", false),
    reduced_entry<reduction_of_whole, reduction::sum>("nanmean", "nanmean",
                                                      &composed_steps::nanmean),
    reduced_entry<reduction_of_made, reduction::max>(
        "nanmax", "nanmax", &composed_steps::without_nan<reduction::max>, "f32[8,4]", false),
    reduced_entry<reduction_of_made, reduction::min>(
        "nanmin", "nanmin", &composed_steps::without_nan<reduction::min>, "f32[8,4]", false),
    composed_entry<reduction_of_whole>("nanvar", "dims? keep_dims? correction? across?", "f32[8,4]",
                                       "dims=1", "nanvar", &composed_steps::nanvar, 1, 1, true,
                                       true, &reduction_how<reduction::sum>),
    composed_entry<cov_operation>("cov", "correction? across?", "f32[2,4,8]", "", "cov",
                                  &composed_steps::cov),
    composed_entry<cov_operation>("corrcoef", "across?", "f32[2,4,8]", "", "corrcoef",
                                  &composed_steps::corrcoef),
    composed_entry<trapezoid_judge>("trapezoid", "dim", "f32[8,4]", "dim=1", "trapezoid, trapz",
                                    &composed_steps::trapezoid),
    search_entry<max_with_index_operation>("max_with_index", "max(dim)", false),
    search_entry<min_with_index_operation>("min_with_index", "min(dim)", false),
    search_entry<max_with_index_operation>("argmax", "argmax", true),
    search_entry<min_with_index_operation>("argmin", "argmin", true),
    // Contractions.
    composed_entry<contraction_judge>("einsum", "equation semiring? type?", "f32[8,16] f32[16,4]",
                                      "equation=bi,io->bo", "einsum, dot_general, matmul",
                                      &composed_steps::contraction, 1, max_operands, true, false,
                                      &einsum_how),
    product_entry("matmul", &matmul_how, "f32[2,8,16] f32[2,16,4]", 2, "matmul, bmm, mv, @"),
    product_entry("dot", &product_how<"i,i->">, "f32[8] f32[8]", 2, "dot, vdot"),
    product_entry("outer", &product_how<"i,j->ij">, "f32[8] f32[4]", 2, "outer"),
    product_entry("diagonal", &product_how<"...ii->...i">, "f32[2,8,8]", 1, "diagonal"),
    composed_entry<kron_operation>("kron", "across?", "f32[8,4] f32[2,3]", "", "kron",
                                   &composed_steps::kron, 2, 2, true, false),
    composed_entry<cross_operation>("cross", "dim? across?", "f32[8,3] f32[8,3]", "", "cross",
                                    &composed_steps::cross, 2, 2, true, false, &cross_how),
    composed_entry<cdist_operation>("cdist", "across?", "f32[2,8,4] f32[2,6,4]", "", "cdist",
                                    &composed_steps::cdist, 2, 2),
    whole_entry<convolution_operation>(
        "convolution", "stride? padding? dilation? groups? across?", "f32[2,4,8,8] f32[6,4,3,3]",
        "padding=1,1", "conv_general_dilated, conv1d, conv2d, conv3d", 2, 2, &convolution_how),
    gathering(composed_entry<transposed_judge>(
        "convolution_transpose", "stride? padding? dilation? output_padding? groups? across?",
        "f32[2,4,8,8] f32[4,6,4,4]", "stride=2,2 padding=1,1",
        "conv_transpose, conv_transpose1d, conv_transpose2d",
        &composed_steps::convolution_transpose, 2, 2, true, false, &transposed_how)),
    whole_entry<stencil_operation>("stencil", "padding? dilation? across?", "f32[2,8,8] f32[3,3]",
                                   "", "conv2d(padding=same) of one channel", 2, 2, &stencil_how),
    pool_entry<reduction::max>("max_pool", "reduce_window(max), max_pool1d, max_pool2d"),
    pool_entry<reduction::sum>("average_pool", "reduce_window(add), avg_pool1d, avg_pool2d"),
    interpolate_entry(),
    // Linear algebra.
    fractional_entry<cholesky_operation>("cholesky", "across?", "f32[2,4,4]", "", "cholesky", 1, 1),
    fractional_entry<triangular_solve_operation>("triangular_solve", "upper? transposed? across?",
                                                 "f32[2,4,4] f32[2,4,2]", "",
                                                 "triangular_solve, solve_triangular", 2, 2),
    fractional_entry<solve_operation>("solve", "across?", "f32[2,4,4] f32[2,4,2]", "", "solve", 2,
                                      2),
    fractional_entry<inverse_operation>("inverse", "across?", "f32[2,4,4]", "", "inv", 1, 1),
    composed_entry<pinv_operation>("pinv", "across?", "f32[2,6,4]", "", "pinv",
                                   &composed_steps::pinv),
    composed_entry<matrix_power_operation>("matrix_power", "exponent across?", "f32[2,4,4]",
                                           "exponent=3", "matrix_power",
                                           &composed_steps::matrix_power),
    composed_entry<lstsq_operation>("lstsq", "across?", "f32[2,6,4] f32[2,6,2]", "", "lstsq",
                                    &composed_steps::lstsq, 2, 2),
    fractional_entry<determinant_operation>("determinant", "across?", "f32[2,4,4]", "", "det", 1,
                                            1),
    composed_entry<slogdet_operation>("slogdet", "across?", "f32[2,4,4]", "", "slogdet",
                                      &composed_steps::slogdet),
    composed_entry<orthonormal_columns_operation>("qr", "across?", "f32[2,6,4]", "", "qr",
                                                  &composed_steps::qr),
    composed_entry<eigenvectors_operation>("eigh", "across?", "f32[2,4,4]", "", "eigh",
                                           &composed_steps::eigh),
    composed_entry<singular_vectors_operation>("svd", "across?", "f32[2,6,4]", "", "svd",
                                               &composed_steps::svd),
    fractional_entry<householder_product_operation>("householder_product", "across?",
                                                    "f32[2,6,4] f32[2,3]", "",
                                                    "householder_product, orgqr", 2, 2),
    // Fourier transforms.
    fractional_entry<fft_operation>("fft", "dims across?", "f32[8,4,2]", "dims=1",
                                    "fft, fft2, fftn", 1, 1),
    fractional_entry<ifft_operation>("ifft", "dims across?", "f32[8,4,2]", "dims=1",
                                     "ifft, ifft2, ifftn", 1, 1),
    fractional_entry<rfft_operation>("rfft", "dims across?", "f32[8,6]", "dims=1",
                                     "rfft, rfft2, rfftn", 1, 1),
    fractional_entry<irfft_operation>("irfft", "dims length? across?", "f32[8,4,2]", "dims=1",
                                      "irfft, irfft2, irfftn", 1, 1),
    // Shapes.
    whole_entry<transpose_operation>("transpose", "order", "f32[8,4]", "order=1,0",
                                     "transpose, permute"),
    whole_entry<reshape_operation>("reshape", "shape", "f32[8,4]", "shape=8x2x2", "reshape, view"),
    composed_entry<pixel_shuffle_operation<false>>(
        "pixel_shuffle", "factor across?", "f32[2,12,4,4]", "factor=2", "pixel_shuffle",
        &composed_steps::pixel_shuffle<false>, 1, 1, true, false),
    composed_entry<pixel_shuffle_operation<true>>(
        "pixel_unshuffle", "factor across?", "f32[2,3,8,8]", "factor=2", "pixel_unshuffle",
        &composed_steps::pixel_shuffle<true>, 1, 1, true, false),
    whole_entry<broadcast_to_operation>("broadcast_to", "shape", "f32[8,1]", "shape=2x8x4",
                                        "broadcast_to, expand"),
    whole_entry<squeeze_operation>("squeeze", "dims", "f32[8,1]", "dims=1", "squeeze"),
    whole_entry<unsqueeze_operation>("unsqueeze", "dims", "f32[8,4]", "dims=1",
                                     "expand_dims, unsqueeze"),
    exchanging_entry<flip_operation>("flip", "dims across?", "dims=1", "flip, rev",
                                     &composed_steps::flip),
    exchanging_entry<roll_operation>("roll", "dim places across?", "dim=1 places=1", "roll",
                                     &composed_steps::roll),
    whole_entry<tile_operation>("tile", "counts across?", "f32[8,4]", "counts=1,2", "tile, repeat"),
    whole_entry<repeat_operation>("repeat", "dim count across?", "f32[8,4]", "dim=1 count=2",
                                  "repeat, repeat_interleave"),
    composed_entry<repeat_counts_operation>("repeat_counts", "dim counts across?", "f32[8,4]",
                                            "dim=1 counts=1,0,2,2", "repeat, repeat_interleave",
                                            &composed_steps::repeat_counts, 1, 1, true, false,
                                            &repeat_counts_how),
    composed_entry<repeat_each_operation>("repeat_each", "dim count across?", "f32[8,4] i32[4]",
                                          "dim=1 count=6", "repeat, repeat_interleave",
                                          &composed_steps::repeat_each, 2, 2, true, false),
    whole_entry<concatenate_operation>("concatenate", "dim across?", "f32[8,4] f32[8,2]", "dim=1",
                                       "concatenate, cat", 1, max_operands),
    whole_entry<stack_operation>("stack", "dim across?", "f32[8,4] f32[8,4]", "dim=0", "stack", 1,
                                 max_operands),
    composed_entry<split_judge>("split_at", "dim ends across?", "f32[8,4]", "dim=1 ends=1,3",
                                "split", &composed_steps::split, 1, 1, true, false),
    whole_entry<pad_operation>("pad", "amounts mode? across?", "f32[8,4]", "amounts=0,0,1,2", "pad",
                               1, 2, &pad_how),
    whole_entry<slice_operation>("slice_in_dim", "dim begin? end? step? across?", "f32[8,4]",
                                 "dim=1 begin=1 end=3", "slice, slice_in_dim, x[a:b]", 1, 1,
                                 &slice_how),
    composed_entry<neighbours_judge>("diff", "dim across?", "f32[8,4]", "dim=1", "diff",
                                     &composed_steps::diff, 1, 1, true, false),
    exchanging_entry<slice_operation>("index_at", "dim index across?", "dim=1 index=0",
                                      "x[i], select", &composed_steps::index_at, &index_how),
    whole_entry<dynamic_slice_operation>("dynamic_slice", "dim size across?", "f32[8,4] i64[]",
                                         "dim=1 size=2", "dynamic_slice, narrow", 2, 2),
    whole_entry<update_slice_operation>("update_slice", "dim across?", "f32[8,4] f32[8,2] i64[]",
                                        "dim=1", "dynamic_update_slice, slice_scatter", 3, 3),
    whole_entry<tril_operation>("tril", "diagonal?", "f32[8,4]", "diagonal=0", "tril"),
    whole_entry<triu_operation>("triu", "diagonal?", "f32[8,4]", "diagonal=0", "triu"),
    whole_entry<iota_like_operation>("iota_like", "dim", "f32[8,4]", "dim=1", "broadcasted_iota"),
    whole_entry<propagation_barrier_operation>("propagation_barrier", "flow?", "f32[8,4]", "",
                                               "sdy.propagation_barrier", 1, 1, &barrier_how),
    whole_entry<full_like_operation>("full_like", "across?", "f32[8,4] f32[]", "", "full_like", 2,
                                     2),
    composed_entry<any_elementwise_judge>("ones_like", "", "f32[8,4]", "", "ones_like",
                                          &composed_steps::of_one_number, 1, 1, false, false),
    composed_entry<any_elementwise_judge>("zeros_like", "", "f32[8,4]", "", "zeros_like",
                                          &composed_steps::of_one_number, 1, 1, false, false),
    whole_entry<bitcast_operation>("bitcast", "type across?", "f32[8,4]", "type=i32",
                                   "bitcast_convert_type, view(dtype)"),
    // Indices.
    whole_entry<take_operation>("take", "dim out_of_range? across?", "f32[8,4] i32[6]", "dim=0",
                                "take, gather, index_select", 2, 2),
    composed_entry<take_operation>("embedding", "out_of_range? across?", "f32[8,4] i32[6]", "",
                                   "embedding", nullptr, 2, 2, true, false, &embedding_how),
    whole_entry<take_along_operation>("take_along", "dim out_of_range? across?",
                                      "f32[8,4] i32[8,2]", "dim=1", "take_along_axis, gather", 2,
                                      2),
    whole_entry<scatter_operation>("scatter_set", "dim out_of_range? across?",
                                   "f32[8,4] i32[6] f32[6,4]", "dim=0", "scatter", 3, 3,
                                   &scatter_how<scatter_mode::set>),
    whole_entry<scatter_operation>("scatter_add", "dim out_of_range? across?",
                                   "f32[8,4] i32[6] f32[6,4]", "dim=0", "scatter_add, index_add", 3,
                                   3, &scatter_how<scatter_mode::add>),
    whole_entry<scatter_operation>("scatter_max", "dim out_of_range? across?",
                                   "f32[8,4] i32[6] f32[6,4]", "dim=0", "scatter_max, index_reduce",
                                   3, 3, &scatter_how<scatter_mode::max>),
    whole_entry<scatter_operation>("scatter_min", "dim out_of_range? across?",
                                   "f32[8,4] i32[6] f32[6,4]", "dim=0", "scatter_min, index_reduce",
                                   3, 3, &scatter_how<scatter_mode::min>),
    whole_entry<scatter_operation>("scatter_multiply", "dim out_of_range? across?",
                                   "f32[8,4] i32[6] f32[6,4]", "dim=0", "scatter_mul, index_reduce",
                                   3, 3, &scatter_how<scatter_mode::multiply>),
    whole_entry<put_along_operation>(
        "put_along_set", "dim out_of_range? across?", "f32[8,4] i32[8,2] f32[8,2]", "dim=1",
        "put_along_axis, scatter", 3, 3, &scatter_how<scatter_mode::set>),
    whole_entry<put_along_operation>("put_along_add", "dim out_of_range? across?",
                                     "f32[8,4] i32[8,2] f32[8,2]", "dim=1", "scatter_add", 3, 3,
                                     &scatter_how<scatter_mode::add>),
    whole_entry<put_along_operation>("put_along_max", "dim out_of_range? across?",
                                     "f32[8,4] i32[8,2] f32[8,2]", "dim=1", "scatter_reduce", 3, 3,
                                     &scatter_how<scatter_mode::max>),
    whole_entry<put_along_operation>("put_along_min", "dim out_of_range? across?",
                                     "f32[8,4] i32[8,2] f32[8,2]", "dim=1", "scatter_reduce", 3, 3,
                                     &scatter_how<scatter_mode::min>),
    whole_entry<put_along_operation>("put_along_multiply", "dim out_of_range? across?",
                                     "f32[8,4] i32[8,2] f32[8,2]", "dim=1", "scatter_reduce", 3, 3,
                                     &scatter_how<scatter_mode::multiply>),
    whole_entry<segment_sum_operation>("segment_sum", "dim count out_of_range? across?",
                                       "f32[8,4] i32[8]", "dim=0 count=3", "segment_sum", 2, 2),
    whole_entry<sum_along_operation>("sum_along", "dim count out_of_range? across?",
                                     "f32[8,4] i32[8,4]", "dim=1 count=3", "scatter_add", 2, 2),
    composed_entry<bincount_judge>("bincount", "count out_of_range? across?", "i32[8]", "count=10",
                                   "bincount", &composed_steps::bincount, 1, 1, false, false),
    whole_entry<one_hot_operation>("one_hot", "classes type?", "i32[8]", "classes=10", "one_hot", 1,
                                   1, &one_hot_how),
    // Scans and sorting.
    scan_entry<cumsum_operation>("cumsum", "cumsum"),
    scan_entry<cumprod_operation>("cumprod", "cumprod"),
    scan_entry<cummax_operation>("cummax", "cummax"),
    scan_entry<cummin_operation>("cummin", "cummin"),
    scan_entry<logcumsumexp_operation>("logcumsumexp", "cumlogsumexp, logcumsumexp"),
    whole_entry<sort_operation>("sort", "dim descending? across?", "f32[8,4]", "dim=1", "sort"),
    composed_entry<quantile_judge>("median", "dim across?", "f32[8,4]", "dim=1", "median",
                                   &composed_steps::quantile),
    composed_entry<quantile_judge>("quantile", "dim across?", "f32[8,4] f32[]", "dim=1", "quantile",
                                   &composed_steps::quantile, 2, 2),
    composed_entry<searchsorted_operation>("searchsorted", "across?", "f32[8] f32[4]", "",
                                           "searchsorted, bucketize, digitize",
                                           &composed_steps::searchsorted, 2, 2, false, false),
    whole_entry<argsort_operation>("argsort", "dim descending? across?", "f32[8,4]", "dim=1",
                                   "argsort"),
    top_k_entry(),
    // Composed operations.
    composed_entry<halves_judge>("glu", "dim across?", "f32[8,4]", "dim=1", "glu",
                                 &composed_steps::glu),
    composed_entry<softmax_operation>("softmax", "dim across?", "f32[8,4]", "dim=1", "softmax",
                                      &composed_steps::softmax),
    composed_entry<softmax_operation>("log_softmax", "dim across?", "f32[8,4]", "dim=1",
                                      "log_softmax", &composed_steps::log_softmax),
    composed_entry<scaled_judge>("layer_norm", "dims across?", "f32[8,4] f32[4] f32[4]", "dims=1",
                                 "layer_norm", &composed_steps::layer_norm, 1, 3),
    composed_entry<scaled_judge>("rms_norm", "dims across?", "f32[8,4] f32[4]", "dims=1",
                                 "rms_norm", &composed_steps::rms_norm, 1, 2),
    composed_entry<channels_judge<true>>("batch_norm", "across?", "f32[8,4,6] f32[4] f32[4]", "",
                                         "batch_norm", &composed_steps::channel_norm<true>, 1, 3),
    composed_entry<channels_judge<false>>("instance_norm", "across?", "f32[8,4,6] f32[4] f32[4]",
                                          "", "instance_norm", &composed_steps::channel_norm<false>,
                                          1, 3),
    composed_entry<channels_judge<false, true>>("group_norm", "groups across?",
                                                "f32[8,4,6] f32[4] f32[4]", "groups=2",
                                                "group_norm", &composed_steps::group_norm, 1, 3),
    composed_entry<cross_entropy_operation>("cross_entropy", "dim across?", "f32[8,4] i32[8]",
                                            "dim=1", "cross_entropy",
                                            &composed_steps::cross_entropy, 2, 2),
    fractional_entry<attention_operation>("attention", "attends? across?",
                                          "f32[2,6,8] f32[2,4,8] f32[2,4,8]", "attends=to_all",
                                          "scaled_dot_product_attention", 3, 4),
    fractional_entry<rotary_operation>("rotary", "pairs? across?", "f32[2,6,8] f32[6,4] f32[6,4]",
                                       "pairs=halves", "rotary embedding", 3, 3),
    fractional_entry<dropout_operation>("dropout", "across?", "f32[8,4] i64[] f32[]", "", "dropout",
                                        3, 3),
    fractional_entry<uniform_like_operation>("uniform_like", "across?", "f32[8,4] i64[]", "",
                                             "random.uniform, rand_like", 2, 2),
    fractional_entry<normal_like_operation>("normal_like", "across?", "f32[8,4] i64[]", "",
                                            "random.normal, randn_like", 2, 2),
    // Collectives on manual axes.
    collective_entry<collective::all_reduce>("all_reduce", "axes reduction?", "axes=y",
                                             "psum, pmax, pmin, all_reduce"),
    device_mean_entry(),
    collective_entry<collective::all_reduce>("all_and", "axes", "axes=y", "all_reduce (and)",
                                             "bool[8,4]{V:y}", &reduction_called<reduction::min>),
    collective_entry<collective::all_reduce>("all_or", "axes", "axes=y", "all_reduce (or)",
                                             "bool[8,4]{V:y}", &reduction_called<reduction::max>),
    collective_entry<collective::all_gather>("all_gather", "axes dim", "axes=y dim=0",
                                             "all_gather"),
    collective_entry<collective::reduce_scatter>("reduce_scatter", "axes dim reduction?",
                                                 "axes=y dim=0", "psum_scatter, reduce_scatter"),
    collective_entry<collective::all_to_all>("all_to_all", "axes split concat",
                                             "axes=y split=0 concat=1", "all_to_all"),
    collective_entry<collective::collective_permute>("permute", "axes sends", "axes=y sends=0,1",
                                                     "ppermute, collective_permute"),
    collective_entry<collective::collective_permute>("shift", "axes places edge?",
                                                     "axes=y places=1", "ppermute"),
    collective_entry<collective::broadcast>("broadcast", "axes index", "axes=y index=0",
                                            "collective_broadcast"),
    collective_entry<collective::slice>("vary", "axes", "axes=y", "pvary", "f32[8,4]"),
    collective_entry<collective::slice>("all_slice", "axes dim", "axes=y dim=0",
                                        "all_slice, dynamic_slice by axis_index", "f32[8,4]"),
    collective_entry<collective::slice>("as_terms", "axes", "axes=y", "unreduced", "f32[8,4]{V:y}",
                                        &terms_called<false>),
    collective_entry<collective::slice>("as_partial", "axes", "axes=y", "unreduced, Partial",
                                        "f32[8,4]", &terms_called<true>),
    composed_entry<reshard_judge>("reshard", "", "f32[8,4]", "",
                                  "reshard, redistribute, mark_sharding", nullptr, 1, 1, true,
                                  false),
};

template <std::size_t First, std::size_t Second>
[[nodiscard]] constexpr auto in_one_list(const catalogued_operation (&first)[First],
                                         const catalogued_operation (&second)[Second]) noexcept {
  std::array<catalogued_operation, First + Second> all{};
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i < First ? first[i] : second[i - First];
  return all;
}

}  // namespace detail

/// All operations of the library that have operands, by the names of their functions; operators
/// have names here too. Tools and documentation are generated from this list.
///
///     for (const catalogued_operation& one : catalogue) names.push_back(one.name);
inline constexpr auto catalogue =
    detail::in_one_list(detail::elementwise_catalogue, detail::whole_catalogue);

/// Returns the operation of this name, or null.
[[nodiscard]] constexpr const catalogued_operation* find_operation(text_view name) noexcept {
  for (const catalogued_operation& one : catalogue)
    if (one.name == name) return &one;
  return nullptr;
}

}  // namespace shardwise
