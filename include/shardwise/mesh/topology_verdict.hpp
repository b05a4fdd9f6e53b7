// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/text.hpp"
#include "shardwise/mesh/mesh_desc.hpp"
#include "shardwise/mesh/topology.hpp"

namespace shardwise {

/// The sizes of a logical mesh, ordered by how much its axes communicate, the least first.
using mesh_shape = inplace_vector<index_t, max_axes>;

/// Returns the product of sizes, or -1 if one is not positive or the product exceeds `limit`.
template <std::size_t Capacity>
[[nodiscard]] constexpr index_t bounded_product(const inplace_vector<index_t, Capacity>& sizes,
                                                index_t limit) noexcept {
  index_t product = 1;
  for (index_t size : sizes) {
    if (size < 1 || size > limit / product) return -1;
    product *= size;
  }
  return product;
}

/// Every rule that a machine and a logical mesh can break.
enum class topology_rule : unsigned char {
  nothing,
  shape_is_not_positive,
  ici_and_dcn_ranks_differ,
  dcn_shape_is_missing,
  dcn_shape_needs_slices,
  slice_index_is_missing,
  slice_count_differs,
  device_count_differs,
  devices_are_not_a_cuboid,
  chip_has_several_devices,
  axis_has_no_match,
  machine_has_no_contiguous_submeshes,
  shape_has_no_contiguous_submeshes,
  order_does_not_fit,
};

/// The name of a rule.
[[nodiscard]] constexpr text_view to_text(topology_rule rule) noexcept {
  constexpr text_view names[] = {"nothing",
                                 "shape_is_not_positive",
                                 "ici_and_dcn_ranks_differ",
                                 "dcn_shape_is_missing",
                                 "dcn_shape_needs_slices",
                                 "slice_index_is_missing",
                                 "slice_count_differs",
                                 "device_count_differs",
                                 "devices_are_not_a_cuboid",
                                 "chip_has_several_devices",
                                 "axis_has_no_match",
                                 "machine_has_no_contiguous_submeshes",
                                 "shape_has_no_contiguous_submeshes",
                                 "order_does_not_fit"};
  return names[static_cast<unsigned>(rule)];
}

/// The families of rules by the wording of the errors that other systems raise.
enum class error_family : unsigned char { nothing, assertion, value, not_implemented };

/// The family of a rule.
[[nodiscard]] constexpr error_family family_of(topology_rule rule) noexcept {
  switch (rule) {
    case topology_rule::nothing:
      return error_family::nothing;
    case topology_rule::axis_has_no_match:
      return error_family::not_implemented;
    case topology_rule::ici_and_dcn_ranks_differ:
    case topology_rule::devices_are_not_a_cuboid:
    case topology_rule::chip_has_several_devices:
      return error_family::assertion;
    default:
      return error_family::value;
  }
}

/// The verdict on a machine and a logical mesh: no error, or the broken rule and its numbers.
/// Unused fields keep their defaults.
struct topology_verdict {
  topology_rule rule = topology_rule::nothing;
  int axis = -1;                 // of the logical mesh
  index_t have = 0;              // what was met
  index_t want = 0;              // what was needed
  mesh_shape shape{};            // the logical mesh that was asked for
  physical_shape physical{};     // the machine, or what is left of it: 0 where an axis is taken
  mesh_shape alternatives[2]{};  // what would do instead

  [[nodiscard]] constexpr bool ok() const noexcept { return rule == topology_rule::nothing; }

  friend constexpr bool operator==(const topology_verdict&, const topology_verdict&) = default;
};

/// Writes sizes as `(4, 4, 8)`.
template <std::size_t N, std::size_t Capacity>
constexpr bounded_text<N>& write_sizes(bounded_text<N>& out,
                                       const inplace_vector<index_t, Capacity>& sizes) {
  out << '(';
  for (int i = 0; i < sizes.ssize(); ++i) {
    if (i > 0) out << ", ";
    out << sizes[i];
  }
  return out << (sizes.size() == 1 ? ",)" : ")");
}

/// The sentence of a verdict, with its numbers.
[[nodiscard]] constexpr message_text describe(const topology_verdict& verdict) noexcept {
  message_text out;
  const auto shape = [&]() -> message_text& { return write_sizes(out, verdict.shape); };
  const auto physical = [&]() -> message_text& { return write_sizes(out, verdict.physical); };
  switch (verdict.rule) {
    case topology_rule::nothing:
      out << "nothing is wrong";
      break;
    case topology_rule::shape_is_not_positive:
      out << "every axis of mesh_shape ";
      shape() << " has at least one device, and their product fits the machine";
      break;
    case topology_rule::ici_and_dcn_ranks_differ:
      out << "ici_mesh_shape and dcn_mesh_shape have one entry for each axis, not " << verdict.want
          << " and " << verdict.have;
      break;
    case topology_rule::dcn_shape_is_missing:
      out << "Provide dcn_mesh_shape to create a mesh for multislice: there are " << verdict.have
          << " slices";
      break;
    case topology_rule::dcn_shape_needs_slices:
      out << "Invalid dcn_mesh_shape for single slice mesh: ";
      shape() << " needs " << verdict.want << " slices";
      break;
    case topology_rule::slice_index_is_missing:
      out << "every device of a multislice machine has a slice_index, device " << verdict.have
          << " has none";
      break;
    case topology_rule::slice_count_differs:
      out << "Number of slices " << verdict.have << " must equal the product of dcn_mesh_shape ";
      shape() << ", which is " << verdict.want;
      break;
    case topology_rule::device_count_differs:
      out << "Number of devices " << verdict.have << " must equal the product of mesh_shape ";
      shape() << ", which is " << verdict.want;
      break;
    case topology_rule::devices_are_not_a_cuboid:
      out << "the coordinates of the devices are not a contiguous cuboid: ";
      if (verdict.have == verdict.want)
        out << "two of " << verdict.have << " devices are at the same place of the box ";
      else
        out << verdict.have << " devices are spread over the box ";
      physical();
      break;
    case topology_rule::chip_has_several_devices:
      out << "a machine of this kind has one device per chip, device " << verdict.have
          << " is another one";
      break;
    case topology_rule::axis_has_no_match:
      out << "Failed to find assignment for axis " << verdict.axis << " of size " << verdict.want
          << " with what remains of the machine, ";
      physical() << " (0 is taken): its size must equal the product of some whole physical axes,"
                    " unless physical axes may be split";
      break;
    case topology_rule::machine_has_no_contiguous_submeshes:
      out << "cannot create contiguous submeshes for physical mesh topology ";
      physical();
      break;
    case topology_rule::shape_has_no_contiguous_submeshes:
      out << "cannot create contiguous submeshes for mesh_shape ";
      shape() << " and physical mesh topology ";
      physical() << ". Available mesh_shapes: [";
      write_sizes(out, verdict.alternatives[0]);
      if (!verdict.alternatives[1].empty()) write_sizes(out << ", ", verdict.alternatives[1]);
      out << "]";
      break;
    case topology_rule::order_does_not_fit:
      out << "the order of " << verdict.want << " devices does not fit in memory for "
          << verdict.have;
      break;
  }
  return out;
}

}  // namespace shardwise
