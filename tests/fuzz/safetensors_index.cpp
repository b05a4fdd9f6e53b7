// SPDX-License-Identifier: BSL-1.0
// Indices of directories of safetensors files: a parsed index is written back unchanged, and names
// only files beside it.
#include "fuzz.hpp"
#include <shardwise/io/safetensors_index.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fuzz;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const read_index read = parse_safetensors_index(text);
  if (!read.ok()) {
    fuzz::require(read.index.weight_map.empty() && read.index.metadata.empty());
    return 0;
  }
  for (const auto& [name, file] : read.index.weight_map)
    fuzz::require(!file.empty() && file != "." && file != ".." &&
                  file.find('/') == std::string::npos && file.find('\0') == std::string::npos);
  const std::string written = write_safetensors_index(read.index);
  const read_index again = parse_safetensors_index(written);
  fuzz::require(!written.empty() && again.ok());
  fuzz::require(again.index.weight_map == read.index.weight_map);
  fuzz::require(again.index.metadata == read.index.metadata);
  return 0;
}
