// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>

/// Interface by which the kernels of one instruction set are passed to the library, which chooses
/// between them. Each set is compiled with the flags of its instructions, in a separate namespace
/// that includes Eigen, so that the linker never confuses functions of different sets; only
/// addresses of functions on pointers and descriptions cross the boundary.

/// Receives the kernels of a set: those of operations, where `kernel` is an `operation_kernel`,
/// those of element types, an `element_kernels`, and those of random numbers, a `random_kernels`.
struct shardwise_kernel_receiver {
  void* to;
  void (*operation)(void* to, std::uint64_t operation, std::uint64_t types, const void* kernel);
  void (*elements)(void* to, const void* kernels);
  void (*random)(void* to, const void* kernels);
};

extern "C" {
/// Passes all kernels of a set to a receiver.
void shardwise_give_kernels_base(const shardwise_kernel_receiver& receiver);
void shardwise_give_kernels_avx2(const shardwise_kernel_receiver& receiver);
void shardwise_give_kernels_avx512(const shardwise_kernel_receiver& receiver);
/// Passes the kernels of linear algebra for every machine, and those for AVX2 with FMA.
void shardwise_give_kernels_matrices(const shardwise_kernel_receiver& receiver);
void shardwise_give_kernels_matrices_avx2(const shardwise_kernel_receiver& receiver);
/// Returns the thread-local pointer to the source of temporary memory, a `scratch_source`.
[[nodiscard]] const void** shardwise_scratch_slot() noexcept;
/// Reports a rule broken in a kernel of a set, a `diagnosis`, as an error of the program.
[[noreturn]] void shardwise_kernel_failed(const void* verdict, const char* advice,
                                          std::size_t size);
}
