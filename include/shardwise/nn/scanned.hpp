// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/named_as.hpp"
#include "shardwise/expression/nest.hpp"
#include "shardwise/operation/stack.hpp"

#include <type_traits>
#include <utility>

namespace shardwise {

/// What a layer of a scan returns if it has outputs besides the next carry: a tensor or a nest of
/// tensors, which the scan stacks.
///
///     return scanned{h, sum(square(h))};
template <class Carry, class Outputs>
struct scanned {
  Carry carry;
  Outputs outputs;
};
template <class Carry, class Outputs>
scanned(Carry, Outputs) -> scanned<Carry, Outputs>;

namespace internal {

template <class Carry, class Outputs>
inline constexpr bool holds_refusal<scanned<Carry, Outputs>> =
    holds_refusal<Carry> || holds_refusal<Outputs>;
template <class Carry, class Outputs>
struct refused_results<scanned<Carry, Outputs>> {
  using type = std::pair<refused_value, refused_value>;
};

}  // namespace internal

namespace detail {

/// The tensor type of an expression.
template <class X>
struct named_tensor {
  using type = X;
};
template <Operand X>
struct named_tensor<X> {
  using type = typename X::domain::template tensor<typename X::value_type, typename X::extents_type,
                                                   typename X::layout_type>;
};

/// The type of a carry: tensors in place of expressions.
template <class Carry>
[[nodiscard]] constexpr auto named_carry(const Carry& carry) {
  const auto settle = []<class X>(const X& x) { return typename named_tensor<X>::type(x); };
  return map_nest(carry, settle);
}
/// Converts a nest of expressions to one of tensors.
template <class Settled, class Made>
[[nodiscard]] constexpr Settled settled_nest(Made&& made) {
  const auto settle = []<class To, class X>(std::type_identity<To>, X&& x) {
    if constexpr (std::is_constructible_v<To, X>)
      return To(std::forward<X>(x));
    else
      return To{x};  // on paper, with another name
  };
  if constexpr (EitherOperand<Settled>)
    return settle(std::type_identity<Settled>{}, std::forward<Made>(made));
  else
    return nest_as<Settled>(made, settle);
}

/// What a layer returns, as tensors: the next carry, of type `Carry`, or that with outputs.
template <class Carry, class Made>
struct layer_results {
  static constexpr bool has_outputs = false;
  using type = Carry;
  template <class Returned>
  [[nodiscard]] static constexpr type settled(Returned&& made) {
    return settled_nest<Carry>(std::forward<Returned>(made));
  }
  [[nodiscard]] static constexpr const Carry& carry(const type& results) { return results; }
};
template <class Carry, class Next, class Made>
struct layer_results<Carry, scanned<Next, Made>> {
  static constexpr bool has_outputs = true;
  using outputs = decltype(named_carry(std::declval<const Made&>()));
  using type = scanned<Carry, outputs>;
  [[nodiscard]] static constexpr type settled(scanned<Next, Made> made) {
    return {settled_nest<Carry>(std::move(made.carry)),
            settled_nest<outputs>(std::move(made.outputs))};
  }
  [[nodiscard]] static constexpr const Carry& carry(const type& results) { return results.carry; }
};

/// The call that stacks the outputs of layers.
using stacking = list_stack<0, across_axes<>>;

/// Stacks outputs of layers: corresponding tensors of nests.
struct stack_outputs {
  /// Returns the outputs of one layer with the types of those of `Layers`, which may be `dyn`.
  template <index_t Layers, class Outputs>
  [[nodiscard]] static constexpr auto of_one(const Outputs& outputs) {
    const auto lengthen = []<class X>(const X& x) {
      const X* const list[] = {&x};
      return apply_to_list<stack_of<0>, typename stacking::template made_of<X, Layers>>(0U, list,
                                                                                        1);
    };
    return map_nest(outputs, lengthen);
  }
  template <class Outputs, index_t Layers>
  using made_of = decltype(of_one<Layers>(std::declval<const Outputs&>()));

