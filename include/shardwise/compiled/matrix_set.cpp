// SPDX-License-Identifier: BSL-1.0
// The kernels of linear algebra on some elements, SHARDWISE_PART, for one instruction set, which
// CMake compiles as it compiles the other parts of a set.
#include "shardwise/kernel/decomposition_kernels.hpp"
#include "shardwise/kernel/enter_kernel.hpp"
#include "shardwise/kernel/kernel_set.hpp"
#include "shardwise/kernel/kernel_table.hpp"

namespace shardwise {
namespace {

/// The parts, of which `matrices` is both: 16-bit elements are computed in `float`.
enum class part { matrices, f32_matrices, f64_matrices };

template <Element... T>
void enter_matrices() {
  (enter_operation<cholesky_operation, T, T>(), ...);
  (enter_operation<triangular_solve_operation, T, T, T>(), ...);
  (enter_operation<solve_operation, T, T, T>(), ...);
  (enter_operation<inverse_operation, T, T>(), ...);
  (enter_operation<determinant_operation, T, T>(), ...);
  (enter_operation<slogdet_operation, T, T>(), ...);
  (enter_operation<orthonormal_columns_operation, T, T>(), ...);
  (enter_operation<eigenvectors_operation, T, T>(), ...);
  (enter_operation<householder_product_operation, T, T, T>(), ...);
  (enter_operation<singular_vectors_operation, T, T>(), ...);
}

template <part Part>
void enter() {
  if constexpr (Part != part::f64_matrices) enter_matrices<float, bfloat16, float16>();
  if constexpr (Part != part::f32_matrices) enter_matrices<double>();
}

}  // namespace
}  // namespace shardwise

extern "C" void SHARDWISE_GIVE_KERNELS(const shardwise_kernel_receiver& receiver) {
  using namespace shardwise;
  enter<part::SHARDWISE_PART>();
  for (const kernel_table::entry& at : kernel_table::instance().entries())
    receiver.operation(receiver.to, at.what->id, at.types, &at.kernel);
}
