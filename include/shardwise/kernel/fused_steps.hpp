// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/index.hpp"
#include "shardwise/expression/fused.hpp"
#include "shardwise/kernel/function_kernels.hpp"
#include "shardwise/kernel/in_register.hpp"
#include "shardwise/kernel/loop_nest.hpp"
#include "shardwise/kernel/strided.hpp"
#include "shardwise/kernel/wide_kernel.hpp"

#include <algorithm>
#include <concepts>
#include <cstddef>

namespace shardwise {

namespace detail {
/// The packet in which a type is computed, and the number of packets in a step of the inner loop.
/// Integers use arrays of fixed length, which compilers vectorise.
template <class T>
struct vector_of {
  using type = T;
  static constexpr std::size_t packets = 32;
};
template <std::floating_point T>
struct vector_of<T> {
  using type = typename packet::packet_traits<T>::type;
  static constexpr std::size_t packets = 4;
};

/// The number of elements of a step. Every element is computed in a whole step, so its bits depend
/// only on its operands.
template <class T>
inline constexpr index_t step = static_cast<index_t>(vector_of<T>::packets *
                                                     sizeof(typename vector_of<T>::type) /
                                                     sizeof(T));

/// How many elements are copied to contiguous memory if those of a view are not contiguous.
inline constexpr index_t staged = 256;

/// Returns the result of a function in a fused tree, rounded. With fused multiply-adds, g++ would
/// contract the product of one function with the sum of the next, so a fused tree would have other
/// bits than the same functions one by one. It cannot do so if it does not know what a register
/// holds.
template <class P>
[[nodiscard]] P rounded(P value) noexcept {
#if defined(__FMA__)
  if constexpr (!std::integral<P>) in_register(value);
#endif
  return value;
}

/// Returns the value of a fused tree where argument `I` is `operand[I]`.
template <class T, std::size_t N>
struct evaluation {
  using P = typename vector_of<T>::type;
  P operand[N];

