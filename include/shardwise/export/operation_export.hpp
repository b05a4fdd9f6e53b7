// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/export/local_types.hpp"
#include "shardwise/export/lower_collectives.hpp"
#include "shardwise/export/lowering_table.hpp"
#include "shardwise/export/stablehlo.hpp"
#include "shardwise/operation/batched.hpp"
#include "shardwise/operation/propagation_barrier.hpp"

#include <string>
#include <vector>

namespace shardwise::internal {

/// What the functions of one module share: the options, the shardings, and the first instruction
/// that cannot be written.
struct export_state {
  export_options options;
  sharding_attributes attributes;
  std::string refusal{};
  int channels = 0;

  [[nodiscard]] bool ok() const noexcept { return refusal.empty(); }
  [[nodiscard]] bool is_per_device() const noexcept {
    return options.form == export_form::per_device;
  }
};

/// Writes one application of an operation, as the table of operations says.
class operation_export {
 public:
  operation_export(const mesh_desc& mesh, export_state& state, mlir_builder& text)
      : mesh_(mesh), state_(state), text_(text) {}

  /// Why the operation cannot be written, or nothing.
  [[nodiscard]] const std::string& refusal() const noexcept { return refusal_; }

  mlir_values write(const operation& what, const attributes& how, const tensor_descs& operands,
                    mlir_values read, const std::vector<mlir_type>& types) {
    if (how.each != nullptr) return each_of_batch(how, operands, read, types);
    const lowering_row* const row = find_lowering(what.name);
    if (row == nullptr) {
      refuse("only operations of the library have counterparts in StableHLO");
      return {};
    }
    stablehlo_ops ops(text_);
    if (what.id == operation_of<propagation_barrier_operation>.id && state_.attributes.is_sdy() &&
        !state_.is_per_device())
      return {text_.op("sdy.propagation_barrier", read, types[0],
                       "allowed_direction = " +
                           std::to_string(how.integers.empty() ? 0 : how.integers[0]) + " : i32")};
    if (what.is_elementwise)
      for (mlir_value& each : read) each = ops.spread(each, types[0].extents);
    lowering one(text_, what, how, operands, read, types);
    if (state_.is_per_device()) {
      if (const std::string why = why_not_local(mesh_, what, how, operands); !why.empty())
        refuse(why);
      if (reads_positions(what)) one.start_at(starts(operands[0]));
      if (what.name == "normal_like" && !operands[0].layout.splitting_axes().empty())
        refuse("its numbers depend on positions in the whole tensor");
    }
    if (!refusal_.empty()) return {};
    mlir_values made = lower_by(*row, one);
    if (!one.refusal().empty()) refuse(one.refusal());
    return made;
  }

 private:
  void refuse(std::string_view why) {
    if (refusal_.empty()) refusal_ = why;
  }
  /// Returns, for each dimension that is split, the first index that a device holds.
  mlir_values starts(const tensor_desc& tensor) {
    stablehlo_ops ops(text_);
    mlir_values out(static_cast<std::size_t>(tensor.rank()));
    std::string none;
    const extents_desc here = local_extents(mesh_, tensor, none);
    for (int d = 0; d < tensor.rank(); ++d) {
      if (mesh_.parts(tensor.layout.dims[d]) == 1) continue;
      const mlir_value place = collective_lowering(ops, mesh_, 0).position(tensor.layout.dims[d]);
      out[static_cast<std::size_t>(d)] = ops.multiply(place, ops.scalar(here[d], "i64"));
    }
    return out;
  }
  /// Writes an operation on each element of a batch, and puts the results together.
  mlir_values each_of_batch(const attributes& how, const tensor_descs& operands,
                            const mlir_values& read, const std::vector<mlir_type>& types) {
    const attributes inner = vmap_operation::inner(how);
    const operation& what = inner.each == nullptr ? *how.each : operation_of<vmap_operation>;
    tensor_descs each = vmap_operation::operands_of_each(how, operands);
    stablehlo_ops ops(text_);
    const auto without_first = [](const extents_desc& extents) {
      extents_desc out;
      for (int d = 1; d < extents.ssize(); ++d) out.push_back(extents[d]);
      return out;
    };
    std::vector<mlir_type> one_types = types;
    for (mlir_type& type : one_types) type.extents = without_first(type.extents);
    std::vector<mlir_values> parts(types.size());
    for (index_t n = 0; n < types[0].extents[0]; ++n) {
      mlir_values one;
      for (std::size_t k = 0; k < read.size(); ++k)
        one.push_back((how.batches[0] >> k & 1U) == 0
                          ? read[k]
                          : ops.reshape(ops.slice(read[k], 0, n, n + 1),
                                        without_first(read[k].type.extents)));
      const mlir_values made = write(what, inner, each, one, one_types);
      if (!refusal_.empty()) return {};
      for (std::size_t r = 0; r < made.size(); ++r) {
        extents_desc row = types[r].extents;
        row[0] = 1;
        parts[r].push_back(ops.reshape(made[r], row));
      }
    }
    mlir_values out;
    for (std::size_t r = 0; r < types.size(); ++r)
      out.push_back(parts[r].empty() ? ops.integer(0, types[r]) : ops.concatenate(parts[r], 0));
    return out;
  }

  const mesh_desc& mesh_;
  export_state& state_;
  mlir_builder& text_;
  std::string refusal_;
};

}  // namespace shardwise::internal
