// SPDX-License-Identifier: BSL-1.0
// Operations that are permitted to fetch missing elements over named axes.
#include "unit/runtime/split_and_whole.hpp"

#include <cstdint>

using namespace split_and_whole;

TEST_CASE("the largest along a split dimension is found part by part") {
  const auto f = [](const auto& x) { return max_with_index<1>(x, across<"model", "data">); };
  check<matrix<float, 8, P<none, "model">>>(f);
  check<matrix<float, 8, P<"data", "model">>>(f);
  check<matrix<float, 16, P<none, by("model", "data")>>>(f);
  check<matrix<double, 8, P<none, "data">>>(f);
  check<matrix<std::int32_t, 8, P<none, "model">>>(f);
  check<matrix<bfloat16, 8, P<none, "model">>>(f);
  const auto first = [](const auto& x) { return max_with_index<0>(x, across<"model">); };
  check<matrix<float, 8, P<"model", "data">>>(first);
  check<matrix<float, 8, P<none, "data">>>(first);

  // Two small tensors are gathered instead of the operand.
  using X = matrix<float, 8, P<"data", "model">>;
  constexpr cost_ledger cost = trace(f, abstract<X>());
  STATIC_REQUIRE(cost.collectives(collective::all_gather) == 2 && cost.collectives() == 2);
  STATIC_REQUIRE(cost.bytes_moved() == 3 * 2 * (4 + 8));
}

TEST_CASE("the largest along a dimension that is split otherwise is found in the whole of it") {
  const auto f = [](const auto& x) { return max_with_index<1>(x, across<"model", "data">); };
  check<matrix<float, 7, P<"data", "model">, uneven>>(f);
  check<matrix<float, 3, P<none, "model">, uneven>>(f);
  check<matrix<float, 8, P<none, cyclic("model")>>>(f);
  STATIC_REQUIRE(trace(f, abstract<matrix<float, 8, P<none, cyclic("model")>>>()).collectives() ==
                 1);
}

TEST_CASE("scans and flips fetch over the axes that they are given") {
  const auto scan = [](const auto& x) { return cumsum<1>(x, across<"model">); };
  check<matrix<std::int32_t, 8, P<"data", "model">>>(scan);
  check<matrix<std::int32_t, 7, P<"data", "model">, uneven>>(scan);
  check<matrix<std::int32_t, 8, P<"model", "data">>>(
      [](const auto& x) { return cumsum<0>(x, across<"model">); });
  const auto turn = [](const auto& x) { return flip<0, 1>(x, across<"data", "model">); };
  check<matrix<float, 8, P<"data", "model">>>(turn);
  check<matrix<float, 8, P<none, by("data", "model")>>>(turn);
  // Elements that a device already holds are not moved.
  STATIC_REQUIRE(trace(scan, abstract<matrix<float, 8, P<"data", none>>>()).collectives() == 0);
}

TEST_CASE("tensors are joined along a dimension that is fetched over the axes that are given") {
  const auto two = [](const auto& x) { return concatenate<1>(x, flip<0>(x), across<"model">); };
  check<matrix<std::int32_t, 8, P<none, "model">>>(two);
  check<matrix<std::int32_t, 7, P<none, "model">, uneven>>(two);
  check<matrix<std::int32_t, 8, P<none, cyclic("model")>>>(two);
  const auto ten = [](const auto& x) {
    return concatenate<1>(x, x, x, x, x, x, x, x, x, x, across<"data", "model">);
  };
  check<matrix<float, 8, P<none, by("data", "model")>>>(ten);
  check<matrix<float, 8, P<"data", "model">>>(ten);
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

TEST_CASE("channels whose groups lie on several devices are fetched over the axes that are given") {
  const auto f = [](const auto& x) { return group_norm<2>(x, 1e-5, across<"model">); };
  check<matrix<float, 8, P<none, "model">>>(f, 1e-6);
  check<matrix<float, 8, P<"data", "model">>>(f, 1e-6);
  check<matrix<float, 8, P<"model", "data">>>(f, 1e-6);
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
  REQUIRE(refusal([&] { return cumsum<2>(x, across<"data">); }) ==
          violation::dimension_is_out_of_range);
  // The error names both remedies, and all axes of the dimension.
  try {
    (void)softmax<1>(x);
    FAIL("a split dimension was taken");
  } catch (const error& refused) {
    REQUIRE_THAT(refused.what(), contains("try reshard<P<none, none>>(operand 0), or "
                                          "across<\"model\", \"data\">"));
  }
}
