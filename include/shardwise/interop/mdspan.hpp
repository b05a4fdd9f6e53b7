// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/interop/array_view.hpp"

#include <array>
#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <version>
#if defined(__cpp_lib_mdspan)
#include <mdspan>
#endif

namespace shardwise {

/// A view with the interface of `std::mdspan` whose elements are in memory, at one stride for each
/// dimension: `std::mdspan` itself, or that of another library, with the default accessor.
template <class M>
concept StridedMdspan = requires(const M& m, std::size_t d) {
  typename M::element_type;
  typename M::extents_type;
  typename M::mapping_type;
  typename M::index_type;
  requires std::convertible_to<decltype(M::rank()), std::size_t>;
  { m.data_handle() } -> std::convertible_to<typename M::element_type*>;
  { m.extent(d) } -> std::convertible_to<index_t>;
  { m.is_strided() } -> std::convertible_to<bool>;
};

/// Returns a view of the same elements. Throws `host_array_is_unusable` if they are not at one
/// stride for each dimension.
///
///     auto x = distribute<X>(pool, as_array(std::mdspan(data, 4, 8)));
template <StridedMdspan M>
  requires(M::rank() <= static_cast<std::size_t>(max_rank))
[[nodiscard]] auto as_array(const M& md) {
  using T = typename M::element_type;
  if (!md.is_strided()) detail::fail_array("its elements are not at a stride for each dimension");
  extents_desc extents, strides;
  for (std::size_t d = 0; d < M::rank(); ++d) {
    extents.push_back(static_cast<index_t>(md.extent(d)));
    strides.push_back(static_cast<index_t>(md.stride(d)));
  }
  return array_view<T>(md.data_handle(), extents, strides);
}

/// Returns a view of the same elements as an `mdspan` of this type. Throws `host_rank_differs` or
/// `host_size_differs` if its extents are others, and `host_array_is_unusable` if its layout does
/// not have such strides. It does not keep the memory alive.
///
///     auto block = as_mdspan<std::mdspan<const float, std::dextents<int, 2>>>(as_array(local(x,
///     3)));
template <StridedMdspan M>
[[nodiscard]] M as_mdspan(const array_view<typename M::element_type>& view) {
  constexpr std::size_t rank = M::rank();
  using index = typename M::index_type;
  using extents_type = typename M::extents_type;
  using mapping_type = typename M::mapping_type;
  if (view.rank() != static_cast<int>(rank))
    fail({.rule = violation::host_rank_differs, .have = view.rank(), .want = index_t{rank}});
  std::array<index, rank> extents{}, strides{};
  for (std::size_t d = 0; d < rank; ++d) {
    const index_t extent = view.extents()[static_cast<int>(d)];
    if (!std::in_range<index>(extent))
      fail({.rule = violation::host_size_differs, .dim = static_cast<int>(d), .have = extent});
    extents[d] = static_cast<index>(extent);
    // A stride that is never taken is 1: layouts with strides want them above 0.
    const index_t stride = extent > 1 ? view.strides()[static_cast<int>(d)] : 1;
    strides[d] = static_cast<index>(stride);
    if constexpr (requires { extents_type::static_extent(d); }) {
      const std::size_t fixed = extents_type::static_extent(d);
      if (fixed != static_cast<std::size_t>(-1) && static_cast<index_t>(fixed) != extent)
        fail({.rule = violation::host_size_differs,
              .dim = static_cast<int>(d),
              .have = extent,
              .want = static_cast<index_t>(fixed)});
    }
    if (stride == 0 || !std::in_range<index>(stride))
      detail::fail_array("its strides are not those of an mdspan, from 1 on");
  }
  if constexpr (std::is_constructible_v<mapping_type, extents_type, std::array<index, rank>>) {
    return M(view.data(), mapping_type(extents_type(extents), strides));
  } else {
    const mapping_type mapping{extents_type(extents)};
    if constexpr (rank > 0)
      for (std::size_t d = 0; d < rank; ++d)
        if (extents[d] > 1 && mapping.stride(d) != strides[d])
          detail::fail_array("its strides are not those of the layout of the mdspan");
    return M(view.data(), mapping);
  }
}

#if defined(__cpp_lib_mdspan)
/// Returns a view of the same elements as a `std::mdspan` of this rank, with strides.
///
///     auto block = as_mdspan<2>(as_array(local(x, 3)));
template <std::size_t Rank, class T>
[[nodiscard]] auto as_mdspan(const array_view<T>& view) {
  return as_mdspan<std::mdspan<T, std::dextents<index_t, Rank>, std::layout_stride>>(view);
}
#endif

}  // namespace shardwise
