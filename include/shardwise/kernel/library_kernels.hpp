// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/attention_gradient_kernel.hpp"
#include "shardwise/kernel/attention_kernel.hpp"
#include "shardwise/kernel/attention_second_gradient_kernel.hpp"
#include "shardwise/kernel/bitcast_kernel.hpp"
#include "shardwise/kernel/block_functions.hpp"
#include "shardwise/kernel/broadcast_to_kernel.hpp"
#include "shardwise/kernel/concatenate_kernel.hpp"
#include "shardwise/kernel/convolution_kernel.hpp"
#include "shardwise/kernel/dropout_kernel.hpp"
#include "shardwise/kernel/dynamic_slice_kernel.hpp"
#include "shardwise/kernel/einsum_kernel.hpp"
#include "shardwise/kernel/enter_kernel.hpp"
#include "shardwise/kernel/flip_kernel.hpp"
#include "shardwise/kernel/fourier_kernel.hpp"
#include "shardwise/kernel/full_like_kernel.hpp"
#include "shardwise/kernel/function_kernels.hpp"
#include "shardwise/kernel/interpolate_kernel.hpp"
#include "shardwise/kernel/kernel_table.hpp"
#include "shardwise/kernel/logcumsumexp_kernel.hpp"
#include "shardwise/kernel/max_with_index_kernel.hpp"
#include "shardwise/kernel/one_hot_kernel.hpp"
#include "shardwise/kernel/order_kernel.hpp"
#include "shardwise/kernel/pad_kernel.hpp"
#include "shardwise/kernel/place_kernel.hpp"
#include "shardwise/kernel/pool_kernel.hpp"
#include "shardwise/kernel/propagation_barrier_kernel.hpp"
#include "shardwise/kernel/random_like_kernel.hpp"
#include "shardwise/kernel/reduction_kernel.hpp"
#include "shardwise/kernel/reshape_kernel.hpp"
#include "shardwise/kernel/roll_kernel.hpp"
#include "shardwise/kernel/rotary_kernel.hpp"
#include "shardwise/kernel/scan_kernel.hpp"
#include "shardwise/kernel/scatter_kernel.hpp"
#include "shardwise/kernel/semiring_kernel.hpp"
#include "shardwise/kernel/slice_kernel.hpp"
#include "shardwise/kernel/squares_kernel.hpp"
#include "shardwise/kernel/squeeze_kernel.hpp"
#include "shardwise/kernel/stack_kernel.hpp"
#include "shardwise/kernel/stencil_kernel.hpp"
#include "shardwise/kernel/take_kernel.hpp"
#include "shardwise/kernel/tile_kernel.hpp"
#include "shardwise/kernel/transpose_kernel.hpp"
#include "shardwise/kernel/whole_kernel.hpp"

#include <array>
#include <cstddef>
#include <span>
#include <type_traits>