  template <std::size_t I>
  [[nodiscard]] P operator()(fused::argument<I>) const noexcept {
    return operand[I];
  }
  template <class U>
  [[nodiscard]] P operator()(const fused::constant<U>& leaf) const noexcept {
    return packet::pset1<P>(static_cast<T>(leaf.value));
  }
  template <class F, class A>
  [[nodiscard]] P operator()(const fused::call<F, A>& tree) const {
    return rounded(kernel<F>::run((*this)(tree.first)));
  }
  template <class F, class A, class B>
  [[nodiscard]] P operator()(const fused::call<F, A, B>& tree) const {
    return rounded(kernel<F>::run((*this)(tree.first), (*this)(tree.second)));
  }
  template <class F, class A, class B, class C>
  [[nodiscard]] P operator()(const fused::call<F, A, B, C>& tree) const {
    return rounded(kernel<F>::run((*this)(tree.first), (*this)(tree.second), (*this)(tree.third)));
  }
};

/// True if an operand may be read backwards: its move is then `-step`, and it begins at its last
/// element. Functions of two operands often take no longer than loading them. Elsewhere, and in
/// short registers, operands are reversed beforehand (`run_reversed`).
template <class T, std::size_t N>
inline constexpr bool reverses_in_registers = std::floating_point<T>&& N == 2 &&
                                              sizeof(typename vector_of<T>::type) > 16;

/// The steps of `run_steps` on packets of the width that the program was compiled for. All
/// functions that it calls are inlined, however large the program is: a call for every packet takes
/// as long as its work.
template <class T, class Tree, std::size_t N>
[[gnu::noinline, gnu::flatten]] void run_packets(const Tree& tree, const T* const (&operands)[N],
                                                 const index_t (&moves)[N], T* out, index_t steps,
                                                 index_t again) {
  using P = typename vector_of<T>::type;
  constexpr std::size_t packets = vector_of<T>::packets;
  constexpr std::size_t lanes = sizeof(P) / sizeof(T);
  const Tree local = tree;
  const T* from[N];
  for (std::size_t k = 0; k < N; ++k) from[k] = operands[k];
  const auto run = [&](const auto& load) {
    do {
      for (; steps > 0; --steps, out += step<T>) {
        P results[packets];
        const auto compute = [&](std::size_t u) {
          evaluation<T, N> values;
          for_each_index<N>(
              [&]<std::size_t K>() { values.operand[K] = load.template operator()<K>(u * lanes); });
          results[u] = values(local);
        };
        const auto store = [&](std::size_t u) { packet::pstoreu(out + u * lanes, results[u]); };
        if constexpr (lanes == 1) {
          for (std::size_t u = 0; u < packets; ++u) compute(u);
          for (std::size_t u = 0; u < packets; ++u) store(u);
        } else {
          for_each_index<packets>([&]<std::size_t U>() { compute(U); });
          for_each_index<packets>([&]<std::size_t U>() { store(U); });
        }
        for_each_index<N>([&]<std::size_t K>() { from[K] += moves[K]; });
      }
    } while (begins_again(from, moves, out, steps, again));
  };
  const auto forwards = [&]<std::size_t K>(std::size_t at) {
    return packet::ploadu<P>(from[K] + at);
  };
  // Apart, so that functions whose operands are read forwards do not ask for each packet.
  if constexpr (reverses_in_registers<T, N>)
    if (std::any_of(moves, moves + N, [](index_t move) { return move < 0; }))
      return run([&]<std::size_t K>(std::size_t at) {
        return moves[K] < 0 ? packet::preverse(packet::ploadu<P>(from[K] - at - (lanes - 1)))
                            : packet::ploadu<P>(from[K] + at);
      });
  run(forwards);
}

/// Computes `steps` whole steps and, unless `again` is 0, one more, which begins that many elements
/// before their end. Operand `k` advances by `moves[k]` elements in each step; 0 repeats it.
///
/// Elements are computed only here, in one of two functions that are never inlined; a process
/// always uses the same one, so all elements go through the same instructions. A step loads before
/// it stores, so `out` may be one of the operands.
template <class T, class Tree, std::size_t N>
void run_steps(const Tree& tree, const T* const (&operands)[N], const index_t (&moves)[N], T* out,
               index_t steps, index_t again) {
  if (!run_wide<step<T>>(tree, operands, moves, out, steps, again))
    run_packets(tree, operands, moves, out, steps, again);
}

/// A fused tree without its type, so that the code around its arithmetic is compiled once for all
/// trees with the same number of operands: `run(tree, operands, moves, out, n)`. The tree must
/// outlive it.
template <class T, std::size_t N>
struct erased_tree {
  using function = void (*)(const void* tree, const T* const (&operands)[N],
                            const index_t (&moves)[N], T* out, index_t n);
  const void* tree;
  function run;

  void operator()(const T* const (&operands)[N], const index_t (&moves)[N], T* out,
                  index_t n) const {
    run(tree, operands, moves, out, n);
  }
};

/// `run_steps` without the type of the tree.
template <class T, std::size_t N>
struct erased_steps {
  using function = void (*)(const void* tree, const T* const (&operands)[N],
                            const index_t (&moves)[N], T* out, index_t steps, index_t again);
  const void* tree;
  function run;

