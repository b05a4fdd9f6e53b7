// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/host/distribute.hpp"
#include "shardwise/operation/repeat_counts.hpp"
#include "shardwise/operation/take.hpp"
#include "shardwise/runtime/any_operations.hpp"

#include <initializer_list>
#include <type_traits>
#include <vector>

namespace shardwise {

namespace detail {

/// A repetition by counts that only the run knows, on paper.
template <int Dim>
struct repeat_list_of {
  using operation_class = repeat_counts_operation;
  static constexpr attributes how = integer_attributes(Dim, dyn, dyn, 0);
};

/// The call of a repetition by a list of counts: elements are looked up by indices that the host
/// computes.
template <int Dim, class Permitted>
struct repeat_list_call {
  template <class X, class Counts>
  [[nodiscard]] static constexpr auto judge() noexcept {
    using answer = decltype(fetching::template judge<X>());
    if constexpr (answer::ok)
      return judge_composed<decltype(apply(std::declval<const std::remove_cvref_t<X>&>(),
                                           std::declval<const Counts&>()))>();
    else
      return answer{};
  }
  template <class X, class Counts>
  [[nodiscard]] static auto apply(const X& x, const Counts& counts) {
    const int rank = x.extents().ssize();
    const attributes& named = attributes_for<repeat_list_of<Dim>>(rank);
    const attributes how = repeat_counts_operation::how(named.integers[0], counts);
    if constexpr (ValueOperand<X>) {
      require_rule<repeat_list_of<Dim>, Permitted>(x);
      require(repeat_counts_operation::check(how, {x.tensor()}));
    } else {
      require(repeat_counts_operation::check(how, {desc_of(x)}));
    }
    std::vector<std::int64_t> sources;
    sources.reserve(static_cast<std::size_t>(how.integers[2]));
    std::int64_t at = 0;
    for (const auto& count : counts) sources.insert(sources.end(), std::size_t(count), at++);
    return fetching::with_gathered(
        [&](const auto& whole) { return take<Dim>(whole, indices_beside(whole, sources)); }, x);
  }

 private:
  using fetching = fetching_call<repeat_list_of<Dim>, Permitted>;

  /// Returns indices that every device holds, on the machine of a tensor or an expression.
  template <class X>
  [[nodiscard]] static auto indices_beside(const X& x, const std::vector<std::int64_t>& sources) {
    const extents_desc extents{static_cast<index_t>(sources.size())};
    layout_desc whole;
    whole.dims.resize(1);
    node_ptr made = make_filled<std::int64_t>(
        x.share()->home(), {element::i64, extents, whole},
        [&](const held_box& part, const strided<std::int64_t>& block) {
          copy_part<std::int64_t>({sources.data(), extents, row_major(extents)}, part, block);
        });
    if constexpr (ValueOperand<X>)
      return handle_of<any_tensor<std::int64_t>>(std::move(made));
    else
      return handle_of<sharded_tensor<std::int64_t, extents_of_list, layout<mesh_of<X>, P<none>>>>(
          std::move(made));
  }
  using extents_of_list = shardwise::extents<dyn>;
};

}  // namespace detail

/// Repeats each element along a dimension as often as a list says, which is known only at run time:
/// an array, a vector or a span of integers, or a list in braces. The extent of the dimension is
/// `dyn`. As for counts that are template arguments, the list has one for each element, 0 or more,
/// and the dimension must not be split, or is gathered over permitted axes. Of pending reductions,
/// only sums are accepted.
///
///     auto y = repeat<0>(x, std::vector{1, 0, 4});   // f32[3, 8@data] -> f32[5, 8@data]
template <int Dim, NamedOperand X, CountList Counts, internal::Terms Given = across_axes<>>
[[nodiscard]] constexpr internal::outcome_on<
    detail::repeat_list_call<Dim, internal::permitted_by<Given>>, Given, const X&, const Counts&>
repeat(const X& x, const Counts& counts, const Given& given = {}) {
  return internal::carry_out_on<detail::repeat_list_call<Dim, internal::permitted_by<Given>>>(
      given, x, counts);
}
template <int Dim, NamedOperand X, internal::Terms Given = across_axes<>>
[[nodiscard]] constexpr internal::outcome_on<
    detail::repeat_list_call<Dim, internal::permitted_by<Given>>, Given, const X&,
    const std::initializer_list<index_t>&>
repeat(const X& x, const std::initializer_list<index_t>& counts, const Given& given = {}) {
  return internal::carry_out_on<detail::repeat_list_call<Dim, internal::permitted_by<Given>>>(
      given, x, counts);
}

}  // namespace shardwise
