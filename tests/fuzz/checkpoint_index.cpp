// SPDX-License-Identifier: BSL-1.0
// Lists of pieces and indices of checkpoints: what is read is written back as text that reads
// equal, names only files beside it, and its pieces are within their tensors and their file.
#include "fuzz.hpp"
#include <shardwise/checkpoint/checkpoint_index.hpp>
#include <shardwise/checkpoint/piece_overlap.hpp>

#include <string>
#include <string_view>

namespace {

using namespace fuzz;

bool is_plain(const std::string& file) {
  return !file.empty() && file != "." && file != ".." && file.find('/') == std::string::npos &&
         file.find('\0') == std::string::npos;
}

void try_part(std::string_view text) {
  const read_json<checkpoint_part> read = parse_checkpoint_part(text);
  if (!read.ok()) {
    require(read.value.tensors.empty() && read.value.file.empty());
    return;
  }
  require(is_plain(read.value.file));
  for (const auto& [name, tensor] : read.value.tensors)
    for (const checkpoint_piece& piece : tensor.pieces) {
      require(piece.box.ssize() == tensor.extents.ssize());
      for (int d = 0; d < piece.box.ssize(); ++d) {
        const held_range& held = piece.box[d];
        require(held.size() > 0 && held.size() <= tensor.extents[d]);
        require(held.global(0) >= 0);
        require(held.global(0) <= held.global(held.size() - 1));
        require(held.global(held.size() - 1) < tensor.extents[d]);
      }
      const index_t bytes = size_of_piece(piece.box) * size_of(tensor.type);
      require(piece.begin >= 0 && bytes > 0 && piece.begin <= read.value.bytes - bytes);
      require(static_cast<index_t>(piece.checksums.size()) == ceil_div(bytes, checkpoint_chunk));
    }
  // What is written reads equal: its text is the same again.
  const std::string written = write_checkpoint_part(read.value);
  const read_json<checkpoint_part> again = parse_checkpoint_part(written);
  require(!written.empty() && again.ok());
  require(write_checkpoint_part(again.value) == written);
}

void try_index(std::string_view text) {
  const read_json<checkpoint_index> read = parse_checkpoint_index(text);
  if (!read.ok()) {
    require(read.value.parts.empty() && read.value.metadata.empty());
    return;
  }
  for (const checkpoint_index::part& part : read.value.parts) require(is_plain(part.list));
  const std::string written = write_checkpoint_index(read.value);
  const read_json<checkpoint_index> again = parse_checkpoint_index(written);
  require(!written.empty() && again.ok());
  require(again.value.metadata == read.value.metadata);
  require(write_checkpoint_index(again.value) == written);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try_part(text);
  try_index(text);
  // An index ends with a checksum, which no change to a text would meet.
  try_index(std::string(text) + shardwise::detail::end_of_index(text));
  return 0;
}
