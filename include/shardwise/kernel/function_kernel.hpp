// SPDX-License-Identifier: BSL-1.0
#pragma once

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
/// True if the kernel of an elementwise function was defined before it is used. In programs that
/// link the library's kernels, only the program's own kernels are.
template <class Function>
concept KernelIsHere = requires {
  sizeof(kernel<Function>);
};
}  // namespace detail

}  // namespace shardwise
