// SPDX-License-Identifier: BSL-1.0
// Operations that are permitted to fetch missing elements over named axes.
#include "unit/runtime/split_and_whole.hpp"

#include <cstdint>
#include <string>

using namespace split_and_whole;

TEST_CASE("the largest along a split dimension is found part by part") {
  const auto f = [](const auto& x) { return max_with_index<1>(x, across<"model", "data">); };
  check<matrix<float, 8, P<none, "model">>>(f);
  check<matrix<float, 8, P<"data", "model">>, tried::as_values>(f);
  check<matrix<float, 16, P<none, by("model", "data")>>, tried::as_values>(f);
  check<matrix<double, 8, P<none, "data">>, tried::as_values>(f);
  check<matrix<std::int32_t, 8, P<none, "model">>, tried::as_values>(f);
  check<matrix<bfloat16, 8, P<none, "model">>, tried::as_values>(f);
  const auto first = [](const auto& x) { return max_with_index<0>(x, across<"model">); };
  check<matrix<float, 8, P<"model", "data">>>(first);
  check<matrix<float, 8, P<none, "data">>, tried::as_values>(first);

  // Two small tensors are gathered instead of the operand.
  using X = matrix<float, 8, P<"data", "model">>;
  constexpr cost_ledger cost = trace(f, abstract<X>());
  STATIC_REQUIRE(cost.collectives(collective::all_gather) == 2 && cost.collectives() == 2);
  STATIC_REQUIRE(cost.bytes_moved() == 3 * 2 * (4 + 8));
}

TEST_CASE("the largest along a dimension that is split otherwise is found in the whole of it") {
  const auto f = [](const auto& x) { return max_with_index<1>(x, across<"model", "data">); };
  check<matrix<float, 7, P<"data", "model">, uneven>>(f);
  check<matrix<float, 3, P<none, "model">, uneven>, tried::as_values>(f);
  check<matrix<float, 8, P<none, cyclic("model")>>, tried::as_values>(f);
  STATIC_REQUIRE(trace(f, abstract<matrix<float, 8, P<none, cyclic("model")>>>()).collectives() ==
                 1);
}

TEST_CASE("scans and flips fetch over the axes that they are given") {
  const auto scan = [](const auto& x) { return cumsum<1>(x, across<"model">); };
  check<matrix<std::int32_t, 8, P<"data", "model">>>(scan);
  check<matrix<std::int32_t, 7, P<"data", "model">, uneven>, tried::as_values>(scan);
  check<matrix<std::int32_t, 8, P<"model", "data">>>(
      [](const auto& x) { return cumsum<0>(x, across<"model">); });
  const auto turn = [](const auto& x) { return flip<0, 1>(x, across<"data", "model">); };
  check<matrix<float, 8, P<"data", "model">>>(turn);
  check<matrix<float, 8, P<none, by("data", "model")>>, tried::as_values>(turn);
  // Elements that a device already holds are not moved.
  STATIC_REQUIRE(trace(scan, abstract<matrix<float, 8, P<"data", none>>>()).collectives() == 0);
}

TEST_CASE("tensors are joined along a dimension that is fetched over the axes that are given") {
  const auto two = [](const auto& x) { return concatenate<1>(x, flip<0>(x), across<"model">); };
  check<matrix<std::int32_t, 8, P<none, "model">>>(two);
  check<matrix<std::int32_t, 7, P<none, "model">, uneven>, tried::as_values>(two);
  check<matrix<std::int32_t, 8, P<none, cyclic("model")>>, tried::as_values>(two);
  const auto ten = [](const auto& x) {
    return concatenate<1>(x, x, x, x, x, x, x, x, x, x, across<"data", "model">);
  };
  check<matrix<float, 8, P<none, by("data", "model")>>>(ten);
  check<matrix<float, 8, P<"data", "model">>, tried::as_values>(ten);
  // Tensors that are split otherwise are joined without an exchange.
  STATIC_REQUIRE(trace(two, abstract<matrix<float, 8, P<none, none>>>()).collectives() == 0);
  STATIC_REQUIRE(trace(two, abstract<matrix<float, 8, P<none, "model">>>())
                     .collectives(collective::all_gather) == 2);
}

