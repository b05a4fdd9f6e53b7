// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/export/function_export.hpp"

#include <string>

namespace shardwise::internal {

/// Writes a program as a module of MLIR: its mesh, its function, and the bodies that it calls.
class program_export {
 public:
  program_export(const program_view& program, const export_options& options)
      : program_(program), state_{options, sharding_attributes(*program.mesh, options.shardings)} {}

  [[nodiscard]] exported_text write() {
    if (program_.mesh->devices() == dyn)
      return refused("the size of the mesh is known only at run time");
    const index_t devices = program_.mesh->devices();
    std::string out = "\"builtin.module\"() ({\n";
    if (state_.attributes.is_sdy() && !state_.is_per_device())
      out += "  \"sdy.mesh\"() {sym_name = \"mesh\", mesh = " + state_.attributes.mesh_text() +
             "} : () -> ()\n";
    out += function_export(program_, state_).write("main");
    for (std::int32_t k = 0; k < program_.body_count && state_.ok(); ++k) {
      const program_view body = program_.body(k);
      out += function_export(body, state_).write("body_" + std::to_string(k));
    }
    if (!state_.ok()) return refused(state_.refusal);
    out += "}) {mhlo.num_partitions = " + std::to_string(devices) +
           " : i32, mhlo.num_replicas = 1 : i32} : () -> ()\n";
    return {out, {}, {}};
  }

 private:
  [[nodiscard]] static exported_text refused(const std::string& why) {
    return {{}, {.rule = violation::program_has_no_text}, why};
  }

  const program_view& program_;
  export_state state_;
};

}  // namespace shardwise::internal
