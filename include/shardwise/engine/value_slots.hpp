// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/growable.hpp"
#include "shardwise/plan/post_order.hpp"

#include <cstddef>
#include <cstdint>

namespace shardwise::internal {

/// The slots of a program's values in the pass that is being formed. It is as long as the program,
/// so all steps of a run form their passes with one, one after another, and none keeps it.
class value_slots {
 public:
  /// For a program of `count` instructions.
  explicit value_slots(std::int32_t count) : values_(static_cast<std::size_t>(count)) {}

  /// Begins the next pass, in which no value has a slot.
  void begin_pass() noexcept { ++pass_; }
  /// Returns the slot of a value in this pass; -1 if it has none.
  [[nodiscard]] int slot(value_id i) const noexcept {
    const entry& at = values_[static_cast<std::size_t>(i)];
    return at.pass == pass_ ? at.slot : -1;
  }
  void set_slot(value_id i, int slot) noexcept {
    entry& at = values_[static_cast<std::size_t>(i)];
    at.pass = pass_;
    at.slot = slot;
  }
  /// Returns the state of a value for `post_order`.
  [[nodiscard]] visit_state& visit(value_id i) noexcept {
    return values_[static_cast<std::size_t>(i)].visit;
  }

 private:
  struct entry {
    visit_state visit{};
    /// The last pass in which the value has a slot.
    std::int32_t pass = -1;
    int slot = -1;
  };

  growable<entry> values_;
  std::int32_t pass_ = -1;
};

}  // namespace shardwise::internal
