// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/kernel/enter_kernel.hpp"
#include "shardwise/kernel/function_kernel.hpp"
#include "shardwise/kernel/whole_kernel.hpp"
#include "shardwise/operation/attention.hpp"
#include "shardwise/operation/cast.hpp"
#include "shardwise/operation/comparison.hpp"
#include "shardwise/operation/iota_like.hpp"
#include "shardwise/operation/logical.hpp"
#include "shardwise/operation/reduce.hpp"
#include "shardwise/operation/reshape.hpp"
#include "shardwise/operation/sort.hpp"
#include "shardwise/operation/sum_of_squares.hpp"
#include "shardwise/rule/gradient_step.hpp"
#if !defined(SHARDWISE_COMPILED)
#include "shardwise/kernel/library_kernels.hpp"
#endif

#include <initializer_list>
#include <type_traits>

namespace shardwise {

/// Registers the kernels of a gradient.
using gradient_entry_function = void (*)();

/// Returns the function that registers the kernels for the gradient of an operation on `T...` with
/// results of `Result`; null if there are no floating-point types, or if the compiled library has
/// the kernels.
template <class Class, class Result, class... T>
[[nodiscard]] constexpr gradient_entry_function gradient_entry() noexcept;

namespace internal {

/// True for operations whose kernels, including those of their gradients, are in the compiled
/// library.
template <class Class>
inline constexpr bool is_compiled_already = build_config::compiled && !HasOwnWholeKernel<Class>;
template <class F>
inline constexpr bool is_compiled_already<pointwise<F>> =
    build_config::compiled && !HasOwnKernel<F>;

/// Registers an elementwise function on elements of `T` with any number of operands.
template <class F, Element T>
void enter_function_on() {
  using C = compute_type<T>;
  constexpr gradient_entry_function gradient = gradient_entry<pointwise<F>, T>();
  if constexpr (requires { F::of_truth_values; }) {
    if constexpr (requires(bool b) { kernel<F>::template of<bool>(b); })
      enter_function<F, bool, bool>();
    else if constexpr (requires(C x) { kernel<F>::run(x); })
      enter_function<F, bool, bool>();
    else
      enter_function<F, bool, bool, bool>();
  } else if constexpr (requires { F::compares; }) {
    enter_function<F, bool, T, T>();
  } else if constexpr (requires { F::chooses; }) {
    enter_function<F, T, bool, T, T>(gradient);
  } else if constexpr (requires { F::masks; }) {
    enter_function<F, T, T, bool>(gradient);
  } else if constexpr (
      requires(C x) { kernel<F>::run(x); } || requires(C x) { kernel<F>::template of<C>(x); }) {
    enter_function<F, T, T>(gradient);
  } else if constexpr (
      requires(C x) { kernel<F>::run(x, x); } ||
      requires(C x) { kernel<F>::template of<C>(x, x); }) {
    enter_function<F, T, T, T>(gradient);
  } else {
    enter_function<F, T, T, T, T>(gradient);
  }
}

}  // namespace internal

namespace detail {

/// Registers an operation on one to three operands of `T`, of which those after the first may be
/// indices, so that what it appends can be differentiated again.
template <class Class, Element T>
struct enter_on {
  static void run() {
    const operation_kernel made{.whole = whole_kernel<Class, T>(),
                                .elements = &element_kernels_of<T>,
                                .further = further_of<Class, T>(),
                                .enter_gradient = gradient_entry<Class, T>()};
    constexpr element own = element_of<T>;
    const auto enter = [&](std::initializer_list<element> operands) {
      kernel_table::instance().enter(operation_of<Class>, types_key(operands, own), made);
    };
    const std::initializer_list<element> others = {own, element::i32, element::i64, element::i8,
                                                   element::u8};
    enter({own});
    for (element second : others) {
      enter({own, second});
      for (element third : others) enter({own, second, third});
    }
  }
};
/// Sorting permutations are indices, and are sorted themselves.
template <Element T>
struct enter_on<argsort_operation, T> {
  static void run() {
    enter_operation<argsort_operation, std::int64_t, T>();
    enter_operation<argsort_operation, std::int64_t, std::int64_t>();
  }
};
/// Indices, and comparisons between them.
template <Element T>
struct enter_on<iota_like_operation, T> {
  static void run() {
    enter_operation<iota_like_operation, std::int64_t, T>();
    enter_function<functions::equal, bool, std::int64_t, std::int64_t>();
  }
};
/// With masks of numbers and of `bool`.
template <class Class, Element T>
  requires(std::is_same_v<Class, attention_gradient_operation> ||
           std::is_same_v<Class, attention_gradients_operation>)
struct enter_on<Class, T> {
  static void run() {
    enter_operation<Class, T, T, T, T, T>();
    enter_operation<Class, T, T, T, T, T, T>();
    enter_operation<Class, T, T, T, T, T, bool>();
    enter_with_indices<Class, T, 5, 4>();
  }
};
/// With the cotangents of one operand of attention, or of the first three.
template <Element T>
struct enter_on<attention_second_gradient_operation, T> {
  static void run() {
    using Class = attention_second_gradient_operation;
    constexpr element own = element_of<T>;
    const operation_kernel made{.whole = whole_kernel<Class, T>(),
                                .elements = &element_kernels_of<T>};
    const auto enter = [&](std::initializer_list<element> operands) {
      kernel_table::instance().enter(operation_of<Class>, types_key(operands, own), made);
    };
    enter({own, own, own, own, own});
    enter({own, own, own, own, own, own, own});
    for (element fifth :
         {own, element::boolean, element::i32, element::i64, element::i8, element::u8}) {
      enter({own, own, own, own, fifth, own});
      enter({own, own, own, own, fifth, own, own, own});
    }
  }
};
template <class F, Element T>
struct enter_on<pointwise<F>, T> {
  static void run() { enter_function_on<F, T>(); }
};

}  // namespace detail

namespace internal {

/// Registers what the gradients of all operations on floating-point elements may append; done once.
/// A program that takes gradients does so for its arguments: others do not contain these kernels.
template <class T>
void enter_gradient_arithmetic() {
  namespace f = functions;
  if constexpr (!build_config::compiled && Fractional<T>) {
    static const bool entered = [] {
      detail::enter_unary<T, f::identity, f::negate, f::square>();
      detail::enter_binary<T, f::add, f::subtract, f::multiply, f::divide>();
      detail::enter_comparisons<T, f::equal, f::greater, f::less>();
      enter_function<f::masked, T, T, bool>();
      enter_operation<reduction_operation, T, T>();
      enter_operation<reshape_operation, T, T>();
      // Contractions of a diagonal append indices; most contractions have none.
      detail::enter_on<iota_like_operation, T>::run();
      return true;
    }();
    (void)entered;
  }
}

}  // namespace internal

namespace detail {

template <class Class>
struct emitted_by {
  template <Element T>
  static void enter() {}
};
template <class Class>
  requires requires { typename Class::emits; }
struct emitted_by<Class> {
  template <Element T>
  static void enter() {
    enter_all<T>(typename Class::emits{});
  }

