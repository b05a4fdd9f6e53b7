// SPDX-License-Identifier: BSL-1.0
// The kernels of linear algebra, or one part of them, SHARDWISE_PART, for one instruction set,
// which CMake compiles as it compiles the other parts of a set.
#include "shardwise/kernel/decomposition_kernels.hpp"
#include "shardwise/kernel/enter_kernel.hpp"
#include "shardwise/kernel/kernel_set.hpp"
#include "shardwise/kernel/kernel_table.hpp"

namespace shardwise {
namespace {

/// The parts, of which `matrices` is all: linear systems and decompositions. 16-bit elements are
/// computed in `float`.
enum class part {
  matrices,
  f32_systems,
  f64_systems,
  f32_decompositions,
  f64_decompositions,
  singular_values
};

template <Element... T>
void enter_systems() {
  (enter_operation<cholesky_operation, T, T>(), ...);
  (enter_operation<triangular_solve_operation, T, T, T>(), ...);
  (enter_operation<solve_operation, T, T, T>(), ...);
  (enter_operation<inverse_operation, T, T>(), ...);
  (enter_operation<determinant_operation, T, T>(), ...);
  (enter_operation<slogdet_operation, T, T>(), ...);
}

template <Element... T>
void enter_decompositions() {
  (enter_operation<orthonormal_columns_operation, T, T>(), ...);
  (enter_operation<eigenvectors_operation, T, T>(), ...);
  (enter_operation<householder_product_operation, T, T, T>(), ...);
}

/// They are computed in `double` whatever the elements are.
template <Element... T>
void enter_singular() {
  (enter_operation<singular_vectors_operation, T, T>(), ...);
}

template <part Part>
void enter() {
  const auto has = [](part one) { return Part == part::matrices || Part == one; };
  if constexpr (has(part::f32_systems)) enter_systems<float, bfloat16, float16>();
  if constexpr (has(part::f64_systems)) enter_systems<double>();
  if constexpr (has(part::f32_decompositions)) enter_decompositions<float, bfloat16, float16>();
  if constexpr (has(part::f64_decompositions)) enter_decompositions<double>();
  if constexpr (has(part::singular_values)) enter_singular<float, double, bfloat16, float16>();
}

}  // namespace
}  // namespace shardwise

extern "C" void SHARDWISE_GIVE_KERNELS(const shardwise_kernel_receiver& receiver) {
  using namespace shardwise;
  enter<part::SHARDWISE_PART>();
  for (const kernel_table::entry& at : kernel_table::instance().entries())
    receiver.operation(receiver.to, at.what->id, at.types, &at.kernel);
}
