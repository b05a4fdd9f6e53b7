// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/pass_order.hpp"

#include <cstddef>

namespace shardwise {

/// A call of a step of a pass: of a function of contiguous elements, or of a chain of functions. It
/// can be made again with operands elsewhere.
class step_call {
 public:
  explicit step_call(const pass_order::step& called) noexcept : step_(called) {}

  /// Adds the next operand, whose elements are at `from`, or the next link of a chain; `move` is 0
  /// for a single number, of which there is a step.
  void add(chain_link what, const void* from, index_t move) noexcept {
    if (step_.is_chain)
      links_[count_] = {what, const_cast<void*>(from), move};
    else
      moves_[count_] = move;
    place(count_++, from);
  }
  /// Sets where the elements of an operand are. Only kept values of chains are written.
  void place(std::size_t operand, const void* from) noexcept {
    if (step_.is_chain)
      links_[operand].at = const_cast<void*>(from);
    else
      from_[operand] = from;
  }
  /// Sets that an operand is read backwards, which only calls for rows may do.
  void reverse(std::size_t operand) noexcept { moves_[operand] = -1; }
  [[nodiscard]] bool runs_rows() const noexcept {
    return !step_.is_chain && step_.function.run_rows != nullptr;
  }
  /// Computes `rows` rows of `n` elements at once, if `runs_rows`.
  void run_rows(void* to, index_t n, index_t rows, const index_t* apart) const {
    step_.function.run_rows(from_, moves_, to, n, rows, apart);
  }
  /// Computes `n` elements.
  void run(void* to, index_t n) const {
    if (step_.is_chain) return step_.function.chain(links_, static_cast<int>(count_), to, n);
    step_.function.run(from_, moves_, to, n);
  }

 private:
  const pass_order::step& step_;
  std::size_t count_ = 0;
  const void* from_[pass_order::most_operands];
  index_t moves_[pass_order::most_operands];
  running_link links_[most_chain_links];
};

}  // namespace shardwise
