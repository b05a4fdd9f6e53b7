// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/host/distribute.hpp"
#include "shardwise/host/host.hpp"
#include "shardwise/host/host_block.hpp"
#include "shardwise/interop/array_view.hpp"

#include <memory>
#include <type_traits>
#include <utility>

namespace shardwise {

namespace detail {

/// Returns the view of an array for a tensor type. Throws `host_rank_differs`.
template <class X, class T>
[[nodiscard]] X distribute_array(const device_pool& pool, const array_view<T>& array) {
  constexpr int rank = X::extents_type::rank;
  using V = typename X::value_type;
  if constexpr (!std::is_same_v<std::remove_const_t<T>, V>) {
    (void)sizeof(broken_rule<misuse::host_elements_differ, of_types<std::remove_const_t<T>, V>>);
    return internal::handle_of<X>(nullptr);
  } else {
    if (array.rank() != rank)
      fail({.rule = violation::host_rank_differs, .have = array.rank(), .want = rank});
    return distribute_view<X>(pool, {array.data(), array.extents(), array.strides()});
  }
}

}  // namespace detail

/// Distributes an array of another library to the devices, whatever its strides: the elements are
/// copied once, each shard's from their places.
///
///     auto x = distribute<X>(pool, from_dlpack<float>(managed));
template <ShardedTensor X, class T>
[[nodiscard]] X distribute(const device_pool& pool, const array_view<T>& array) {
  return detail::distribute_array<X>(pool, array);
}
/// The same in the pool of the scope.
template <ShardedTensor X, class T>
[[nodiscard]] X distribute(const array_view<T>& array) {
  return detail::distribute_array<X>(use_mesh::pool(), array);
}
/// The same for a run-time layout.
template <class T>
[[nodiscard]] any_tensor<std::remove_const_t<T>> distribute(const device_pool& pool,
                                                            const array_view<T>& array,
                                                            const layout_desc& layout) {
  using V = std::remove_const_t<T>;
  require(check_known(pool.mesh(), layout, array.extents()));
  return internal::handle_of<any_tensor<V>>(
      internal::distribute_host<V>(pool.state(), {element_of<V>, array.extents(), layout},
                                   {array.data(), array.extents(), array.strides()}));
}
/// Uses a spec of the pool's mesh, with nothing pending.
///
///     auto x = distribute(pool, from_dlpack<float>(managed), spec_desc{{"data", ""}});
template <class T>
[[nodiscard]] any_tensor<std::remove_const_t<T>> distribute(const device_pool& pool,
                                                            const array_view<T>& array,
                                                            const spec_desc& spec,
                                                            policy_desc policy = exact{}) {
  return distribute(pool, array, layout_of(pool.mesh(), spec, {}, policy));
}

/// Gathers a tensor into the memory of an array, whatever its strides; everything else is as with
/// `to_host`. Throws `host_rank_differs` or `host_size_differs` for other extents, and
/// `host_array_is_unusable` if several of its elements share a place, as with a stride of 0.
///
///     Eigen::MatrixXf values(4, 8);
///     copy_to(x, as_array(values));
template <class X, class T>
void copy_to(const X& x, const array_view<T>& array) {
  static_assert(std::is_same_v<T, typename X::value_type>,
                "a tensor is copied to an array of its elements that can be written");
  const extents_desc& extents = x.extents();
  if (array.rank() != extents.ssize())
    fail({.rule = violation::host_rank_differs, .have = array.rank(), .want = extents.ssize()});
  for (int d = 0; d < array.rank(); ++d)
    if (array.extents()[d] != extents[d])
      fail({.rule = violation::host_size_differs,
            .dim = d,
            .have = array.extents()[d],
            .want = extents[d]});
  if (!detail::has_place_for_each(array.extents(), array.strides()))
    detail::fail_array("several of its elements share a place, so that it cannot be written");
  const auto whole = to_host(x);
  if (whole.size() > 0)
    copy_elements<T>({whole.data(), whole.extents(), row_major(whole.extents())}, array.elements());
}

/// Returns a view of a shard, which keeps its memory alive and as it is. The tensor and its pool
/// may be gone before it, and another thread may release it.
///
///     array_view<const float> block = as_array(local(x, 3));
template <class T>
[[nodiscard]] array_view<const T> as_array(const local_shard<T>& shard) {
  const extents_desc extents = shard.extents();
  return {shard.elements().data(), extents, row_major(extents),
          std::make_shared<const shard_buffer<std::byte>>(shard.memory())};
}

/// Returns a view of an Eigen matrix, vector, map or block of one, of rank 2. It does not keep the
/// matrix alive.
template <MatrixInMemory M>
[[nodiscard]] auto as_array(M& matrix) {
  using T = std::remove_pointer_t<decltype(matrix.data())>;
  const index_t inner = matrix.innerStride(), outer = matrix.outerStride();
  const extents_desc strides =
      M::IsRowMajor ? extents_desc{outer, inner} : extents_desc{inner, outer};
  return array_view<T>(matrix.data(), {matrix.rows(), matrix.cols()}, strides);
}
/// Returns a view of a tensor on the host, which must outlive it, or which it owns if the tensor is
/// moved in.
template <class T>
[[nodiscard]] array_view<const T> as_array(const host_tensor<T>& host) {
  return {host.data(), host.extents()};
}
template <class T>
[[nodiscard]] array_view<const T> as_array(host_tensor<T>&& host) {
  auto owner = std::make_shared<const host_tensor<T>>(std::move(host));
  const T* const first = owner->data();
  const extents_desc extents = owner->extents();
  return {first, extents, row_major(extents), std::move(owner)};
}

}  // namespace shardwise
