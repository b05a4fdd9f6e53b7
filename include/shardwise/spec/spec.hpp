// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/fixed_string.hpp"
#include "shardwise/core/inplace_vector.hpp"
#include "shardwise/spec/reduction.hpp"

#include <cstdint>

namespace shardwise {

/// A partition spec as a value. It has one entry per dimension: the axes that split the dimension
/// joined by commas, major to minor, or empty if it is not split. A grain may follow the axes:
/// `x%32` distributes blocks of 32 cyclically, `x*2` splits each of 2 chunks, and `x,y*1` splits
/// once over all devices along its axes.
///
/// The entries are borrowed; string literals, as in `spec_desc{{"data", "", "x,y"}}`, are always
/// safe. There is room for one entry more than a tensor may have, so that `resolve` can reject it.
struct spec_desc {
  inplace_vector<text_view, max_rank + 1> dims{};

  [[nodiscard]] constexpr int rank() const noexcept { return dims.ssize(); }
  friend constexpr bool operator==(const spec_desc&, const spec_desc&) = default;
};

/// The axes over which the values of a tensor are still to be reduced, the reduction, and the
/// manual axes, as a value.
struct partial_desc {
  text_view axes{};
  reduction kind = reduction::sum;
  text_view manual{};

  friend constexpr bool operator==(const partial_desc&, const partial_desc&) = default;
};

/// The entry of a dimension that is not split.
inline constexpr fixed_string<1> none{""};

namespace detail {
template <class Entry>
inline constexpr bool is_list = false;
template <std::size_t N>
inline constexpr bool is_list<fixed_string<N>> = true;

/// The entry for a nested list, in parentheses, so that no rule takes it for the name of an axis.
template <std::size_t N>
[[nodiscard]] consteval auto nested(const fixed_string<N>& list) noexcept {
  char kept[N + 2]{};
  kept[0] = '(';
  for (std::size_t i = 0; i + 1 < N; ++i) kept[i + 1] = list.characters[i];
  kept[N] = ')';
  return fixed_string<N + 2>(kept);
}
template <std::size_t N, class... Rest>
[[nodiscard]] consteval auto first_list(const fixed_string<N>& list, const Rest&...) noexcept {
  return nested(list);
}
template <std::size_t N, class... Rest>
[[nodiscard]] consteval auto first_list(const char (&)[N], const Rest&... rest) noexcept {
  return first_list(rest...);
}
}  // namespace detail

/// Several axes on one dimension, major to minor: `P<by("x", "y")>` is the type `P<"x,y">`.
template <std::size_t... N>
[[nodiscard]] consteval auto by(const char (&... axes)[N]) noexcept {
  char joined[(N + ...)]{};
  std::size_t end = 0;
  const auto append = [&](const char* axis, std::size_t size) {
    for (std::size_t i = 0; i + 1 < size; ++i) joined[end++] = axis[i];
    joined[end++] = ',';
  };
  (append(axes, N), ...);
  joined[end - 1] = '\0';
  return fixed_string<(N + ...)>(joined);
}

namespace detail {
template <index_t Number>
inline constexpr std::size_t length_of = (bounded_text<20>{} << Number).size();

/// The text of an entry with a grain: a list of axes, a mark, and a number.
template <char Mark, index_t Number, std::size_t N>
[[nodiscard]] consteval auto with_grain(const fixed_string<N>& axes) noexcept {
  constexpr std::size_t size = N + 1 + length_of<Number>;
  bounded_text<size> words;
  words << text_view(axes) << Mark << Number;
  return to_fixed_string<size - 1>(words);
}
}  // namespace detail

/// Blocks of `Block` elements distributed round-robin over the devices along `axes`, as in
/// ScaLAPACK: `P<block_cyclic<32>("x", "y")>` is the type `P<"x,y%32">`.
template <index_t Block, std::size_t... N>
[[nodiscard]] consteval auto block_cyclic(const char (&... axes)[N]) noexcept {
  return detail::with_grain<'%', Block>(by(axes...));
}

/// Elements distributed round-robin, as in Elemental: `P<cyclic("x")>` is the type `P<"x%1">`.
template <std::size_t... N>
[[nodiscard]] consteval auto cyclic(const char (&... axes)[N]) noexcept {
  return block_cyclic<1>(axes...);
}

/// A part of each of `Chunks` chunks on each device, as in DTensor's strided shards:
/// `P<strided_by<2>("x")>` is the type `P<"x*2">`.
template <index_t Chunks, std::size_t... N>
[[nodiscard]] consteval auto strided_by(const char (&... axes)[N]) noexcept {
  return detail::with_grain<'*', Chunks>(by(axes...));
}

/// A single cut over all devices along several axes, as in HLO and JAX: `P<cut_once("x", "y")>` is
/// the type `P<"x,y*1">`. The policy `single_cut` applies it to every dimension.
template <std::size_t... N>
[[nodiscard]] consteval auto cut_once(const char (&... axes)[N]) noexcept {
  return detail::with_grain<'*', 1>(by(axes...));
}

/// A nested list is not an entry; this overload exists so that a rule can reject it with a message.
template <class... Entries>
  requires(... || detail::is_list<Entries>)
[[nodiscard]] consteval auto by(const Entries&... entries) noexcept {
  return detail::first_list(entries...);
}

namespace detail {
/// At most as many entries as a spec has room for; one too many is enough for an error.
template <class... Entries>
[[nodiscard]] constexpr spec_desc spec_of_entries(const Entries&... entries) noexcept {
  spec_desc spec;
  ((spec.dims.full() ? void() : spec.dims.push_back(entries)), ...);
  return spec;
}
}  // namespace detail

/// A partition spec: how each dimension of a tensor is split over the axes of a mesh.
///
///     P<"data", none>                 // rows over "data", columns not split
///     P<by("x", "y"), "z">            // rows over "x" and "y", "x" major
///     P<cyclic("x"), none>             // row i on device i % k along "x"
template <fixed_string... Entries>
struct P {
  static constexpr spec_desc value = detail::spec_of_entries(text_view(Entries)...);
};

/// A pending reduction. Each device along `Axes` holds one term of the value; the sum (or maximum,
/// ...) of the terms is not computed yet. Axes are written in the order of the mesh.
///
///     layout<pod, P<"data", none>, partial<"model">>
template <fixed_string Axes = "", reduction Kind = reduction::sum>
struct partial {
  static constexpr partial_desc value{Axes, Kind, {}};
  /// What is pending after the reduction: nothing.
  using finished = partial<>;
};

/// The manual axes of a layout. Along them each device holds a value of its own; the program is
/// responsible for their meaning, and the library knows nothing of how they relate. Axes are
/// written in the order of the mesh. Layouts get manual axes from `enable_manual_sharding`. XLA and
/// Shardy say manual, JAX says varying.
///
///     layout<pod, P<none, none>, manual<"data">>
///     layout<pod, P<none, none>, manual<"data", partial<"model">>>
template <fixed_string Axes, class Pending = partial<>>
struct manual {
  static constexpr partial_desc value{Pending::value.axes, Pending::value.kind, Axes};
  using finished = manual<Axes>;
};

/// The policies of layouts.
enum class cut_policy : std::uint8_t { exact, uneven, single_cut };

/// The policy of a layout whose split extents must be divisible; the default.
struct exact {
  static constexpr cut_policy value = cut_policy::exact;
};
/// The policy of a layout whose trailing shards may be short or empty. Each axis of a dimension
/// splits the part left by the axis before it into parts of `ceil(n / k)`, as DTensor does.
/// Dropping the last axes of a dimension therefore never moves the boundaries made by the first.
///
///     // 5 elements over by("x", "y") of 2 x 2 devices: 2, 1, 1, 1
struct uneven {
  static constexpr cut_policy value = cut_policy::uneven;
};
/// The policy of a layout whose trailing shards may be short or empty and whose dimensions are
/// split once, by the product of the sizes of their axes, as in HLO, Shardy and JAX. It differs
/// from `uneven` only in dimensions of several axes whose extents are not divisible.
///
///     // 5 elements over by("x", "y") of 2 x 2 devices: 2, 2, 1, 0
struct single_cut {
  static constexpr cut_policy value = cut_policy::single_cut;
};

/// The policy of a layout as a value: `exact{}`, `uneven{}` or `single_cut{}`.
struct policy_desc {
  bool is_uneven = false;
  bool cuts_once = false;

  constexpr policy_desc(exact) noexcept {}
  constexpr policy_desc(uneven) noexcept : is_uneven(true) {}
  constexpr policy_desc(single_cut) noexcept : is_uneven(true), cuts_once(true) {}
  explicit constexpr policy_desc(cut_policy policy) noexcept
      : is_uneven(policy != cut_policy::exact), cuts_once(policy == cut_policy::single_cut) {}
  /// Returns the policy of a layout known to be uneven or not: `policy_desc(layout.uneven)`.
  explicit constexpr policy_desc(bool may_be_uneven) noexcept : is_uneven(may_be_uneven) {}

  friend constexpr bool operator==(const policy_desc&, const policy_desc&) = default;
};

}  // namespace shardwise
