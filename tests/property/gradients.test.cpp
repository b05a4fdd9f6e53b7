// SPDX-License-Identifier: BSL-1.0
// The gradient of every differentiable row of the table of operations for all legal layouts,
// compared with finite differences of its plain loop.
#include "property/mapped_row.hpp"
#include "property/row_agreement.hpp"
#include "property/rows/tables.hpp"

using namespace generated;

namespace {

using doubles = std::vector<any_tensor<double>>;

/// How the loss depends on the results of a row: every element contributes differently, or it is
/// their plain sum, whose cotangent is a single number.
enum class loss_kind : std::uint8_t { weighted, plain };

double weight_of(std::size_t result, index_t i) {
  return 0.5 + 0.37 * static_cast<double>((i * 7 + static_cast<index_t>(result) * 3) % 11);
}
double loss_of(const operation_row& row, const row_arrays& operands, loss_kind kind) {
  const row_arrays results = row.loop(operands);
  double sum = 0;
  for (std::size_t r = 0; r < results.size(); ++r)
    if (results[r].type == element::f64)
      for (index_t i = 0; i < results[r].size(); ++i)
        sum += (kind == loss_kind::plain ? 1 : weight_of(r, i)) * results[r][i];
  return sum;
}
/// The derivative of the loss with respect to one element of one operand.
double slope_of(const operation_row& row, row_arrays operands, std::size_t o, index_t i,
                loss_kind kind) {
  const double step = 1e-5;
  double& x = operands[o][i];
  const double at = x;
  x = at + step;
  const double above = loss_of(row, operands, kind);
  x = at - step;
  return (above - loss_of(row, operands, kind)) / (2 * step);
}

/// The derivatives of the loss with respect to every element of each differentiated operand.
row_arrays slopes_of(const operation_row& row, const row_arrays& operands, loss_kind kind) {
  row_arrays slopes;
  for (std::size_t o = 0; o < operands.size(); ++o) {
    if (row.operands[o].type != element::f64) continue;
    host_array& along = slopes.emplace_back(operands[o].extents, element::f64);
    for (index_t i = 0; i < along.size(); ++i) along[i] = slope_of(row, operands, o, i, kind);
  }
  return slopes;
}

/// The loss of a row as a function of its differentiated operands.
struct row_loss {
  const device_pool& pool;
  const operation_row& row;
  const row_tensors& operands;
  loss_kind kind;

