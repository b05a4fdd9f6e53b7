// SPDX-License-Identifier: BSL-1.0
// Every row of the tables of operations has a program that can be exported.
#include "property/row_agreement.hpp"
#include "property/rows/tables.hpp"
#include "unit/export/exported.hpp"

#include <string>
#include <vector>

using namespace generated;

namespace {

/// Exports the results of rows, on operands that all devices hold.
void check_exports(const device_pool& pool, const std::vector<operation_row>& rows) {
  for (const operation_row& row : rows) {
    CAPTURE(row.name);
    row_tensors operands;
    for (std::size_t o = 0; o < row.operands.size(); ++o) {
      layout_desc whole;
      whole.dims.resize(row.operands[o].extents.size());
      operands.push_back(fill_operand(pool, row.operands[o], whole, o + 1).tensor);
    }
    const row_tensors made = row.apply(operands);
    std::vector<tensor_node*> roots;
    for (const row_tensor& each : made) roots.push_back(each.share().get());
    const machine_turn::look looking(pool.state()->turn());
    const lowered_program program = lower(roots);
    CHECK(exported::keep_all_forms("row " + row.name, program.view()) == "");
  }
}

}  // namespace

TEST_CASE("every row of the tables of operations is exported") {
  mesh_desc mesh;
  for (const char* axis : {"x", "y", "z"}) mesh.axes.push_back({short_name(axis), 2});
  const device_pool pool(mesh);
  for (const auto& rows :
       {arrangement_rows(), bitcast_rows(), elementwise_rows(), fourier_rows(), fused_rows(),
        indexing_rows(), matrix_rows(), product_rows(), reduction_rows(), semiring_rows(),
        shape_rows(), contraction_rows(), window_rows()})
    check_exports(pool, rows);
}
