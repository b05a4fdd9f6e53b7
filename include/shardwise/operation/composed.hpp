// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/as.hpp"
#include "shardwise/operation/reduce.hpp"

#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

namespace shardwise {

/// The number that is subtracted from the number of elements in a variance; `correction{1}`
/// estimates the variance of a population from a sample.
struct correction {
  index_t count = 0;
};

namespace internal {

/// Returns the axes permitted among the options of a function; none if there is no `across`.
[[nodiscard]] constexpr across_axes<> permitted_among() noexcept { return {}; }
template <class First, class... Rest>
[[nodiscard]] constexpr auto permitted_among(const First& first, const Rest&... rest) noexcept {
  if constexpr (are_across<First>)
    return first;
  else
    return permitted_among(rest...);
}
[[nodiscard]] constexpr index_t correction_among() noexcept { return 0; }
template <class First, class... Rest>
[[nodiscard]] constexpr index_t correction_among(const First& first, const Rest&... rest) noexcept {
  if constexpr (std::is_same_v<First, correction>)
    return first.count;
  else
    return correction_among(rest...);
}
/// Returns what a sum of squares of `count` terms is divided by: their number minus a correction,
/// which may be any number; at least 0 and at most INT64_MAX.
[[nodiscard]] constexpr index_t terms_less(index_t count, const correction& less) noexcept {
  if (less.count < 0 && count > INT64_MAX + less.count) return INT64_MAX;
  return count > less.count ? count - less.count : 0;
}
template <class... Options>
inline constexpr bool keeps_dims = (... || std::is_same_v<Options, keep_dims_t>);

/// Calls `f` with the options that describe a reduction, and with unknown ones, which reductions
/// report as errors.
template <class F>
constexpr decltype(auto) with_dims(const F& f) {
  return f();
}
template <class F, class First, class... Rest>
constexpr decltype(auto) with_dims(const F& f, const First& first, const Rest&... rest) {
  if constexpr (are_across<First> || std::is_same_v<First, correction> ||
                std::is_same_v<First, keep_dims_t>)
    return with_dims(f, rest...);
  else
    return with_dims([&](const auto&... later) { return f(first, later...); }, rest...);
}

/// A layout without the pending reductions over permitted axes.
template <class X, class Permitted>
struct finished_layout {
  static constexpr layout_desc layout_value = [] {
    layout_desc layout = X::layout_type::value;
    const unsigned left = layout.pending & ~Permitted::bits(mesh_of<X>::value);
    layout.pending = static_cast<decltype(layout.pending)>(left);
    if (left == 0) layout.kind = reduction::sum;
    return layout;
  }();
};

/// Finishes the pending reductions over permitted axes, so that the value can be read: a small
/// reduction in the middle of an operation. Reductions that are pending over other axes are left
/// for its reader to report.
template <class Permitted>
struct finish_call {
  template <class X>
  [[nodiscard]] static constexpr auto judge() noexcept {
    if constexpr (ValueOperand<X>) {
      return allowed<std::remove_cvref_t<X>>{};
    } else {
      using axes =
          decltype(answer_to<mesh_of<X>>([] { return Permitted::check(mesh_of<X>::value); }));
      if constexpr (!axes::ok)
        return axes{};
      else
        return allowed<decltype(apply(std::declval<X>()))>{};
    }
  }
  template <class X>
  [[nodiscard]] static constexpr auto apply(X&& x) {
    using tensor = std::remove_cvref_t<X>;
    if constexpr (ValueOperand<X>) {
      require(Permitted::check(x.mesh()));
      layout_desc layout = x.layout();
      if (layout.pending == 0 || (layout.pending & ~Permitted::bits(x.mesh())) != 0)
        return tensor(static_cast<X&&>(x));
      layout.pending = 0;
      layout.kind = reduction::sum;
      return reshard(tensor(static_cast<X&&>(x)), layout);
    } else if constexpr (finished_layout<tensor, Permitted>::layout_value ==
                         tensor::layout_type::value) {
      return tensor(static_cast<X&&>(x));
    } else {
      return reshard<layout_from_value<mesh_of<X>, finished_layout<tensor, Permitted>>>(
          static_cast<X&&>(x));
    }
  }
};

template <class X, class Permitted>
[[nodiscard]] constexpr auto finished(X&& x, Permitted) -> outcome_of<finish_call<Permitted>, X> {
  return carry_out<finish_call<Permitted>>(static_cast<X&&>(x));
}

/// Calls `f` with these options, and reshards its result to the layout that the last one requests.
template <class F, class... Options>
[[nodiscard]] constexpr auto on_request(const F& f, const Options&... options) {
  return lay_out(std::get<sizeof...(Options) - 1>(std::tie(options...)),
                 f(without_request(options)...));
}

/// Removes dimensions that were kept with size 1, by a maximum over their single element.
template <int... Dims, class X, class... Options>
[[nodiscard]] constexpr auto without_kept(X&& x, const Options&... options) {
  if constexpr (keeps_dims<Options...>)
    return static_cast<X&&>(x);
  else
    return with_dims(
        [&](const auto&... dims) { return max<Dims...>(static_cast<X&&>(x), dims...); },
        options...);
}

}  // namespace internal

}  // namespace shardwise
