// SPDX-License-Identifier: BSL-1.0
// Headers of safetensors files: a parsed header is written back unchanged.
#include "fuzz.hpp"
#include <shardwise/io/safetensors_header.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fuzz;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const read_header read = parse_safetensors_header(text);
  if (!read.ok()) {
    fuzz::require(read.header.tensors.empty() && read.header.metadata.empty());
    return 0;
  }
  index_t end = 0;
  for (const stored_tensor& one : read.header.tensors) {
    fuzz::require(one.begin == end && one.bytes() >= 0);
    fuzz::require(read.header.find(one.name) != nullptr);
    end += one.bytes();
  }
  const std::string written = write_safetensors_header(read.header);
  const read_header again = parse_safetensors_header(std::string_view(written).substr(8));
  fuzz::require(written.size() % 8 == 0 && again.ok());
  fuzz::require(again.header.tensors.size() == read.header.tensors.size());
  fuzz::require(again.header.metadata == read.header.metadata);
  for (const stored_tensor& one : read.header.tensors) {
    const stored_tensor* const same = again.header.find(one.name);
    fuzz::require(same != nullptr && same->type == one.type && same->extents == one.extents &&
                  same->begin == one.begin && same->bytes() == one.bytes() &&
                  same->other_type == one.other_type && same->other_shape == one.other_shape);
  }
  return 0;
}
