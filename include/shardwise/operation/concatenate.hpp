// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/as.hpp"
#include "shardwise/operation/misplaced_options.hpp"
#include "shardwise/operation/over.hpp"
#include "shardwise/operation/slice.hpp"
#include "shardwise/operation/tensor_list.hpp"

#include <type_traits>
#include <utility>

namespace shardwise {

/// The operation that concatenates tensors along a dimension, which is its only integer.
struct concatenate_operation {
  static constexpr text_view name = "concatenate";
  static constexpr dims_among names{.count = 1};
  static constexpr views_read reads = views_read::any;

  [[nodiscard]] static constexpr attributes how(int dim) noexcept {
    return integer_attributes(dim);
  }
  /// Along the dimension, each operand has its own indices, and the indices of the result are their
  /// sum; all other indices are the same.
  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
    const auto dim = static_cast<int>(how.integers[0]);
    factor_rule out = same_dimensions_rule(linearity::structural, operands[0].rank());
    composite_factor joined{static_cast<std::uint8_t>(dim), composition::sum, {}};
    for (int o = 0; o < operands.ssize(); ++o) {
      const auto own = static_cast<std::uint8_t>(out.factors.ssize());
      out.factors.push_back(factor_kind::need_replication);
      joined.parts.push_back(own);
      if (o > 0) out.operands.push_back(out.result);
      out.operands[o][dim] = own;
    }
    out.composites.push_back(joined);
    return out;
  }
  [[nodiscard]] static constexpr diagnosis check(const attributes& how,
                                                 const tensor_descs& operands) noexcept {
    return over(how.integers[0]).judge(operands[0].rank());
  }
  [[nodiscard]] static constexpr diagnosis check_elements(const attributes&,
                                                          const tensor_descs& operands) noexcept {
    return check_alike(operands, 0, true);
  }
  [[nodiscard]] static constexpr bounded_text<47> label(const attributes& how) noexcept {
    return words_of(name, how);
  }
  using emits = emitted_operations<slice_operation>;
  /// The cotangent of each operand is its slice.
  static constexpr void gradient(gradient_step& at) {
    const auto dim = static_cast<int>(at.how().integers[0]);
    index_t begin = 0;
    for (int o = 0; o < at.operand_count(); ++o) {
      const index_t end = begin + at.operand(o).tensor().extents[dim];
      if (at.wants(o))
        at.give(o, emit<slice_operation>(slice_operation::how(dim, begin, end, 1), at.cotangent()));
      begin = end;
    }
  }
};

/// A concatenation along `Dim` whose attributes are types.
template <int Dim>
struct concatenate_of {
  using operation_class = concatenate_operation;
  static constexpr attributes how = concatenate_operation::how(Dim);
};

namespace detail {

/// Returns the argument at a position.
template <int At, class First, class... Rest>
[[nodiscard]] constexpr auto& argument_at(First& first, Rest&... rest) noexcept {
  if constexpr (At == 0)
    return first;
  else
    return argument_at<At - 1>(rest...);
}

/// The call that combines tensors along a dimension by `Leaf`, the call of a single operation. If
/// there are more tensors than an operation takes, it combines groups of adjacent ones, and `Join`
/// concatenates the results.
template <class Leaf, class Join = Leaf>
struct combining_call {
  template <class... X>
  [[nodiscard]] static constexpr auto judge() noexcept {
    if constexpr (int{sizeof...(X)} <= groups)
      return Leaf::template judge<X...>();
    else
      return judge_groups<X...>(std::make_integer_sequence<int, groups>{});
  }
  template <class... X>
  [[nodiscard]] static constexpr auto apply(X&&... x) {
    if constexpr (int{sizeof...(X)} <= groups)
      return Leaf::apply(static_cast<X&&>(x)...);
    else
      return apply_groups<X...>(std::make_integer_sequence<int, groups>{}, x...);
  }

 private:
  static constexpr int groups = max_operands;

  /// Returns the first position of a group of `count` operands, and the positions in it.
  [[nodiscard]] static constexpr int begin_of(int group, int count) noexcept {
    return group * count / groups;
  }
  template <int G, class... X>
  using places_in = std::make_integer_sequence<int, begin_of(G + 1, int{sizeof...(X)}) -
                                                        begin_of(G, int{sizeof...(X)})>;

