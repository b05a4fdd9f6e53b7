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
  for (;;) {
    for (; steps > 0; --steps, out += step<T>) {
      P results[packets];
      const auto compute = [&](std::size_t u) {
        evaluation<T, N> values;
        for_each_index<N>(
            [&]<std::size_t K>() { values.operand[K] = packet::ploadu<P>(from[K] + u * lanes); });
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
    if (again == 0) return;
    for_each_index<N>([&]<std::size_t K>() { from[K] -= moves[K] == 0 ? 0 : again; });
    out -= again;
    again = 0;
    steps = 1;
  }
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

/// The core of every elementwise computation: computes `n` contiguous elements of `out`. Operands
/// are contiguous too or, if `moves[k]` is 0, one step filled with a single number.
template <class T, class Tree, std::size_t N>
void run_block(const Tree& tree, const T* const (&operands)[N], const index_t (&moves)[N], T* out,
               index_t n) {
  const auto steps = [](const void* erased, const T* const(&from)[N], const index_t(&by)[N], T* to,
                        index_t count, index_t again) {
    run_steps(*static_cast<const Tree*>(erased), from, by, to, count, again);
  };
  run_with_rest<T, N>({&tree, steps}, operands, moves, out, n);
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

/// True for a tree that only returns its last operand.
template <class Tree, std::size_t N>
inline constexpr bool passes_on = std::same_as<Tree, fused::argument<N - 1>>;
}  // namespace detail

/// Computes any run of the elements of a fused tree, whatever the strides of its operands.
template <class T, std::size_t N>
class fused_reader {
 public:
  /// `nest` traverses the operands, whose element 0 is at `data`; the tree and `nest` must outlive
  /// this object. `passes_on` states that the tree only returns its last operand.
  fused_reader(const detail::erased_tree<T, N>& tree, bool passes_on, const T* const (&data)[N],
               const loop_nest<N>& nest) noexcept
      : tree_(tree), passes_on_(passes_on), nest_(nest) {
    for (std::size_t k = 0; k < N; ++k) {
      data_[k] = data[k];
      strided_ |= nest.inner_stride(k) != 0 && nest.inner_stride(k) != 1;
    }
    in_place_ = passes_on && nest.rank() == 1 && nest.inner_stride(N - 1) == 1;
  }

  /// Moves element 0 of every operand.
  void rebase(const T* const (&data)[N]) noexcept {
    for (std::size_t k = 0; k < N; ++k) data_[k] = data[k];
  }

  /// Returns true if all elements are contiguous in an operand that the tree only returns.
  [[nodiscard]] bool is_in_place() const noexcept { return in_place_; }
  /// Returns true if some operand is neither contiguous nor repeated along the last loop.
  [[nodiscard]] bool gathers() const noexcept { return strided_; }

  /// Returns the elements [first, first + count) in contiguous memory: in place if they are
  /// contiguous in an operand that the tree only returns, and otherwise computed into
  /// `shard_buffer`.
  [[nodiscard]] const T* view(index_t first, index_t count, T* buffer) const {
    if (in_place_) return data_[N - 1] + first;
    if (passes_on_) {
      const auto place = nest_.at(first);
      if (nest_.inner_stride(N - 1) == 1 && place.inner + count <= nest_.inner_extent())
        return data_[N - 1] + place.offsets[N - 1];
    }
    read(first, count, buffer);
    return buffer;
  }

  /// Writes the elements [first, first + count) to contiguous memory at `out`.
  void read(index_t first, index_t count, T* out) const {
    for (index_t done = 0; done < count;) {
      const auto place = nest_.at(first + done);
      const index_t row = std::min(count - done, nest_.inner_extent() - place.inner);
      const index_t wanted = std::min(count - done, detail::staged);
      if (row >= std::min(wanted, detail::step<T>))
        done += read_row(place.offsets, row, out + done);
      else
        done += read_rows(first + done, wanted, out + done);
    }
  }

 private:
  /// Computes elements of one row: contiguous operands are read in place.
  index_t read_row(const index_t (&offsets)[N], index_t row, T* out) const {
    const index_t run = strided_ ? std::min(row, detail::staged) : row;
    T buffers[N][detail::staged];
    const T* from[N];
    index_t moves[N];
    for (std::size_t k = 0; k < N; ++k) {
      const T* start = data_[k] + offsets[k];
      const index_t stride = nest_.inner_stride(k);
      from[k] = stride == 1 ? start : buffers[k];
      moves[k] = stride == 0 ? 0 : detail::step<T>;
      if (stride == 0)
        std::fill_n(buffers[k], detail::step<T>, *start);
      else if (stride != 1)
        gather_elements(start, stride, run, buffers[k]);
    }
    tree_(from, moves, out, run);
    return run;
  }

  /// Computes elements of several short rows, which are copied to contiguous memory first.
  index_t read_rows(index_t first, index_t run, T* out) const {
    T buffers[N][detail::staged];
    const T* from[N];
    index_t moves[N];
    for (std::size_t k = 0; k < N; ++k) {
      from[k] = buffers[k];
      moves[k] = detail::step<T>;
    }
    for_each_piece(nest_, first, run, [&](index_t done, const index_t(&offsets)[N], index_t n) {
      for (std::size_t k = 0; k < N; ++k)
        gather_elements(data_[k] + offsets[k], nest_.inner_stride(k), n, buffers[k] + done);
    });
    tree_(from, moves, out, run);
    return run;
  }

  detail::erased_tree<T, N> tree_;
  bool passes_on_;
  const T* data_[N];
  const loop_nest<N>& nest_;
  bool strided_ = false;
  bool in_place_ = false;
};

namespace detail {
/// `run_pointwise` of a tree without its type.
template <class T, std::size_t N>
void run_erased(const erased_tree<T, N>& tree, const strided<const T> (&operands)[N],
                const strided<T>& out) {
  loop_nest<N> inputs;
  loop_nest<1> output;
  const T* data[N];
  for (std::size_t k = 0; k < N; ++k) data[k] = operands[k].data;
  for (int d : by_stride(out.strides)) {
    typename loop_nest<N>::loop loop{out.extents[d], {}};
    for (std::size_t k = 0; k < N; ++k) loop.strides[k] = operands[k].strides[d];
    inputs.push(loop);
    output.push({out.extents[d], {out.strides[d]}});
  }
  const fused_reader<T, N> reader(tree, false, data, inputs);
  const index_t stride = output.inner_stride(0);
  if (stride == 1) {
    // If adjacent elements of an operand are far apart, columns of blocks reuse its cache lines.
    const bool by_column = reader.gathers() && inputs.inner_extent() < output.size();
    const index_t row =
        by_column ? std::min(inputs.inner_extent(), output.inner_extent()) : output.inner_extent();
    const index_t width = by_column ? staged : row;
    for (index_t column = 0; column < row; column += width)
      for (index_t first = column; first < output.size(); first += row)
        reader.read(first, std::min(width, row - column), out.data + output.at(first).offsets[0]);
    return;
  }
  T buffer[staged];
  for (index_t first = 0; first < output.size();) {
    const index_t run = std::min(staged, output.size() - first);
    reader.read(first, run, buffer);
    for_each_piece(output, first, run, [&](index_t done, const index_t(&at)[1], index_t n) {
      scatter_elements(buffer + done, n, out.data + at[0], stride);
    });
    first += run;
  }
}
}  // namespace detail

/// Computes a fused tree for every element in one pass. All views have the same extents; stride 0
/// repeats an element of an operand. `out` may be one of the operands, with the same strides.
///
/// The bits of an element depend only on its operands, not on its position. Exceptions of a user's
/// own kernels are propagated.
template <class T, class Tree, std::size_t N>
void run_pointwise(const Tree& tree, const strided<const T> (&operands)[N], const strided<T>& out) {
  detail::run_erased(detail::erase<T, N>(tree), operands, out);
}

}  // namespace shardwise
