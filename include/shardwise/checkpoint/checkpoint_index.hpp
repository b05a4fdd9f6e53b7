// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/checkpoint/kept_checkpoints.hpp"
#include "shardwise/layout/shard.hpp"
#include "shardwise/layout/tensor_desc.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shardwise {

/// The bytes of a tensor in a file that one checksum covers, from the first byte of the piece on.
inline constexpr index_t checkpoint_chunk = 1_MiB;

/// A piece of a tensor in a file: the indices that it has, and the checksums of its chunks.
struct checkpoint_piece {
  held_box box{};
  index_t begin = 0;  ///< of its bytes, after the header of the file
  std::vector<std::uint64_t> checksums{};
};

/// A tensor of a checkpoint: its elements, extents, and the text of the layout that it had, which
/// is told to people and of no meaning to programs.
struct checkpoint_tensor {
  element type = element::f32;
  extents_desc extents{};
  std::string layout{};
  std::vector<checkpoint_piece> pieces{};
};

/// What one file of a checkpoint has: the pieces that one process wrote, by the names of their
/// tensors.
struct checkpoint_part {
  std::string file{};
  index_t header = 0;  ///< bytes before those of tensors
  std::uint64_t header_checksum = 0;
  index_t bytes = 0;  ///< of all tensors
  std::map<std::string, checkpoint_tensor> tensors{};
};

/// The index of a checkpoint, which is written last: the files, by the names of their own lists of
/// pieces, with the checksums of these lists, and the metadata of the program.
struct checkpoint_index {
  struct part {
    std::string list{};
    std::uint64_t checksum = 0;
  };
  std::vector<part> parts{};
  std::map<std::string, std::string> metadata{};
  /// Set by a manager.
  std::optional<managed_step> managed{};
};

/// The name of the file of the index.
inline constexpr std::string_view checkpoint_index_name = "checkpoint.json";

/// A part or an index that was read, or the reason why a text is none.
template <class T>
struct read_json {
  T value{};
  std::string reason{};

  [[nodiscard]] bool ok() const noexcept { return reason.empty(); }
};

/// Returns what a device holds as it is stored: a dimension whose indices are adjacent is a range,
/// whichever grain it was cut with.
[[nodiscard]] constexpr held_box stored_box(const held_box& held) noexcept {
  held_box box;
  for (const held_range& each : held) {
    const index_t count = each.size();
    const bool is_range = count == 0 || each.run(0) >= count;
    box.push_back(is_range ? held_range{{count == 0 ? 0 : each.global(0),
                                         count == 0 ? 0 : each.global(0) + count},
                                        {},
                                        0}
                           : each);
  }
  return box;
}
/// Returns the number of elements of a piece.
[[nodiscard]] constexpr index_t size_of_piece(const held_box& box) noexcept {
  return element_count(extents_of(box));
}

/// Reads the list of pieces of one file, or an index. Memory is allocated only in proportion to the
/// text. Sizes that do not fit each other are refused: a piece with other indices than its tensor
/// has, with another number of checksums than chunks, or beyond the end of its file.
[[nodiscard]] read_json<checkpoint_part> parse_checkpoint_part(std::string_view text);
[[nodiscard]] read_json<checkpoint_index> parse_checkpoint_index(std::string_view text);

/// Returns the text of a list or of an index; empty if a name or the metadata are not UTF-8.
[[nodiscard]] std::string write_checkpoint_part(const checkpoint_part& part);
[[nodiscard]] std::string write_checkpoint_index(const checkpoint_index& index);

/// Returns the checksum of bytes: XXH3, 64 bits.
[[nodiscard]] std::uint64_t checksum_of(const void* bytes, std::size_t count) noexcept;

}  // namespace shardwise

#if !defined(SHARDWISE_COMPILED_FILES)
#include "shardwise/checkpoint/checkpoint_index_work.hpp"
#endif
