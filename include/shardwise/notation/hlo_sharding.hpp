// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/notation/tile_digits.hpp"

namespace shardwise {

/// The kind of an HLO sharding. `unreduced`: every device holds a term of a sum.
enum class hlo_kind : std::uint8_t { replicated, maximal, tiled, manual, unknown, unreduced };

/// What the devices that share a tile have in common, in canonical order: manual code, terms of one
/// sum, or the same elements.
enum class hlo_group : std::uint8_t { manual, unreduced, replicated };

/// The number of kinds of groups.
inline constexpr int hlo_group_count = 3;

/// Returns the name of a kind of group.
[[nodiscard]] constexpr text_view to_text(hlo_group group) noexcept {
  constexpr text_view words[] = {"manual", "unreduced", "replicated"};
  return words[static_cast<unsigned>(group)];
}

/// Whether a sharding is tied to others with the same number: equal shardings (`shard_as`) or
/// compatible ones (`shard_like`).
struct hlo_tie {
  enum kind_t : std::uint8_t { untied, as, like } kind = untied;
  index_t number = 0;

  friend constexpr bool operator==(const hlo_tie&, const hlo_tie&) = default;
};

/// A sharding as in HLO: which tile of a tensor each device holds.
///
/// `tiles.dims` has the dimensions of the tensor and then one for each of `groups`, the devices
/// that share a tile. A list of devices is borrowed from the buffer into which it was read.
struct hlo_sharding {
  hlo_kind kind = hlo_kind::replicated;
  tile_assignment tiles{};
  inplace_vector<hlo_group, max_tile_dims> groups{};
  index_t device = 0;  ///< where a maximal sharding puts the whole tensor
  hlo_tie tie{};

  /// Returns the rank of the tensor, or 0 if the sharding does not tell.
  [[nodiscard]] constexpr int rank() const noexcept { return tiles.dims.ssize() - groups.ssize(); }
  /// Returns the number of tiles of the tensor.
  [[nodiscard]] constexpr index_t tile_total() const noexcept {
    index_t n = 1;
    for (int d = 0; d < rank(); ++d) n *= tiles.dims[d];
    return n;
  }
  /// Returns the number of devices that share a tile, over all groups.
  [[nodiscard]] constexpr index_t group_size() const noexcept {
    return tiles.count() / tile_total();
  }
  /// Returns the number of replicas: the size of the last group if that is a replicated one.
  [[nodiscard]] constexpr index_t replicas() const noexcept {
    const bool last = !groups.empty() && groups.back() == hlo_group::replicated;
    return last ? tiles.dims.back() : 1;
  }
};

/// The numbers by which PyTorch/XLA identifies kinds of sharding.
enum class sharding_type : std::uint8_t {
  replicated = 0,
  maximal = 1,
  tuple = 2,
  tiled = 3,
  manual = 4,
  partial = 5,
  unknown = 6,
};

/// Returns the type of a sharding: tiled if every device has its own tile, partial if some share
/// one.
[[nodiscard]] constexpr sharding_type type_of(const hlo_sharding& sharding) noexcept {
  switch (sharding.kind) {
    case hlo_kind::replicated:
      return sharding_type::replicated;
    case hlo_kind::maximal:
      return sharding_type::maximal;
    case hlo_kind::manual:
      return sharding_type::manual;
    case hlo_kind::tiled:
      return sharding.groups.empty() ? sharding_type::tiled : sharding_type::partial;
    default:
      return sharding_type::unknown;
  }
}

/// A sharding, or the reason why there is none.
struct hlo_result {
  hlo_sharding sharding{};
  parse_verdict verdict{};
};

/// Returns tiles of these dimensions with devices in an order.
[[nodiscard]] constexpr hlo_sharding iota_tiles(const tile_dims& dims,
                                                const iota_order& order) noexcept {
  return {.kind = hlo_kind::tiled, .tiles = {.dims = dims, .order = order}};
}

/// Returns tiles of these dimensions with listed devices.
[[nodiscard]] constexpr hlo_sharding list_tiles(const tile_dims& dims, device_view list) noexcept {
  return {.kind = hlo_kind::tiled, .tiles = {.dims = dims, .list = list}};
}

/// True if both place every element on the same devices, however they are written. Groups are
/// compared as sets for replicas and as sequences otherwise. Ties are ignored.
///
///     // {devices=[2,2]0,2,1,3} and {devices=[2,2]<=[2,2]T(1,0)}
[[nodiscard]] constexpr bool same_placement(const hlo_sharding& a, const hlo_sharding& b) noexcept {
  if (a.kind != b.kind) return false;
  if (a.kind == hlo_kind::maximal) return a.device == b.device;
  if (a.kind != hlo_kind::tiled) return true;
  if (!(a.tiles.dims == b.tiles.dims && a.groups == b.groups)) return false;
  if (!a.tiles.is_list() && !b.tiles.is_list() && a.tiles.order == b.tiles.order) return true;
  const index_t replicas = a.replicas();
  for (index_t first = 0; first < a.tiles.count(); first += replicas) {
    bool same = true;
    for (index_t i = first; same && i < first + replicas; ++i)
      same = a.tiles.at(i) == b.tiles.at(i);
    if (same) continue;
    for (index_t i = first; i < first + replicas; ++i) {  // as sets
      index_t k = first;
      while (k < first + replicas && a.tiles.at(i) != b.tiles.at(k)) ++k;
      if (k == first + replicas) return false;
    }
  }
  return true;
}

/// Returns the sharding with its devices as a list; fails if the buffer is too small.
[[nodiscard]] constexpr hlo_result to_list(const hlo_sharding& sharding,
                                           device_buffer& buffer) noexcept {
  hlo_result result{sharding};
  if (sharding.kind != hlo_kind::tiled || sharding.tiles.is_list()) return result;
  const index_t count = sharding.tiles.count();
  index_t* const list = buffer.take(count);
  if (list == nullptr) {
    result.verdict = {0, "the buffer has room for every device"};
    return result;
  }
  for (index_t i = 0; i < count; ++i) list[i] = sharding.tiles.order.at(i);
  result.sharding.tiles.order = {};
  result.sharding.tiles.list = {list, count};
  return result;
}

/// Returns the sharding with its devices as an order if they follow one, else unchanged.
[[nodiscard]] constexpr hlo_sharding to_iota(const hlo_sharding& sharding) noexcept {
  hlo_sharding result = sharding;
  if (sharding.kind != hlo_kind::tiled || !sharding.tiles.is_list()) return result;
  const iota_order order = find_order(sharding.tiles.list);
  if (order.sizes.empty()) return result;
  result.tiles.order = order;
  result.tiles.list = {};
  return result;
}

}  // namespace shardwise