  any_tensor<double> operator()(const doubles& given) const {
    row_tensors all = operands;
    std::size_t next = 0;
    for (std::size_t o = 0; o < all.size(); ++o)
      if (row.operands[o].type == element::f64) all[o] = given[next++];
    std::vector<any_tensor<double>> sums;
    const row_tensors results = row.apply(all);
    for (std::size_t r = 0; r < results.size(); ++r) {
      if (results[r].type() != element::f64) continue;
      layout_desc whole = results[r].tensor().layout;
      whole.pending = 0;
      whole.kind = reduction::sum;
      const any_tensor<double> complete = results[r].tensor().layout.kind == reduction::sum
                                              ? results[r].as<>()
                                              : reshard(results[r].as<>(), whole);
      if (kind == loss_kind::plain) {
        sums.push_back(reshard(sum(complete), layout_desc{}));
        continue;
      }
      host_array weights(results[r].tensor().extents, element::f64);
      for (index_t i = 0; i < weights.size(); ++i) weights[i] = weight_of(r, i);
      sums.push_back(reshard(sum(complete * hold_whole(pool, weights).as<>()), layout_desc{}));
    }
    any_tensor<double> all_of_them = sums[0];
    for (std::size_t r = 1; r < sums.size(); ++r) all_of_them = all_of_them + sums[r];
    return all_of_them;
  }
};

/// The gradients of a row whose operands one device holds.
row_arrays gradients_on_one_device(const operation_row& row, const row_arrays& operands,
                                   loss_kind kind) {
  row_tensors held;
  doubles differentiated;
  for (const host_array& value : operands) {
    held.push_back(hold_whole(one_device(), value));
    if (value.type == element::f64) differentiated.push_back(held.back().as<>());
  }
  row_arrays gradients;
  for (const any_tensor<double>& made :
       gradient(row_loss{one_device(), row, held, kind})(differentiated))
    gradients.push_back(host_value(made));
  return gradients;
}

/// Checks the gradients of a row if it allows these layouts: they are correct, have the layouts of
/// the operands, and the costs in their program.
std::optional<row_arrays> gradients_agree(const device_pool& pool, const operation_row& row,
                                          const std::vector<layout_desc>& layouts,
                                          const remembered& slopes, loss_kind kind) {
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
  const row_loss loss{pool, row, spread, kind};
  const doubles made = gradient(loss)(differentiated);
  std::vector<tensor_node*> roots;
  for (const auto& each : made)
    if (!each.share()->ready()) roots.push_back(each.share().get());
  if (!roots.empty()) {
    const cost_ledger planned = [&] {
      const lowered_program program = lower(roots);
      require_round_trip(program.view());
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
                     const std::vector<layout_choice>& choices = gradient_choices(),
                     loss_kind kind = loss_kind::weighted) {
  for (operation_row row : support::sampled_if_quick(rows, 4)) {
    if (!row.is_differentiable) continue;
    row.error = row.rounding = 1e-9;
    for (row_operand& operand : row.operands)
      if (operand.type == element::f64) operand.numbers_of = away_from_ties(operand.numbers_of);
    // The loops of differences are no code that a sanitizer should watch.
    const remembered slopes([&](const row_arrays& held) {
      return is_watched && !support::is_quick ? gradients_on_one_device(row, held, kind)
                                              : slopes_of(row, held, kind);
    });
    const row_check check = [&](const device_pool& pool, const operation_row& checked,
                                const std::vector<layout_desc>& layouts) {
      return gradients_agree(pool, checked, layouts, slopes, kind);
    };
    int allowed = 0;
    for (const layout_choice& choice : choices) allowed += agreements(row, choice, check);
    INFO(row.name);
    REQUIRE(allowed >= static_cast<int>(choices.size()));
  }
}

/// Checks the second derivatives of rows whose operands no axis splits: the gradient of the squares
/// of the gradients, beside central differences of these squares. Returns the names of rows that
/// have none.
std::vector<std::string> check_second(const std::vector<operation_row>& rows) {
  std::vector<std::string> without;
  struct four : mesh<axis<"x", 2>, axis<"y", 2>, axis<"z", 1>> {};
  const device_pool pool{four{}};
  for (operation_row row : support::sampled_if_quick(rows, 4)) {
    if (!row.is_differentiable) continue;
    INFO(row.name);
    row_tensors operands;
    doubles at;
    for (row_operand& operand : row.operands) {
      if (operand.type == element::f64) operand.numbers_of = away_from_ties(operand.numbers_of);
      layout_desc whole;
      whole.dims.resize(operand.extents.size());
      operands.push_back(fill_operand(pool, operand, whole, operands.size() + 1).tensor);
      if (operand.type == element::f64) at.push_back(operands.back().as<>());
    }
    const row_loss loss{pool, row, operands, loss_kind::weighted};
    const auto squares = [&](const doubles& given) {
      const doubles slopes = gradient(loss)(given);
      any_tensor<double> all = sum(square(slopes[0]));
      for (std::size_t o = 1; o < slopes.size(); ++o) all = all + sum(square(slopes[o]));
      return all;
    };
    doubles second;
    try {
      second = gradient(squares)(at);
    } catch (const error& e) {
      REQUIRE(e.code() == violation::operation_has_no_gradient);
      without.push_back(row.name);
      continue;
    }
    for (std::size_t o = 0; o < at.size(); ++o) {
      host_array here = host_value(at[o]);
      const host_array found = host_value(second[o]);
      for (const index_t i : {index_t{0}, here.size() / 2}) {
        if (here.size() == 0) break;
        const double step = 1e-5, x = here[i];
        const auto moved = [&](double by) {
          doubles all = at;
          here[i] = x + by;
          all[o] = hold_whole(pool, here).as<>();
          here[i] = x;
          return host_value(squares(all))[0];
        };
        const double slope = (moved(step) - moved(-step)) / (2 * step);
        CHECK(std::abs(found[i] - slope) <= 1e-4 * std::max(1.0, std::abs(slope)));
      }
    }
  }
  return without;
}
/// Both kinds of loss.
void check_slopes(const std::vector<operation_row>& rows) {
  check_gradients(rows);
  check_gradients(support::sampled(rows, 3), {{{2}, 12}, {{3, 2}, 8}}, loss_kind::plain);
}
/// The same for rows that are mapped over a batch of two.
void check_mapped(const std::vector<operation_row>& rows) {
  check_gradients(support::sampled(mapped(rows, 2), 5), {{{2}, 10}, {{3, 2}, 6}});
}

}  // namespace

TEST_CASE("gradients of elementwise functions are slopes under every layout") {
  check_slopes(elementwise_rows());
}
TEST_CASE("gradients of reductions and scans are slopes under every layout") {
  check_slopes(reduction_rows());
}
TEST_CASE("gradients of contractions are slopes under every layout") {
  check_slopes(contraction_rows());
}
TEST_CASE("gradients of products with names") { check_slopes(product_rows()); }
TEST_CASE("gradients of contractions over semirings are slopes under every layout") {
  check_slopes(semiring_rows());
}
TEST_CASE("gradients of shape operations are slopes under every layout") {
  check_slopes(shape_rows());
}
TEST_CASE("gradients of operations that arrange dimensions are slopes under every layout") {
  check_slopes(arrangement_rows());
}
TEST_CASE("gradients of operations by indices are slopes under every layout") {
  check_slopes(indexing_rows());
}
TEST_CASE("gradients of Fourier transforms are slopes under every layout") {
  check_slopes(fourier_rows());
  check_mapped(fourier_rows());
}
TEST_CASE("gradients of operations fused by name are slopes under every layout") {
  check_slopes(fused_rows());
}
TEST_CASE("gradients of linear algebra are slopes under every layout") {
  check_slopes(matrix_rows());
}
TEST_CASE("gradients of operations on windows are slopes under every layout") {
  check_slopes(window_rows());
}
TEST_CASE("gradients of gradients are slopes of squares of gradients") {
  std::vector<std::string> without;
  const auto check = [&](const std::vector<operation_row>& rows) {
    for (const std::string& name : check_second(rows)) without.push_back(name);
  };
  check(elementwise_rows());
  check(reduction_rows());
  check(contraction_rows());
  check(product_rows());
  check(shape_rows());
  check(arrangement_rows());
  check(indexing_rows());
  check(fourier_rows());
  check(fused_rows());
  check(matrix_rows());
  check(semiring_rows());
  check(window_rows());
  // The polygamma functions.
  for (const std::string& name : without) {
    INFO(name);
    CHECK(name == "lgamma");
  }
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
