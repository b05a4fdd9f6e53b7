// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/expression/elementwise.hpp"
#include "shardwise/kernel/function_kernel.hpp"
#include "shardwise/kernel/gradient_kernels.hpp"
#include "shardwise/kernel/kernel_table.hpp"
#include "shardwise/kernel/whole_kernel.hpp"
#if defined(SHARDWISE_COMPILED)
#include "shardwise/kernel/known_operations.hpp"
#else
#include "shardwise/kernel/library_kernels.hpp"
#endif

#include <array>
#include <cstddef>
#include <span>

namespace shardwise {

namespace detail {

/// Returns the kernel in the compiled library.
[[nodiscard]] inline const operation_kernel& require_compiled(const operation& what,
                                                              std::uint64_t types) {
  const operation_kernel* const found = compiled_kernel(what.id, types);
  if (found == nullptr) fail_without_kernel(what, types);
  return *found;
}

}  // namespace detail

/// Returns the kernel of an elementwise function on operands `T...` with a result of type `Result`:
/// that of this program, or else that of the compiled library.
template <class Function, Element Result, Element... T>
[[nodiscard, gnu::noinline]] operation_kernel function_for() {
  if constexpr (build_config::compiled && !detail::HasOwnKernel<Function>) {
    static const operation_kernel found =
        detail::require_compiled(operation_of<pointwise<Function>>,
                                 types_key(std::array{element_of<T>...}, element_of<Result>));
    return found;
  } else {
    return {.each = block_function_of<Function, compute_type<Result>, compute_type<T>...>(),
            .elements = &element_kernels_of<Result>,
            .enter_gradient = gradient_entry<pointwise<Function>, Result, T...>()};
  }
}

/// Returns the kernel of an operation that is not elementwise on operands of `First` and others,
/// whose types are `operands`: its function, and the element types of its further results.
template <class Class, Element First>
[[nodiscard]] operation_kernel whole_for([[maybe_unused]] std::span<const element> operands,
                                         [[maybe_unused]] element result) {
  if constexpr (build_config::compiled && !detail::HasOwnWholeKernel<Class>) {
    return detail::require_compiled(operation_of<Class>, types_key(operands, result));
  } else {
    constexpr bool is_defined = requires { sizeof(kernel_of<Class>); };
    static_assert(is_defined,
                  "the kernel of an operation, a specialisation of kernel_of<>, is defined before "
                  "the operation is applied");
    if constexpr (is_defined)
      return {.whole = whole_kernel<Class, First>(),
              .further = detail::further_of<Class, First>(),
              .enter_gradient = gradient_entry<Class, First>()};
    else
      return {};
  }
}

/// Registers all operations of the library for programs whose tensors have elements of `T...`. In
/// the compiled library they are always registered.
template <Element... T>
void enter_known() {
#if !defined(SHARDWISE_COMPILED)
  (enter_library<T>(), ...);
  enter_library<bool>();
  enter_conversions<T..., bool>();
#endif
}

}  // namespace shardwise
