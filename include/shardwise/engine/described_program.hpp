// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/growable.hpp"
#include "shardwise/engine/call_details.hpp"
#include "shardwise/engine/moving_step.hpp"
#include "shardwise/kernel/kernel_table.hpp"
#include "shardwise/plan/program_builder.hpp"

#include <cstddef>
#include <utility>

namespace shardwise {

/// What computes an instruction: its kernel and, for an operation that is not elementwise, how the
/// devices split it.
struct instruction_work {
  operation_kernel kernel{};
  call_details_ptr details{};
  /// For a collective, what makes its work.
  internal::moving_step_maker moves = nullptr;
};

/// A program to which nodes append themselves, with what computes each instruction.
class described_program {
 public:
  described_program(program_builder& code, internal::growable<instruction_work>& works) noexcept
      : code_(code), works_(works) {}

  [[nodiscard]] program_builder& code() noexcept { return code_; }
  /// Sets what computes an instruction.
  value_id computed_by(value_id id, const operation_kernel& kernel, call_details_ptr details = {},
                       internal::moving_step_maker moves = nullptr) {
    instruction_work& to = works_[static_cast<std::size_t>(id)];
    to.kernel = kernel;
    to.details = std::move(details);
    to.moves = moves;
    return id;
  }

 private:
  program_builder& code_;
  internal::growable<instruction_work>& works_;
};

}  // namespace shardwise
