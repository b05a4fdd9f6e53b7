// SPDX-License-Identifier: BSL-1.0
// The gradient of every differentiable row of the table of operations for all legal layouts,
// compared with finite differences of its plain loop.
#include "property/mapped_row.hpp"
#include "property/row_agreement.hpp"
#include "property/rows/tables.hpp"

using namespace generated;

namespace {

using doubles = std::vector<any_tensor<double>>;

/// The weights of the results of a row, so that every element contributes differently to the loss.
double weight_of(std::size_t result, index_t i) {
  return 0.5 + 0.37 * static_cast<double>((i * 7 + static_cast<index_t>(result) * 3) % 11);
}
double loss_of(const operation_row& row, const row_arrays& operands) {
  const row_arrays results = row.loop(operands);
  double sum = 0;
  for (std::size_t r = 0; r < results.size(); ++r)
    if (results[r].type == element::f64)
      for (index_t i = 0; i < results[r].size(); ++i) sum += weight_of(r, i) * results[r][i];
  return sum;
}
/// The derivative of the loss with respect to one element of one operand.
double slope_of(const operation_row& row, row_arrays operands, std::size_t o, index_t i) {
  const double step = 1e-5;
  double& x = operands[o][i];
  const double at = x;
  x = at + step;
  const double above = loss_of(row, operands);
  x = at - step;
  return (above - loss_of(row, operands)) / (2 * step);
}

/// The derivatives of the loss with respect to every element of each differentiated operand.
row_arrays slopes_of(const operation_row& row, const row_arrays& operands) {
  row_arrays slopes;
  for (std::size_t o = 0; o < operands.size(); ++o) {
    if (row.operands[o].type != element::f64) continue;
    host_array& along = slopes.emplace_back(operands[o].extents, element::f64);
    for (index_t i = 0; i < along.size(); ++i) along[i] = slope_of(row, operands, o, i);
  }
  return slopes;
}

/// Checks the gradients of a row if it allows these layouts: they are correct, have the layouts of
/// the operands, and the costs in their program.
std::optional<row_arrays> gradients_agree(const device_pool& pool, const operation_row& row,
                                          const std::vector<layout_desc>& layouts,
                                          const remembered& slopes) {
  row_tensors spread;
  row_arrays operands;
  doubles differentiated;
  for (std::size_t o = 0; o < row.operands.size(); ++o) {
    const filled_operand x = fill_operand(pool, row.operands[o], layouts[o], o + 1);
    spread.push_back(x.tensor);
    operands.push_back(x.value);
    if (row.operands[o].type == element::f64) differentiated.push_back(x.tensor.as<>());
  }
  try {
    (void)row.apply(spread);
  } catch (const error&) {
    return std::nullopt;
  }
  const auto loss = [&](const doubles& given) {
    row_tensors all = spread;
    std::size_t next = 0;
    for (std::size_t o = 0; o < all.size(); ++o)
      if (row.operands[o].type == element::f64) all[o] = given[next++];
    std::vector<any_tensor<double>> sums;
    const row_tensors results = row.apply(all);
    for (std::size_t r = 0; r < results.size(); ++r) {
      if (results[r].type() != element::f64) continue;
      host_array weights(results[r].tensor().extents, element::f64);
      for (index_t i = 0; i < weights.size(); ++i) weights[i] = weight_of(r, i);
      layout_desc whole = results[r].tensor().layout;
      whole.pending = 0;
      whole.kind = reduction::sum;
      const any_tensor<double> complete = results[r].tensor().layout.kind == reduction::sum
                                              ? results[r].as<>()
                                              : reshard(results[r].as<>(), whole);
      sums.push_back(reshard(sum(complete * hold_whole(pool, weights).as<>()), layout_desc{}));
    }
    any_tensor<double> all_of_them = sums[0];
    for (std::size_t r = 1; r < sums.size(); ++r) all_of_them = all_of_them + sums[r];
    return all_of_them;
  };
  const doubles made = gradient(loss)(differentiated);
  std::vector<tensor_node*> roots;
  for (const auto& each : made)
    if (!each.share()->ready()) roots.push_back(each.share().get());
  if (!roots.empty()) {
    const cost_ledger planned = [&] {
      const lowered_program program = lower(roots);
      return summarize(pool.mesh(), program.steps.data(), program.lives.data(),
                       static_cast<std::int32_t>(program.steps.size()));
    }();
    pool.reset_counters();
    run_program(roots);
    // Other tensors also use memory.
    require(pool.counters().flops() == planned.flops());
    require(pool.counters().collectives() == planned.collectives());
    require(pool.counters().bytes_moved() == planned.bytes_moved());
  }
  const row_arrays expected = slopes(operands);
  row_arrays gradients;
  for (std::size_t o = 0; o < operands.size(); ++o) {
    if (row.operands[o].type != element::f64) continue;
    const any_tensor<double>& got = made[gradients.size()];
    require(got.extents() == operands[o].extents);
    require(got.layout().dims == layouts[o].dims);
    require(got.layout().pending == 0);
    const host_array values = host_value(got);
    for (index_t i = 0; i < values.size(); ++i) {
      const double want = expected[gradients.size()][i];
      require(std::abs(values[i] - want) <= 1e-5 * std::max(1.0, std::abs(want)),
              "operand " + std::to_string(o) + ", element " + std::to_string(i) + ": " +
                  std::to_string(values[i]) + " instead of " + std::to_string(want));
    }
    gradients.push_back(values);
  }
  return gradients;
}

/// The same numbers without those that are equal, zero or NaN, where there is no derivative.
draw away_from_ties(const draw& numbers_of) {
  return [=](numbers& random) {
    const double drawn = numbers_of(random);
    const double offset = between(0.01, 0.2)(random);
    if (!std::isfinite(drawn)) return 5 * offset;
    return 2 * drawn == std::floor(2 * drawn) ? drawn + offset : drawn;
  };
}

const std::vector<layout_choice>& gradient_choices() {
  static const std::vector<layout_choice> all{
      {{2}, 60}, {{3, 2}, 40}, {{2, 2, 2}, 20}, {{3, 2}, 20, {grain::cyclic(1)}}};
  return all;
}

void check_gradients(const std::vector<operation_row>& rows,
                     const std::vector<layout_choice>& choices = gradient_choices()) {
  for (operation_row row : rows) {
    if (!row.is_differentiable) continue;
    row.error = row.rounding = 1e-9;
    for (row_operand& operand : row.operands)
      if (operand.type == element::f64) operand.numbers_of = away_from_ties(operand.numbers_of);
    const remembered slopes([&](const row_arrays& held) { return slopes_of(row, held); });
    const row_check check = [&](const device_pool& pool, const operation_row& checked,
                                const std::vector<layout_desc>& layouts) {
      return gradients_agree(pool, checked, layouts, slopes);
    };
    int allowed = 0;
    for (const layout_choice& choice : choices) allowed += agreements(row, choice, check);
    INFO(row.name);
    REQUIRE(allowed >= static_cast<int>(choices.size()));
  }
}

/// The same for rows that are mapped over a batch of two.
void check_mapped(const std::vector<operation_row>& rows) {
  check_gradients(mapped(rows, 2), {{{2}, 10}, {{3, 2}, 6}});
}

}  // namespace

