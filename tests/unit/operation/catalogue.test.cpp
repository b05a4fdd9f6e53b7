// SPDX-License-Identifier: BSL-1.0
// The catalogue of operations agrees with the operations themselves.
#include "support/catch.hpp"
#include <shardwise/operation/catalogue_example.hpp>
#include <shardwise/plan/paper_moves.hpp>
#include <shardwise/shardwise.hpp>

#include <string>
#include <utility>
#include <vector>

namespace {

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
using X = sharded_tensor<float, extents<8, 16>, layout<pod, P<"data", none>>>;
using C = sharded_tensor<float, extents<8, 16>, layout<pod, P<"data", "model">>>;
using W = sharded_tensor<float, extents<16, 32>, layout<pod, P<none, "model">>>;
using S = sharded_tensor<float, extents<16>, layout<pod, P<none>>>;
using L = sharded_tensor<std::int32_t, extents<8>, layout<pod, P<"data">>>;
using I = sharded_tensor<float, extents<8, 16, 6, 6>, layout<pod, P<"data", none, none, none>>>;
using M = sharded_tensor<double, extents<8, 4, 4>, layout<pod, P<"data", none, none>>>;
using N = sharded_tensor<double, extents<8, 4, 4>, layout<pod, P<"data", none, "model">>>;
using B = sharded_tensor<bfloat16, extents<8, 16>, layout<pod, P<"data", none>>>;

operation_inference inferred(text_view name,
                             const std::vector<std::pair<const char*, const char*>>& arguments,
                             const std::vector<const char*>& operands, unsigned permitted = 0) {
  operation_arguments given;
  for (const auto& [parameter, value] : arguments) REQUIRE(given.set(parameter, value).ok());
  tensor_descs known;
  for (const char* words : operands) known.push_back(parse_type(words, pod::value).tensor);
  const catalogued_operation* const entry = find_operation(name);
  REQUIRE(entry != nullptr);
  return infer_operation(pod::value, *entry, given, known, {permitted, nullptr});
}

/// Checks that the cost, the communication and the result of a function of tensors are those in the
/// catalogue.
template <class F, class... Tensors>
void check_same(const operation_inference& made, F f, const Tensors&... tensors) {
  REQUIRE(made.ok());
  const cost_ledger total = trace(f, tensors...);
  CHECK(made.flops == total.flops());
  index_t collectives = 0, bytes = 0;
  for (const paper_reshard& step : made.reshards)
    for (const planned_transfer& move : moves_of(pod::value, step).moves) {
      collectives += move.kind == collective::slice ? 0 : 1;
      bytes += move.total_bytes();
    }
  CHECK(total.collectives() == collectives);
  CHECK(total.bytes_moved() == bytes);
  const auto result = f(tensors...);
  using made_type = std::remove_cvref_t<decltype(result)>;
  CHECK(made.results[0].type == element_of<typename made_type::value_type>);
  CHECK(made.results[0].extents == result.extents());
  CHECK(made.results[0].layout == made_type::layout_type::value);
}

TEST_CASE("What the catalogue infers is what the functions make, at the same cost") {
  const auto x = abstract<X>();
  const auto c = abstract<C>();
  const auto b = abstract<B>();
  const char* const a = "f32[8@data,16]";
  check_same(
      inferred("einsum", {{"equation", "bi,io->bo"}}, {a, "f32[16,32@model]"}),
      [](const auto& y, const auto& w) { return einsum<"bi,io->bo">(y, w); }, x, abstract<W>());
  check_same(
      inferred("einsum", {{"equation", "bi,io,o->b"}}, {a, "f32[16,32@model]", "f32[32]"}),
      [](const auto& y, const auto& w, const auto& s) { return einsum<"bi,io,o->b">(y, w, s); }, x,
      abstract<W>(), abstract<sharded_tensor<float, extents<32>, layout<pod, P<none>>>>());
  check_same(
      inferred("einsum", {{"equation", "...i,io->...o"}}, {a, "f32[16,32@model]"}),
      [](const auto& y, const auto& w) { return einsum<"...i,io->...o">(y, w); }, x, abstract<W>());
  check_same(
      inferred("einsum", {{"equation", "bi,io->bo"}, {"semiring", "min_plus"}},
               {a, "f32[16,32@model]"}),
      [](const auto& y, const auto& w) { return einsum<"bi,io->bo", min_plus>(y, w); }, x,
      abstract<W>());
  check_same(
      inferred("sum", {{"dims", "1"}}, {"f32[8@data,16@model]"}),
      [](const auto& y) { return sum<1>(y); }, c);
  check_same(
      inferred("mean", {{"dims", "1"}, {"keep_dims", ""}}, {"f32[8@data,16@model]"}),
      [](const auto& y) { return mean<1>(y, keep_dims); }, c);
  check_same(
      inferred("l1_norm", {}, {"f32[8@data,16@model]"}), [](const auto& y) { return l1_norm(y); },
      c);
  check_same(
      inferred("l2_norm", {{"dims", "1"}}, {a}), [](const auto& y) { return l2_norm<1>(y); }, x);
  check_same(
      inferred("variance", {{"dims", "1"}}, {a}), [](const auto& y) { return variance<1>(y); }, x);
  check_same(
      inferred("standard_deviation", {{"dims", "1"}, {"keep_dims", ""}}, {a}),
      [](const auto& y) { return standard_deviation<1>(y, keep_dims); }, x);
  check_same(
      inferred("logsumexp", {{"dims", "1"}}, {a}), [](const auto& y) { return logsumexp<1>(y); },
      x);
  check_same(
      inferred("any", {{"dims", "1"}}, {a}), [](const auto& y) { return any<1>(y); }, x);
  check_same(
      inferred("all", {}, {a}), [](const auto& y) { return all(y); }, x);
  check_same(
      inferred("count_nonzero", {}, {"f32[8@data,16@model]"}),
      [](const auto& y) { return count_nonzero(y); }, c);
  check_same(
      inferred("hard_sigmoid", {}, {a}), [](const auto& y) { return hard_sigmoid(y); }, x);
  check_same(
      inferred("log_sigmoid", {}, {a}), [](const auto& y) { return log_sigmoid(y); }, x);
  check_same(
      inferred("mish", {}, {a}), [](const auto& y) { return mish(y); }, x);
  check_same(
      inferred("hard_swish", {}, {a}), [](const auto& y) { return hard_swish(y); }, x);
  check_same(
      inferred("soft_sign", {}, {a}), [](const auto& y) { return soft_sign(y); }, x);
  check_same(
      inferred("selu", {}, {a}), [](const auto& y) { return selu(y); }, x);
  check_same(
      inferred("celu", {}, {a, "f32[]"}), [](const auto& y) { return celu(y, 2.0F); }, x);
  check_same(
      inferred("soft_shrink", {}, {a, "f32[]"}), [](const auto& y) { return soft_shrink(y, 1); },
      x);
  check_same(
      inferred("hard_shrink", {}, {a, "f32[]"}), [](const auto& y) { return hard_shrink(y, 1); },
      x);
  check_same(
      inferred("logit", {}, {a}), [](const auto& y) { return logit(y); }, x);
  check_same(
      inferred("sinc", {}, {a}), [](const auto& y) { return sinc(y); }, x);
  check_same(
      inferred("heaviside", {}, {a, "f32[]"}), [](const auto& y) { return heaviside(y, 0.5F); }, x);
  check_same(
      inferred("nan_to_num", {}, {a}), [](const auto& y) { return nan_to_num(y); }, x);
  check_same(
      inferred("isclose", {}, {a, a}), [](const auto& y) { return isclose(y, y); }, x);
  check_same(
      inferred("deg2rad", {}, {"f32[8@data,16]{partial sum: model}"}),
      [](const auto& y) { return deg2rad(y); },
      abstract<
          sharded_tensor<float, extents<8, 16>, layout<pod, P<"data", none>, partial<"model">>>>());
  check_same(
      inferred("lerp", {}, {a, a, "f32[]"}), [](const auto& y) { return lerp(y, y, 0.5F); }, x);
  check_same(
      inferred("addcmul", {}, {a, a, a}), [](const auto& y) { return addcmul(y, y, y, 2); }, x);
  check_same(
      inferred("nansum", {{"dims", "1"}}, {"f32[8@data,16@model]"}),
      [](const auto& y) { return nansum<1>(y); }, c);
  check_same(
      inferred("nanmean", {{"dims", "1"}}, {a}), [](const auto& y) { return nanmean<1>(y); }, x);
  check_same(
      inferred("median", {{"dim", "1"}}, {a}), [](const auto& y) { return median<1>(y); }, x);
  check_same(
      inferred("quantile", {{"dim", "1"}}, {a, "f32[]"}),
      [](const auto& y) { return quantile<1>(y, 0.3); }, x);
  check_same(
      inferred("matmul", {}, {a, "f32[16,32@model]"}),
      [](const auto& y, const auto& w) { return matmul(y, w); }, x, abstract<W>());
  check_same(
      inferred("logcumsumexp", {{"dim", "1"}}, {a}),
      [](const auto& y) { return logcumsumexp<1>(y); }, x);
  check_same(
      inferred("full_like", {}, {a, "f32[]"}), [](const auto& y) { return full_like(y, 2); }, x);
  check_same(
      inferred("ones_like", {}, {a}), [](const auto& y) { return ones_like(y); }, x);
  check_same(
      inferred("zeros_like", {}, {a}), [](const auto& y) { return zeros_like(y); }, x);
  check_same(
      inferred("bitcast", {{"type", "u8"}}, {a}),
      [](const auto& y) { return bitcast<std::uint8_t>(y); }, x);
  check_same(
      inferred("interpolate", {{"sizes", "9"}, {"method", "cubic"}}, {a}),
      [](const auto& y) { return interpolate<interpolation::cubic, 9>(y); }, x);
  check_same(
      inferred("interpolate", {{"sizes", "5,3"}, {"method", "linear"}, {"align_corners", ""}},
               {"f32[8@data,3,2]{partial sum: model}"}),
      [](const auto& y) { return interpolate<interpolation::linear, 5, 3>(y, align_corners); },
      abstract<sharded_tensor<float, extents<8, 3, 2>,
                              layout<pod, P<"data", none, none>, partial<"model">>>>());
  check_same(
      inferred("rfft", {{"dims", "1"}}, {a}), [](const auto& y) { return fourier::rfft<1>(y); }, x);
  check_same(
      inferred("irfft", {{"dims", "1"}, {"length", "5"}}, {"f32[8@data,3,2]{partial sum: model}"}),
      [](const auto& y) { return fourier::irfft<1>(y, fourier::length<5>); },
      abstract<sharded_tensor<float, extents<8, 3, 2>,
                              layout<pod, P<"data", none, none>, partial<"model">>>>());
  check_same(
      inferred("searchsorted", {}, {"f32[16]", "f32[16]"}),
      [](const auto& y) { return searchsorted(y, y); }, abstract<S>());
  check_same(
      inferred("softmax", {{"dim", "1"}}, {a}), [](const auto& y) { return softmax<1>(y); }, x);
  check_same(
      inferred("softmax", {{"dim", "1"}}, {"bf16[8@data,16]"}),
      [](const auto& y) { return softmax<1>(y); }, b);
  check_same(
      inferred("log_softmax", {{"dim", "1"}}, {a}), [](const auto& y) { return log_softmax<1>(y); },
      x);
  check_same(
      inferred("layer_norm", {{"dims", "1"}}, {a, "f32[16]", "f32[16]"}),
      [](const auto& y, const auto& s, const auto& t) { return layer_norm<1>(y, s, t, 1e-5); }, x,
      abstract<S>(), abstract<S>());
  check_same(
      inferred("rms_norm", {{"dims", "1"}}, {"bf16[8@data,16]"}),
      [](const auto& y) { return rms_norm<1>(y, 1e-5); }, b);
  check_same(
      inferred("convolution_transpose", {{"stride", "2,2"}, {"padding", "1,1"}},
               {"f32[8@data,16,6,6]", "f32[16,4@model,4,4]"}),
      [](const auto& y, const auto& w) {
        return convolution_transpose<strides<2, 2>, paddings<1, 1>>(y, w);
      },
      abstract<I>(),
      abstract<sharded_tensor<float, extents<16, 4, 4, 4>,
                              layout<pod, P<none, "model", none, none>>>>());
  check_same(
      inferred("convolution_transpose",
               {{"groups", "4"}, {"stride", "2,2"}, {"output_padding", "1,0"}},
               {"f32[8@data,16,6,6]", "f32[16,3,2,2]"}),
      [](const auto& y, const auto& w) {
        return convolution_transpose<feature_groups<4>, strides<2, 2>, output_paddings<1, 0>>(y, w);
      },
      abstract<I>(),
      abstract<
          sharded_tensor<float, extents<16, 3, 2, 2>, layout<pod, P<none, none, none, none>>>>());
  for (const char* groups : {"0", "3", "-1"})
    CHECK(
        !inferred("convolution_transpose", {{"groups", groups}}, {"f32[8,16,6,6]", "f32[16,3,2,2]"})
             .ok());
  CHECK(!inferred("convolution_transpose", {{"output_padding", "1"}},
                  {"f32[8,16,6,6]", "f32[16,3,2,2]"})
             .ok());
  check_same(
      inferred("glu", {{"dim", "1"}}, {a}), [](const auto& y) { return glu<1>(y); }, x);
  check_same(
      inferred("diff", {{"dim", "1"}}, {a}), [](const auto& y) { return diff<1>(y); }, x);
  check_same(
      inferred("bincount", {{"count", "10"}}, {"i32[8@data]"}),
      [](const auto& y) { return bincount<10>(y); }, abstract<L>());
  check_same(
      inferred("repeat_each", {{"dim", "0"}, {"count", "12"}}, {a, "i32[8@data]"}, 1),
      [](const auto& y, const auto& n) { return repeat_each<0, 12>(y, n, across<"data">); }, x,
      abstract<L>());
  check_same(
      inferred("repeat_counts", {{"dim", "0"}, {"counts", "1,0,2,2,0,0,1,3"}}, {a}, 1),
      [](const auto& y) { return repeat<0, 1, 0, 2, 2, 0, 0, 1, 3>(y, across<"data">); }, x);
  using V = sharded_tensor<float, extents<8, 3>, layout<pod, P<"data", none>>>;
  const auto v = abstract<V>();
  const auto m = abstract<M>();
  const char* const vectors = "f32[8@data,3]";
  const char* const square = "f64[8@data,4,4]";
  check_same(
      inferred("kron", {}, {a, vectors}, 1),
      [](const auto& y, const auto& z) { return kron(y, z, across<"data">); }, x, v);
  check_same(
      inferred("cross", {}, {vectors, vectors}),
      [](const auto& y, const auto& z) { return cross(y, z); }, v, v);
  check_same(
      inferred("cov", {}, {square}), [](const auto& y) { return cov(y); }, m);
  check_same(
      inferred("corrcoef", {}, {square}), [](const auto& y) { return corrcoef(y); }, m);
  check_same(
      inferred("cdist", {}, {square, square}),
      [](const auto& y, const auto& z) { return cdist(y, z); }, m, m);
  check_same(
      inferred("nanmax", {{"dims", "1"}}, {a}), [](const auto& y) { return nanmax<1>(y); }, x);
  check_same(
      inferred("nanmin", {}, {a}), [](const auto& y) { return nanmin(y); }, x);
  check_same(
      inferred("nanvar", {{"dims", "1"}}, {a}), [](const auto& y) { return nanvar<1>(y); }, x);
  check_same(
      inferred("lp_norm", {{"dims", "1"}, {"keep_dims", ""}}, {a, "f32[]"}),
      [](const auto& y) { return lp_norm<1>(y, 3, keep_dims); }, x);
  check_same(
      inferred("trapezoid", {{"dim", "0"}}, {a}), [](const auto& y) { return trapezoid<0>(y, 2); },
      x);
  check_same(
      inferred("searchsorted", {}, {a, vectors}),
      [](const auto& y, const auto& z) { return searchsorted(y, z); }, x, v);
  check_same(
      inferred("pinv", {}, {square}), [](const auto& y) { return linalg::pinv(y); }, m);
  check_same(
      inferred("matrix_power", {{"exponent", "-5"}}, {square}),
      [](const auto& y) { return linalg::matrix_power<-5>(y); }, m);
  check_same(
      inferred("matrix_power", {{"exponent", "0"}}, {square}),
      [](const auto& y) { return linalg::matrix_power<0>(y); }, m);
  check_same(
      inferred("lstsq", {}, {square, square}),
      [](const auto& y, const auto& z) { return linalg::lstsq(y, z); }, m, m);
  check_same(
      inferred("pixel_shuffle", {{"factor", "2"}}, {"f32[8@data,16,6,6]"}),
      [](const auto& y) { return pixel_shuffle<2>(y); }, abstract<I>());
  check_same(
      inferred("pixel_unshuffle", {{"factor", "3"}}, {"f32[8@data,16,6,6]"}),
      [](const auto& y) { return pixel_unshuffle<3>(y); }, abstract<I>());
  CHECK(!inferred("glu", {{"dim", "1"}}, {"f32[8,15]"}).ok());
  CHECK(!inferred("glu", {{"dim", "2"}}, {a}).ok());
  check_same(
      inferred("instance_norm", {}, {"f32[8@data,16,6,6]", "f32[16]", "f32[16]"}),
      [](const auto& y, const auto& s) { return instance_norm(y, s, s, 1e-5); }, abstract<I>(),
      abstract<S>());
  check_same(
      inferred("group_norm", {{"groups", "4"}}, {"f32[8@data,16,6,6]", "f32[16]", "f32[16]"}),
      [](const auto& y, const auto& s) { return group_norm<4>(y, s, s, 1e-5); }, abstract<I>(),
      abstract<S>());
  check_same(
      inferred("group_norm", {{"groups", "2"}}, {"bf16[8@data,16]"}),
      [](const auto& y) { return group_norm<2>(y, 1e-5); }, b);
  CHECK(!inferred("group_norm", {{"groups", "0"}}, {"f32[8@data,16,6,6]"}).ok());
  CHECK(!inferred("group_norm", {{"groups", "3"}}, {"f32[8@data,16,6,6]"}).ok());
  CHECK(!inferred("batch_norm", {}, {"f32[16]"}).ok());
  CHECK(!inferred("instance_norm", {}, {"f32[8,16]"}).ok());
  check_same(
      inferred("cross_entropy", {{"dim", "1"}}, {a, "i32[8@data]"}),
      [](const auto& y, const auto& labels) { return cross_entropy<1>(y, labels); }, x,
      abstract<L>());
  check_same(
      inferred("slice_in_dim", {{"dim", "1"}, {"begin", "2"}, {"end", "-1"}}, {a}),
      [](const auto& y) { return slice_in_dim<1, 2, -1>(y); }, x);
  check_same(
      inferred("sort", {{"dim", "1"}}, {a}), [](const auto& y) { return sort<1>(y); }, x);
  check_same(
      inferred("argmax", {{"dim", "1"}}, {a}), [](const auto& y) { return argmax<1>(y); }, x);
}

TEST_CASE("What the catalogue infers of matrices is what the functions make, at the same cost") {
  const auto m = abstract<M>();
  const auto n = abstract<N>();
  const char* const whole = "f64[8@data,4,4]";
  const char* const columns = "f64[8@data,4,4@model]";
  check_same(
      inferred("cholesky", {}, {whole}), [](const auto& a) { return linalg::cholesky(a); }, m);
  check_same(
      inferred("solve", {}, {whole, columns}),
      [](const auto& a, const auto& b) { return linalg::solve(a, b); }, m, n);
  check_same(
      inferred("triangular_solve", {{"upper", "true"}, {"transposed", "true"}}, {whole, columns}),
      [](const auto& a, const auto& b) {
        return linalg::triangular_solve<linalg::triangular::upper_transposed>(a, b);
      },
      m, n);
  check_same(
      inferred("inverse", {}, {whole}), [](const auto& a) { return linalg::inverse(a); }, m);
  check_same(
      inferred("determinant", {}, {whole}), [](const auto& a) { return linalg::determinant(a); },
      m);
  const unsigned model = 2;
  const auto permit = across<"model">;
  check_same(
      inferred("slogdet", {}, {columns}, model),
      [=](const auto& a) { return linalg::slogdet(a, permit).first; }, n);
  check_same(
      inferred("qr", {}, {columns}, model),
      [=](const auto& a) { return linalg::qr(a, permit).second; }, n);
  // Both results of narrow elements are rounded, so both have to be read for the same cost.
  const auto narrow = abstract<sharded_tensor<bfloat16, N::extents_type, N::layout_type>>();
  const cost_ledger both = trace([=](const auto& a) { return linalg::qr(a, permit); }, narrow);
  CHECK(inferred("qr", {}, {"bf16[8@data,4,4@model]"}, model).flops == both.flops());
  const cost_ledger three = trace([=](const auto& a) { return linalg::svd(a, permit); }, narrow);
  const operation_inference parts = inferred("svd", {}, {"bf16[8@data,4,4@model]"}, model);
  CHECK(parts.flops == three.flops());
  CHECK(parts.reshards.ssize() == three.collectives());
  REQUIRE(parts.results.ssize() == 3);
  CHECK(parts.results[1].extents == extents_desc{8, 4});
  CHECK(parts.results[2].extents == extents_desc{8, 4, 4});
}

TEST_CASE("What the catalogue infers over permitted axes is what the functions exchange there") {
  const auto c = abstract<C>();
  constexpr unsigned model = 2, both = 3;
  const char* const a = "f32[8@data,16@model]";
  const auto permit = across<"model">;
  check_same(
      inferred("softmax", {{"dim", "1"}}, {a}, model),
      [=](const auto& y) { return softmax<1>(y, permit); }, c);
  check_same(
      inferred("logcumsumexp", {{"dim", "1"}}, {a}, model),
      [=](const auto& y) { return logcumsumexp<1>(y, permit); }, c);
  check_same(
      inferred("log_softmax", {{"dim", "1"}}, {a}, model),
      [=](const auto& y) { return log_softmax<1>(y, permit); }, c);
  check_same(
      inferred("logsumexp", {{"dims", "1"}}, {a}, model),
      [=](const auto& y) { return logsumexp<1>(y, permit); }, c);
  check_same(
      inferred("l2_norm", {}, {a}, both),
      [](const auto& y) { return l2_norm(y, across<"data", "model">); }, c);
  check_same(
      inferred("variance", {{"dims", "1"}}, {a}, model),
      [=](const auto& y) { return variance<1>(y, permit); }, c);
  check_same(
      inferred("standard_deviation", {{"dims", "1"}}, {a}, model),
      [=](const auto& y) { return standard_deviation<1>(y, permit); }, c);
  check_same(
      inferred("layer_norm", {{"dims", "1"}}, {a}, model),
      [=](const auto& y) { return layer_norm<1>(y, 1e-5, permit); }, c);
  // A scale that is split like the dimension stays; one that is split like the rows is gathered.
  using split_scale = sharded_tensor<float, extents<16>, layout<pod, P<"model">>>;
  check_same(
      inferred("layer_norm", {{"dims", "1"}}, {a, "f32[16@model]", "f32[16@model]"}, model),
      [=](const auto& y, const auto& s) { return layer_norm<1>(y, s, s, 1e-5, permit); }, c,
      abstract<split_scale>());
  check_same(
      inferred("rms_norm", {{"dims", "1"}}, {"f32[8@model,16]", "f32[16@model]"}, model),
      [=](const auto& y, const auto& s) { return rms_norm<1>(y, s, 1e-5, permit); },
      abstract<sharded_tensor<float, extents<8, 16>, layout<pod, P<"model", none>>>>(),
      abstract<split_scale>());
  check_same(
      inferred("glu", {{"dim", "1"}}, {a}, model), [=](const auto& y) { return glu<1>(y, permit); },
      c);
  check_same(
      inferred("diff", {{"dim", "1"}}, {a}, model),
      [=](const auto& y) { return diff<1>(y, permit); }, c);
  check_same(
      inferred("cov", {}, {"f32[8,16@model]"}, model),
      [=](const auto& y) { return cov(y, permit); },
      abstract<sharded_tensor<float, extents<8, 16>, layout<pod, P<none, "model">>>>());
  check_same(
      inferred("nanvar", {{"dims", "1"}}, {a}, model),
      [=](const auto& y) { return nanvar<1>(y, permit); }, c);
  check_same(
      inferred("lp_norm", {{"dims", "1"}}, {a, "f32[]"}, model),
      [=](const auto& y) { return lp_norm<1>(y, 3, permit); }, c);
  check_same(
      inferred("pinv", {}, {"f64[8@data,4,4@model]"}, model),
      [=](const auto& y) { return linalg::pinv(y, permit); }, abstract<N>());
  check_same(
      inferred("batch_norm", {}, {"f32[8@data,16,6,6]", "f32[16]", "f32[16]"}, 1),
      [](const auto& y, const auto& s) { return batch_norm(y, s, s, 1e-5, across<"data">); },
      abstract<I>(), abstract<S>());
  check_same(
      inferred("rms_norm", {{"dims", "1"}}, {a}, model),
      [=](const auto& y) { return rms_norm<1>(y, 1e-5, permit); }, c);
  check_same(
      inferred("cross_entropy", {{"dim", "1"}}, {a, "i32[8@data]"}, model),
      [=](const auto& y, const auto& labels) { return cross_entropy<1>(y, labels, permit); }, c,
      abstract<L>());
  check_same(
      inferred("nanmean", {{"dims", "1"}}, {a}, model),
      [=](const auto& y) { return nanmean<1>(y, permit); }, c);
  check_same(
      inferred("median", {{"dim", "1"}}, {a}, model),
      [=](const auto& y) { return median<1>(y, permit); }, c);
  check_same(
      inferred("argmax", {{"dim", "1"}}, {a}, model),
      [=](const auto& y) { return argmax<1>(y, permit); }, c);
  check_same(
      inferred("top_k", {{"dim", "1"}, {"count", "2"}}, {a}, model),
      [=](const auto& y) { return top_k<1, 2>(y, permit).first; }, c);
  check_same(
      inferred("top_k", {{"dim", "1"}, {"count", "6"}}, {a}, model),
      [=](const auto& y) { return top_k<1, 6>(y, permit).first; }, c);
  check_same(
      inferred("cumsum", {{"dim", "1"}}, {a}, model),
      [=](const auto& y) { return cumsum<1>(y, permit); }, c);
  check_same(
      inferred("cummin", {{"dim", "1"}}, {"bf16[8@data,16@model]"}, model),
      [=](const auto& y) { return cummin<1>(y, permit); },
      abstract<sharded_tensor<bfloat16, extents<8, 16>, layout<pod, P<"data", "model">>>>());
  check_same(
      inferred("sort", {{"dim", "1"}}, {a}, model),
      [=](const auto& y) { return sort<1>(y, permit); }, c);
}

TEST_CASE("Elementwise functions, dropout and split_at gather over permitted axes") {
  const auto x = abstract<X>();
  const auto c = abstract<C>();
  const auto t = abstract<
      sharded_tensor<float, extents<8, 16>, layout<pod, P<"data", none>, partial<"model">>>>();
  constexpr unsigned model = 2;
  const char* const a = "f32[8@data,16]";
  const char* const split = "f32[8@data,16@model]";
  const char* const pending = "f32[8@data,16]{partial sum: model}";
  const auto permit = across<"model">;
  check_same(
      inferred("exp", {}, {pending}, model), [=](const auto& y) { return exp(y, permit); }, t);
  check_same(
      inferred("maximum", {}, {pending, split}, model),
      [=](const auto& y, const auto& z) { return maximum(y, z, permit); }, t, c);
  check_same(
      inferred("mish", {}, {pending}, model), [=](const auto& y) { return mish(y, permit); }, t);
  check_same(
      inferred("hard_swish", {}, {pending}, model),
      [=](const auto& y) { return hard_swish(y, permit); }, t);
  check_same(
      inferred("lerp", {}, {pending, a, "f32[]"}, model),
      [=](const auto& y, const auto& z) { return lerp(y, z, 0.5F, permit); }, t, x);
  check_same(
      inferred("isclose", {}, {a, pending}, model),
      [=](const auto& y, const auto& z) { return isclose(y, z, permit); }, x, t);
  check_same(
      inferred("cast", {{"type", "i32"}}, {pending}, model),
      [=](const auto& y) { return cast<std::int32_t>(y, permit); }, t);
  check_same(
      inferred("dropout", {}, {pending, "i64[]", "f32[]"}, model),
      [=](const auto& y) { return dropout(y, random_key{1}, 0.5, permit); }, t);
  check_same(
      inferred("split_at", {{"dim", "1"}, {"ends", "4"}}, {split}, model),
      [=](const auto& y) { return std::get<0>(split_at<1, 4>(y, permit)); }, c);
  // Without a permission they are errors as before.
  CHECK(!inferred("exp", {}, {pending}).ok());
  CHECK(!inferred("mish", {}, {pending}).ok());
  CHECK(!inferred("split_at", {{"dim", "1"}, {"ends", "4"}}, {split}).ok());
}

TEST_CASE("Every operation answers for its example, and for every way to split it") {
  const mesh_desc& mesh = pod::value;
  for (const catalogued_operation& entry : catalogue) {
    CAPTURE(std::string(entry.name.data(), entry.name.size()));
    const operation_example example = example_of(mesh, entry);
    REQUIRE(find_operation(entry.name) == &entry);  // no name twice
    REQUIRE(example.operands.ssize() >= entry.least);
    REQUIRE(example.operands.ssize() <= entry.most);
    CHECK(check_arguments(entry, example.given).missing.empty());
    CHECK(!check_arguments(entry, example.given).has_unknown);
    const operation_inference whole = infer_operation(mesh, entry, example.given, example.operands);
    CHECK(whole.ok());
    CHECK(!whole.results.empty());
    for (int o = 0; o < example.operands.ssize(); ++o)
      for (int d = 0; d < example.operands[o].rank(); ++d) {
        if (example.operands[o].extents[d] == 1) continue;
        const operation_inference made = infer_split(mesh, entry, o, d);
        if (made.ok()) continue;
        // An error suggests a valid call; an axis of a collective is manual and not used otherwise.
        if (made.verdict.rule == violation::operand_is_manual) continue;
        REQUIRE(!made.legal.empty());
        CHECK(infer_operation(mesh, entry, example.given, made.legal).ok());
      }
    tensor_descs fewer = example.operands;
    if (fewer.ssize() == entry.least) {
      fewer.pop_back();
      CHECK(infer_operation(mesh, entry, example.given, fewer).verdict.rule ==
            violation::operand_count_differs);
    }
  }
}

TEST_CASE("Contractions of several tensors begin with the cheapest product") {
  const contraction_step step = first_contraction(
      "ab,bc,cd->ad",
      operand_extents{extents_desc{100, 10}, extents_desc{10, 2}, extents_desc{2, 3}});
  CHECK(step.pair == "bc,cd->bd");
  CHECK(step.rest == "bd,ab->ad");
  // If products do not distribute over the reduction, no letter is reduced before the last step.
  const contraction_step kept = first_contraction(
      "ab,bc,cd->ad",
      operand_extents{extents_desc{100, 10}, extents_desc{10, 2}, extents_desc{2, 3}}, false);
  CHECK(kept.pair == "bc,cd->bcd");
  CHECK(kept.rest == "bcd,ab->ad");
}

TEST_CASE("The ellipsis of an equation is named by letters, and broadcast") {
  const auto named = [](text_view equation, const operand_extents& extents) {
    return named_dimensions(equation, extents);
  };
  CHECK(named("ij->ji", {extents_desc{2, 3}}) == "ij->ji");
  CHECK(named("...ij,...jk->...ik", {extents_desc{5, 6, 2, 3}, extents_desc{6, 3, 4}}) ==
        "ZYij,Yjk->ZYik");
  // A dimension of size 1 beside others has a letter of its own.
  CHECK(named("...ij,...jk->...ik", {extents_desc{5, 6, 2, 3}, extents_desc{1, 3, 4}}) ==
        "ZYij,Xjk->ZYik");
  CHECK(named("...ij,...jk->...ik", {extents_desc{5, 1, 2, 3}, extents_desc{1, 6, 3, 4}}) ==
        "ZXij,WYjk->ZYik");
  CHECK(named("...i,...i->...", {extents_desc{1, 4}, extents_desc{1, 4}}) == "Zi,Zi->Z");
  CHECK(named("i...,i...->...", {extents_desc{4, 1}, extents_desc{4, 7}}) == "iY,iZ->Z");
  CHECK(named("...,...,Z...->...", {extents_desc{1}, extents_desc{7}, extents_desc{2, 1}}) ==
        "X,Y,ZW->Y");
  // An extent that is known only at run time is not 1.
  CHECK(named("...i,...i->...", {extents_desc{dyn, 4}, extents_desc{1, 4}}) == "Zi,Yi->Z");
  // Spaces have no meaning; a result that is not written has the letters that occur once, sorted.
  CHECK(named(" ij , jk -> ik ", {extents_desc{2, 3}, extents_desc{3, 4}}) == "ij,jk->ik");
  CHECK(named("ij,jk", {extents_desc{2, 3}, extents_desc{3, 4}}) == "ij,jk->ik");
  CHECK(named("ba", {extents_desc{2, 3}}) == "ba->ab");
  CHECK(named("bA,b", {extents_desc{2, 3}, extents_desc{2}}) == "bA,b->A");
  CHECK(named("ii", {extents_desc{2, 2}}) == "ii->");
  CHECK(named("...ij, jk", {extents_desc{5, 2, 3}, extents_desc{3, 4}}) == "Zij,jk->Zik");
  // What is no letter names no dimension: such an equation is refused afterwards.
  CHECK(named("]], [{5=={0,1}....i->i", {extents_desc{2, 3}}).size() > 0);
  // Operands of too low a rank have no leading dimensions.
  CHECK(named("...ij,jk->...ik", {extents_desc{3}, extents_desc{3, 4}}) == "ij,jk->ik");
}

TEST_CASE("The product of matrices and vectors has one equation for each pair of ranks") {
  CHECK(matmul_equation(3, 2) == "...ij,...jk->...ik");
  CHECK(matmul_equation(3, 1) == "...ij,j->...i");
  CHECK(matmul_equation(1, 2) == "j,...jk->...k");
  CHECK(matmul_equation(1, 1) == "j,j->");
}

TEST_CASE("Arguments are read as they are written, and refused as they are not") {
  operation_arguments given;
  CHECK(given.set("dims", "0,-1").ok());
  CHECK(given.integers("dims") == operation_arguments::integer_list{0, -1});
  CHECK(given.set("shape", "8x4x2").ok());
  CHECK(given.integers("shape").size() == 3);
  CHECK(given.set("type", "bf16").ok());
  CHECK(static_cast<element>(given.integer("type")) == element::bf16);
  CHECK(!given.set("dims", "1").ok());
  CHECK(!given.set("mode", "round").ok());
  CHECK(!given.set("order", "1,,0").ok());
  CHECK(!given.set("order", "1,0 ]").ok());
  CHECK(!given.set("count", "9999999999999999999").ok());
  CHECK(!given.set("colour", "1").ok());
  CHECK(given.integer("index", 7) == 7);
}

}  // namespace
