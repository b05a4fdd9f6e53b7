// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/engine/agreement.hpp"
#include "shardwise/host/factories.hpp"
#include "shardwise/host/host_block.hpp"
#include "shardwise/tensor/any_tensor.hpp"

namespace shardwise {

namespace internal {

/// A view of host data: its address, extents and strides.
template <class T>
using host_view = strided<const T>;

/// Copies a part of the host's data to a shard.
void copy_any_part(const const_any_block& host, const held_box& part, const any_block& block,
                   const element_kernels& elements);
template <class T>
void copy_part(const host_view<T>& host, const held_box& part, const strided<T>& block) {
  copy_any_part({host.data, element_of<T>, host.extents, host.strides}, part,
                {block.data, element_of<T>, block.extents, block.strides}, element_kernels_of<T>);
}

/// Makes a tensor of host data that all owners of the mesh have.
template <class T>
[[nodiscard]] node_ptr distribute_host(const std::shared_ptr<pool_state>& home,
                                       const tensor_desc& tensor, const host_view<T>& host) {
  node_ptr made = make_filled<T>(home, tensor, [&](const held_box& part, const strided<T>& block) {
    copy_part<T>(host, part, block);
  });
  compare_data(*made, {host.data, element_of<T>, host.extents, host.strides});
  return made;
}

/// Checks a view of the rank of a tensor that is made of it in a pool.
template <class X>
void require_view(const device_pool& pool, const host_view<typename X::value_type>& host) {
  using extents_type = typename X::extents_type;
  for (int d = 0; d < host.rank(); ++d)
    if (extents_type::value[d] != dyn && extents_type::value[d] != host.extents[d])
      fail({.rule = violation::host_size_differs,
            .dim = d,
            .have = host.extents[d],
            .want = extents_type::value[d]});
  require_pool(pool.mesh(), X::mesh_type::value);
}

/// Distributes a view of the rank of the tensor.
template <class X>
[[nodiscard]] X distribute_view(const device_pool& pool,
                                const host_view<typename X::value_type>& host) {
  require_view<X>(pool, host);
  return handle_of<X>(
      distribute_host<typename X::value_type>(pool.state(), desc_of<X>(host.extents), host));
}

template <class T, class R>
void flatten(const R& range, int depth, extents_desc& extents, std::vector<T>& elements) {
  index_t size = 0;
  for ([[maybe_unused]] const auto& item : range) ++size;
  if (extents[depth] == dyn) extents[depth] = size;
  if (extents[depth] != size)
    fail(
        {.rule = violation::host_size_differs, .dim = depth, .have = size, .want = extents[depth]});
  for (const auto& item : range)
    if constexpr (nest<std::remove_cvref_t<decltype(item)>>::depth != 0)
      flatten(item, depth + 1, extents, elements);
    else
      elements.push_back(static_cast<T>(item));
}

template <class X, class R>
[[nodiscard]] X distribute_nested(const device_pool& pool, const R& host) {
  using T = typename X::value_type;
  extents_desc extents = X::extents_type::value;
  std::vector<T> elements;
  flatten(host, 0, extents, elements);
  for (index_t& extent : extents)
    if (extent == dyn) extent = 0;
  const host_elements<T> packed(std::move(elements));
  return distribute_view<X>(pool, {packed.data(), extents, row_major(extents)});
}

/// Returns the view of a matrix for a tensor.
template <class X, MatrixInMemory H>
[[nodiscard]] auto view_of_matrix(const H& host) {
  const auto view = block_of(host, X::extents_type::rank).view;
  if (view.rank() != X::extents_type::rank)
    fail({.rule = violation::host_rank_differs, .have = 2, .want = 1});
  return view;
}
template <class X, EigenMatrix H>
[[nodiscard]] X distribute_matrix(const device_pool& pool, const H& host) {
  if constexpr (!MatrixInMemory<H>)  // an expression is evaluated once
    return distribute_matrix<X>(pool, host.eval());
  else
    return distribute_view<X>(pool, view_of_matrix<X>(host));
}

/// Returns the view of contiguous elements for a tensor; without sizes, a single dyn extent is
/// computed from their number.
template <class X, class R, class... Sizes>
[[nodiscard]] host_view<typename X::value_type> view_of_run(const R& host, Sizes... sizes) {
  const auto count = static_cast<index_t>(std::ranges::size(host));
  extents_desc extents = X::extents_type::value;
  if constexpr (sizeof...(Sizes) > 0) {
    extents = sized_extents<typename X::extents_type>(sizes...);
    require(validate(extents));
  } else {
    index_t known = 1;
    for (index_t extent : extents)
      if (extent != dyn) known *= extent;
    for (index_t& extent : extents)
      if (extent == dyn) extent = known == 0 ? 0 : count / known;
  }
  if (element_count(extents) != count)
    fail({.rule = violation::host_size_differs, .have = count, .want = element_count(extents)});
  return {std::ranges::data(host), extents, row_major(extents)};
}

template <class X, class H, class... Sizes>
[[nodiscard]] X distribute_data(const device_pool& pool, const H& host, Sizes... sizes) {
  if constexpr (FunctionOf<H, typename X::value_type>)
    return handle_of<X>(
        fill_each<typename X::value_type>(pool, described<X>(pool, sizes...), host));
  else if constexpr (RunOf<H, typename X::value_type>)
    return distribute_view<X>(pool, view_of_run<X>(host, sizes...));
  else if constexpr (EigenMatrix<H>)
    return distribute_matrix<X>(pool, host);
  else
    return distribute_nested<X>(pool, host);
}

}  // namespace internal

/// Distributes host data to the devices: `distribute<X>(pool, data, sizes...)`.
///
/// The data is a contiguous range of row-major elements (then `sizes` are the dyn extents in order;
/// a single one may be omitted), an Eigen matrix or array (rank 1 or 2), nested ranges, one level
/// for each dimension, or a function of the global index (see `generate`). Contiguous data must
/// have the element type of the tensor. Without a pool, that of the scope is used.
///
///     auto x = distribute<X>(pool, std::vector<float>(512 * 1024));
///     auto y = distribute<X>(pool, std::vector<std::vector<float>>{{1, 2}, {3, 4}});
template <class X = void, class... A>
  requires(ShardedTensor<X> || sizeof...(A) < 4)  // four arguments make an `any_tensor`
[[nodiscard]] constexpr detail::made<detail::made_from::data, X, A...> distribute(const A&... a) {
  return detail::make_in_pool<detail::made_from::data, X>(
      [](const auto&... all) { return internal::distribute_data<X>(all...); }, a...);
}

/// Distributes a braced list of numbers, nested one level for each dimension.
///
///     auto x = distribute<X>(pool, {{1, 2}, {3, 4}});
template <ShardedTensor X>
  requires(internal::extents_in<X>::rank > 0)
[[nodiscard]] X distribute(const device_pool& pool, detail::braces_for<X> host) {
  return internal::distribute_nested<X>(pool, host);
}
template <ShardedTensor X>
  requires(internal::extents_in<X>::rank > 0)
[[nodiscard]] X distribute(detail::braces_for<X> host) {
  return internal::distribute_nested<X>(use_mesh::pool(), host);
}
/// Reports lists that are not nested as deeply as the tensor has dimensions.
template <ShardedTensor X>
[[nodiscard]] X distribute(const device_pool&, detail::flat_braces) {
  (void)sizeof(broken_rule<violation::host_rank_differs, of_types<>, size_met{1},
                           size_needed{internal::extents_in<X>::rank}>);
  return internal::handle_of<X>(nullptr);
}
template <ShardedTensor X>
[[nodiscard]] X distribute(const device_pool&, detail::nested_braces) {
  (void)sizeof(broken_rule<violation::host_rank_differs, of_types<>, size_met{2},
                           size_needed{internal::extents_in<X>::rank}>);
  return internal::handle_of<X>(nullptr);
}

/// Distributes a whole host tensor.
template <Element T>
[[nodiscard]] any_tensor<T> distribute(const device_pool& pool, std::span<const T> host,
                                       const extents_desc& extents, const layout_desc& layout) {
  require(check_known(pool.mesh(), layout, extents));
  if (element_count(extents) != static_cast<index_t>(host.size()))
    fail({.rule = violation::host_size_differs,
          .have = static_cast<index_t>(host.size()),
          .want = element_count(extents)});
  return internal::handle_of<any_tensor<T>>(internal::distribute_host<T>(
      pool.state(), {element_of<T>, extents, layout}, {host.data(), extents, row_major(extents)}));
}
/// Uses a spec of the pool's mesh, with nothing pending.
///
///     auto x = distribute<float>(pool, host, {4, 8}, spec_desc{{"data", ""}});
template <Element T>
[[nodiscard]] any_tensor<T> distribute(const device_pool& pool, std::span<const T> host,
                                       const extents_desc& extents, const spec_desc& spec,
                                       policy_desc policy = exact{}) {
  return distribute<T>(pool, host, extents, layout_of(pool.mesh(), spec, {}, policy));
}

}  // namespace shardwise

#if !defined(SHARDWISE_COMPILED)
#include "shardwise/host/distribute_work.hpp"
#endif
