// SPDX-License-Identifier: BSL-1.0
// What `shardwise inspect` answers, before it is text or JSON.
#pragma once

#include "cpp_text.hpp"
#include <shardwise/notation/op_sharding.hpp>

#include <numeric>

namespace tool {

/// A sharding in one notation, or why that notation cannot say it.
struct notation_words {
  std::string_view label;
  known<std::string> words;
};

/// What `inspect` answers.
struct inspection {
  sharding_type type = sharding_type::unknown;
  /// Why there are no type, no tiles and no groups; nothing where there are.
  std::string why_no_tiles{};
  /// Tiles along each dimension, where the rank is known.
  std::optional<tile_dims> dims{};
  /// The device of each tile, replicas side by side, where it is known which there are; without
  /// tiles the devices in the order of the mesh.
  std::optional<std::vector<index_t>> devices{};
  /// Of a partial sharding: how many devices hold the same, and how the groups of them lie.
  index_t replicas = 1;
  tile_dims groups{};
  std::vector<notation_words> notations{};
  known<std::string> cpp{};
  /// The mesh as a text, where there is one.
  std::string mesh_text{};
  /// The notation of a text in any notation, and requests for what else it could be.
  std::string notation{};
  std::vector<std::pair<std::string, request>> others{};
  std::optional<extents_desc> shape{};
  /// Who holds what: its positions are those of `devices`.
  hlo_sharding tiles{};
  /// Who holds what of which indices, where tiles do not say it: the positions are those of the
  /// mesh, `places` has that of each device.
  std::optional<mesh_cut> cut{};
  mesh_desc mesh{};
  std::vector<index_t> places{};
  std::vector<inspection> elements{};  ///< of a tuple

  /// The sharding in the notation of this name, which is one of `notations`.
  [[nodiscard]] const known<std::string>* words(std::string_view label) const {
    for (const notation_words& one : notations)
      if (one.label == label) return &one.words;
    return nullptr;
  }
  [[nodiscard]] bool is_tuple() const noexcept { return type == sharding_type::tuple; }
  [[nodiscard]] bool is_partial() const noexcept { return type == sharding_type::partial; }
  [[nodiscard]] bool has_tiles() const noexcept { return why_no_tiles.empty(); }
  /// What the device at a position of the list holds.
  [[nodiscard]] device_shard shard(std::size_t position, piece_room& room) const {
    device_shard found;
    found.device = (*devices)[position];
    if (has_tiles()) {
      const bool tiled = tiles.kind == hlo_kind::tiled;
      const hlo_shard shard =
          shard_at(tiles, *shape, tiled ? static_cast<index_t>(position) : found.device);
      found.replica = shard.replica;
      if (!cut)
        for (const index_range& range : shard.part) found.index.push_back({range});
    }
    if (!cut) return found;
    const index_t place =
        places.empty() ? found.device : places[static_cast<std::size_t>(found.device)];
    for (int d = 0; d < shape->ssize(); ++d)
      found.index.push_back(cut->runs(mesh, d, (*shape)[d], place, room));
    if (!has_tiles()) found.replica = cut->replica(mesh, place);
    return found;
  }
  /// The positions in the order of the devices' numbers.
  [[nodiscard]] std::vector<std::size_t> by_device() const {
    std::vector<std::size_t> order(devices->size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return (*devices)[a] < (*devices)[b]; });
    return order;
  }
};

/// The documented name of a type.
[[nodiscard]] inline std::string_view to_word(sharding_type type) noexcept {
  constexpr std::string_view words[] = {"REPLICATED", "MAXIMAL", "TUPLE",  "TILED",
                                        "MANUAL",     "PARTIAL", "UNKNOWN"};
  return words[static_cast<unsigned>(type)];
}

}  // namespace tool
