// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/block_function.hpp"
#include "shardwise/kernel/chain_kernel.hpp"
#include "shardwise/rule/operation.hpp"

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
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

/// Computes rows of which some operands are read backwards: their elements are reversed beside the
/// computation, in pieces that stay in the nearest cache.
template <class T, std::size_t N>
[[gnu::noinline]] void run_reversed(const erased_steps<T, N>& steps, const T* const (&operands)[N],
                                    const index_t* moves, T* out, index_t n) {
  constexpr index_t piece = 1024;
  alignas(64) T reversed[N][piece];
  for (index_t done = 0; done < n; done += piece) {
    const index_t run = std::min(piece, n - done);
    const T* from[N];
    index_t by[N];
    for (std::size_t k = 0; k < N; ++k) {
      by[k] = moves[k] == 0 ? 0 : step<T>;
      from[k] = moves[k] < 0 ? reversed[k] : operands[k] + done * moves[k];
      if (moves[k] < 0) gather_elements(operands[k] - done, -1, run, reversed[k]);
    }
    run_with_rest<T, N>(steps, from, by, out + done, run);
  }
}

/// Computes rows of a function whose operands and result have one type.
template <class T, std::size_t N>
void run_function_rows(const erased_steps<T, N>& steps, const void* const* operands,
                       const index_t* moves, void* out, index_t n, index_t rows,
                       const index_t* apart) {
  const T* from[N];
  index_t by[N];
  bool reverses = false;
  for (std::size_t k = 0; k < N; ++k) {
    from[k] = static_cast<const T*>(operands[k]);
    // One by one: the operands of a row have just been written, each on its own.
    asm("" : "+r"(from[k]));
    by[k] = moves[k] == 0 ? 0 : moves[k] < 0 ? -step<T> : step<T>;
    reverses = reverses || moves[k] < 0;
  }
  auto* to = static_cast<T*>(out);
  for (index_t left = rows; left > 0; --left, to += n) {
    const bool in_registers =
        reverses_in_registers<T, N> && n >= step<T> && std::find(from, from + N, to) == from + N;
    if (reverses && !in_registers)
      run_reversed<T, N>(steps, from, moves, to, n);
    else
      run_with_rest<T, N>(steps, from, by, to, n);
    if (left == 1) return;
    for (std::size_t k = 0; k < N; ++k) from[k] += apart[k];
  }
}

/// A function whose operands and result have one type.
template <class F, class T, std::size_t N>
void run_rows_of(const void* const* operands, const index_t* moves, void* out, index_t n,
                 index_t rows, const index_t* apart) {
  using tree = typename lone_call<F, std::make_index_sequence<N>>::type;
  static constexpr tree called{};
  run_function_rows<T, N>(steps_of<T, N>(called), operands, moves, out, n, rows, apart);
}
template <class F, class T, std::size_t N>
void run_function(const void* const* operands, const index_t* moves, void* out, index_t n) {
  run_rows_of<F, T, N>(operands, moves, out, n, 1, nullptr);
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

/// `where`: the first operand is `bool`. Elements are selected by their bits, since conditions
/// would slow the loop down.
template <class T>
void run_choice(const void* const* operands, const index_t* moves, void* out, index_t n) {
  constexpr auto width = static_cast<std::size_t>(std::countr_zero(sizeof(T)));
  using word =
      std::tuple_element_t<width,
                           std::tuple<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>>;
  constexpr std::size_t bytes = std::min(sizeof(vector_of<float>::type), std::size_t{32});
  typedef word vector __attribute__((vector_size(bytes)));
  // Compilers vectorise a loop of fixed length over bytes, but neither conditions nor booleans.
  constexpr index_t at_once = 32, lanes = sizeof(vector) / sizeof(T);
  static_assert(lanes <= step<T>);
  const auto* const chosen = static_cast<const std::uint8_t*>(operands[0]);
  const auto* const first = static_cast<const T*>(operands[1]);
  const auto* const second = static_cast<const T*>(operands[2]);
  auto* const to = static_cast<T*>(out);
  const index_t by_first = moves[1] != 0, by_second = moves[2] != 0;
  index_t i = 0;
  for (; moves[0] != 0 && i + at_once <= n; i += at_once) {
    word masks[at_once];
    for (index_t j = 0; j < at_once; ++j) masks[j] = static_cast<word>(-chosen[i + j]);
    for (index_t j = 0; j < at_once; j += lanes) {
      vector a, b, mask;
      std::memcpy(&a, first + (i + j) * by_first, sizeof a);
      std::memcpy(&b, second + (i + j) * by_second, sizeof b);
      std::memcpy(&mask, masks + j, sizeof mask);
      b ^= (a ^ b) & mask;
      std::memcpy(to + i + j, &b, sizeof b);
    }
  }
  for (; i < n; ++i)
    to[i] = chosen[moves[0] == 0 ? 0 : i] != 0 ? first[i * by_first] : second[i * by_second];
}

/// `masked`: `where` with the condition last, and zeros for elements that are not selected.
template <class T>
void run_masked(const void* const* operands, const index_t* moves, void* out, index_t n) {
  alignas(64) static constexpr T zeros[step<T>]{};
  const void* const from[]{operands[1], operands[0], zeros};
  const index_t steps[]{moves[1], moves[0], 0};
  run_choice<T>(from, steps, out, n);
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

}  // namespace detail

namespace internal {

/// Returns the block function of a function whose `N` operands and result have one type.
template <class F, class T, std::size_t N>
[[nodiscard]] constexpr block_function uniform_function() noexcept {
  if constexpr (std::floating_point<T> && link_of<F> != chain_link::first)
    return {&run_function<F, T, N>, &run_chain<T>, link_of<F>, {}, &run_rows_of<F, T, N>};
  else
    return {.run = &run_function<F, T, N>, .run_rows = &run_rows_of<F, T, N>};
}

}  // namespace internal

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
    return {&detail::run_choice<Result>};
  else
    return internal::uniform_function<F, Result, sizeof...(T)>();
}

}  // namespace shardwise
