// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/tensor/node.hpp"

#include <cstddef>
#include <exception>
#include <memory>
#include <span>
#include <vector>

namespace shardwise::detail {

/// A tensor that a recorded function got: what stands for it there, and the tensor of the first
/// call.
struct recorded_argument {
  node_ptr stand_in;
  node_ptr real;
};
/// A tensor that a recorded function gave, and the number of the argument whose value it becomes;
/// -1 for what the function returned.
struct recorded_result {
  node_ptr made;
  int argument = -1;
};

/// A program on one machine with all that its steps need from run to run: the pieces of work, bound
/// to their operands, and memory for what lies between. A run plans nothing, and allocates nothing
/// that an earlier run has not left.
///
/// Memory of results alternates with what the results before had. Where a step writes over an
/// argument its memory stays in place.
class steady_program {
 public:
  /// Plans the program that makes `results` of `arguments`, all on one machine. What else the
  /// results are made of is computed, and constant from then on.
  steady_program(const std::vector<recorded_argument>& arguments,
                 const std::vector<recorded_result>& results);
  steady_program(steady_program&&) noexcept;
  steady_program& operator=(steady_program&&) noexcept;
  ~steady_program();

  /// True if tensors are laid out as the arguments of the first call were, on its machine; null for
  /// what is none.
  [[nodiscard]] bool takes(std::span<node* const> tensors) const noexcept;
  /// True if a run gives an argument a new value. Its node changes in place, so nobody else may
  /// hold it or its memory.
  [[nodiscard]] bool changes(std::size_t argument) const noexcept;
  /// Runs it on tensors that are there.
  void run(std::span<node* const> tensors);
  /// The next of the results that the last run returned, from the first on.
  [[nodiscard]] const node_ptr& next_result() noexcept;
  /// True if the last run failed after it had begun to write over arguments.
  [[nodiscard]] bool has_lost_arguments() const noexcept;

 private:
  struct parts;
  std::unique_ptr<parts> parts_;
};

/// A tensor with memory of its own and the same elements.
[[nodiscard]] node_ptr copy_of(const node& from);
/// What is left of a tensor that a program had begun to write over when it failed: whoever reads it
/// gets that failure.
[[nodiscard]] node_ptr lost_node_of(const node& from, std::exception_ptr thrown);

}  // namespace shardwise::detail

#if !defined(SHARDWISE_COMPILED)
#include "shardwise/runtime/steady_program_work.hpp"
#endif
