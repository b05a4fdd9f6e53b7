// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/text.hpp"

#include <cstddef>

namespace shardwise {

/// The kernel of an elementwise function: `kernel<functions::add>::run(a, b)` on packets of any
/// width, or on scalars.
///
/// - If `exact` is present and true, results are those of IEEE 754: the same bits on every
///   instruction set, in packets and in scalars, except for which of two NaNs is returned.
///   Compilers may then vectorise a loop over scalars instead (`wide_kernel.hpp`).
/// - Other kernels document an error bound in ulp, units in the last place of the exact result
///   unless stated otherwise; their bits depend on the instruction set.
/// - A NaN operand gives NaN; only comparisons (false, or true for `not_equal`) and the condition
/// of `where` (true) convert
///   it.
/// - Integers wrap around; an integer divided by zero is 0.
/// - Integers have no roots and transcendental functions (`transcendental_kernels.hpp`): convert
///   them first.
template <class Function>
struct kernel;

namespace detail {

/// Returns the compiler's name of a function template instantiated for a type: `... [with T =
/// shardwise::functions::add; ...]`, or `... [T = shardwise::functions::add]`.
template <class T>
[[nodiscard]] constexpr text_view function_on() noexcept {
  return {__PRETTY_FUNCTION__, sizeof(__PRETTY_FUNCTION__) - 1};
}

/// True for the library's own classes of operations. Instances of templates are not counted: their
/// arguments may belong to the program.
template <class Class>
inline constexpr bool is_of_library = [] {
  constexpr text_view prefix = "T = shardwise::";
  const text_view name = function_on<Class>();
  std::size_t at = 0;
  while (at + prefix.size() < name.size() && name.substr(at, prefix.size()) != prefix) ++at;
  for (std::size_t i = at; i < name.size(); ++i)
    if (name[i] == '<') return false;
  return at + prefix.size() < name.size();
}();

/// True if the program defines the kernel of an elementwise function. The kernels of the library
/// are visible too where a program includes `kernel.hpp`, but the compiled library has better ones,
/// for the instructions of the machine.
template <class Function>
concept HasOwnKernel = !is_of_library<Function> && requires {
  sizeof(kernel<Function>);
};

}  // namespace detail

}  // namespace shardwise