TEST_CASE("gradients of elementwise functions are slopes under every layout") {
  check_gradients(elementwise_rows());
}
TEST_CASE("gradients of reductions and scans are slopes under every layout") {
  check_gradients(reduction_rows());
}
TEST_CASE("gradients of contractions are slopes under every layout") {
  check_gradients(contraction_rows());
}
TEST_CASE("gradients of products with names") { check_gradients(product_rows()); }
TEST_CASE("gradients of contractions over semirings are slopes under every layout") {
  check_gradients(semiring_rows());
}
TEST_CASE("gradients of shape operations are slopes under every layout") {
  check_gradients(shape_rows());
}
TEST_CASE("gradients of operations that arrange dimensions are slopes under every layout") {
  check_gradients(arrangement_rows());
}
TEST_CASE("gradients of operations by indices are slopes under every layout") {
  check_gradients(indexing_rows());
}
TEST_CASE("gradients of Fourier transforms are slopes under every layout") {
  check_gradients(fourier_rows());
  check_mapped(fourier_rows());
}
TEST_CASE("gradients of operations fused by name are slopes under every layout") {
  check_gradients(fused_rows());
}
TEST_CASE("gradients of linear algebra are slopes under every layout") {
  check_gradients(matrix_rows());
}
TEST_CASE("gradients of operations on windows are slopes under every layout") {
  check_gradients(window_rows());
}
TEST_CASE("gradients of mapped functions are slopes under every layout") {
  check_mapped(elementwise_rows());
  check_mapped(reduction_rows());
  check_mapped(contraction_rows());
  check_mapped(product_rows());
  check_mapped(shape_rows());
  check_mapped(arrangement_rows());
  check_mapped(indexing_rows());
  check_mapped(fused_rows());
  check_mapped(window_rows());
  check_mapped(matrix_rows());
}
