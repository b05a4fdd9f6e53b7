// SPDX-License-Identifier: BSL-1.0
// The kernels of linear algebra for one instruction set, which CMake compiles as it compiles the
// sets of kernels.
#include "shardwise/kernel/decomposition_kernels.hpp"
#include "shardwise/kernel/enter_kernel.hpp"
#include "shardwise/kernel/kernel_set.hpp"
#include "shardwise/kernel/kernel_table.hpp"

namespace shardwise {
namespace {

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

}  // namespace
}  // namespace shardwise

extern "C" void SHARDWISE_GIVE_KERNELS(const shardwise_kernel_receiver& receiver) {
  using namespace shardwise;
  enter_matrices<float, double, bfloat16, float16>();
  for (const kernel_table::entry& at : kernel_table::instance().entries())
    receiver.operation(receiver.to, at.what->id, at.types, &at.kernel);
}
