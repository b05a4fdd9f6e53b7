// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/core/growable.hpp"
#include "shardwise/plan/ledger.hpp"
#include "shardwise/plan/program.hpp"
#include "shardwise/tensor/node.hpp"

#include <cstddef>
#include <exception>
#include <memory>
#include <span>

namespace shardwise::internal {

/// An argument of a recorded function: its placeholder, and the tensor of the first call.
struct recorded_argument {
  node_ptr stand_in;
  node_ptr real;
};
/// A result of a recorded function, and the number of the argument that it updates; -1 for what the
/// function returned.
struct recorded_result {
  node_ptr made;
  int argument = -1;
};

/// A program on one machine with all that its runs need: work items bound to their operands, and
/// memory for intermediate values. A run plans nothing and only reuses memory of earlier runs.
///
/// The memory of results alternates between two buffers. An argument that a step overwrites keeps
/// its memory.
class steady_program {
 public:
  /// Plans the program that computes `results` from `arguments`, all on one machine. Other tensors
  /// that the results depend on are computed once and are constants.
  steady_program(const growable<recorded_argument>& arguments,
                 const growable<recorded_result>& results);
  steady_program(steady_program&&) noexcept;
  steady_program& operator=(steady_program&&) noexcept;
  ~steady_program();

  /// Returns true if the tensors have the layouts and the machine of the arguments of the first
  /// call; null stands for no tensor.
  [[nodiscard]] bool takes(std::span<tensor_node* const> tensors) const noexcept;
  /// Returns true if a run updates an argument. Its node changes in place, so it and its memory
  /// must have no other owner.
  [[nodiscard]] bool changes(std::size_t argument) const noexcept;
  /// Returns the cost of a run for one device.
  [[nodiscard]] cost_ledger ledger() const noexcept;
  /// Returns its instructions; the inputs are the arguments, in order, and then what is constant.
  [[nodiscard]] program_view code() const noexcept;
  /// Runs the program on computed tensors.
  void run(std::span<tensor_node* const> tensors);
  /// Returns true if a run gives some arguments other layouts or sizes.
  [[nodiscard]] bool replaces_arguments() const noexcept;
  /// Returns the new value of an argument after a run that gives it another layout or other sizes;
  /// null for other arguments.
  [[nodiscard]] node_ptr take_replacement(std::size_t argument) noexcept;
  /// Returns the next result of the last run, starting with the first.
  [[nodiscard]] const node_ptr& next_result() noexcept;
  /// Returns true if the last run failed after it had begun to overwrite arguments.
  [[nodiscard]] bool has_lost_arguments() const noexcept;

 private:
  struct parts;
  std::unique_ptr<parts> parts_;
};

/// Returns a copy of a tensor in memory of its own.
[[nodiscard]] node_ptr copy_of(const tensor_node& from);
/// Invalidates a tensor that a failed program had begun to overwrite: reading it throws that
/// failure.
[[nodiscard]] node_ptr lost_node_of(const tensor_node& from, std::exception_ptr thrown);

}  // namespace shardwise::internal
