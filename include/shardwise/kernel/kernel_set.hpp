// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>

/// Interface by which the kernels of the instruction sets are passed to the library, which chooses
/// one set. Each part of a set is compiled with the flags of its instructions, in a separate
/// namespace that includes Eigen, so that the linker never confuses functions of different sets;
/// only addresses of functions on pointers and descriptions cross the boundary.

/// Receives the kernels of a part: those of operations, where `kernel` is an `operation_kernel`,
/// those of element types, an `element_kernels`, and those of random numbers, a `random_kernels`.
struct shardwise_kernel_receiver {
  void* to;
  void (*operation)(void* to, std::uint64_t operation, std::uint64_t types, const void* kernel);
  void (*elements)(void* to, const void* kernels);
  void (*random)(void* to, const void* kernels);
};

/// One part of the kernels of an instruction set: `give` passes them to a receiver.
struct shardwise_kernel_part {
  const char* set;
  void (*give)(const shardwise_kernel_receiver& receiver);
};

/// The parts that were compiled, the widest set last; CMake writes the list.
extern const shardwise_kernel_part shardwise_kernel_parts[];
extern const std::size_t shardwise_kernel_part_count;

extern "C" {
/// Returns the thread-local pointer to the source of temporary memory, a `scratch_source`.
[[nodiscard]] const void** shardwise_scratch_slot() noexcept;
/// Reports a rule broken in a kernel of a set, a `diagnosis`, as an error of the program.
[[noreturn]] void shardwise_kernel_failed(const void* verdict, const char* advice,
                                          std::size_t size);
}
