// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/mesh/mesh.hpp"

namespace shardwise {

namespace detail {

/// Memory for the positions of `Count` devices; arrays have at least one element.
template <index_t Count>
struct position_list {
  index_t items[static_cast<std::size_t>(Count > 0 ? Count : 1)]{};
};

/// The inverse of the list of a mesh type, and the diagnosis of that list.
template <class Grid, const auto& Devices>
struct order_of_mesh {
  static constexpr device_numbers devices{Devices};

  struct inverse {
    position_list<devices.ssize()> positions{};
    diagnosis verdict{};
  };
  static constexpr inverse inverted = [] {
    inverse result;
    result.verdict =
        invert(devices, Grid::devices, list_view<index_t>(result.positions.items, devices.size()));
    return result;
  }();
  static constexpr device_order value{devices,
                                      device_numbers(inverted.positions.items, devices.size())};
};

/// Checks the order of a mesh type.
template <class Grid, class Order>
[[nodiscard]] constexpr auto judge_order() noexcept {
  return answer_to<Grid>([] { return Order::inverted.verdict; });
}

}  // namespace detail

/// The mesh `Grid`, whose sizes are static, with an explicit device at each position, in row-major
/// order. `Devices` is a permutation of all devices, in an array with static storage duration.
///
/// It is a mesh type of its own, so its tensors do not combine with tensors on `Grid`. Notation,
/// pictures and shards show devices in this order.
///
///     inline constexpr index_t ring[] = {0, 1, 3, 2};
///     struct loop : ordered_mesh<mesh<axis<"x", 4>>, ring> {};
///     static_assert(loop::value.device({2}) == 3);
template <class Grid, const auto& Devices>
  requires(Grid::dynamic_axes == 0)
struct ordered_mesh : Grid {
  static_assert(sizeof(typename decltype(detail::judge_order<
                                         Grid, detail::order_of_mesh<Grid, Devices>>())::type) > 0);

  /// The axes and the order as a value.
  static constexpr mesh_desc value{Grid::value.axes, detail::order_of_mesh<Grid, Devices>::value};

  [[nodiscard]] constexpr mesh_desc desc() const noexcept { return value; }
};

}  // namespace shardwise