  template <int G, class... X>
  [[nodiscard]] static constexpr auto judge_group() noexcept {
    return []<int... I>(std::integer_sequence<int, I...>) {
      return judge<typename type_at<begin_of(G, int{sizeof...(X)}) + I, X...>::type...>();
    }
    (places_in<G, X...>{});
  }
  template <class... X, int... G>
  [[nodiscard]] static constexpr auto judge_groups(std::integer_sequence<int, G...>) noexcept {
    using judged = typename first_refusal<decltype(judge_group<G, X...>())...>::type;
    if constexpr (judged::ok)
      return Join::template judge<typename decltype(judge_group<G, X...>())::type...>();
    else
      return judged{};
  }

  template <int G, class... X>
  [[nodiscard]] static constexpr auto apply_group(std::remove_reference_t<X>&... x) {
    constexpr int begin = begin_of(G, int{sizeof...(X)});
    return [&]<int... I>(std::integer_sequence<int, I...>) {
      return apply(
          static_cast<typename type_at<begin + I, X...>::type&&>(argument_at<begin + I>(x...))...);
    }
    (places_in<G, X...>{});
  }
  template <class... X, int... G>
  [[nodiscard]] static constexpr auto apply_groups(std::integer_sequence<int, G...>,
                                                   std::remove_reference_t<X>&... x) {
    return Join::apply(apply_group<G, X...>(x...)...);
  }
};

/// The call that gathers its operands over permitted axes.
template <int Dim>
struct fetching_concatenation {
  template <class Permitted>
  using with = combining_call<fetching_call<concatenate_of<Dim>, Permitted>>;
};
template <int Dim, class... X>
using concatenation =
    std::conditional_t<ends_with_terms<X...>(),
                       call_with_terms<fetching_concatenation<Dim>::template with>,
                       combining_call<fetching_call<concatenate_of<Dim>, across_axes<>>>>;
template <int Dim, class Permitted>
using list_concatenation = list_call<Dim, concatenate_of<Dim>, concatenate_of<Dim>, Permitted>;

/// The call that concatenates tensors.
template <int Dim>
struct concatenation_in_parentheses {
  [[nodiscard]] constexpr call_text operator()() const noexcept {
    call_text out;
    out << "concatenate<" << Dim << ">(x, y)";
    return out;
  }
};

}  // namespace detail

/// Concatenates tensors along a dimension that is not split, or is gathered over permitted axes;
/// along all others they have the same extents and the same splits. Reductions that are pending in
/// all of them stay pending.
///
/// There may be any number of tensors. A single operation takes `max_operands`; more are first
/// concatenated in groups, by one operation each.
///
///     auto y = concatenate<1>(a, b);         // f32[8@data, 4], f32[8@data, 2] -> f32[8@data, 6]
///     auto z = concatenate<0>(a, b, across<"data">);
template <int Dim, NamedOperand First, class... Rest>
[[nodiscard]] constexpr internal::outcome_of<detail::concatenation<Dim, Rest...>, First, Rest...>
concatenate(First&& first, Rest&&... rest) {
  return internal::carry_out<detail::concatenation<Dim, Rest...>>(static_cast<First&&>(first),
                                                                  static_cast<Rest&&>(rest)...);
}

/// Concatenates the tensors of a list, which has any length: an array, whose length the type of the
/// result shows, or a vector or a span, whose tensors are a `dyn` extent in a row.
///
///     auto y = concatenate<1>(std::array{a, b, c});    // f32[8@data, 4] each -> f32[8@data, 12]
///     auto z = concatenate<0>(std::vector<any_tensor<float>>{a, b});
template <int Dim, TensorList List, internal::Terms Given = across_axes<>>
[[nodiscard]] constexpr internal::outcome_on<
    detail::list_concatenation<Dim, internal::permitted_by<Given>>, Given, const List&>
concatenate(const List& list, const Given& given = {}) {
  return internal::carry_out_on<detail::list_concatenation<Dim, internal::permitted_by<Given>>>(
      given, list);
}

/// Error: tensors of a type are arguments, not a list in braces, and the dimension is a template
/// argument.
template <int Dim, Operand X, std::size_t N>
detail::call_misplaced<detail::concatenation_in_parentheses<Dim>, X> concatenate(const X (&)[N]) {
  return {};
}
template <Operand X, class... Rest>
detail::options_misplaced<"concatenate<0>(x, y)", X> concatenate(const X&, const Rest&...) {
  return {};
}

}  // namespace shardwise
