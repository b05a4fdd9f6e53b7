// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>

/// How the kernels of one instruction set are handed to the library that chooses among them. Each
/// set is compiled with the flags of its instructions, in a namespace of its own, Eigen with it, so
/// that the linker never takes a function of one for that of another; what crosses are addresses of
/// functions on pointers and descriptions.

/// What receives the kernels of a set: those of operations, `kernel` being an `operation_kernel`,
/// those of element types, an `element_kernels`, and those of random numbers, a `random_kernels`.
struct shardwise_kernel_receiver {
  void* to;
  void (*operation)(void* to, std::uint64_t operation, std::uint64_t types, const void* kernel);
  void (*elements)(void* to, const void* kernels);
  void (*random)(void* to, const void* kernels);
};

extern "C" {
/// Gives all kernels of a set to a receiver.
void shardwise_give_kernels_base(const shardwise_kernel_receiver& receiver);
void shardwise_give_kernels_avx2(const shardwise_kernel_receiver& receiver);
void shardwise_give_kernels_avx512(const shardwise_kernel_receiver& receiver);
/// The thread-local place of the source of temporary memory, a `scratch_source`.
[[nodiscard]] const void** shardwise_scratch_slot() noexcept;
/// Reports the rule that a kernel of a set found broken, a `diagnosis`, as an error of the program.
[[noreturn]] void shardwise_kernel_failed(const void* verdict, const char* advice,
                                          std::size_t size);
}
