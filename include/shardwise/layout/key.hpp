// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/layout/extents.hpp"
#include "shardwise/layout/layout.hpp"

#include <type_traits>
#include <utility>

namespace shardwise {

/// A layout as one integer, the only form in which a layout is a template argument, because g++ 12
/// confuses distinct template arguments that are structs with arrays.
///
/// A byte for each mesh axis: bits 0 to 3 are the number of the dimension that it splits plus one,
/// bits 4 to 6 its position among the axes of that dimension, bit 7 pending; bit 4 without a
/// dimension means manual. The top byte holds the rank, the reduction and the uneven flag. Grains
/// are stored separately.
[[nodiscard]] constexpr std::uint64_t pack(const layout_desc& layout) noexcept {
  std::uint64_t key = std::uint64_t(layout.rank()) | std::uint64_t(layout.kind) << 4U |
                      std::uint64_t(layout.uneven) << 7U;
  key <<= 56U;
  for (unsigned d = 0; d < layout.dims.size(); ++d)
    for (unsigned i = 0; i < layout.dims[d].size(); ++i)
      key |= std::uint64_t((d + 1) | i << 4U) << (8U * layout.dims[d][i]);
  for (unsigned a = 0; a < max_axes; ++a)
    if (layout.is_pending(int(a)))
      key |= std::uint64_t{0x80} << (8U * a);
    else if ((layout.manual >> a & 1U) != 0)
      key |= std::uint64_t{0x10} << (8U * a);
  return key;
}

/// The grains of a layout, which do not fit into its key: word `i` holds those of dimensions 2i and
/// 2i + 1. All words are 0 if every dimension is contiguous.
[[nodiscard]] constexpr std::uint64_t pack_grains(const layout_desc& layout, int word) noexcept {
  return std::uint64_t{static_cast<std::uint32_t>(layout.grains[2 * word].code)} |
         std::uint64_t{static_cast<std::uint32_t>(layout.grains[2 * word + 1].code)} << 32U;
}

/// Returns the layout of a key, with contiguous grains; `unpack(pack(x)) == x` for such layouts.
[[nodiscard]] constexpr layout_desc unpack(std::uint64_t key) noexcept {
  layout_desc layout;
  layout.dims.resize(key >> 56U & 15U);
  layout.kind = static_cast<reduction>(key >> 60U & 7U);
  layout.uneven = key >> 63U != 0;
  for (unsigned a = 0; a < max_axes; ++a) {
    const auto byte = static_cast<unsigned>(key >> (8U * a) & 255U);
    if ((byte & 0x80U) != 0) layout.pending = static_cast<std::uint8_t>(layout.pending | 1U << a);
    if (byte == 0x10U) layout.manual = static_cast<std::uint8_t>(layout.manual | 1U << a);
    if ((byte & 15U) == 0) continue;
    axis_list& dim = layout.dims[int(byte & 15U) - 1];
    const std::size_t place = byte >> 4U & 7U;
    if (dim.size() <= place) dim.resize(place + 1);
    dim[place] = static_cast<std::uint8_t>(a);
  }
  return layout;
}

/// Returns the layout of a key and the words of its grains.
[[nodiscard]] constexpr layout_desc unpack(std::uint64_t key, std::uint64_t grains01,
                                           std::uint64_t grains23, std::uint64_t grains45,
                                           std::uint64_t grains67) noexcept {
  layout_desc layout = unpack(key);
  if ((grains01 | grains23 | grains45 | grains67) == 0) return layout;
  const std::uint64_t words[] = {grains01, grains23, grains45, grains67};
  for (int d = 0; d < max_rank; ++d) {
    const auto code = static_cast<std::uint32_t>(words[d / 2] >> (32 * (d % 2)));
    layout.grains[d] = {static_cast<std::int32_t>(code)};
  }
  return layout;
}

namespace internal {

/// Packs axes into one integer: an octal digit for each, major to minor.
[[nodiscard]] constexpr std::uint32_t pack(const axis_list& axes) noexcept {
  std::uint32_t key = 0;
  for (int i = 0; i < axes.ssize(); ++i) key = key << 3U | (axes[i] + 1U);
  return key;
}

using joined_axes = bounded_text<max_axes*(short_name::capacity + 1) + 12>;

/// Returns the names of packed axes, joined by commas, and their grain.
[[nodiscard]] constexpr joined_axes join(const mesh_desc& mesh, std::uint32_t axes,
                                         grain how = {}) noexcept {
  joined_axes joined;
  for (unsigned shift = 3 * max_axes; shift > 0; shift -= 3)
    if (const unsigned digit = axes >> (shift - 3) & 7U; digit != 0) {
      if (!joined.empty()) joined << ',';
      joined << mesh.axes[digit - 1].label;
    }
  if (how.is_halo())
    joined << '~' << how.before() << ':' << how.behind();
  else if (!how.is_contiguous())
    joined << (how.is_cyclic() ? '%' : '*') << how.number();
  return joined;
}

/// The entry of a spec that names packed axes and a grain, shared by all layouts on a mesh.
template <class Mesh, std::uint32_t Axes, std::int32_t Grain = 0>
struct entry_of_axes {
  static constexpr joined_axes words = join(Mesh::value, Axes, grain{Grain});
  static constexpr auto value = to_fixed_string<words.size()>(words);
};
template <class Mesh>
struct entry_of_axes<Mesh, 0, 0> {
  static constexpr fixed_string<1> value = none;
};

// Deduced through function parameters, so that compilers print the text and not its computation.
template <fixed_string... Entries>
struct entries {};
template <fixed_string... Entries>
P<Entries...> spec_from(entries<Entries...>);
template <reduction Kind, fixed_string Axes>
partial<Axes, Kind> partial_from(entries<Axes>);
template <class Pending, fixed_string Axes>
manual<Axes, Pending> manual_from(entries<Axes>);
template <index_t... Sizes>
extents<Sizes...> extents_from(std::integer_sequence<index_t, Sizes...>);

// `partial<>` is the default, which compilers omit from printed types.
template <class Mesh, reduction Kind, std::uint32_t Pending, std::uint32_t Manual>
struct partial_of {
  using type = decltype(manual_from<typename partial_of<Mesh, Kind, Pending, 0>::type>(
      entries<entry_of_axes<Mesh, Manual>::value>{}));
};
template <class Mesh, reduction Kind, std::uint32_t Pending>
struct partial_of<Mesh, Kind, Pending, 0> {
  using type = decltype(partial_from<Kind>(entries<entry_of_axes<Mesh, Pending>::value>{}));
};
template <class Mesh, reduction Kind>
struct partial_of<Mesh, Kind, 0, 0> {
  using type = partial<>;
};

/// Returns the policy in the type of a layout: `single_cut` if some dimension has a single cut and
/// no dimension of several axes is cut axis by axis. Otherwise the entries of the spec name their
/// grains.
[[nodiscard]] constexpr cut_policy policy_of(const layout_desc& layout) noexcept {
  cut_policy policy = layout.uneven ? cut_policy::uneven : cut_policy::exact;
  for (int d = 0; d < layout.rank(); ++d) {
    if (layout.uneven && layout.grains[d].is_single_cut()) policy = cut_policy::single_cut;
    if (layout.dims[d].size() > 1 && layout.grains[d].is_contiguous())
      return layout.uneven ? cut_policy::uneven : cut_policy::exact;
  }
  return policy;
}

template <cut_policy Policy>
struct policy_type_of {
  using type = exact;
};
template <>
struct policy_type_of<cut_policy::uneven> {
  using type = uneven;
};
template <>
struct policy_type_of<cut_policy::single_cut> {
  using type = single_cut;
};

template <class Mesh, std::uint64_t Key, std::uint64_t... Grains>
struct layout_of_key {
  static constexpr layout_desc value = unpack(Key, Grains...);
  static constexpr cut_policy policy = policy_of(value);

