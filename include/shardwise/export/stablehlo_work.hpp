// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/core/error.hpp"
#include "shardwise/export/program_export.hpp"
#include "shardwise/export/stablehlo.hpp"

namespace shardwise {

SHARDWISE_INLINE exported_text export_stablehlo(const program_view& program,
                                                const export_options& options) {
  return internal::program_export(program, options).write();
}

SHARDWISE_INLINE std::string to_stablehlo(const program_view& program,
                                          const export_options& options) {
  exported_text made = export_stablehlo(program, options);
  if (!made.ok()) fail(made.verdict, {made.advice.data(), made.advice.size()});
  return std::move(made.text);
}

SHARDWISE_INLINE std::string to_shardy(const program_view& program) {
  return to_stablehlo(program, {.shardings = sharding_form::sdy});
}

}  // namespace shardwise