 private:
  template <Element T, class... Emitted>
  static void enter_all(emitted_operations<Emitted...>) {
    const auto enter = []<class One>(std::type_identity<One>) {
      if constexpr (!is_compiled_already<One>) enter_on<One, T>::run();
    };
    (enter(std::type_identity<Emitted>{}), ...);
  }
};
template <class F>
  requires requires { typename F::emits; }
struct emitted_by<pointwise<F>> : emitted_by<F> {};

/// Registers what the gradient of an operation on elements of `T` appends besides.
template <class Class, Element T>
void enter_gradient() {
  static const bool entered = [] {
    emitted_by<Class>::template enter<T>();
    return true;
  }();
  (void)entered;
}
template <Element To, Element From>
void enter_cast_gradient() {
  enter_gradient_arithmetic<To>();
  enter_gradient_arithmetic<From>();
  enter_function<functions::cast<From>, From, To>();
}

template <Element From>
void enter_squares_gradient() {
  using S = squares_type<From>;
  enter_cast_gradient<S, From>();
  enter_function<functions::cast<S>, S, From>();
}

template <class Class>
inline constexpr bool emits_operations = requires {
  typename Class::emits;
};
template <class F>
inline constexpr bool emits_operations<pointwise<F>> = requires {
  typename F::emits;
};

template <class Class>
struct entry_of {
  template <class Result, class... T>
  [[nodiscard]] static constexpr gradient_entry_function get() noexcept {
    if constexpr (is_compiled_already<Class>)
      return nullptr;
    else if constexpr (Fractional<Result> && emits_operations<Class>)
      return &enter_gradient<Class, Result>;
    else if constexpr (Fractional<Result>)
      return nullptr;
    else if constexpr (sizeof...(T) > 0)
      return get<T...>();
    else
      return nullptr;
  }
};
template <Element To>
struct entry_of<pointwise<functions::cast<To>>> {
  template <class, class From>
  [[nodiscard]] static constexpr gradient_entry_function get() noexcept {
    if constexpr (!build_config::compiled && Fractional<To> && Fractional<From>)
      return &enter_cast_gradient<To, From>;
    else
      return nullptr;
  }
};
template <>
struct entry_of<sum_of_squares_operation> {
  template <class From>
  [[nodiscard]] static constexpr gradient_entry_function get() noexcept {
    return build_config::compiled ? nullptr : &enter_squares_gradient<From>;
  }
};
template <Element To>
struct entry_of<pointwise<functions::rounded_terms<To>>>
    : entry_of<pointwise<functions::cast<To>>> {};

}  // namespace detail

template <class Class, class Result, class... T>
constexpr gradient_entry_function gradient_entry() noexcept {
  return detail::entry_of<Class>::template get<Result, T...>();
}

}  // namespace shardwise
