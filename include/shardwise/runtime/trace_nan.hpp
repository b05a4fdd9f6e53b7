// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/growable.hpp"
#include "shardwise/engine/prepared_program.hpp"
#include "shardwise/plan/listing.hpp"
#include "shardwise/runtime/sync.hpp"

#include <cstdint>
#include <string>
#include <utility>

namespace shardwise {

/// The result of `first_nan` and `first_not_finite`: the first instruction whose result has a fault
/// although its operands have none. Converts to false if there is none.
struct numeric_fault {
  /// The number of the instruction in the program, or -1.
  std::int32_t instruction = -1;
  /// True for NaN, false for an infinity.
  bool is_nan = false;
  /// A device whose shard has the fault.
  index_t device = -1;
  /// The instruction and its operands, one per line, as written by `write_instructions`.
  std::string words{};

  [[nodiscard]] explicit operator bool() const noexcept { return instruction >= 0; }
};

namespace detail {

/// Which faults to look for.
enum class wanted_fault : std::uint8_t { nan, any };

/// Returns the first fault of the program of these nodes, which stay pending.
[[nodiscard]] numeric_fault fault_of_nodes(const internal::growable<node_ptr>& named,
                                           wanted_fault wanted);
/// The same for everything named that is pending in a pool.
[[nodiscard]] numeric_fault fault_of_pool(pool_state& home, wanted_fault wanted);
/// The same for a prepared program on checked inputs.
[[nodiscard]] numeric_fault fault_of_run(const prepared_program& ready,
                                         internal::growable<program_input> inputs,
                                         wanted_fault wanted);

template <class... X>
[[nodiscard]] numeric_fault fault_of_inputs(const prepared_program& ready, wanted_fault wanted,
                                            const X&... inputs) {
  internal::growable<program_input> given;
  given.reserve(sizeof...(X));
  (given.push_back(input_from(inputs)), ...);
  ready.check(given);
  return fault_of_run(ready, std::move(given), wanted);
}

}  // namespace detail

/// Finds the instruction that produces the first NaN of pending tensors. It runs their program one
/// instruction at a time, without fusion, and stops at the first whose result has a NaN although
/// none of its operands has; an input with a NaN counts. The tensors stay pending. It needs the
/// memory and time of an unfused run: call it when a result is NaN, not in each step.
///
/// Each term of a pending sum is checked. If several owners share a mesh, all of them must call it,
/// and each sees the faults in the shards of its own devices.
///
///     if (const auto fault = first_nan(loss)) std::cout << fault.words;
///     // %7 = log %5 : f32[8@data] has NaN on device 1
///     //   %5 = - %3 %4 : f32[8@data]
template <Readable First, Readable... Rest>
[[nodiscard]] numeric_fault first_nan(const First& first, const Rest&... rest) {
  return detail::fault_of_nodes({first.share(), rest.share()...}, detail::wanted_fault::nan);
}
/// The same for the first NaN or infinity. Infinite constants of the program, as in masks, are not
/// faults, and neither are results that are infinite because an operand is.
template <Readable First, Readable... Rest>
[[nodiscard]] numeric_fault first_not_finite(const First& first, const Rest&... rest) {
  return detail::fault_of_nodes({first.share(), rest.share()...}, detail::wanted_fault::any);
}
/// The same for everything pending in a pool, such as the step that is being recorded.
///
///     step(pool, [&] {
///       learn(model, state, rate, x, y);
///       if (searching) std::cout << first_nan(pool).words;
///     });
[[nodiscard]] inline numeric_fault first_nan(const device_pool& pool) {
  return detail::fault_of_pool(*pool.state(), detail::wanted_fault::nan);
}
[[nodiscard]] inline numeric_fault first_not_finite(const device_pool& pool) {
  return detail::fault_of_pool(*pool.state(), detail::wanted_fault::any);
}
/// The same for a prepared program and its inputs. No input is donated.
///
///     auto fault = first_nan(ready, x, w, 0.1F);
template <ProgramInput... X>
[[nodiscard]] numeric_fault first_nan(const prepared_program& ready, const X&... inputs) {
  return detail::fault_of_inputs(ready, detail::wanted_fault::nan, inputs...);
}
template <ProgramInput... X>
[[nodiscard]] numeric_fault first_not_finite(const prepared_program& ready, const X&... inputs) {
  return detail::fault_of_inputs(ready, detail::wanted_fault::any, inputs...);
}

}  // namespace shardwise

#if !defined(SHARDWISE_COMPILED)
#include "shardwise/runtime/trace_nan_work.hpp"
#endif
