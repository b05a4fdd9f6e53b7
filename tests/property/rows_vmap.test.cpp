// SPDX-License-Identifier: BSL-1.0
// Every row of the table of operations, mapped over a batch of its operands, compared with a loop
// over the elements.
#include "property/mapped_row.hpp"
#include "property/row_agreement.hpp"
#include "property/rows/tables.hpp"

using namespace generated;

namespace {

/// Checks the rows with some layouts, and with batches that are and are not divisible.
void check_mapped(const std::vector<operation_row>& rows) {
  static const std::vector<layout_choice> few{
      {{2}, 120}, {{3, 2}, 60}, {{2, 2}, 8, {grain::cyclic(1)}}};
  check_rows(support::sampled(mapped(rows, 3), 3), few);
}

}  // namespace

TEST_CASE("vmap of elementwise functions agrees with loops") { check_mapped(elementwise_rows()); }
TEST_CASE("vmap of reductions and scans agrees with loops") { check_mapped(reduction_rows()); }
TEST_CASE("vmap of contractions agrees with loops") {
  check_mapped(contraction_rows());
  check_mapped(product_rows());
  check_mapped(semiring_rows());
}
TEST_CASE("vmap of shape operations agrees with loops") { check_mapped(shape_rows()); }
TEST_CASE("vmap of operations that arrange dimensions agrees with loops") {
  check_mapped(arrangement_rows());
}
TEST_CASE("vmap of operations by indices agrees with loops") { check_mapped(indexing_rows()); }
TEST_CASE("vmap of operations fused by name agrees with loops") { check_mapped(fused_rows()); }
TEST_CASE("vmap of operations on windows agrees with loops") { check_mapped(window_rows()); }
TEST_CASE("vmap of linear algebra agrees with loops") { check_mapped(matrix_rows()); }
TEST_CASE("vmap of Fourier transforms agrees with loops") { check_mapped(fourier_rows()); }
TEST_CASE("vmap of bits read as other elements agrees with loops") { check_mapped(bitcast_rows()); }
