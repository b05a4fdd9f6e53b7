// SPDX-License-Identifier: BSL-1.0
// NPY files: what can be loaded is read, and its header is written and read again.
#include "file_bytes.hpp"
#include <shardwise/io/npy_header.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fuzz;
  const file_bytes file = file_of(data, size);
  const parsed_npy_header read = parse_npy_header(file.bytes());
  fuzz::require(!read.ok() ||
                (read.header.first > 0 && read.header.first <= static_cast<index_t>(size) &&
                 read.header.first == npy_header_length(file.bytes())));
  try_out([&] {
    const file_array array = open_npy(file);
    fuzz::require(read.ok());
    read_all(array);
    if (!array.is_loadable()) return;
    const std::string words = write_npy_header(array.type, array.extents);
    const parsed_npy_header again = parse_npy_header(std::as_bytes(std::span(words)));
    fuzz::require(words.size() % 64 == 0 && again.ok());
    fuzz::require(again.header.type == array.type && again.header.other_type.empty());
    fuzz::require(std::equal(again.header.shape.begin(), again.header.shape.end(),
                             array.extents.begin(), array.extents.end()));
  });
  return 0;
}
