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

TEST_CASE("tensors that are joined are gathered over the axes that are named") {
  const auto join = [](const auto& x) { return concatenate<1>(x, x, across<"model">); };
  check<matrix<float, 8, P<"data", "model">>>(join);
  check<matrix<float, 7, P<"data", "model">, uneven>>(join);
  // Nine tensors are joined in groups; each group gathers its own.
  const auto many = [](const auto& x) {
    return concatenate<0>(x, x, x, x, x, x, x, x, x, across<"data">);
  };
  check<matrix<float, 8, P<"data", "model">>>(many);
  // A split that the other tensor does not have is dropped from neither: slicing moves nothing.
  const auto pile = [](const auto& x) {
    return stack<0>(x, reshard<P<none, none>>(x), across<"model">);
  };
  check<matrix<float, 8, P<none, "model">>>(pile);
  STATIC_REQUIRE(trace(pile, abstract<matrix<float, 8, P<none, "model">>>()).collectives() == 1);
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
  REQUIRE(refusal([&] { return flip<1>(x, across<"modle">); }) == violation::axis_is_not_in_mesh);
  REQUIRE(refusal([&] { return cumsum<2>(x, across<"data">); }) ==
          violation::dimension_is_out_of_range);
}
