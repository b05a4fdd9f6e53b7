// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/any_block.hpp"
#include "shardwise/kernel/element_kernels.hpp"
#include "shardwise/kernel/function_kernel.hpp"
#include "shardwise/kernel/loop_nest.hpp"
#include "shardwise/kernel/scratch_memory.hpp"
#include "shardwise/layout/shard.hpp"
#include "shardwise/rule/operation.hpp"

#include <array>
#include <concepts>
#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>

namespace shardwise {

/// One application of an operation to the blocks of one device. The rule determines the dimensions
/// of a block; `parts` and `made` state which global indices the blocks of the operands and of the
/// results hold, and `sizes` is the size of each factor.
struct kernel_call {
  const attributes& how;
  const factor_rule& rule;
  std::span<const const_any_block> operands;
  std::span<const held_box> parts;
  std::span<const any_block> results;
  const factor_sizes& sizes;
  const held_box& made;
};

/// The highest number of results of one operation.
inline constexpr std::size_t max_results = 3;

/// The element types of the results of an operation after the first.
using further_elements = inplace_vector<const element_kernels*, max_results - 1>;

/// The work of an operation that is not elementwise on one device. It overwrites its results.
using structured_kernel = kernel_pointer<kernel_call>;

/// The kernel of an operation that is not elementwise: a specialisation for its class has
/// `run<T>(call)` for operands of `T`.
template <class Operation>
struct kernel_of;

namespace detail {

/// True if the program defines the kernel of an operation; see `HasOwnKernel`.
template <class Operation>
concept HasOwnWholeKernel = !is_of_library<Operation> && requires {
  sizeof(kernel_of<Operation>);
};

/// Returns the element types of the results after the first of an operation on elements of `T`.
template <class Operation, class T>
[[nodiscard]] further_elements further_of() noexcept {
  if constexpr (requires { kernel_of<Operation>::template further<T>(); })
    return kernel_of<Operation>::template further<T>();
  else
    return {};
}

/// A contiguous copy of a block in a wider type, such as that used for arithmetic.
template <class T, class Wide = compute_type<T>>
class widened_block {
 public:
  using wide = Wide;

  explicit widened_block(const inplace_vector<index_t, max_rank>& extents)
      : block_{nullptr, extents, row_major(extents)},
        memory_(make_scratch<wide>(static_cast<std::size_t>(block_.size()))) {
    block_.data = memory_.get();
  }
  explicit widened_block(const strided<const T>& from) : widened_block(from.extents) {
    loop_nest<1> nest;
    for (int d = 0; d < from.rank(); ++d) nest.push({from.extents[d], {from.strides[d]}});
    for_each_piece(nest, 0, nest.size(), [&](index_t done, const index_t(&at)[1], index_t run) {
      const T* const source = from.data + at[0];
      const index_t step = nest.inner_stride(0);
      if constexpr (std::same_as<Wide, compute_type<T>>)
        element_kernels_of<T>.load(source, step, run, block_.data + done);
      else
        for (index_t i = 0; i < run; ++i) block_.data[done + i] = source[i * step];
    });
  }
  [[nodiscard]] const strided<wide>& block() const noexcept { return block_; }
  [[nodiscard]] strided<const wide> read() const noexcept {
    return {block_.data, block_.extents, block_.strides};
  }
  /// Writes the copy to a block of `T`.
  void store(const strided<T>& to) const {
    loop_nest<1> nest;
    for (int d = 0; d < to.rank(); ++d) nest.push({to.extents[d], {to.strides[d]}});
    for_each_piece(nest, 0, nest.size(), [&](index_t done, const index_t(&at)[1], index_t run) {
      for (index_t i = 0; i < run; ++i)
        to.data[at[0] + i * nest.inner_stride(0)] = static_cast<T>(block_.data[done + i]);
    });
  }

 private:
  strided<wide> block_;
  scratch_array<wide> memory_;
};

}  // namespace detail

/// Calls `f(operands..., result)` with the `N` operands and the result of a call as blocks of `T`,
/// the type used for arithmetic: `whole_kernel` calls kernels of 16-bit elements on copies.
template <class T, std::size_t N, class F>
void on_blocks(const kernel_call& call, const F& f) {
  static_assert(std::same_as<T, compute_type<T>>);
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    f(call.operands[I].template as<const T>()..., call.results[0].as<T>());
  }
  (std::make_index_sequence<N>{});
}

}  // namespace shardwise
