// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/layout/element.hpp"
#include "shardwise/layout/notation.hpp"
#include "shardwise/layout/shard.hpp"

namespace shardwise {

/// A tensor of `T` with these extents, spread as the layout says. On paper it is only named;
/// `<shardwise/shardwise.hpp>` defines it.
template <class T, class Extents, class Layout = detail::missing>
class sharded_tensor;

/// The index of an element of a tensor, one number a dimension.
using global_index = inplace_vector<index_t, max_rank>;

/// A tensor on paper, as a value: its element type, its extents and its layout.
struct tensor_desc {
  element type = element::f32;
  extents_desc extents{};
  layout_desc layout{};

  [[nodiscard]] constexpr int rank() const noexcept { return extents.ssize(); }
  friend constexpr bool operator==(const tensor_desc&, const tensor_desc&) = default;
};

/// The bytes of the largest shard: what every device must have room for.
[[nodiscard]] constexpr index_t bytes_per_device(const mesh_desc& mesh,
                                                 const tensor_desc& tensor) noexcept {
  return largest_shard_size(mesh, tensor.layout, tensor.extents) * size_of(tensor.type);
}

/// A tensor in the one notation; see `write_tensor`.
[[nodiscard]] constexpr sentence to_text(const mesh_desc& mesh,
                                         const tensor_desc& tensor) noexcept {
  sentence out;
  write_tensor(out, tensor.type, mesh, tensor.extents, tensor.layout);
  return out;
}

namespace detail {
template <class X>
inline constexpr bool is_sharded_tensor = false;
template <class T, class Extents, class Layout>
inline constexpr bool is_sharded_tensor<sharded_tensor<T, Extents, Layout>> = true;

/// The parts of a tensor type as they are written: constraints ask for these, so that a type that
/// is refused is refused where the program makes a tensor of it.
template <class X>
struct parts_of;
template <class T, class Extents, class Layout>
struct parts_of<sharded_tensor<T, Extents, Layout>> {
  using value_type = T;
  using extents = Extents;
  using layout = Layout;
};
template <class X>
using element_in = typename parts_of<X>::value_type;
template <class X>
using extents_in = typename parts_of<X>::extents;

template <class T, class Extents, class Layout>
[[nodiscard]] constexpr sentence tensor_name(const sharded_tensor<T, Extents, Layout>*) noexcept {
  return to_text(Layout::mesh_type::value, {element_of<T>, Extents::value, Layout::value});
}
}  // namespace detail

/// The notation of a tensor type: `f32[?@data, 1024]`.
template <class X>
  requires detail::is_sharded_tensor<X>
[[nodiscard]] constexpr sentence type_name() noexcept {
  return detail::tensor_name(static_cast<const X*>(nullptr));
}

}  // namespace shardwise
