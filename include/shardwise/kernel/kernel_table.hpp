// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/core/growable.hpp"
#include "shardwise/kernel/block_function.hpp"
#include "shardwise/kernel/kernel_call.hpp"

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>

namespace shardwise {

/// The kernel of an operation for operands of given types: a function on contiguous elements if it
/// is elementwise, and otherwise on blocks.
struct operation_kernel {
  block_function each{};
  structured_kernel whole{};
  /// The kernels of the element type of its result.
  const element_kernels* elements = nullptr;
  further_elements further{};
  /// Registers the kernels that the gradient of the operation needs; null if it has none.
  void (*enter_gradient)() = nullptr;
};

/// Returns the types of operands and result as one number, which selects a kernel together with the
/// operation.
[[nodiscard]] constexpr std::uint64_t types_key(std::span<const element> operands,
                                                element result) noexcept {
  std::uint64_t key = static_cast<std::uint64_t>(result) + 1;
  for (element type : operands) key = key << 4U | (static_cast<std::uint64_t>(type) + 1);
  return key;
}

namespace detail {
/// Returns the kernel of an operation of the library for some types, or null; in the compiled
/// library.
[[nodiscard]] const operation_kernel* compiled_kernel(std::uint64_t operation,
                                                      std::uint64_t types) noexcept;
/// Reports that an operation has no kernel for some types, `operation_has_no_kernel`, with the
/// elements of its operands and what adds the kernel.
[[noreturn]] void fail_without_kernel(const operation& what, std::uint64_t types);
}  // namespace detail

/// The kernels for programs that exist only at run time, by operation and types. Operations are
/// registered where a program uses them. Thread-safe.
class kernel_table {
 public:
  /// The kernel of one operation for some types.
  struct entry {
    const operation* what;
    std::uint64_t types;
    operation_kernel kernel;
  };

  /// Returns the table of the process.
  [[nodiscard]] static kernel_table& instance() {
    static kernel_table table;
    return table;
  }

  /// Registers the kernel of an operation for some types. Two operations of one name are an error,
  /// which is reported when either is looked up.
  void enter(const operation& what, std::uint64_t types, const operation_kernel& kernel);
  /// Returns the kernel of an operation for some types; it is an error if none is registered, or if
  /// two operations have its name.
  [[nodiscard]] operation_kernel find(const operation& what, std::uint64_t types) const;
  /// Returns all registered kernels, by operation and types.
  [[nodiscard]] const internal::growable<entry>& entries() const noexcept { return entries_; }

 private:
  /// An operation whose name another operation has too.
  struct doubled {
    std::uint64_t id;
  };

  /// Returns the position of the kernel of an operation, or where it would be inserted.
  [[nodiscard]] std::size_t place_of(std::uint64_t id, std::uint64_t types) const noexcept;
  [[nodiscard]] bool is_at(std::size_t place, std::uint64_t id,
                           std::uint64_t types) const noexcept {
    return entries_[place].what->id == id && entries_[place].types == types;
  }

  mutable std::mutex mutex_;
  internal::growable<entry> entries_;
  internal::growable<doubled> doubled_;
};

}  // namespace shardwise

#if !defined(SHARDWISE_COMPILED)
#include "shardwise/kernel/kernel_table_work.hpp"
#endif
