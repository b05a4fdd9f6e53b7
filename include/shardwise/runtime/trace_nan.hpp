// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/plan/listing.hpp"
#include "shardwise/runtime/replay.hpp"
#include "shardwise/runtime/sync.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace shardwise {

/// What `first_nan` and `first_not_finite` find: the instruction of a program that made of operands
/// without a fault a result with one. False where there is none.
struct numeric_fault {
  /// The number of the instruction in the program, or -1.
  std::int32_t instruction = -1;
  /// True for NaN, false for an infinity.
  bool is_nan = false;
  /// A device that has it.
  index_t device = -1;
  /// The instruction and its operands, one a line, as `write_instructions` writes them.
  std::string words{};

  [[nodiscard]] explicit operator bool() const noexcept { return instruction >= 0; }
};

namespace detail {

/// What faults are looked for.
enum class wanted_fault : std::uint8_t { nan, any };

/// The first fault of the program of these nodes, which are not computed by it.
[[nodiscard]] numeric_fault fault_of_nodes(const std::vector<node_ptr>& named, wanted_fault wanted);
/// The same of everything that is pending in a pool and that somebody has a name for.
[[nodiscard]] numeric_fault fault_of_pool(machine& home, wanted_fault wanted);
/// The same of a program that is ready, on checked inputs.
[[nodiscard]] numeric_fault fault_of_run(const prepared_program& ready,
                                         std::vector<program_input> inputs, wanted_fault wanted);

template <class... X>
[[nodiscard]] numeric_fault fault_of_inputs(const prepared_program& ready, wanted_fault wanted,
                                            const X&... inputs) {
  std::vector<program_input> given;
  given.reserve(sizeof...(X));
  (given.push_back(input_from(inputs)), ...);
  ready.check(given);
  return fault_of_run(ready, std::move(given), wanted);
}

}  // namespace detail

/// Where the first NaN of tensors that are pending comes from. Runs what computing them would run,
/// instruction by instruction instead of in fused passes, and stops at the first whose result has a
/// NaN while none of its operands has; an input that has one is such an instruction. The tensors
/// stay pending. It takes the memory and the time of a run without fusion: ask it when a result is
/// NaN, and not in each step.
///
/// Pending sums are looked at term by term. Where several owners share a mesh, all of them ask, and
/// each is told of what is in the shards of its own devices.
///
///     if (const auto fault = first_nan(loss)) std::cout << fault.words;
///     // %7 = log %5 : f32[8@data] has NaN on device 1
///     //   %5 = - %3 %4 : f32[8@data]
template <Readable First, Readable... Rest>
[[nodiscard]] numeric_fault first_nan(const First& first, const Rest&... rest) {
  return detail::fault_of_nodes({first.share(), rest.share()...}, detail::wanted_fault::nan);
}
/// The same for the first NaN or infinity. Infinities that the program writes as numbers, as masks
/// do, are none of its faults, and neither is what is infinite because an operand was.
template <Readable First, Readable... Rest>
[[nodiscard]] numeric_fault first_not_finite(const First& first, const Rest&... rest) {
  return detail::fault_of_nodes({first.share(), rest.share()...}, detail::wanted_fault::any);
}
/// The same of everything that is pending in a pool: the program of the step that is being written.
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
/// The same of a run of a program that is ready. Nothing is given up.
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