  void operator()(const T* const (&operands)[N], const index_t (&moves)[N], T* out, index_t steps,
                  index_t again = 0) const {
    run(tree, operands, moves, out, steps, again);
  }
};

/// Computes `n` elements, where `steps` computes whole steps.
template <class T, std::size_t N>
void run_with_rest(const erased_steps<T, N>& steps, const T* const (&operands)[N],
                   const index_t (&moves)[N], T* out, index_t n) {
  // Unsigned, so that compilers know that it is at least 0.
  const auto rest = static_cast<index_t>(static_cast<std::size_t>(n) % std::size_t{step<T>});
  if (rest == 0) return steps(operands, moves, out, n / step<T>);
  // The last elements are computed in a step that ends with them. If `out` is an operand, that step
  // is the first, before anything that it needs is overwritten.
  if (n >= step<T> && std::find(operands, operands + N, out) == operands + N)
    return steps(operands, moves, out, n / step<T>, step<T> - rest);
  T padded[N][step<T>];
  T results[step<T>];
  const T* from[N];
  for (std::size_t k = 0; k < N; ++k) {
    from[k] = operands[k];
    if (moves[k] == 0) continue;
    if (n >= step<T>) {
      from[k] += n - step<T>;
      continue;
    }
    // Filled with an element of the operand, which raises no floating-point exception of its own.
    for (index_t i = 0, first = step<T> - rest; i < step<T>; ++i)
      padded[k][i] = operands[k][i < first ? 0 : i - first];
    from[k] = padded[k];
  }
  steps(from, moves, results, 1);
  steps(operands, moves, out, n / step<T>);
  std::copy_n(results + step<T> - rest, rest, out + n - rest);
}

/// `run_steps` without the type of the tree, which must outlive the result.
template <class T, std::size_t N, class Tree>
[[nodiscard]] erased_steps<T, N> steps_of(const Tree& tree) noexcept {
  return {&tree, [](const void* erased, const T* const(&from)[N], const index_t(&by)[N], T* to,
                    index_t count, index_t again) {
            run_steps(*static_cast<const Tree*>(erased), from, by, to, count, again);
          }};
}

/// The core of every elementwise computation: computes `n` contiguous elements of `out`. Operands
/// are contiguous too or, if `moves[k]` is 0, one step filled with a single number.
template <class T, class Tree, std::size_t N>
void run_block(const Tree& tree, const T* const (&operands)[N], const index_t (&moves)[N], T* out,
               index_t n) {
  run_with_rest<T, N>(steps_of<T, N>(tree), operands, moves, out, n);
}

/// A tree that ends with a function of one value: computes that value first, whose arithmetic may
/// then use wide vectors.
template <class T, class F, class A, std::size_t N>
void run_branch(const fused::call<F, A>& branch, const T* const (&operands)[N],
                const index_t (&moves)[N], T* out, index_t n) {
  run_block(branch.first, operands, moves, out, n);
  const T* const from[1]{out};
  const index_t step_by_step[1]{step<T>};
  run_block(fused::call<F, fused::argument<0>>{}, from, step_by_step, out, n);
}
template <class T, class Branch, std::size_t N>
void run_branch(const Branch& branch, const T* const (&operands)[N], const index_t (&moves)[N],
                T* out, index_t n) {
  run_block(branch, operands, moves, out, n);
}

/// The same if the value of a branch is shared: it is stored next to the operands block by block,
/// so the branch and the rest can each use the widest vectors.
template <class T, class Branch, class Tree, std::size_t N>
void run_block(const fused::shared<Branch, Tree, N>& tree, const T* const (&operands)[N],
               const index_t (&moves)[N], T* out, index_t n) {
  T value[staged];
  const T* from[N];
  const T* all[N + 1];
  index_t all_moves[N + 1];
  for (index_t first = 0; first < n; first += staged) {
    const index_t run = std::min(staged, n - first);
    for (std::size_t k = 0; k < N; ++k) {
      all[k] = from[k] = operands[k] + (moves[k] == 0 ? 0 : first);
      all_moves[k] = moves[k];
    }
    run_branch(tree.branch, from, moves, value, run);
    all[N] = value;
    all_moves[N] = step<T>;
    run_block(tree.tree, all, all_moves, out + first, run);
  }
}

/// `run_block` without the type of the tree.
template <class T, std::size_t N, class Tree>
[[nodiscard]] erased_tree<T, N> erase(const Tree& tree) noexcept {
  return {&tree,
          [](const void* erased, const T* const(&operands)[N], const index_t(&moves)[N], T* out,
             index_t n) { run_block(*static_cast<const Tree*>(erased), operands, moves, out, n); }};
}

}  // namespace detail

}  // namespace shardwise
