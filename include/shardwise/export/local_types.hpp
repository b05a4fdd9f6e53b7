// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/layout/tensor_desc.hpp"
#include "shardwise/mesh/mesh_desc.hpp"
#include "shardwise/rule/operation.hpp"

#include <string>

namespace shardwise::internal {

/// Returns the extents of what each device holds of a tensor; `why` tells why devices hold
/// different ones.
[[nodiscard]] inline extents_desc local_extents(const mesh_desc& mesh, const tensor_desc& tensor,
                                                std::string& why) {
  extents_desc out = tensor.extents;
  for (int d = 0; d < tensor.rank(); ++d) {
    const index_t parts = mesh.parts(tensor.layout.dims[d]);
    const grain how = tensor.layout.grains[d];
    if (parts > 1 && !how.is_contiguous() && !how.is_single_cut())
      why = "dimension " + std::to_string(d) + " is not cut into contiguous parts";
    if (out[d] % parts != 0)
      why = "dimension " + std::to_string(d) + " of " + std::to_string(out[d]) +
            " elements is cut into " + std::to_string(parts) +
            " parts of different sizes, and the form for one device has no masks";
    else
      out[d] /= parts;
  }
  return out;
}

/// Returns true if no window reads elements of two devices: windows lie side by side, and each
/// device has whole ones.
[[nodiscard]] inline bool are_windows_local(const dimension_window& reads, index_t here) noexcept {
  return reads.is_pointwise() || (reads.low == 0 && reads.high <= 0 && reads.spacing == 1 &&
                                  reads.span <= reads.stride && here % reads.stride == 0);
}

/// Returns why the devices cannot compute an operation each on what it holds, or nothing.
[[nodiscard]] inline std::string why_not_local(const mesh_desc& mesh, const operation& what,
                                               const attributes& how,
                                               const tensor_descs& operands) {
  if (what.rule == nullptr) return {};
  const factor_rule rule = what.rule(how, operands);
  for (int o = 0; o < rule.operands.ssize() && o < operands.ssize(); ++o)
    for (int d = 0; d < rule.operands[o].ssize(); ++d) {
      const std::uint8_t f = rule.operands[o][d];
      if (operands[o].layout.dims[d].empty() || f == repeated) continue;
      for (const factor_window& window : rule.windows)
        if (window.source == f &&
            !are_windows_local(window.reads,
                               operands[o].extents[d] / mesh.parts(operands[o].layout.dims[d])))
          return "its windows read what other devices hold of dimension " + std::to_string(d);
    }
  return {};
}

/// Returns the axes that split a factor of a rule in the operand that is split most, or in the
/// result: devices use their own parts of all other operands.
[[nodiscard]] inline axis_list axes_of_factor(const factor_rule& rule, std::uint8_t factor,
                                              const tensor_descs& operands,
                                              const tensor_desc& result) noexcept {
  axis_list most;
  const auto add = [&](const factor_map& map, const tensor_desc& x) {
    for (int d = 0; d < map.ssize() && d < x.rank(); ++d)
      if (map[d] == factor && x.layout.dims[d].ssize() > most.ssize()) most = x.layout.dims[d];
  };
  for (int o = 0; o < rule.operands.ssize() && o < operands.ssize(); ++o)
    add(rule.operands[o], operands[o]);
  add(rule.result, result);
  return most;
}

/// Returns true if the elements of the result depend on where they are in the whole tensor, or if
/// indices are looked up in a dimension of the first operand.
[[nodiscard]] inline bool reads_positions(const operation& what) noexcept {
  constexpr text_view names[] = {"iota_like",    "tril",        "triu",           "dropout",
                                 "uniform_like", "normal_like", "take",           "take_along",
                                 "scatter",      "put_along",   "max_with_index", "min_with_index",
                                 "top_k",        "update_slice"};
  for (const text_view name : names)
    if (what.name == name) return true;
  return false;
}

}  // namespace shardwise::internal
