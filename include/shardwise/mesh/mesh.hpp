// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/error.hpp"
#include "shardwise/core/judge.hpp"
#include "shardwise/mesh/mesh_desc.hpp"
#include "shardwise/mesh/mesh_text.hpp"

#include <concepts>
#include <type_traits>

namespace shardwise {

/// The size of an axis as written: 0, which is never legal, if it is missing or not a whole number.
struct axis_size {
  index_t value = 0;

  constexpr axis_size() = default;
  constexpr axis_size(index_t size) noexcept : value(size) {}
  template <class Other>
    requires(!std::convertible_to<Other, index_t> || std::is_floating_point_v<Other>)
  constexpr axis_size(Other) noexcept {}
};

/// One axis of a mesh: a name and a size, `dyn` if the size is known only at run time. A mesh
/// rejects an axis without a size.
template <fixed_string Name, axis_size Size = axis_size{}>
struct axis {
  static constexpr text_view label = Name;
  static constexpr index_t size = Size.value;
};

namespace of_text {
template <fixed_string Axes>
struct mesh;
}  // namespace of_text

namespace detail {

/// Checks a mesh type: its whole text must be a list of axes.
template <fixed_string Axes>
[[nodiscard]] constexpr auto judge_mesh() noexcept {
  return answer_to<of_text::mesh<Axes>>([] {
    const parsed_axes parsed = parse_axes(Axes);
    return parsed.verdict.ok() && parsed.position < Axes.size()
               ? diagnosis{.rule = violation::axis_name_is_malformed}
               : parsed.verdict;
  });
}

}  // namespace detail

namespace type_parts {

/// The sizes of `N` dyn axes; an empty class if every axis is static.
template <std::size_t N>
struct dynamic_sizes {
  index_t sizes[N];
};
template <>
struct dynamic_sizes<0> {};

}  // namespace type_parts

namespace detail {

/// Returns the number of dyn axes in the text of a mesh.
[[nodiscard]] constexpr std::size_t dynamic_axes_of(text_view words) noexcept {
  const mesh_desc mesh = parse_axes(words).value;
  std::size_t count = 0;
  for (const axis_desc& axis : mesh.axes) count += axis.size == dyn ? 1 : 0;
  return count;
}

}  // namespace detail

namespace of_text {

/// The class of a mesh, with the text of its axes as its only argument so that compilers print
/// short names however many axes there are. Programs write `mesh<...>`.
template <fixed_string Axes>
struct mesh : private type_parts::dynamic_sizes<detail::dynamic_axes_of(Axes)> {
  static_assert(sizeof(typename decltype(detail::judge_mesh<Axes>())::type) > 0);

  /// The axes as a value, with `dyn` for sizes that are known only by an object.
  static constexpr mesh_desc value = internal::parse_axes(Axes).value;
  /// False if the axes are invalid, which has then been reported.
  static constexpr bool is_legal = decltype(detail::judge_mesh<Axes>())::ok;
  /// The number of devices, or `dyn`.
  static constexpr index_t devices = value.devices();
  /// The number of dyn axes.
  static constexpr std::size_t dynamic_axes = detail::dynamic_axes_of(Axes);

  constexpr mesh() noexcept requires(dynamic_axes == 0) = default;

  /// The sizes of the dyn axes, major to minor; each at least 1.
  template <std::convertible_to<index_t>... Sizes>
    requires(dynamic_axes > 0 && sizeof...(Sizes) == dynamic_axes &&
             (... && !std::is_floating_point_v<Sizes>))
  constexpr mesh(Sizes... sizes)
      : type_parts::dynamic_sizes<dynamic_axes>{{static_cast<index_t>(sizes)...}} {
    require(check_known(desc()));
  }

  /// Returns this mesh with every size known.
  [[nodiscard]] constexpr mesh_desc desc() const noexcept {
    mesh_desc known = value;
    if constexpr (dynamic_axes > 0) {
      std::size_t next = 0;
      for (axis_desc& axis : known.axes)
        if (axis.size == dyn) axis.size = this->sizes[next++];
    }
    return known;
  }
};

}  // namespace of_text

/// A named grid of logical devices, as a type; the first axis is major.
///
/// Derive a struct from it, so that errors and symbols say `pod`. A mesh with dyn axes is an object
/// that holds their sizes, in the order of the axes.
///
///     struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
///     static_assert(pod::devices == 8);
///     struct slice : mesh<axis<"data", dyn>> {};
///     slice{4}.desc().devices();                            // 4
template <class... Axes>
using mesh = of_text::mesh<internal::mesh_text<Axes...>()>;

/// A mesh type: `mesh<...>` or a struct that is one.
template <class M>
concept Mesh = requires(const M& m) {
  { M::value } -> std::convertible_to<mesh_desc>;
  { m.desc() } -> std::same_as<mesh_desc>;
};

}  // namespace shardwise
