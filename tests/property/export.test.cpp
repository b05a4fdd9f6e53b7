// SPDX-License-Identifier: BSL-1.0
// Every row of the tables of operations has a program that can be exported, and the text of it the
// numbers of the row.
#include "property/row_agreement.hpp"
#include "property/rows/tables.hpp"
#include "unit/export/exported.hpp"
#include "unit/export/program_numbers.hpp"

#include <set>
#include <string>
#include <vector>

using namespace generated;

namespace {

/// Returns operands of a row that all devices hold.
row_tensors whole_operands(const device_pool& pool, const operation_row& row) {
  row_tensors operands;
  for (std::size_t o = 0; o < row.operands.size(); ++o) {
    layout_desc whole;
    whole.dims.resize(row.operands[o].extents.size());
    operands.push_back(fill_operand(pool, row.operands[o], whole, o + 1).tensor);
  }
  return operands;
}

/// Exports the results of rows, on operands that all devices hold.
void check_exports(const device_pool& pool, const std::vector<operation_row>& rows) {
  for (const operation_row& row : rows) {
    CAPTURE(row.name);
    const row_tensors made = row.apply(whole_operands(pool, row));
    std::vector<tensor_node*> roots;
    for (const row_tensor& each : made) roots.push_back(each.share().get());
    const machine_turn::look looking(pool.state()->turn());
    const lowered_program program = lower(roots);
    CHECK(exported::keep_all_forms("row " + row.name, program.view()) == "");
  }
}

/// The text of some pending results, and the tensors that it takes.
struct exported_results {
  std::string text;
  std::vector<node_ptr> inputs;
};
exported_results export_results(const device_pool& pool, const row_tensors& made) {
  std::vector<tensor_node*> roots;
  for (const row_tensor& each : made) roots.push_back(each.share().get());
  const machine_turn::look looking(pool.state()->turn());
  const internal::reached_nodes reached(roots);
  const lowered_graph graph = internal::lower(reached, roots);
  const graph_nodes nodes = internal::nodes_of(graph, reached);
  exported_results out{to_stablehlo(graph.program.view()), {}};
  for (std::size_t s = 0; s < nodes.of_steps.size(); ++s)
    if (graph.program.steps[s].kind == step_kind::input) out.inputs.push_back(nodes.of_steps[s]);
  return out;
}

/// Runs the text of a row by plain loops, and returns how its numbers differ. Throws `malformed` if
/// the text calls what has no counterpart.
std::string difference_of_row(const device_pool& pool, const operation_row& row) {
  const row_tensors made = row.apply(whole_operands(pool, row));
  const exported_results exported = export_results(pool, made);
  hlo_text::stablehlo_reader reader(exported.text);
  const auto types = reader.argument_types();
  if (types.size() != exported.inputs.size()) return "another number of arguments";
  hlo_text::tensors arguments;
  for (std::size_t k = 0; k < types.size(); ++k)
    arguments.push_back(hlo_text::result_of(exported.inputs[k], types[k]));
  const hlo_text::tensors got = reader.run(arguments);
  if (got.size() != made.size()) return "another number of results";
  for (std::size_t r = 0; r < got.size(); ++r)
    if (const std::string words = hlo_text::difference_of(
            got[r], hlo_text::result_of(made[r].share(), got[r].type), 1e-5);
        !words.empty())
      return "result " + std::to_string(r) + ": " + words;
  return {};
}

/// What the reader says of the calls that StableHLO has no counterpart for.
std::set<std::string> calls_without_counterpart() {
  std::set<std::string> said;
  for (const char* name :
       {"determinant", "eigenvectors", "erfinv", "householder_product", "inverse", "lgamma",
        "normal_like", "orthonormal_columns", "singular_vectors", "slogdet", "solve"})
    said.insert("nothing is known of a call of \"shardwise." + std::string(name) + "\"");
  return said;
}

}  // namespace

TEST_CASE("the text of every row computes the numbers of the row") {
  mesh_desc mesh;
  for (const char* axis : {"x", "y", "z"}) mesh.axes.push_back({short_name(axis), 1});
  const device_pool pool(mesh);
  int run = 0;
  std::set<std::string> not_run;
  for (const auto& rows :
       {arrangement_rows(), bitcast_rows(), elementwise_rows(), fourier_rows(), fused_rows(),
        indexing_rows(), matrix_rows(), product_rows(), reduction_rows(), semiring_rows(),
        shape_rows(), contraction_rows(), window_rows()})
    for (const operation_row& row : rows) {
      CAPTURE(row.name);
      std::string difference;
      try {
        difference = difference_of_row(pool, row);
        ++run;
      } catch (const hlo_text::malformed& problem) {
        not_run.insert(problem.what());
      }
      CHECK(difference == "");
    }
  CHECK(run == 532);
  CHECK(not_run == calls_without_counterpart());
}

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
