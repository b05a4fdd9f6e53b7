// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/index.hpp"
#include "shardwise/expression/fused.hpp"
#include "shardwise/kernel/arithmetic_kernels.hpp"
#include "shardwise/operation/arithmetic.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

/// Elementwise arithmetic on 256 bits in programs compiled for every x86-64, that is, without
/// `-march`: their packets are 128 bits wide, so the number of loads, and not the cache, limits the
/// speed of a fused pass. Whether the machine supports it is determined at run time.
namespace shardwise::detail {

/// Moves the operands and `out` from the end of the steps of `run_steps` to the beginning of the
/// one that overlaps them; returns false if there is none.
template <class T, std::size_t N>
[[gnu::always_inline]] inline bool begins_again(const T* (&from)[N], const index_t (&moves)[N],
                                                T*& out, index_t& steps, index_t& again) noexcept {
  if (again == 0) return false;
  for_each_index<N>([&]<std::size_t K>() {
    from[K] -= moves[K] == 0 ? 0 : moves[K] < 0 ? -again : again;
  });
  out -= again;
  again = 0;
  steps = 1;
  return true;
}

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__AVX__) && !defined(__OPTIMIZE_SIZE__)

/// True if a tree has the same bits on scalars as on packets, and wider vectors are faster: no
/// instruction divides vectors of integers.
template <class T, class Tree>
inline constexpr bool widens = std::floating_point<T> || std::signed_integral<T>;
template <class T, class F, class... Children>
inline constexpr bool widens<T, fused::call<F, Children...>> = ExactFunction<F> &&
                                                               (widens<T, Children> && ...);
template <std::integral T, class A, class B>
inline constexpr bool widens<T, fused::call<functions::divide, A, B>> = false;

/// Returns the value of a fused tree for element `number` of its operands, inlined however large
/// the tree is: a call would prevent vectorisation of the loop around it.
template <class T, std::size_t N>
struct scalar_at {
  const T* const (&operands)[N];
  std::size_t number;

  template <std::size_t I>
  [[nodiscard, gnu::always_inline]] T operator()(fused::argument<I>) const noexcept {
    return operands[I][number];
  }
  template <class U>
  [[nodiscard, gnu::always_inline]] T operator()(const fused::constant<U>& leaf) const noexcept {
    return static_cast<T>(leaf.value);
  }
  template <class F, class A>
  [[nodiscard, gnu::always_inline]] T operator()(const fused::call<F, A>& tree) const {
    return kernel<F>::run((*this)(tree.first));
  }
  template <class F, class A, class B>
  [[nodiscard, gnu::always_inline]] T operator()(const fused::call<F, A, B>& tree) const {
    return kernel<F>::run((*this)(tree.first), (*this)(tree.second));
  }
  template <class F, class A, class B, class C>
  [[nodiscard, gnu::always_inline]] T operator()(const fused::call<F, A, B, C>& tree) const {
    return kernel<F>::run((*this)(tree.first), (*this)(tree.second), (*this)(tree.third));
  }
};

/// The elements [First, First + 32 bytes): one vector. For g++, a loop over the whole of a short
/// step costs as much as it saves; a loop with as many iterations as a vector has lanes disappears.
/// Its elements are independent, since `out` is an operand or does not overlap any.
template <std::size_t First, class T, class Tree, std::size_t N>
[[gnu::always_inline]] inline void run_vector(const Tree& tree, const T* const (&from)[N], T* out) {
#if defined(__clang__)
  // Flags may disable vectors, which needs no warning.
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wpass-failed"
#pragma clang loop vectorize(assume_safety) unroll(disable)
#else
#pragma GCC ivdep
#pragma GCC unroll 1
#endif
  for (std::size_t i = First; i < First + 32 / sizeof(T); ++i)
    out[i] = scalar_at<T, N>{from, i}(tree);
#if defined(__clang__)
#pragma clang diagnostic pop
#endif
}

/// The steps of `run_wide`. The target has no fused multiply-add, which would round once where
/// packets round twice; 512 bits, whose target has it, were not faster.
template <class T, class Tree, std::size_t N, std::size_t... Vector>
[[gnu::noinline, gnu::target("avx2")]] void run_vectors(const Tree& tree,
                                                        const T* const (&operands)[N],
                                                        const index_t (&moves)[N], T* out,
                                                        index_t steps, index_t again,
                                                        std::index_sequence<Vector...>) {
  constexpr std::size_t lanes = 32 / sizeof(T);
  const Tree local = tree;
  const T* from[N];
  for_each_index<N>([&]<std::size_t K>() { from[K] = operands[K]; });
  do {
    for (; steps > 0; --steps, out += sizeof...(Vector) * lanes) {
      (run_vector<Vector * lanes>(local, from, out), ...);
      for_each_index<N>([&]<std::size_t K>() { from[K] += moves[K]; });
    }
  } while (begins_again(from, moves, out, steps, again));
}