namespace shardwise {

namespace detail {

/// Registers an operation for all numbers of operands that it may have, all of `T`.
template <class Operation, Element T>
void enter_of_many() {
  std::array<element, max_operands> operands;
  operands.fill(element_of<T>);
  for (std::size_t count = 1; count <= operands.size(); ++count)
    kernel_table::instance().enter(
        operation_of<Operation>, types_key(std::span(operands).first(count), element_of<T>),
        {.whole = whole_kernel<Operation, T>(), .elements = &element_kernels_of<T>});
}

/// Registers predicates on elements of one type.
template <Element T, class... Function>
void enter_questions() {
  (enter_function<Function, bool, T>(), ...);
}

/// Registers scans, searches and sorts along a dimension, and triangles of two.
template <Element T>
void enter_lines() {
  enter_operation<cumsum_operation, T, T>();
  enter_operation<cumprod_operation, T, T>();
  enter_operation<cummax_operation, T, T>();
  enter_operation<cummin_operation, T, T>();
  const auto search = []<class Operation>(std::type_identity<Operation>) {
    enter_operation<Operation, T, T>();
    enter_operation<Operation, T, T, std::int64_t>();
  };
  search(std::type_identity<max_with_index_operation>{});
  search(std::type_identity<min_with_index_operation>{});
  search(std::type_identity<top_k_operation>{});
  enter_operation<sort_operation, T, T>();
  enter_operation<argsort_operation, std::int64_t, T>();
  enter_operation<tril_operation, T, T>();
  enter_operation<triu_operation, T, T>();
}

/// Registers dropout and random numbers with keys of these types.
template <Element T, class... Key>
void enter_random() {
  (enter_operation<dropout_operation, T, T, Key, compute_type<T>>(), ...);
  (enter_operation<uniform_like_operation, T, T, Key>(), ...);
  (enter_operation<normal_like_operation, T, T, Key>(), ...);
}

/// Registers the elementwise functions with floating-point results.
template <Element T>
void enter_fractional() {
  namespace f = functions;
  enter_unary<T, f::sqrt, f::exp, f::log, f::tanh, f::sigmoid, f::gelu>();
  enter_unary<T, f::sin, f::cos, f::tan, f::asin, f::acos, f::atan, f::sinh, f::cosh, f::asinh,
              f::acosh, f::atanh>();
  enter_unary<T, f::exp2, f::expm1, f::log1p, f::log2, f::log10, f::rsqrt, f::cbrt, f::reciprocal,
              f::erf, f::erfc, f::erfinv, f::lgamma, f::digamma>();
  enter_unary<T, f::silu, f::mish, f::soft_sign, f::softplus, f::gelu_exact>();
  enter_binary<T, f::atan2, f::logaddexp, f::pow, f::elu, f::hypot, f::copysign, f::xlogy>();
}

}  // namespace detail

namespace detail {

/// Registers contractions over semirings.
template <Element T, Semiring... S>
void enter_semirings(const S&...) {
  (enter_operation<semiring_operation<S>, T, T>(), ...);
  (enter_operation<semiring_operation<S>, T, T, T>(), ...);
}

}  // namespace detail

/// Registers the elementwise functions of the library on elements of `T`; done once, however often
/// it is called.
template <Element T>
void enter_functions() {
  namespace f = functions;
  static const bool entered = [] {
    enter_function<f::where, T, bool, T, T>();
    enter_function<f::stop_gradient, T, T>();
    enter_function<f::finish_gradient, T, T>();
    detail::enter_comparisons<T, f::equal, f::not_equal, f::less, f::less_equal, f::greater,
                              f::greater_equal>();
    if constexpr (std::is_same_v<T, bool>) {
      detail::enter_binary<bool, f::logical_and, f::logical_or, f::logical_xor>();
      detail::enter_unary<bool, f::identity, f::logical_not>();
    } else {
      detail::enter_unary<T, f::identity, f::negate, f::abs, f::square, f::relu, f::floor, f::ceil,
                          f::round, f::trunc, f::sign>();
      detail::enter_binary<T, f::add, f::subtract, f::subtract_constant, f::multiply, f::divide,
                           f::maximum, f::minimum, f::leaky_relu, f::remainder, f::fmod,
                           f::floor_divide>();
      enter_function<f::clamp, T, T, T, T>();
      detail::enter_questions<T, f::isnan, f::isinf, f::isfinite>();
      enter_function<f::masked, T, T, bool>();
    }
    if constexpr (Fractional<T>) detail::enter_fractional<T>();
    // Starts of slices and keys of random numbers that are numbers.
    enter_function<f::identity, std::int64_t, std::int64_t>();
    if constexpr (!std::is_same_v<T, compute_type<T>>)
      enter_function<f::identity, compute_type<T>, compute_type<T>>();
    if constexpr (Whole<T>) {
      detail::enter_unary<T, f::bitwise_not>();
      detail::enter_binary<T, f::bitwise_and, f::bitwise_or, f::bitwise_xor, f::left_shift,
                           f::right_shift, f::fold_in, f::split_key>();
    }
    return true;
  }();
  (void)entered;
}

/// Registers the operations of the library that are not elementwise on elements of `T`; done once.
template <Element T>
void enter_operations() {
  static const bool entered = [] {
    enter_operation<transpose_operation, T, T>();
    enter_operation<reshape_operation, T, T>();
    enter_operation<flip_operation, T, T>();
    enter_operation<propagation_barrier_operation, T, T>();
    detail::enter_of_many<concatenate_operation, T>();
    detail::enter_of_many<stack_operation, T>();
    enter_operation<broadcast_to_operation, T, T>();
    enter_operation<squeeze_operation, T, T>();
    enter_operation<unsqueeze_operation, T, T>();
    enter_operation<roll_operation, T, T>();
    enter_operation<tile_operation, T, T>();
    enter_operation<repeat_operation, T, T>();
    enter_operation<slice_operation, T, T>();
    enter_operation<interpolate_operation, T, T>();
    enter_operation<pad_operation, T, T>();
    enter_operation<pad_operation, T, T, T>();
    detail::enter_with_indices<dynamic_slice_operation, T, 2, 1>();
    detail::enter_with_indices<update_slice_operation, T, 3, 2>();
    detail::enter_with_indices<take_operation, T, 2, 1>();
    detail::enter_with_indices<take_along_operation, T, 2, 1>();
    detail::enter_with_indices<scatter_operation, T, 3, 1>();
    detail::enter_with_indices<put_along_operation, T, 3, 1>();
    detail::enter_with_indices<one_hot_operation, T, 1, 0>();
    enter_operation<reduction_operation, T, T>();
    enter_operation<iota_like_operation, std::int64_t, T>();
    enter_operation<full_like_operation, T, T, T>();
    if constexpr (std::is_same_v<T, bool>) {
      detail::enter_semirings<T>(or_and);
    } else {
      detail::enter_with_indices<segment_sum_operation, T, 2, 1>();
      detail::enter_with_indices<sum_along_operation, T, 2, 1>();
      detail::enter_lines<T>();
      enter_operation<einsum_operation, T, T>();
      enter_operation<einsum_operation, T, T, T>();
      detail::enter_semirings<T>(min_plus, max_plus, max_times);
      enter_operation<convolution_operation, T, T, T>();
      enter_operation<convolution_weights_operation, T, T, T>();
      enter_operation<stencil_operation, T, T, T>();
      enter_operation<stencil_weights_operation, T, T, T>();
      enter_operation<pool_operation, T, T>();
      enter_operation<pool_matches_operation, T, T, T>();
      enter_operation<pool_matches_operation, T, T, T, T>();
      enter_operation<pool_spread_operation, T, T, T, T>();
    }
    if constexpr (Fractional<T> && std::is_same_v<T, compute_type<T>>)
      enter_operation<sum_of_squares_operation, squares_type<T>, T>();
    if constexpr (Fractional<T>) {
      enter_operation<logcumsumexp_operation, T, T>();
      enter_operation<fft_operation, T, T>();
      enter_operation<ifft_operation, T, T>();
      enter_operation<rfft_operation, T, T>();
      enter_operation<irfft_operation, T, T>();
      detail::enter_random<T, std::int32_t, std::int64_t, std::int8_t, std::uint8_t>();
      enter_operation<rotary_operation, T, T, T, T>();
      enter_operation<attention_operation, T, T, T, T>();
      enter_operation<attention_operation, T, T, T, T, T>();
      enter_operation<attention_operation, T, T, T, T, bool>();
      detail::enter_with_indices<attention_operation, T, 4, 3>();
    }
    return true;
  }();
  (void)entered;
}

/// Registers what the library computes with the squares of elements of `T`, and the gradients of
/// it, where squares have elements of another type; done once.
template <Element T>
void enter_squares() {
  namespace f = functions;
  using S = squares_type<T>;
  if constexpr (!std::is_same_v<S, compute_type<T>>) {
    static const bool entered = [] {
      enter_function<f::cast<S>, S, T>();
      enter_function<f::cast<T>, T, S>();
      enter_function<f::rounded_terms<T>, T, S>();
      detail::enter_unary<S, f::identity, f::negate, f::square, f::sqrt>();
      detail::enter_binary<S, f::add, f::subtract, f::multiply, f::divide, f::maximum,
                           f::minimum>();
      detail::enter_comparisons<S, f::equal, f::less, f::greater>();
      enter_function<f::where, S, bool, S, S>();
      enter_function<f::masked, S, S, bool>();
      enter_function<f::stop_gradient, S, S>();
      enter_operation<reduction_operation, S, S>();
      enter_operation<reshape_operation, S, S>();
      enter_operation<squeeze_operation, S, S>();
      enter_operation<unsqueeze_operation, S, S>();
      enter_operation<broadcast_to_operation, S, S>();
      return true;
    }();
    (void)entered;
  }
}

/// Registers all operations of the library on elements of `T`.
template <Element T>
void enter_library() {
  enter_functions<T>();
  enter_operations<T>();
  enter_squares<T>();
}

/// Registers the conversions between all these element types, of numbers and of bits.
template <Element... T>
void enter_conversions() {
  const auto bits = []<Element To, Element From>(std::type_identity<To>, std::type_identity<From>) {
    if constexpr (!std::is_same_v<To, bool> && !std::is_same_v<From, bool>)
      enter_operation<bitcast_operation, To, From>();
  };
  const auto from = [&]<Element From>(std::type_identity<From>) {
    (enter_function<functions::cast<T>, T, From>(), ...);
    const auto terms = []<Element To>(std::type_identity<To>) {
      if constexpr (Fractional<From> && Fractional<To> && !std::is_same_v<To, From> &&
                    sizeof(To) <= sizeof(From))
        enter_function<functions::rounded_terms<To>, To, From>();
    };
    (terms(std::type_identity<T>{}), ...);
    (bits(std::type_identity<T>{}, std::type_identity<From>{}), ...);
  };
  (from(std::type_identity<T>{}), ...);
}

}  // namespace shardwise
