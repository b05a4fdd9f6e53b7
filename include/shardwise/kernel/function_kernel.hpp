// SPDX-License-Identifier: BSL-1.0
#pragma once

namespace shardwise {

/// How one elementwise function is computed: `kernel<functions::add>::run(a, b)` on packets of any
/// width, or on scalars.
///
/// - Where `exact` is there and true, results are those of IEEE arithmetic: the same bits on every
///   instruction set, in packets and in scalars, but for which of two NaNs a result passes on.
///   Compilers may then vectorise a loop over scalars instead (`wide_kernel.hpp`).
/// - Others keep a number of ulp, units in the last place of the exact result unless told
///   otherwise, that they name; their bits depend on the instruction set.
/// - A NaN operand gives NaN; only comparisons (0) and the condition of `where` (true) read it.
/// - Integers wrap around; an integer divided by zero is 0.
/// - Integers have no roots and transcendental functions (`transcendental_kernels.hpp`): convert.
template <class Function>
struct kernel;

namespace detail {
/// True where the kernel of an elementwise function was defined before it is used. In programs that
/// link the library's kernels only those of a program's own are.
template <class Function>
concept KernelIsHere = requires {
  sizeof(kernel<Function>);
};
}  // namespace detail

}  // namespace shardwise