TEST_CASE("the windows of weights are fetched over the axes that are given") {
  const auto f = [](const auto& w) {
    return convolution<paddings<4>>(unsqueeze<0>(w), unsqueeze<0>(w), across<"model">);
  };
  check<matrix<std::int32_t, 8, P<none, "model">, uneven>>(f);
  const auto back = [](const auto& w) {
    return convolution_transpose<strides<2>>(unsqueeze<0>(w), unsqueeze<1>(w), across<"model">);
  };
  check<matrix<std::int32_t, 8, P<none, "model">, uneven>>(back);
  check<matrix<std::int32_t, 8, P<none, "data">, uneven>>([](const auto& w) {
    return convolution_transpose<feature_groups<2>>(unsqueeze<0>(w), unsqueeze<1>(w),
                                                    across<"data">);
  });
}

TEST_CASE("tensors are stacked by the splits of one of them where that moves less") {
  // A split that the other tensor does not have is dropped from neither: slicing moves nothing.
  const auto pile = [](const auto& x) {
    return stack<0>(x, reshard<P<none, none>>(x), across<"model">);
  };
  check<matrix<float, 8, P<none, "model">>>(pile);
  STATIC_REQUIRE(trace(pile, abstract<matrix<float, 8, P<none, "model">>>()).collectives() == 1);
}

TEST_CASE("channels whose groups lie on several devices are fetched over the axes that are given") {
  const auto f = [](const auto& x) { return group_norm<2>(x, 1e-5, across<"model">); };
  check<matrix<float, 8, P<none, "model">>>(f, 1e-6);
  check<matrix<float, 8, P<"data", "model">>, tried::as_values>(f, 1e-6);
  check<matrix<float, 8, P<"model", "data">>, tried::as_values>(f, 1e-6);
  STATIC_REQUIRE(trace(f, abstract<matrix<float, 8, P<none, "model">>>()).collectives() == 1);
  STATIC_REQUIRE(trace(f, abstract<matrix<float, 8, P<"model", "data">>>()).collectives() == 0);
}

TEST_CASE("an axis that is not named is not exchanged") {
  const device_pool pool(pod{}, 1);
  const any_tensor<float> x = numbers<matrix<float, 16, P<none, by("model", "data")>>>(pool);
  const auto refusal = [](const auto& call) {
    try {
      (void)call();
    } catch (const error& refused) {
      return refused.code();
    }
    return violation::nothing;
  };
  REQUIRE(refusal([&] { return max_with_index<1>(x, across<"model">); }) ==
          violation::dimension_is_split);
  REQUIRE(refusal([&] { return cumsum<1>(x, across<"data">); }) == violation::dimension_is_split);
  REQUIRE(refusal([&] { return concatenate<1>(x, x, across<"data">); }) ==
          violation::dimension_is_split);
  REQUIRE(refusal([&] { return concatenate<1>(x, x, across<"modle">); }) ==
          violation::axis_is_not_in_mesh);
  REQUIRE(refusal([&] { return flip<1>(x, across<"modle">); }) == violation::axis_is_not_in_mesh);
  REQUIRE(refusal([&] { return group_norm<3>(x, 1e-5, across<"model">); }) ==
          violation::groups_do_not_divide_channels);
  // Also beside the axes that suffice.
  REQUIRE(refusal([&] { return flip<1>(x, across<"data", "model", "modle">); }) ==
          violation::axis_is_not_in_mesh);
  REQUIRE(refusal([&] { return cumsum<2>(x, across<"data">); }) ==
          violation::dimension_is_out_of_range);
  // The error names both remedies, and all axes of the dimension.
  try {
    (void)softmax<1>(x);
    FAIL("a split dimension was taken");
  } catch (const error& refused) {
    REQUIRE_THAT(refused.what(), contains("try reshard<P<none, none>>(operand 0), or "
                                          "across<\"data\", \"model\">"));
  }
}

namespace {

/// The message of a refused call; empty if the call is valid.
template <class F>
std::string message_of(const F& call) {
  try {
    (void)call();
  } catch (const error& refused) {
    return refused.what();
  }
  return {};
}

}  // namespace

