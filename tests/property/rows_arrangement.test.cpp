// SPDX-License-Identifier: BSL-1.0
#include "property/row_agreement.hpp"
#include "property/rows/tables.hpp"

using namespace generated;

TEST_CASE("operations that arrange dimensions agree with loops under every layout") {
  check_rows(arrangement_rows());
}
TEST_CASE("operations by indices agree with loops under every layout") {
  check_rows(indexing_rows());
}
TEST_CASE("bits read as other elements agree with loops under every layout") {
  check_rows(bitcast_rows());
}
