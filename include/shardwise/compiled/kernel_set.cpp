// SPDX-License-Identifier: BSL-1.0
// One part of the kernels of an instruction set. CMake compiles this file for each set and each
// part, SHARDWISE_PART, with the flags of the set and with names for the namespaces `shardwise` and
// `Eigen` in which nothing else is.
#include "shardwise/kernel/kernel_set.hpp"

#include "shardwise/kernel/gradient_kernels.hpp"
#include "shardwise/kernel/library_kernels.hpp"
#include "shardwise/kernel/random_work.hpp"

namespace shardwise {
namespace {

/// The parts. Elements of fewer bits are in the part of the type whose arithmetic they share:
/// bfloat16 and float16 in that of f32, 8-bit integers and bool in that of i32. Every set has what
/// does not depend on an operation, and the conversions between all types: `general`. The squares
/// of f32 are f64: a set without the latter has `f32_squares`. `kernels` is all of them: less to
/// compile, but in one object.
enum class part {
  kernels,
  general,
  f32_functions,
  f32_operations,
  f32_gradients,
  f32_squares,
  f64,
  i32_functions,
  i32_operations,
  i64
};

template <Element... T>
void enter_all_functions() {
  (enter_functions<T>(), ...);
}

/// Enters what the gradients of operations on elements of these types append, beside what all
/// programs have.
template <Fractional... T>
void enter_gradients() {
  (gradient_entry<attention_operation, T>()(), ...);
  (gradient_entry<attention_gradient_operation, T>()(), ...);
  (gradient_entry<cummax_operation, T>()(), ...);
  (gradient_entry<cummin_operation, T>()(), ...);
  (gradient_entry<logcumsumexp_operation, T>()(), ...);
}

template <Element... T>
void enter_all_operations() {
  (enter_operations<T>(), ...);
}

template <Element... T>
void give_elements(const shardwise_kernel_receiver& to) {
  enter_conversions<T...>();
  (to.elements(to.to, &element_kernels_of<T>), ...);
}

template <part Part>
void give(const shardwise_kernel_receiver& to) {
  const auto has = [](part one) { return Part == part::kernels || Part == one; };
  if constexpr (has(part::f32_functions)) enter_all_functions<float, bfloat16, float16>();
  if constexpr (has(part::f32_operations)) enter_all_operations<float, bfloat16, float16>();
  if constexpr (has(part::f32_gradients)) enter_gradients<float, bfloat16, float16>();
  if constexpr (Part == part::f32_squares) enter_squares<float>();
  if constexpr (has(part::f64)) {
    enter_all_functions<double>();
    enter_all_operations<double>();
    enter_gradients<double>();
  }
  if constexpr (has(part::i32_functions))
    enter_all_functions<std::int32_t, std::int8_t, std::uint8_t, bool>();
  if constexpr (has(part::i32_operations))
    enter_all_operations<std::int32_t, std::int8_t, std::uint8_t, bool>();
  if constexpr (has(part::i64)) {
    enter_all_functions<std::int64_t>();
    enter_all_operations<std::int64_t>();
  }
  if constexpr (has(part::general)) {
    give_elements<float, double, std::int32_t, std::int64_t, bool, std::int8_t, std::uint8_t,
                  bfloat16, float16>(to);
    to.random(to.to, &internal::random_kernels_of<float>);
    to.random(to.to, &internal::random_kernels_of<double>);
  }
  for (const kernel_table::entry& at : kernel_table::instance().entries())
    to.operation(to.to, at.what->id, at.types, &at.kernel);
}

}  // namespace
}  // namespace shardwise

extern "C" void SHARDWISE_GIVE_KERNELS(const shardwise_kernel_receiver& receiver) {
  shardwise::give<shardwise::part::SHARDWISE_PART>(receiver);
}
