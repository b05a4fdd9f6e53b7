// SPDX-License-Identifier: BSL-1.0
#include "property/row_agreement.hpp"
#include "property/rows/semiring.hpp"

using namespace generated;

TEST_CASE("contractions over semirings agree with loops under every layout") {
  check_rows(semiring_rows());
}
