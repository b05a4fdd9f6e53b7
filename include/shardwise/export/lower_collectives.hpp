// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/export/lowering.hpp"
#include "shardwise/export/sharding_attribute.hpp"
#include "shardwise/notation/replica_groups_text.hpp"
#include "shardwise/plan/manual_operation.hpp"

#include <string>
#include <vector>

namespace shardwise::internal {

/// A collective between the devices along some axes: what the library calls it, in one form for
/// those of reshards and those that programs call.
struct exported_collective {
  collective kind = collective::slice;
  reduction reduce = reduction::sum;
  axis_list axes{};
  int from = -1;
  int to = -1;
  position_moves moves{};
};

/// Appends collectives of StableHLO on what one device holds.
class collective_lowering {
 public:
  collective_lowering(stablehlo_ops& at, const mesh_desc& mesh, int channel)
      : at_(at), mesh_(mesh), channel_(channel) {}

  /// Returns the result, or an empty value if there is no counterpart.
  mlir_value append(const exported_collective& does, const mlir_value& x) {
    mlir_type made = x.type;
    const index_t parts = mesh_.parts(does.axes);
    if (does.from >= 0) made.extents[does.from] *= parts;
    if (does.to >= 0) made.extents[does.to] /= parts;
    switch (does.kind) {
      case collective::slice:
        return does.to < 0 ? x : own_part(x, does.to, made.extents[does.to], does.axes);
      case collective::all_reduce:
        return op("all_reduce", x, made, groups(does.axes), combining(does.reduce, x));
      case collective::reduce_scatter:
        return op("reduce_scatter", x, made,
                  "scatter_dimension = " + mlir_count(does.to) + ", " + groups(does.axes),
                  combining(does.reduce, x));
      case collective::all_gather:
        return op("all_gather", x, made,
                  "all_gather_dim = " + mlir_count(does.from) + ", " + groups(does.axes));
      case collective::all_to_all:
        return op("all_to_all", x, made,
                  "split_dimension = " + mlir_count(does.to) +
                      ", concat_dimension = " + mlir_count(does.from) +
                      ", split_count = " + mlir_count(parts) + ", " + groups(does.axes),
                  {}, false);
      case collective::collective_permute:
        return op("collective_permute", x, made, pairs(does), {}, false);
      case collective::broadcast:
        return op("collective_broadcast", x, made, groups(does.axes, does.moves.by()), {}, false);
      default:
        return {};
    }
  }
  /// Returns the position of the device along axes, as an integer of 64 bits.
  mlir_value position(const axis_list& axes) {
    std::vector<index_t> table(static_cast<std::size_t>(mesh_.devices()));
    for (index_t i = 0; i < mesh_.devices(); ++i)
      table[static_cast<std::size_t>(device_at(i))] = position_of(i, axes);
    const mlir_value device = at_.op("partition_id", {}, {"ui32", {}});
    const mlir_value one =
        at_.op("dynamic_slice", {at_.list(table, "i64"), at_.convert(device, "i64")}, {"i64", {1}},
               "slice_sizes = array<i64: 1>");
    return at_.reshape(one, {});
  }

 private:
  [[nodiscard]] index_t device_at(index_t position) const noexcept {
    return devices_of(mesh_)[position];
  }
  /// The coordinates of a position of the mesh along an axis, and along several together.
  [[nodiscard]] index_t position_of(index_t i, const axis_list& axes) const noexcept {
    index_t out = 0;
    for (const std::uint8_t a : axes) {
      index_t minor = 1;
      for (int b = a + 1; b < mesh_.rank(); ++b) minor *= mesh_.size(b);
      out = out * mesh_.size(a) + i / minor % mesh_.size(a);
    }
    return out;
  }
  /// The part of a dimension that the device keeps.
  mlir_value own_part(const mlir_value& x, int dim, index_t size, const axis_list& axes) {
    const mlir_value zero = at_.scalar(index_t{0}, "i64");
    mlir_values read{x};
    mlir_type made = x.type;
    made.extents[dim] = size;
    for (int d = 0; d < x.type.rank(); ++d)
      read.push_back(d == dim ? at_.multiply(position(axes), at_.scalar(size, "i64")) : zero);
    return at_.op("dynamic_slice", read, made, "slice_sizes = " + mlir_array(made.extents));
  }
  mlir_value op(std::string_view name, const mlir_value& x, const mlir_type& made,
                const std::string& attributes, const std::string& region = {},
                bool by_device = true) {
    std::string all = attributes + ", channel_handle = #stablehlo.channel_handle<handle = " +
                      std::to_string(channel_) + ", type = 1>";
    if (by_device) all += ", use_global_device_ids";
    return at_.text().append("stablehlo." + std::string(name), {x}, {made}, all, region)[0];
  }
  std::string combining(reduction kind, const mlir_value& x) {
    return at_.combining(stablehlo_ops::combiner(kind, x.type.element), x.type.element);
  }
  /// The groups of devices along axes; the one at `first` of each group comes first.
  std::string groups(const axis_list& axes, index_t first = 0) {
    std::vector<index_t> memory(static_cast<std::size_t>(2 * mesh_.devices()));
    device_buffer room(memory.data(), 2 * mesh_.devices());
    const replica_groups all = to_groups(mesh_, axes, room).groups;
    std::string out;
    for (index_t g = 0; g < all.count(); ++g) {
      std::vector<index_t> members{all.member(g, first)};
      for (index_t m = 0; m < all.size(); ++m)
        if (m != first) members.push_back(all.member(g, m));
      out += (g > 0 ? ", [" : "[") + comma_separated(members) + ']';
    }
    return "replica_groups = dense<[" + out + "]> : tensor<" + std::to_string(all.count()) + 'x' +
           std::to_string(all.size()) + "xi64>";
  }
  /// Who sends to whom.
  std::string pairs(const exported_collective& does) {
    std::vector<index_t> memory(static_cast<std::size_t>(2 * mesh_.devices()));
    device_buffer room(memory.data(), 2 * mesh_.devices());
    const replica_groups all = to_groups(mesh_, does.axes, room).groups;
    std::vector<index_t> flat;
    for (index_t g = 0; g < all.count(); ++g)
      for (index_t to = 0; to < all.size(); ++to)
        if (const index_t from = does.moves.heard_by(to, all.size()); from >= 0) {
          flat.push_back(all.member(g, from));
          flat.push_back(all.member(g, to));
        }
    return "source_target_pairs = " + mlir_pairs(flat);
  }

  stablehlo_ops& at_;
  const mesh_desc& mesh_;
  int channel_;
};

}  // namespace shardwise::internal
