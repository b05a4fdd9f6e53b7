// SPDX-License-Identifier: BSL-1.0
// The kernels of the library for one instruction set: CMake compiles this file once for each, with
// its flags and with names for the namespaces `shardwise` and `Eigen` in which nothing else is.
#include "shardwise/kernel/kernel_set.hpp"

#include "shardwise/kernel/gradient_kernels.hpp"
#include "shardwise/kernel/library_kernels.hpp"
#include "shardwise/kernel/random_work.hpp"

namespace shardwise {
namespace {

/// Enters what the gradients of operations on elements of `T` append, beside what all programs
/// have.
template <Element T>
void enter_gradients() {
  if constexpr (Fractional<T>) {
    gradient_entry<attention_operation, T>()();
    gradient_entry<cummax_operation, T>()();
    gradient_entry<cummin_operation, T>()();
    gradient_entry<logcumsumexp_operation, T>()();
  }
}

/// Enters the library on elements of all types.
template <Element... T>
void enter_all() {
  (enter_library<T>(), ...);
  (enter_gradients<T>(), ...);
  enter_conversions<T...>();
}

/// The kernels of elements of all types.
template <Element... T>
void give_elements(const shardwise_kernel_receiver& receiver) {
  (receiver.elements(receiver.to, &element_kernels_of<T>), ...);
}

}  // namespace
}  // namespace shardwise

extern "C" void SHARDWISE_GIVE_KERNELS(const shardwise_kernel_receiver& receiver) {
  using namespace shardwise;
  enter_all<float, double, std::int32_t, std::int64_t, bool, std::int8_t, std::uint8_t, bfloat16,
            float16>();
  give_elements<float, double, std::int32_t, std::int64_t, bool, std::int8_t, std::uint8_t,
                bfloat16, float16>(receiver);
  receiver.random(receiver.to, &internal::random_kernels_of<float>);
  receiver.random(receiver.to, &internal::random_kernels_of<double>);
  for (const kernel_table::entry& at : kernel_table::instance().entries())
    receiver.operation(receiver.to, at.what->id, at.types, &at.kernel);
}
