// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/notation/hlo_sharding.hpp"

namespace shardwise {
namespace detail {

/// Sorts devices in place, in O(n log n) for every input.
constexpr void sort_devices(index_t* first, index_t count) noexcept {
  const auto sink = [first](index_t at, index_t end) {
    for (index_t child = 2 * at + 1; child < end; child = 2 * at + 1) {
      if (child + 1 < end && first[child] < first[child + 1]) ++child;
      if (first[at] >= first[child]) return;
      std::swap(first[at], first[child]);
      at = child;
    }
  };
  for (index_t i = count / 2 - 1; i >= 0; --i) sink(i, count);
  for (index_t end = count - 1; end > 0; --end) {
    std::swap(first[0], first[end]);
    sink(0, end);
  }
}

/// Returns the dimensions of a sharding in canonical order, by number: those of the tensor, then
/// the groups of more than one device, ordered by kind.
[[nodiscard]] constexpr inplace_vector<int, max_tile_dims> canonical_dims(
    const hlo_sharding& sharding) noexcept {
  inplace_vector<int, max_tile_dims> dims;
  for (int d = 0; d < sharding.rank(); ++d) dims.push_back(d);
  for (int kind = 0; kind < hlo_group_count; ++kind)
    for (int g = 0; g < sharding.groups.ssize(); ++g)
      if (static_cast<int>(sharding.groups[g]) == kind &&
          sharding.tiles.dims[sharding.rank() + g] > 1)
        dims.push_back(sharding.rank() + g);
  return dims;
}

/// Transposes the tiles of a list into `to`.
constexpr void transpose_tiles(const tile_assignment& from,
                               const inplace_vector<int, max_tile_dims>& dims,
                               index_t* to) noexcept {
  index_t stride[max_tile_dims]{};
  index_t below = 1;
  for (int d = from.dims.ssize() - 1; d >= 0; --d) {
    stride[d] = below;
    below *= from.dims[d];
  }
  for (index_t i = 0; i < below; ++i) {
    index_t rest = i;
    index_t source = 0;
    for (int k = dims.ssize() - 1; k >= 0; --k) {
      source += rest % from.dims[dims[k]] * stride[dims[k]];
      rest /= from.dims[dims[k]];
    }
    to[i] = from.at(source);
  }
}

}  // namespace detail

/// Returns the canonical form of a sharding, in which it is printed. Groups of one device are
/// removed, and groups of one kind merged, in the order manual, unreduced, replicated. Replicas
/// ascend and orders are canonical. Tiles that are the whole tensor become `{replicated}`,
/// `{manual}` or `{unreduced}`.
///
/// A list stays a list. An order becomes a list if sorting the replicas requires it, which fails if
/// the buffer has no room for the devices.
///
///     // {devices=[2,1]0,1 last_tile_dim_replicate} is {devices=[2]0,1}
[[nodiscard]] constexpr hlo_result canonical(const hlo_sharding& given,
                                             device_buffer& buffer) noexcept {
  hlo_result result{given};
  hlo_sharding& sharding = result.sharding;
  if (given.kind != hlo_kind::tiled) return result;
  const auto dims = detail::canonical_dims(given);

  tile_dims sizes;
  inplace_vector<hlo_group, max_tile_dims> groups;
  for (int d : dims) {
    const index_t size = given.tiles.dims[d];
    const int g = d - given.rank();
    if (g >= 0 && !groups.empty() && groups.back() == given.groups[g]) {
      const index_t joined = sizes.back() * size;
      sizes.pop_back();
      sizes.push_back(joined);
    } else {
      sizes.push_back(size);
      if (g >= 0) groups.push_back(given.groups[g]);
    }
  }
  sharding.tiles.dims = sizes;
  sharding.groups = groups;
  if (sharding.tile_total() == 1 && groups.size() <= 1) {
    constexpr hlo_kind whole[] = {hlo_kind::manual, hlo_kind::unreduced, hlo_kind::replicated};
    sharding = {
        .kind = groups.empty() ? hlo_kind::replicated : whole[static_cast<unsigned>(groups[0])],
        .tie = given.tie};
    return result;
  }

  bool transposed = false;
  for (int k = 1; k < dims.ssize(); ++k) transposed = transposed || dims[k] < dims[k - 1];
  const index_t replicas = sharding.replicas();
  if (!given.tiles.is_list()) {
    tile_digits digits = digits_of(given.tiles.order);
    const index_t tiles = sharding.tiles.count() / replicas;
    const tile_digits parts =
        cut_digits(digits, transposed ? given.tiles.dims : tile_dims{tiles, replicas});
    if (!parts.empty()) {
      digits.clear();
      if (transposed)
        for (int d : dims)
          for (const tile_digit& digit : parts)
            if (digit.dim == d) digits.push_back(digit);
      if (!transposed) digits = parts;
      index_t tail = 1;
      int begin = digits.ssize();
      while (tail < replicas) tail *= digits[--begin].size;
      sort_by_stride(digits, begin, digits.ssize());
      sharding.tiles.order = order_of(digits);
      return result;
    }
    if (replicas == 1 && !transposed) {
      sharding.tiles.order = canonical(given.tiles.order);
      return result;
    }
  }

  bool sorted = !transposed && given.tiles.is_list();
  for (index_t i = 1; sorted && i < given.tiles.count(); ++i)
    sorted = i % replicas == 0 || given.tiles.at(i - 1) < given.tiles.at(i);
  if (sorted) return result;
  const index_t count = given.tiles.count();
  index_t* const list = buffer.take(count);
  if (list == nullptr) {
    result.verdict = {0, "the buffer has room for every device"};
    return result;
  }
  detail::transpose_tiles(given.tiles, dims, list);
  for (index_t i = 0; replicas > 1 && i < count; i += replicas)
    detail::sort_devices(list + i, replicas);
  sharding.tiles.order = {};
  sharding.tiles.list = {list, count};
  return result;
}

}  // namespace shardwise