  /// Returns the grain that the entry of a dimension names.
  static constexpr std::int32_t said(int d) noexcept {
    const bool by_policy = policy == cut_policy::single_cut && value.grains[d].is_single_cut();
    return by_policy ? 0 : value.grains[d].code;
  }
  template <std::size_t... D>
  static auto spec(std::index_sequence<D...>) -> decltype(spec_from(
      entries<entry_of_axes<Mesh, pack(value.dims[D]), said(int(D))>::value...>{}));

  using type = layout<Mesh, decltype(spec(std::make_index_sequence<value.dims.size()>{})),
                      typename partial_of<Mesh, value.kind, pack(value.pending_axes()),
                                          pack(value.manual_axes())>::type,
                      typename policy_type_of<policy>::type>;
};

template <class Holder, class Indices = std::make_index_sequence<Holder::extents_value.size()>>
struct extents_of_value;
template <class Holder, std::size_t... I>
struct extents_of_value<Holder, std::index_sequence<I...>> {
  using type =
      decltype(extents_from(std::integer_sequence<index_t, Holder::extents_value[I]...>{}));
};

}  // namespace internal

/// The layout type on `Mesh` of a packed layout, which turns a computed layout into a type. The
/// words of its grains may be omitted if every dimension is contiguous.
template <class Mesh, std::uint64_t Key, std::uint64_t Grains01 = 0, std::uint64_t Grains23 = 0,
          std::uint64_t Grains45 = 0, std::uint64_t Grains67 = 0>
using layout_from_key =
    typename internal::layout_of_key<Mesh, Key, Grains01, Grains23, Grains45, Grains67>::type;

/// The layout type on `Mesh` of `Holder::layout_value`.
template <class Mesh, class Holder>
using layout_from_value =
    layout_from_key<Mesh, pack(Holder::layout_value), pack_grains(Holder::layout_value, 0),
                    pack_grains(Holder::layout_value, 1), pack_grains(Holder::layout_value, 2),
                    pack_grains(Holder::layout_value, 3)>;

namespace internal {

template <class Layout, class Holder, bool IsSame = Holder::layout_value == Layout::value>
struct layout_or_changed {
  using type = Layout;
};
template <class Layout, class Holder>
struct layout_or_changed<Layout, Holder, false> {
  using type = layout_from_value<typename Layout::mesh_type, Holder>;
};

/// The layout type of `Holder::layout_value`: `Layout` itself, with its name, if it has this value.
template <class Layout, class Holder>
using changed_layout = typename layout_or_changed<Layout, Holder>::type;

}  // namespace internal

/// The extents type of `Holder::extents_value`.
template <class Holder>
using extents_from_value = typename internal::extents_of_value<Holder>::type;

}  // namespace shardwise
