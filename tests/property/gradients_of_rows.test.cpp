// SPDX-License-Identifier: BSL-1.0
#include "property/row_gradients.hpp"
#include "property/rows/arrangement.hpp"
#include "property/rows/fused.hpp"
#include "property/rows/indexing.hpp"

using namespace generated;

TEST_CASE("gradients of operations that arrange dimensions are those of loops") {
  check_gradients(arrangement_rows());
}
TEST_CASE("gradients of operations by indices are those of loops") {
  check_gradients(indexing_rows());
}
TEST_CASE("gradients of operations fused by name are those of loops") {
  check_gradients(fused_rows());
}
