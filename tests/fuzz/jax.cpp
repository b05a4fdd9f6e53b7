// SPDX-License-Identifier: BSL-1.0
// Types of tensors and partition specs.
#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fuzz;
  const text_view words(reinterpret_cast<const char*>(data), size);
  const mesh_desc mesh{{axis_desc{"x", 2}, axis_desc{"y", 4}, axis_desc{"model", 1}}};
  const read_layout spec = parse_partition_spec(words, mesh);
  require_sense(spec.verdict, words);
  if (spec.verdict.ok()) {
    string_out out;
    write_partition_spec(out, mesh, spec.layout);
    const read_layout again = parse_partition_spec(out.words, mesh);
    require(again.verdict.ok() && again.layout == spec.layout);
  }
  const read_tensor type = parse_type(words, mesh);
  require_sense(type.verdict, words);
  if (type.verdict.ok()) {
    string_out out;
    write_type(out, mesh, type.tensor);
    const read_tensor again = parse_type(out.words, mesh);
    require(again.verdict.ok() && again.tensor == type.tensor);
    const message_text own = to_text(mesh, type.tensor);
    require(parse_type(own, mesh).tensor == type.tensor);
  }
  return 0;
}
