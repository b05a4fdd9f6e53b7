// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/fixed_string.hpp"
#include "shardwise/core/inplace_vector.hpp"
#include "shardwise/spec/reduction.hpp"

#include <cstdint>

namespace shardwise {

/// How a whole tensor is spread, as a value: one entry a dimension, the axes that split it joined
/// by commas, major to minor; an empty entry is a dimension that is not split. After its axes an
/// entry may have a grain: `x%32` distributes blocks of 32 cyclically, `x*2` cuts each of 2 chunks,
/// `x,y*1` cuts once for all devices along its axes.
///
/// The entries are borrowed: `spec_desc{{"data", "", "x,y"}}` from literals is always safe. There
/// is room for one entry more than a tensor may have, so that `resolve` can refuse it.
struct spec_desc {
  inplace_vector<text_view, max_rank + 1> dims{};

  [[nodiscard]] constexpr int rank() const noexcept { return dims.ssize(); }
  friend constexpr bool operator==(const spec_desc&, const spec_desc&) = default;
};

/// Which axes a tensor's values are still to be reduced over, and how, and along which axes each
/// device has its own, as a value.
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

/// A list in a list, in parentheses: text that no rule takes for the name of an axis.
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

/// A list of axes, a mark, and a number: the text of an entry with a grain.
template <char Mark, index_t Number, std::size_t N>
[[nodiscard]] consteval auto with_grain(const fixed_string<N>& axes) noexcept {
  constexpr std::size_t size = N + 1 + length_of<Number>;
  bounded_text<size> words;
  words << text_view(axes) << Mark << Number;
  return to_fixed_string<size - 1>(words);
}
}  // namespace detail

/// Blocks of `Block` elements distributed round-robin to the devices along `axes`, as ScaLAPACK has
/// it: `P<block_cyclic<32>("x", "y")>` is the type `P<"x,y%32">`.
template <index_t Block, std::size_t... N>
[[nodiscard]] consteval auto block_cyclic(const char (&... axes)[N]) noexcept {
  return detail::with_grain<'%', Block>(by(axes...));
}

/// Elements distributed round-robin, as Elemental has it: `P<cyclic("x")>` is the type `P<"x%1">`.
template <std::size_t... N>
[[nodiscard]] consteval auto cyclic(const char (&... axes)[N]) noexcept {
  return block_cyclic<1>(axes...);
}

/// A piece of each of `Chunks` chunks for each device, as DTensor's strided shards have it:
/// `P<strided_by<2>("x")>` is the type `P<"x*2">`.
template <index_t Chunks, std::size_t... N>
[[nodiscard]] consteval auto strided_by(const char (&... axes)[N]) noexcept {
  return detail::with_grain<'*', Chunks>(by(axes...));
}

/// One cut for all devices along several axes, as HLO and JAX have it: `P<cut_once("x", "y")>` is
/// the type `P<"x,y*1">`. The policy `single_cut` says it of every dimension.
template <std::size_t... N>
[[nodiscard]] consteval auto cut_once(const char (&... axes)[N]) noexcept {
  return detail::with_grain<'*', 1>(by(axes...));
}

/// A nested list is not an entry; this one exists to be refused by the rule that says so.
template <class... Entries>
  requires(... || detail::is_list<Entries>)
[[nodiscard]] consteval auto by(const Entries&... entries) noexcept {
  return detail::first_list(entries...);
}

namespace detail {
/// As many of the entries as a spec has room for; one too many is enough to be refused.
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

/// A pending reduction: each device along `Axes` holds one term of the value, and the term of the
/// sum (or maximum, ...) is not the value. Axes are written in the order of the mesh.
///
///     layout<pod, P<"data", none>, partial<"model">>
template <fixed_string Axes = "", reduction Kind = reduction::sum>
struct partial {
  static constexpr partial_desc value{Axes, Kind, {}};
  /// What remains of it when the reduction is finished.
  using finished = partial<>;
};

/// The manual axes of a layout: along them each device holds a value of its own, for which the
/// program answers, and nothing is known of how they belong together. Axes are written in the order
/// of the mesh. Made by `enable_manual_sharding`; XLA and Shardy say manual, JAX varying.
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

/// The policy of a layout whose split extents must divide evenly; the default.
struct exact {
  static constexpr cut_policy value = cut_policy::exact;
};
/// The policy of a layout whose trailing shards may be short or empty. Each axis of a dimension
/// cuts what the one before it left into parts of `ceil(n / k)`, so that the first axes of a cut
/// are a cut: DTensor's.
///
///     // 5 elements over by("x", "y") of 2 x 2 devices: 2, 1, 1, 1
struct uneven {
  static constexpr cut_policy value = cut_policy::uneven;
};
/// The same where the axes of a dimension cut once, by the product of their sizes: what HLO and
/// Shardy mean, and JAX. It differs from `uneven` in dimensions of several axes that do not divide.
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
  /// That of a layout which is known already: `policy_desc(layout.uneven)`.
  explicit constexpr policy_desc(bool may_be_uneven) noexcept : is_uneven(may_be_uneven) {}

  friend constexpr bool operator==(const policy_desc&, const policy_desc&) = default;
};

}  // namespace shardwise
