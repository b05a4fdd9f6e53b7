// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/export/instruction_export.hpp"
#include "shardwise/export/manual_regions.hpp"

#include <string>
#include <utility>
#include <vector>

namespace shardwise::internal {

/// Writes a program, or a body that it calls, as a function of MLIR.
class function_export {
 public:
  function_export(const program_view& program, export_state& state)
      : program_(program), state_(state), writer_(program, state, text_) {}

  /// Returns the function, with its name; others see only `main`.
  std::string write(const std::string& name) {
    std::string arguments, argument_types, argument_attributes;
    int count = 0;
    for (value_id i = 0; i < program_.count; ++i) {
      if (!is_input(program_.what(i))) continue;
      const mlir_value value{"%arg" + std::to_string(count++), writer_.type_of(i)};
      writer_.set(i, {value});
      const std::string_view separator = count > 1 ? ", " : "";
      arguments.append(separator).append(value.name + ": " + to_text(value.type));
      argument_types.append(separator).append(to_text(value.type));
      argument_attributes.append(separator).append(
          '{' + writer_.argument_attribute(program_.values[i]) + '}');
    }
    write_code();
    if (!state_.ok()) return {};
    mlir_values results;
    std::string result_types, result_attributes;
    for (std::int32_t r = 0; r < program_.result_count; ++r) {
      const value_id i = program_.results[r];
      results.push_back(writer_.value(i));
      const std::string_view separator = r > 0 ? ", " : "";
      result_types.append(separator).append(to_text(results.back().type));
      result_attributes.append(separator).append(
          '{' + writer_.argument_attribute(program_.values[i]) + '}');
    }
    text_.append("func.return", results, {}, {}, {});
    const bool is_list = results.size() != 1;
    return "  \"func.func\"() ({\n  ^bb0(" + arguments + "):\n" + text_.text() +
           "  }) {sym_name = \"" + name + "\", function_type = (" + argument_types + ") -> " +
           (is_list ? '(' + result_types + ')' : result_types) + ", arg_attrs = [" +
           argument_attributes + "], res_attrs = [" + result_attributes + ']' +
           (name == "main" ? "" : ", sym_visibility = \"private\"") + "} : () -> ()\n";
  }

 private:
  /// With the regions of Shardy, what is outside of regions and each region are written in turns,
  /// as soon as what they read has been written.
  void write_code() {
    if (!state_.attributes.is_sdy() || state_.is_per_device()) {
      for (value_id i = 0; i < program_.count && state_.ok(); ++i)
        if (!is_input(program_.what(i))) writer_.write(i);
      return;
    }
    manual_regions regions(program_, writer_, state_);
    while (state_.ok() && regions.write_outside()) {
      if (!regions.write_region()) break;
    }
  }

  const program_view& program_;
  export_state& state_;
  mlir_builder text_;
  instruction_export writer_;
};

}  // namespace shardwise::internal
