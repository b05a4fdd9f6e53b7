// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/block_function.hpp"
#include "shardwise/kernel/chain_kernel.hpp"
#include "shardwise/rule/operation.hpp"

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>

namespace shardwise {

namespace detail {

/// The tree of a single function of `N` operands.
template <class F, class Indices>
struct lone_call;
template <class F, std::size_t... I>
struct lone_call<F, std::index_sequence<I...>> {
  using type = fused::call<F, fused::argument<I>...>;
};

static_assert(most_in_step >= static_cast<std::size_t>(step<std::int64_t>) &&
              most_in_step >= static_cast<std::size_t>(step<float>) &&
              most_in_step >= chain_piece<float>);

/// A function whose operands and result have one type.
template <class F, class T, std::size_t N>
void run_function(const void* const* operands, const index_t* moves, void* out, index_t n) {
  const T* from[N];
  index_t steps[N];
  for (std::size_t k = 0; k < N; ++k) {
    from[k] = static_cast<const T*>(operands[k]);
    steps[k] = moves[k] == 0 ? 0 : step<T>;
  }
  run_block<T>(typename lone_call<F, std::make_index_sequence<N>>::type{}, from, steps,
               static_cast<T*>(out), n);
}

/// A comparison: its kernel returns 1 and 0 in the type of its operands.
template <class F, class T>
void run_comparison(const void* const* operands, const index_t* moves, void* out, index_t n) {
  T results[staged];
  bool* const to = static_cast<bool*>(out);
  for (index_t first = 0; first < n; first += staged) {
    const index_t run = std::min(staged, n - first);
    const void* from[2];
    for (std::size_t k = 0; k < 2; ++k)
      from[k] = static_cast<const T*>(operands[k]) + (moves[k] == 0 ? 0 : first);
    run_function<F, T, 2>(from, moves, results, run);
    for (index_t i = 0; i < run; ++i) to[first + i] = results[i] != T{};
  }
}

/// Converts `bool` elements to the numbers that packets select by.
template <class T>
void widen_truths(const bool* from, index_t n, T* to) noexcept {
  // Compilers vectorise a loop of fixed length over bytes, but neither conditions nor booleans.
  constexpr index_t at_once = 32;
  const auto* const bytes = static_cast<const std::uint8_t*>(static_cast<const void*>(from));
  index_t i = 0;
  for (; i + at_once <= n; i += at_once)
    for (index_t j = 0; j < at_once; ++j) to[i + j] = static_cast<T>(bytes[i + j]);
  for (; i < n; ++i) to[i] = static_cast<T>(bytes[i]);
}

/// `where`: the first operand is `bool`.
template <class F, class T>
void run_choice(const void* const* operands, const index_t* moves, void* out, index_t n) {
  const bool* const chosen = static_cast<const bool*>(operands[0]);
  T condition[staged];
  T* const to = static_cast<T*>(out);
  for (index_t first = 0; first < n; first += staged) {
    const index_t run = std::min(staged, n - first);
    if (moves[0] == 0)
      widen_truths(chosen, step<T>, condition);
    else
      widen_truths(chosen + first, run, condition);
    const void* from[3]{condition};
    for (std::size_t k = 1; k < 3; ++k)
      from[k] = static_cast<const T*>(operands[k]) + (moves[k] == 0 ? 0 : first);
    run_function<F, T, 3>(from, moves, to + first, run);
  }
}

/// `masked`: `where` with the condition last, and zeros for elements that are not selected.
template <class T>
void run_masked(const void* const* operands, const index_t* moves, void* out, index_t n) {
  alignas(64) static constexpr T zeros[step<T>]{};
  const void* const from[]{operands[1], operands[0], zeros};
  const index_t steps[]{moves[1], moves[0], 0};
  run_choice<functions::where, T>(from, steps, out, n);
}

/// A function of single elements of any types: `kernel<F>::of<Result>(a, b)`. A kernel may have
/// `of_run<Result>(from, n, to)` for contiguous elements.
template <class F, class Result, class... T>
void run_each(const void* const* operands, const index_t* moves, void* out, index_t n) {
  Result* const to = static_cast<Result*>(out);
  if constexpr (requires(const T*... from) { kernel<F>::template of_run<Result>(from..., n, to); })
    if (moves[0] != 0)
      return kernel<F>::template of_run<Result>(static_cast<const T*>(operands[0])..., n, to);
  const auto run = [&]<std::size_t... K>(std::index_sequence<K...>) {
    if ((... && (moves[K] != 0))) {
      // Compilers vectorise this loop as far as they can.
      for (index_t i = 0; i < n; ++i)
        to[i] = kernel<F>::template of<Result>(static_cast<const T*>(operands[K])[i]...);
    } else {
      for (index_t i = 0; i < n; ++i)
        to[i] = kernel<F>::template of<Result>(
            static_cast<const T*>(operands[K])[moves[K] == 0 ? 0 : i]...);
    }
  };
  run(std::index_sequence_for<T...>{});
}

/// Returns the elements to which a conversion only rounds its operand.
template <class F, class Result, class... T>
[[nodiscard]] constexpr std::optional<element> stored_as() noexcept {
  if constexpr (requires { F::converts; } && (... && std::same_as<T, Result>))
    return F::result;
  else
    return std::nullopt;
}

/// Returns the block function of a function whose `N` operands and result have one type.
template <class F, class T, std::size_t N>
[[nodiscard]] constexpr block_function uniform_function() noexcept {
  if constexpr (std::floating_point<T> && link_of<F> != chain_link::first)
    return {&run_function<F, T, N>, &run_chain<T>, link_of<F>};
  else
    return {&run_function<F, T, N>};
}

}  // namespace detail

template <class F, class Result, class... T>
[[nodiscard]] constexpr block_function block_function_of() noexcept {
  if constexpr (requires { F::on_elements; })
    return {.run = &detail::run_each<F, Result, T...>,
            .stored_as = detail::stored_as<F, Result, T...>()};
  else if constexpr (requires { F::compares; })
    return {&detail::run_comparison<F, std::tuple_element_t<0, std::tuple<T...>>>};
  else if constexpr (requires { F::masks; })
    return {&detail::run_masked<Result>};
  else if constexpr (requires { F::chooses; })
    return {&detail::run_choice<F, Result>};
  else
    return detail::uniform_function<F, Result, sizeof...(T)>();
}

}  // namespace shardwise