  template <class Made, class Outputs>
  [[nodiscard]] constexpr Made leaf(const Outputs* const* nests, int count) const {
    return combined<stack_of<0>, Made>(nests, count);
  }
  template <class Made, class Part>
  [[nodiscard]] constexpr Made join(const Part* const* nests, int count) const {
    return combined<concatenate_of<0>, Made>(nests, count);
  }

 private:
  template <class Operation, class Made, class Nest>
  [[nodiscard]] static constexpr Made combined(const Nest* const* nests, int count) {
    int number = 0;
    const auto combine = [&]<class To, class X>(std::type_identity<To>, const X&) {
      const X* list[max_operands]{};
      for (int i = 0; i < count; ++i) list[i] = tensor_at<X>(*nests[i], number);
      ++number;
      return apply_to_list<Operation, To>(0U, list, count);
    };
    return nest_as<Made>(*nests[0], combine);
  }
  /// Returns a tensor of a nest, which is of type `X`.
  template <class X, class Nest>
  [[nodiscard]] static constexpr const X* tensor_at(const Nest& nest, int number) {
    const X* found = nullptr;
    const auto look = [&]<class Y>(const Y& y) {
      if constexpr (std::is_same_v<X, Y>)
        if (number == 0) found = &y;
      --number;
    };
    for_each_tensor(nest, look);
    return found;
  }
};

/// Checks what a layer returned as the next carry, or as a part of it.
template <class Carry, class Made>
[[nodiscard]] constexpr auto judge_carry() noexcept {
  constexpr auto is_of_parts = [](nest_kind kind) {
    return kind == nest_kind::tuple || kind == nest_kind::aggregate;
  };
  if constexpr (EitherOperand<Carry> != EitherOperand<Made>) {
    return refused<misuse::layer_returns_no_carry>{};
  } else if constexpr (Operand<Carry> && Operand<Made>) {
    return std::conditional_t<is_named_as<Made, Carry>, allowed<>,
                              decltype(judge_naming<Made, Carry>())>{};
  } else if constexpr (is_of_parts(nest_kind_of<Carry>()) && is_of_parts(nest_kind_of<Made>())) {
    using parts = decltype(list_parts(std::declval<Carry&>()));
    using made = decltype(list_parts(std::declval<Made&>()));
    if constexpr (parts::size != made::size)
      return refused<misuse::layer_returns_no_carry>{};
    else
      return []<std::size_t... I>(std::index_sequence<I...>) {
        return typename first_refusal<
            decltype(judge_carry<std::remove_cvref_t<nth_type<I, parts>>,
                                 std::remove_cvref_t<nth_type<I, made>>>())...,
            allowed<>>::type{};
      }
    (std::make_index_sequence<parts::size>{});
  } else {
    return allowed<>{};
  }
}
/// Checks what a layer returned.
template <class Carry, class Made>
struct judge_layer {
  [[nodiscard]] static constexpr auto judge() noexcept {
    if constexpr (holds_refusal<Made> || may_be_an_error<Made>)
      return refused<>{};
    else
      return judge_carry<Carry, Made>();
  }
};
template <class Carry, class Next, class Outputs>
struct judge_layer<Carry, scanned<Next, Outputs>> {
  static constexpr auto has_highest_rank = []<class X>(std::type_identity<X>) {
    if constexpr (Operand<X>) return X::extents_type::rank == max_rank;
    return false;
  };
  [[nodiscard]] static constexpr auto judge() noexcept {
    if constexpr (holds_refusal<scanned<Next, Outputs>>)
      return refused<>{};
    else if constexpr (!has_tensor_in<Outputs>())
      return refused<misuse::layer_returns_no_carry>{};
    else if constexpr (any_in_nest<Outputs>(has_highest_rank))
      return answer_to<>([]() -> diagnosis {
        return {.rule = violation::rank_is_too_high, .have = max_rank + 1, .want = max_rank};
      });
    else
      return judge_carry<Carry, Next>();
  }
};

}  // namespace detail

}  // namespace shardwise
