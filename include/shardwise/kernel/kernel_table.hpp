// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/block_function.hpp"
#include "shardwise/kernel/kernel_call.hpp"

#include <cstdint>
#include <map>
#include <mutex>
#include <span>

namespace shardwise {

/// What computes an operation on operands of given types: a function of neighbours where it is
/// elementwise, and of blocks where it is not.
struct operation_kernel {
  block_function each{};
  structured_kernel whole = nullptr;
  /// The kernels of the elements that it makes.
  const element_kernels* elements = nullptr;
  further_elements further{};
  /// Enters the kernels that the gradient of the operation needs; null where it has none.
  void (*enter_gradient)() = nullptr;
};

/// The types of operands and result as one number: what a kernel is chosen by, beside the
/// operation.
[[nodiscard]] constexpr std::uint64_t types_key(std::span<const element> operands,
                                                element result) noexcept {
  std::uint64_t key = static_cast<std::uint64_t>(result) + 1;
  for (element type : operands) key = key << 4U | (static_cast<std::uint64_t>(type) + 1);
  return key;
}

/// The kernels of programs that exist only at run time, by operation and types. Operations enter
/// themselves where a program uses them. Thread-safe.
class kernel_table {
 public:
  /// The table of the process.
  [[nodiscard]] static kernel_table& instance() {
    static kernel_table table;
    return table;
  }

  /// Enters the kernel of an operation for some types. Two operations of one name are an error,
  /// told to whoever asks for either.
  void enter(const operation& what, std::uint64_t types, const operation_kernel& kernel) {
    const std::lock_guard lock(mutex_);
    entry& at = entries_[{what.id, types}];
    const auto owner = owners_.emplace(what.id, &what).first->second;
    if (owner != &what) doubled_.emplace(what.id, true);
    at = kernel;
  }
  /// The kernel of an operation for some types; refused where none was entered, or where two
  /// operations have its name.
  [[nodiscard]] operation_kernel find(const operation& what, std::uint64_t types) const {
    const std::lock_guard lock(mutex_);
    if (doubled_.count(what.id) != 0) fail({.rule = broken::operation_is_entered_twice}, what.name);
    const auto found = entries_.find({what.id, types});
    if (found == entries_.end()) fail({.rule = broken::operation_has_no_kernel}, what.name);
    return found->second;
  }

 private:
  using entry = operation_kernel;

  mutable std::mutex mutex_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, entry> entries_;
  std::map<std::uint64_t, const operation*> owners_;
  std::map<std::uint64_t, bool> doubled_;
};

}  // namespace shardwise
