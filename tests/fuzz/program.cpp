// SPDX-License-Identifier: BSL-1.0
// Programs as JSON: what is read has legal layouts, and is written and read back equal.
#include "fuzz.hpp"
#include <shardwise/io/program_json.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fuzz;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const read_program read = parse_program(text);
  if (!read.ok()) {
    fuzz::require(read.made.view().count == 0);
    return 0;
  }
  const program_view program = read.made.view();
  fuzz::require(shardwise::validate(*program.mesh).ok());
  for (value_id i = 0; i < program.count; ++i) {
    for (const value_id o : program.code[i].operands) fuzz::require(o >= 0 && o < i);
    const tensor_desc& value = program.values[i];
    fuzz::require(shardwise::validate(*program.mesh, value.layout, value.extents).ok());
  }
  const read_program again = parse_program(program_to_json(program));
  fuzz::require(again.ok() && again.made.view() == program);
  return 0;
}
