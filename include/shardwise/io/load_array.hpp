// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/host/factories.hpp"
#include "shardwise/host/host.hpp"
#include "shardwise/io/file_array.hpp"
#include "shardwise/tensor/any_tensor.hpp"

#include <memory>
#include <utility>

namespace shardwise {

namespace detail {

/// Fills a part of a tensor from an array. Elements of another type are converted, through memory
/// for some thousand of them.
void fill_part(const file_array& from, const held_box& part, const any_block& block);

template <class T>
[[nodiscard]] node_ptr load_node(const std::shared_ptr<pool_state>& home, const file_array& array,
                                 const layout_desc& layout) {
  return make_any_filled(
      home, {element_of<T>, array.extents, layout}, element_kernels_of<T>,
      [&](const held_box& part, const any_block& block) { fill_part(array, part, block); });
}

}  // namespace detail

/// Loads an array of a file as a tensor of type `X`; dyn extents are those of the array. Every
/// device reads its own part only. Throws `stored_tensor_differs` for other extents, and for other
/// elements unless they are to be converted.
///
///     const auto x = load_array<X>(pool, open_npy("x.npy"));
template <ShardedTensor X>
[[nodiscard]] X load_array(const device_pool& pool, const file_array& array,
                           stored_elements how = stored_elements::same) {
  using T = typename X::value_type;
  array.require_elements(element_of<T>, how);
  array.require_extents(X::extents_type::value);
  internal::require_pool(pool.mesh(), X::mesh_type::value);
  return internal::handle_of<X>(detail::load_node<T>(pool.state(), array, X::layout_type::value));
}
/// The same with a run-time layout.
///
///     const auto x = load_array<float>(pool, open_npy("x.npy"), spec_desc{{"data", ""}});
template <Element T>
[[nodiscard]] any_tensor<T> load_array(const device_pool& pool, const file_array& array,
                                       const spec_desc& spec,
                                       stored_elements how = stored_elements::same) {
  array.require_elements(element_of<T>, how);
  const resolved_layout to = resolve(pool.mesh(), spec, {}, uneven{});
  require(to.verdict);
  require(validate(pool.mesh(), to.layout, array.extents));
  return internal::handle_of<any_tensor<T>>(detail::load_node<T>(pool.state(), array, to.layout));
}

/// Reads a whole array into memory of the host.
///
///     const host_tensor<float> x = read_array<float>(open_npy("x.npy"));
template <Element T>
[[nodiscard]] host_tensor<T> read_array(const file_array& array,
                                        stored_elements how = stored_elements::same) {
  array.require_elements(element_of<T>, how);
  internal::host_elements<T> elements;
  internal::make_elements<T>(elements, array.size());
  array.read_rows(0, std::span<T>(elements.data(), elements.size()), how);
  return {array.extents, std::move(elements)};
}

}  // namespace shardwise

#if !defined(SHARDWISE_COMPILED_FILES)
#include "shardwise/io/load_array_work.hpp"
#endif
