// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/export/sharding_attribute.hpp"
#include "shardwise/plan/program.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace shardwise {

/// What the shapes of an exported program are: those of whole tensors, or of what one device holds.
enum class export_form : std::uint8_t {
  /// Shapes are global, and a reshard is a request. Collectives stand only in manual regions.
  global,
  /// Shapes are local, and reshards are collectives with groups of devices.
  per_device,
};

/// How a program is written.
struct export_options {
  export_form form = export_form::global;
  sharding_form shardings = sharding_form::hlo;
};

/// A program as text, or the rule that it breaks; `advice` names the instruction and says why.
struct exported_text {
  std::string text{};
  diagnosis verdict{};
  std::string advice{};

  [[nodiscard]] bool ok() const noexcept { return verdict.ok(); }
};

/// Writes a program in the generic form of MLIR, with operations of StableHLO. Inputs are the
/// arguments of `@main`, in their order; an input that nothing reads stays.
///
/// The verdict is `program_has_no_text` if an extent or the mesh is known only at run time, if a
/// layout cannot be written (it is cyclic, strided or has a halo), or if an operation is not one of
/// the library.
[[nodiscard]] exported_text export_stablehlo(const program_view& program,
                                             const export_options& options = {});

/// Returns a program as StableHLO; see `export_stablehlo`. Fails with its verdict.
///
///     std::cout << to_stablehlo(trace_program(layer, abstract<X>(), abstract<W>()));
[[nodiscard]] std::string to_stablehlo(const program_view& program,
                                       const export_options& options = {});
template <std::size_t Capacity>
[[nodiscard]] std::string to_stablehlo(const traced_program<Capacity>& recorded,
                                       const export_options& options = {}) {
  return to_stablehlo(recorded.view(), options);
}

/// Returns a program as StableHLO with the mesh and the shardings of Shardy: reshards are
/// `sdy.reshard`, marks are `sdy.sharding_constraint`, and manual regions are
/// `sdy.manual_computation`.
///
///     std::ofstream("layer.mlir") << to_shardy(program);
[[nodiscard]] std::string to_shardy(const program_view& program);
template <std::size_t Capacity>
[[nodiscard]] std::string to_shardy(const traced_program<Capacity>& recorded) {
  return to_shardy(recorded.view());
}

}  // namespace shardwise

#if !defined(SHARDWISE_COMPILED)
#include "shardwise/export/stablehlo_work.hpp"
#endif