TEST_CASE("a refused call names the operand as it was given, the reshard, and the permission") {
  const device_pool pool(pod{}, 1);
  const any_tensor<float> x = numbers<matrix<float, 8, P<"data", "model">>>(pool);
  const auto shown = to_text(pod::value, x.tensor());
  const std::string operand = "operands " + std::string(shown.data(), shown.size());
  const auto is_told = [&](const auto& call) {
    const std::string said = message_of([&] { return call(x, across<>); });
    CAPTURE(said);
    REQUIRE_THAT(said, Catch::Contains("dimension_is_split") && Catch::Contains("axis 'model'") &&
                           Catch::Contains(operand) &&
                           Catch::Contains("try reshard<P<\"data\", none>>(operand 0), or "
                                           "across<\"model\">"));
    // A permission over another axis is kept in the one that is suggested.
    REQUIRE_THAT(message_of([&] { return call(x, across<"data">); }),
                 Catch::Contains("or across<\"data\", \"model\">"));
    // Both calls help.
    REQUIRE(message_of([&] {
              return call(reshard(x, spec_desc{{"data", ""}}), across<>);
            }).empty());
    REQUIRE(message_of([&] { return call(x, across<"model">); }).empty());
  };
  is_told([](const auto& v, auto given) { return softmax<1>(v, given); });
  is_told([](const auto& v, auto given) { return log_softmax<1>(v, given); });
  is_told([](const auto& v, auto given) { return sort<1>(v, given); });
  is_told([](const auto& v, auto given) { return argsort<1>(v, given); });
  is_told([](const auto& v, auto given) { return argmax<1>(v, given); });
  is_told([](const auto& v, auto given) { return max_with_index<1>(v, given); });
  is_told([](const auto& v, auto given) { return top_k<1, 2>(v, given); });
  is_told([](const auto& v, auto given) { return cumsum<1>(v, given); });
  is_told([](const auto& v, auto given) { return flip<1>(v, given); });
  is_told([](const auto& v, auto given) { return roll<1, 1>(v, given); });
  is_told([](const auto& v, auto given) { return pad<0, 0, 1, 0>(v, given); });
  is_told([](const auto& v, auto given) { return slice_in_dim<1, 1, 3>(v, given); });
  is_told([](const auto& v, auto given) { return index_at<1, 1>(v, given); });
  is_told([](const auto& v, auto given) { return split_at<1, 3>(v, given); });
  is_told([](const auto& v, auto given) { return glu<1>(v, given); });
  is_told([](const auto& v, auto given) { return diff<1>(v, given); });
  is_told([](const auto& v, auto given) { return concatenate<1>(v, v, given); });
  is_told([](const auto& v, auto given) { return layer_norm<1>(v, 1e-5, given); });
  is_told([](const auto& v, auto given) { return rms_norm<1>(v, 1e-5, given); });
  is_told([](const auto& v, auto given) { return median<1>(v, given); });
  is_told([](const auto& v, auto given) { return quantile<1>(v, 0.5F, given); });
  is_told([](const auto& v, auto given) { return l2_norm<1>(v, given); });
  is_told([](const auto& v, auto given) { return variance<1>(v, given); });
  is_told([](const auto& v, auto given) { return standard_deviation<1>(v, given); });
  is_told([](const auto& v, auto given) { return logsumexp<1>(v, given); });
  is_told([](const auto& v, auto given) { return nanmean<1>(v, given); });
  is_told([](const auto& v, auto given) { return nanvar<1>(v, given); });
  is_told([](const auto& v, auto given) { return lp_norm<1>(v, 3, given); });
  // All dimensions that are needed whole are in one suggestion.
  REQUIRE_THAT(message_of([&] { return l2_norm(x); }),
               Catch::Contains("try reshard<P<none, none>>(operand 0), or across<\"data\", "
                               "\"model\">"));
}

TEST_CASE("tensors are concatenated along a dimension that is gathered over permitted axes") {
  const auto join = [](const auto& x) {
    return concatenate<1>(x, x * 2, flip<1>(x, across<"model">), across<"model">);
  };
  check<matrix<float, 8, P<"data", "model">>>(join);
  check<matrix<float, 7, P<"data", "model">, uneven>, tried::as_values>(join);
  // More tensors than one operation takes are gathered too.
  check<matrix<std::int32_t, 8, P<"model", "data">>>(
      [](const auto& x) { return concatenate<0>(x, x, x, x, x, x, x, x, x, x, across<"model">); });
  using X = matrix<float, 8, P<"data", "model">>;
  STATIC_REQUIRE(
      trace([](const auto& x) { return concatenate<1>(x, x, across<"model">); }, abstract<X>())
          .collectives(collective::all_gather) == 2);
}

TEST_CASE("axes of one device need no permission") {
  struct line : mesh<axis<"one", 1>, axis<"model", 4>> {};
  using X = sharded_tensor<float, extents<8>, layout<line, P<by("one", "model")>>>;
  STATIC_REQUIRE(std::is_same_v<decltype(sort<0>(abstract<X>(), across<"model">))::layout_type,
                                layout<line, P<none>>>);
  const device_pool pool(line{}, 1);
  const any_tensor<float> x = iota<X>(pool);
  REQUIRE(to_host(flip<0>(x, across<"model">))(0) == 7);
}
