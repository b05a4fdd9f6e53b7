// SPDX-License-Identifier: BSL-1.0
#include "property/row_agreement.hpp"
#include "property/rows/tables.hpp"

using namespace generated;

TEST_CASE("arithmetic agrees with loops under every layout") { check_rows(arithmetic_rows()); }
TEST_CASE("transcendental functions agree with loops under every layout") {
  check_rows(transcendental_rows());
}
TEST_CASE("comparisons and choices agree with loops under every layout") {
  check_rows(choice_rows());
}
TEST_CASE("angles and hyperbolic functions agree with loops under every layout") {
  check_rows(trigonometric_rows());
}
TEST_CASE("powers and logarithms agree with loops under every layout") {
  check_rows(exponential_rows());
}
TEST_CASE("rounding and kinds of numbers agree with loops under every layout") {
  check_rows(rounding_rows());
}
TEST_CASE("bits and shifts agree with loops under every layout") { check_rows(bitwise_rows()); }
TEST_CASE("activations agree with loops under every layout") { check_rows(activation_rows()); }
TEST_CASE("special functions agree with loops under every layout") { check_rows(special_rows()); }