/// Computes the steps of `run_steps`, of `Step` elements, and returns true, or returns false to
/// leave the work to packets of the width that the program was compiled for. Either way the bits
/// are the same.
///
/// The answer is the same for all elements, so even the choice between two NaNs in a sum, which
/// compilers make, does not depend on the position of an element.
template <index_t Step, class T, class Tree, std::size_t N>
[[nodiscard]] bool run_wide(const Tree& tree, const T* const (&operands)[N],
                            const index_t (&moves)[N], T* out, index_t steps, index_t again) {
  if constexpr (widens<T, Tree>) {
    // A bit in a variable that the start-up code of the compiler's library has set.
    if (__builtin_cpu_supports("avx2")) {
      constexpr std::size_t bytes = static_cast<std::size_t>(Step) * sizeof(T);
      static_assert(bytes % 32 == 0, "a step is a number of vectors");
      run_vectors(tree, operands, moves, out, steps, again, std::make_index_sequence<bytes / 32>{});
      return true;
    }
  }
  return false;
}

/// Vectors of 32 bytes in registers, whatever the program was compiled for, and the arithmetic that
/// chains need (`chain_kernel.hpp`): `run(function, a, b)` is `a = function(a, b)`, with the bits
/// of `kernel<function>` on scalars. The generated code depends on the target of the function into
/// which it is inlined.
template <class T>
struct wide_lanes {
  typedef T vector __attribute__((vector_size(32)));
  typedef T unaligned __attribute__((vector_size(32), aligned(alignof(T)), may_alias));
  using integer = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
  typedef integer bits __attribute__((vector_size(32)));
  static constexpr std::size_t size = 32 / sizeof(T);
  static constexpr std::size_t count = 8;

  [[gnu::always_inline]] static void load(const T* from, vector& to) noexcept {
    to = *reinterpret_cast<const unaligned*>(from);
  }
  [[gnu::always_inline]] static void fill(T from, vector& to) noexcept { to = from - vector{}; }
  [[gnu::always_inline]] static void hold(vector&) noexcept {}
  [[gnu::always_inline]] static void store(const vector& from, T* to) noexcept {
    *reinterpret_cast<unaligned*>(to) = from;
  }

  [[gnu::always_inline]] static void run(functions::add, vector& a, const vector& b) noexcept {
    a = a + b;
  }
  [[gnu::always_inline]] static void run(functions::subtract, vector& a, const vector& b) noexcept {
    a = a - b;
  }
  [[gnu::always_inline]] static void run(functions::multiply, vector& a, const vector& b) noexcept {
    a = a * b;
  }
  [[gnu::always_inline]] static void run(functions::divide, vector& a, const vector& b) noexcept {
    a = a / b;
  }
  [[gnu::always_inline]] static void run(functions::maximum, vector& a, const vector& b) noexcept {
    join(a < b ? b : a, b < a ? a : b, a);
  }
  [[gnu::always_inline]] static void run(functions::minimum, vector& a, const vector& b) noexcept {
    join(b < a ? b : a, a < b ? a : b, a);
  }
  [[gnu::always_inline]] static void run(ordered_maximum, vector& a, const vector& b) noexcept {
    a = a < b ? b : a;
  }
  [[gnu::always_inline]] static void run(ordered_minimum, vector& a, const vector& b) noexcept {
    a = b < a ? b : a;
  }
  [[gnu::always_inline]] static void run(functions::negate, vector& a) noexcept { a = -a; }
  [[gnu::always_inline]] static void run(functions::abs, vector& a) noexcept {
    a = reinterpret_cast<vector>(reinterpret_cast<bits>(a) & std::numeric_limits<integer>::max());
  }
  [[gnu::always_inline]] static void run(functions::square, vector& a) noexcept { a = a * a; }
  [[gnu::always_inline]] static void run(functions::relu, vector& a) noexcept {
    a = a < 0 ? vector{} : a;
  }

 private:
  /// The bits that are set in at least one operand; see `kernel<functions::maximum>`.
  [[gnu::always_inline]] static void join(const vector& a, const vector& b, vector& to) noexcept {
    to = reinterpret_cast<vector>(reinterpret_cast<bits>(a) | reinterpret_cast<bits>(b));
  }
};

/// True for functions of two elements that `wide_lanes` supports.
template <class T, class Function>
inline constexpr bool runs_wide = requires(typename wide_lanes<T>::vector& a) {
  wide_lanes<T>::run(Function{}, a, a);
};

/// Calls `f(wide_lanes<T>{})`, compiled for registers of 256 bits, and returns true; returns false
/// if the machine has none.
template <class T, class F>
[[gnu::noinline, gnu::flatten, gnu::target("avx2")]] void call_wide(const F& f) {
  f(wide_lanes<T>{});
}
template <class T, class F>
[[nodiscard]] bool with_wide_lanes(const F& f) {
  if (!__builtin_cpu_supports("avx2")) return false;
  call_wide<T>(f);
  return true;
}

#else

template <class T, class Function>
inline constexpr bool runs_wide = false;

template <class T, class F>
[[nodiscard]] constexpr bool with_wide_lanes(const F&) noexcept {
  return false;
}

template <index_t Step, class T, class Tree, std::size_t N>
[[nodiscard]] constexpr bool run_wide(const Tree&, const T* const (&)[N], const index_t (&)[N], T*,
                                      index_t, index_t) noexcept {
  return false;
}

#endif

}  // namespace shardwise::detail
