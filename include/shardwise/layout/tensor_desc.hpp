// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/layout/element.hpp"
#include "shardwise/layout/notation.hpp"
#include "shardwise/layout/shard.hpp"

namespace shardwise {

/// A tensor of `T` with these extents and this layout. Here it is only declared;
/// `<shardwise/shardwise.hpp>` defines it.
template <class T, class Extents, class Layout = internal::missing>
class sharded_tensor;

/// The index of an element of a tensor, one number per dimension.
using global_index = inplace_vector<index_t, max_rank>;

/// The description of a tensor as a value: its element type, its extents and its layout.
struct tensor_desc {
  element type = element::f32;
  extents_desc extents{};
  layout_desc layout{};

  [[nodiscard]] constexpr int rank() const noexcept { return extents.ssize(); }
  friend constexpr bool operator==(const tensor_desc&, const tensor_desc&) = default;
};

/// Returns the bytes of the largest shard, for which every device must have room.
[[nodiscard]] constexpr index_t bytes_per_device(const mesh_desc& mesh,
                                                 const tensor_desc& tensor) noexcept {
  return largest_shard_size(mesh, tensor.layout, tensor.extents) * size_of(tensor.type);
}

/// Returns true if both tensors divide the devices into the same shards of the same sizes: memory
/// of one can hold the other.
[[nodiscard]] constexpr bool have_same_shards(const mesh_desc& mesh, const tensor_desc& a,
                                              const tensor_desc& b) noexcept {
  return a.type == b.type && a.layout.pending == b.layout.pending &&
         a.layout.manual == b.layout.manual && a.layout.uneven == b.layout.uneven &&
         !a.layout.has_halo() && !b.layout.has_halo() &&
         a.layout.splitting_axes() == b.layout.splitting_axes() &&
         bytes_per_device(mesh, a) == bytes_per_device(mesh, b);
}

/// Writes a tensor in the notation of the library; see `write_tensor`.
[[nodiscard]] constexpr message_text to_text(const mesh_desc& mesh,
                                             const tensor_desc& tensor) noexcept {
  message_text out;
  write_tensor(out, tensor.type, mesh, tensor.extents, tensor.layout);
  return out;
}

namespace internal {
/// Returns true if the sizes of all axes and all extents are known.
[[nodiscard]] constexpr bool is_known(const mesh_desc& mesh, const extents_desc& extents) noexcept {
  return mesh.devices() != dyn && !extents.contains(dyn);
}

template <class X>
inline constexpr bool is_sharded_tensor = false;
template <class T, class Extents, class Layout>
inline constexpr bool is_sharded_tensor<sharded_tensor<T, Extents, Layout>> = true;
/// The type of a variable that is declared as `sharded_tensor y = ...;` with the result of an
/// invalid operation.
using refused_tensor = sharded_tensor<refused_value, refused_value, refused_value>;
template <>
inline constexpr bool is_sharded_tensor<refused_tensor> = false;

/// The arguments of a tensor type, without instantiating it: a type that is illegal then causes its
/// error where the program makes a tensor of it.
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
[[nodiscard]] constexpr message_text tensor_name(
    const sharded_tensor<T, Extents, Layout>*) noexcept {
  return to_text(Layout::mesh_type::value, {element_of<T>, Extents::value, Layout::value});
}
}  // namespace internal

/// The notation of a tensor type: `f32[?@data, 1024]`.
template <class X>
  requires internal::is_sharded_tensor<X>
[[nodiscard]] constexpr message_text type_name() noexcept {
  return internal::tensor_name(static_cast<const X*>(nullptr));
}

}  // namespace shardwise
