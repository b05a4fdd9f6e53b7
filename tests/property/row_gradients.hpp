// SPDX-License-Identifier: BSL-1.0
// Gradients of rows of the table of operations, under many layouts, against differences of loops.
#pragma once

#include "property/row_agreement.hpp"

namespace generated {

/// The weight of an element in the number whose gradient is taken.
inline double weight_of(index_t place) { return static_cast<double>(place * 7 % 5) - 1.75; }

/// That number, by the loop of a row.
inline double weighed_loop(const operation_row& row, const row_arrays& operands) {
  double total = 0;
  for (const host_array& result : row.loop(operands))
    for (index_t i = 0; i < result.size(); ++i) total += result[i] * weight_of(i);
  return total;
}

/// Its differences, for each operand with fractions.
inline std::vector<std::vector<double>> differences(const operation_row& row,
                                                    const row_arrays& operands) {
  constexpr double step = 1e-5;
  std::vector<std::vector<double>> all(operands.size());
  row_arrays moved = operands;
  for (std::size_t o = 0; o < operands.size(); ++o) {
    if (operands[o].type != element::f64) continue;
    for (index_t i = 0; i < operands[o].size(); ++i) {
      moved[o][i] = operands[o][i] + step;
      const double above = weighed_loop(row, moved);
      moved[o][i] = operands[o][i] - step;
      all[o].push_back((above - weighed_loop(row, moved)) / (2 * step));
      moved[o][i] = operands[o][i];
    }
  }
  return all;
}

/// Checks the gradient of a row on operands under these layouts, unless they are refused: then
/// false.
inline bool gradient_agrees(const device_pool& pool, const operation_row& row,
                            const std::vector<layout_desc>& layouts) {
  row_tensors given;
  row_arrays operands;
  std::vector<any_tensor<double>> arguments;
  for (std::size_t o = 0; o < row.operands.size(); ++o) {
    row_operand drawn = row.operands[o];
    // No ties, at which gradients are a matter of choice.
    if (drawn.type == element::f64) drawn.numbers_of = between(-2, 2);
    const filled_operand x = fill_operand(pool, drawn, layouts[o], o + 1);
    given.push_back(x.tensor);
    operands.push_back(x.value);
    if (drawn.type == element::f64) arguments.push_back(x.tensor.as<>());
  }
  const auto loss = [&](const std::vector<any_tensor<double>>& x) {
    row_tensors read;
    std::size_t next = 0;
    for (const row_tensor& each : given)
      read.push_back(each.type() == element::f64 ? row_tensor(x[next++]) : each);
    const any_tensor<double> y = row.apply(read)[0].as<>();
    host_array weights(y.extents(), element::f64);
    for (index_t i = 0; i < weights.size(); ++i) weights[i] = weight_of(i);
    const any_tensor<double> total = sum(y * hold_whole(pool, weights).as<>());
    return reshard(total, layout_desc{});
  };
  try {
    (void)loss(arguments);
  } catch (const error& refusal) {
    INFO(refusal.what());
    REQUIRE(is_about_layouts(refusal.code()));
    return false;
  }
  const std::vector<any_tensor<double>> found = gradient(loss)(arguments);
  const std::vector<std::vector<double>> wanted = differences(row, operands);
  std::size_t next = 0;
  for (std::size_t o = 0; o < operands.size(); ++o) {
    if (operands[o].type != element::f64) continue;
    const host_array got = host_value(found[next++]);
    REQUIRE(got.extents == operands[o].extents);
    for (index_t i = 0; i < got.size(); ++i) {
      const double want = wanted[o][static_cast<std::size_t>(i)];
      if (std::abs(got[i] - want) <= 2e-7 * std::max(1.0, std::abs(want))) continue;
      CAPTURE(o, i, got[i], want, got.values, wanted[o]);
      FAIL("a gradient differs");
    }
  }
  return true;
}

/// Checks the gradients of rows under layouts at random, so many on each mesh.
inline void check_gradients(const std::vector<operation_row>& rows, int count = 25) {
  for (const operation_row& row : rows) {
    if (!row.is_differentiable) continue;
    int allowed = 0;
    for (const layout_choice& choice : layout_choices()) {
      const device_pool pool(meshes({choice.mesh}).front(), 2);
      mesh_desc mesh = pool.mesh();
      for (std::size_t a = choice.mesh.size(); a < 3; ++a)
        mesh.axes.push_back({name(text_view(&"xyz"[a], 1)), 1});
      const device_pool named(mesh, 2);
      numbers random(static_cast<std::uint64_t>(count));
      for (int i = 0; i < count; ++i) {
        std::vector<layout_desc> chosen;
        sentence words;
        for (const row_operand& operand : row.operands) {
          std::vector<layout_desc> all = grained_layouts(pool.mesh(), operand.extents.ssize(),
                                                         operand.type == element::f64,
                                                         choice.grains);
          // The first combination is that of whole tensors.
          chosen.push_back(
              all[i == 0 ? 0
                         : static_cast<std::size_t>(
                               random.below(static_cast<index_t>(all.size())))]);
          words << ' '
                << to_text(mesh, tensor_desc{operand.type, operand.extents, chosen.back()});
        }
        INFO(row.name << words.c_str());
        allowed += gradient_agrees(named, row, chosen) ? 1 : 0;
      }
    }
    INFO(row.name);
    REQUIRE(allowed > static_cast<int>(layout_choices().size()));
  }
}

}  // namespace generated
