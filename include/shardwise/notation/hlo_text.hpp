// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/notation/hlo_canonical.hpp"
#include "shardwise/notation/text_out.hpp"

namespace shardwise {
namespace detail {

/// Reads sizes up to a bracket: `2,1,4]`. Checks that their product is at most `max_tile_devices`.
[[nodiscard]] constexpr tile_dims read_tile_dims(text_reader& in) noexcept {
  tile_dims dims;
  index_t count = 1;
  in.expect('[', "sizes begin with [");
  do {
    const std::size_t begin = in.here();
    const index_t size = in.number(max_tile_devices, "a size is a number up to 2^30");
    if (in.ok() && size < 1) in.fail_at(begin, "a size is at least 1");
    if (in.ok() && count > max_tile_devices / size)
      in.fail_at(begin, "there are at most 2^30 devices");
    if (in.ok() && dims.full()) in.fail_at(begin, "there are at most 16 sizes");
    if (!in.ok()) return {};
    count *= size;
    dims.push_back(size);
  } while (in.accept(','));
  in.expect(']', "sizes end with ]");
  return dims;
}

/// Reads what follows `<=`: `[8,4]T(1,0)`, an order of `count` devices.
[[nodiscard]] constexpr iota_order read_order(text_reader& in, index_t count) noexcept {
  iota_order order;
  const std::size_t begin = in.here();
  order.sizes = read_tile_dims(in);
  if (in.ok() && order.count() != count) in.fail_at(begin, "an order has as many devices as tiles");
  if (in.accept('T')) {
    in.expect('(', "a transposition reads T(1,0)");
    do {
      const std::size_t at = in.here();
      const index_t d = in.number(max_tile_dims, "a transposition names dimensions");
      const auto dim = static_cast<std::uint8_t>(d);
      if (in.ok() && (d >= order.sizes.ssize() || order.order.contains(dim)))
        in.fail_at(at, "a transposition names each dimension once");
      if (in.ok()) order.order.push_back(dim);
    } while (in.accept(','));
    in.expect(')', "a transposition reads T(1,0)");
    if (in.ok() && order.order.size() != order.sizes.size())
      in.fail("a transposition names each dimension once");
  } else {
    for (std::size_t d = 0; d < order.sizes.size(); ++d)
      order.order.push_back(static_cast<std::uint8_t>(d));
  }
  return in.ok() ? order : iota_order{};
}

/// Fails unless `list` is a permutation of 0 to `count` - 1.
constexpr void expect_each_once(text_reader& in, index_t* list, index_t count,
                                text_view reason) noexcept {
  // Numbers already seen are marked in place, which needs no further memory.
  for (index_t i = 0; in.ok() && i < count; ++i) {
    const index_t device = list[i] < 0 ? ~list[i] : list[i];
    if (list[device] < 0) in.fail(reason);
    list[device] = ~list[device];
  }
  for (index_t i = 0; in.ok() && i < count; ++i) list[i] = ~list[i];
}

/// Reads `count` devices, a permutation of 0 to `count` - 1, into `list`.
constexpr void read_devices(text_reader& in, index_t* list, index_t count) noexcept {
  for (index_t i = 0; in.ok() && i < count; ++i) {
    if (i > 0) in.expect(',', "every tile has a device");
    list[i] = in.number(count - 1, "a device is a number below the number of tiles");
  }
  expect_each_once(in, list, count, "a device has one tile");
}

/// Reads the groups of the last dimensions, if any.
constexpr void read_groups(text_reader& in, hlo_sharding& sharding) noexcept {
  if (in.accept("last_tile_dim_replicate")) {
    sharding.groups.push_back(hlo_group::replicated);
  } else if (in.accept("last_tile_dims=")) {
    in.expect('{', "groups read {manual, replicated}");
    do {
      const std::size_t at = in.here();
      const text_view word = in.word();
      int kind = 0;
      while (kind < hlo_group_count && !(to_text(static_cast<hlo_group>(kind)) == word)) ++kind;
      if (kind == hlo_group_count) in.fail_at(at, "a group is manual, unreduced or replicated");
      if (in.ok() && sharding.groups.full()) in.fail_at(at, "a group has a dimension");
      if (in.ok()) sharding.groups.push_back(static_cast<hlo_group>(kind));
    } while (in.accept(','));
    in.expect('}', "groups read {manual, replicated}");
  }
  if (in.ok() && sharding.groups.size() > sharding.tiles.dims.size())
    in.fail("a group has a dimension");
}

/// Sorts the devices of each replicated group in place, if no transposition is needed.
constexpr void sort_replicas(hlo_sharding& sharding, index_t* list) noexcept {
  index_t replicas = 1;
  int g = sharding.groups.ssize() - 1;
  for (; g >= 0 && sharding.groups[g] == hlo_group::replicated; --g)
    replicas *= sharding.tiles.dims[sharding.rank() + g];
  for (; g >= 0; --g)
    if (sharding.groups[g] == hlo_group::replicated) return;
  for (index_t i = 0; replicas > 1 && i < sharding.tiles.count(); i += replicas)
    sort_devices(list + i, replicas);
}

/// Skips `metadata={...}`.
constexpr void skip_metadata(text_reader& in) noexcept {
  if (!in.accept("metadata=")) return;
  in.expect('{', "metadata is in braces");
  for (int depth = 1; in.ok() && depth > 0;) {
    if (in.skip_quoted()) continue;
    const char c = in.peek();
    if (c == '{') ++depth;
    if (c == '}') --depth;
    if (c == '\0' || !in.accept(c)) in.fail("metadata is in braces");
  }
}

constexpr void read_tie(text_reader& in, hlo_tie& tie) noexcept {
  if (in.accept("shard_as")) {
    tie.kind = hlo_tie::as;
  } else if (in.accept("shard_like")) {
    tie.kind = hlo_tie::like;
  }
  if (tie.kind != hlo_tie::untied)
    tie.number = in.number(max_tile_devices, "a shard group has a number");
}

/// Writes numbers in brackets: `[2,1,4]`.
template <TextSink Out, class List>
constexpr void write_numbers(Out& out, char separator, const List& items, char close) {
  for (const auto& item : items) {
    out << separator << static_cast<index_t>(item);
    separator = ',';
  }
  out << close;
}

/// Writes an order of devices: `[8]`, `[2,4]T(1,0)`.
template <TextSink Out>
constexpr void write_order(Out& out, const iota_order& order) {
  write_numbers(out, '[', order.sizes, ']');
  if (order.order.size() < 2) return;
  out << 'T';
  write_numbers(out, '(', order.order, ')');
}

}  // namespace detail

/// Reads the sharding of one tensor with listed devices or an order of them; the result is
/// canonical. The buffer must have room for the devices of a list. Metadata is discarded.
///
///     parse_hlo("{devices=[4,8]<=[8,4]T(1,0)}", devices).sharding.tiles.at(1);   // 4
[[nodiscard]] constexpr hlo_result parse_hlo(text_view words, device_buffer& buffer) noexcept {
  text_reader in(words);
  hlo_sharding sharding;
  const index_t room = buffer.room();
  index_t* list = nullptr;
  in.expect('{', "a sharding begins with {");
  if (in.accept("replicated")) {
    sharding.kind = hlo_kind::replicated;
  } else if (in.accept("manual")) {
    sharding.kind = hlo_kind::manual;
  } else if (in.accept("unknown")) {
    sharding.kind = hlo_kind::unknown;
  } else if (in.accept("unreduced")) {
    sharding.kind = hlo_kind::unreduced;
  } else if (in.accept("maximal")) {
    sharding.kind = hlo_kind::maximal;
    in.expect("device=", "a maximal sharding has a device");
    sharding.device = in.number(max_tile_devices, "a maximal sharding has a device");
  } else if (in.expect("devices=",
                       "a sharding is replicated, maximal, manual, unknown, unreduced "
                       "or has devices")) {
    sharding.kind = hlo_kind::tiled;
    sharding.tiles.dims = detail::read_tile_dims(in);
    const index_t count = sharding.tiles.count();
    if (in.accept("<=")) {
      sharding.tiles.order = detail::read_order(in, count);
    } else if (in.ok()) {
      list = buffer.take(count);
      if (list == nullptr) in.fail("the buffer has room for every device");
      if (list != nullptr) detail::read_devices(in, list, count);
      if (in.ok()) sharding.tiles.list = {list, count};
    }
    detail::read_groups(in, sharding);
    if (in.ok() && list != nullptr) detail::sort_replicas(sharding, list);
  }
  // Before the tie, or behind it, as XLA prints it.
  detail::skip_metadata(in);
  detail::read_tie(in, sharding.tie);
  detail::skip_metadata(in);
  in.expect('}', "a sharding ends with }");
  hlo_result result{{}, in.finish()};
  if (result.verdict.ok()) result = canonical(sharding, buffer);
  if (!result.verdict.ok()) {
    result.sharding = {};
    buffer.give_back(room - buffer.room());
  }
  return result;
}

/// How the devices of tiles are written: orders as orders, or every device by its number.
enum class hlo_devices : bool { as_they_are, listed };

/// Writes a sharding without changing its form: a list of devices as a list, and an order as an
/// order unless a list is requested.
template <TextSink Out>
constexpr Out& write_hlo(Out& sink, const hlo_sharding& sharding,
                         hlo_devices form = hlo_devices::as_they_are) {
  internal::text_out<Out> out(sink);
  constexpr text_view words[] = {
      "replicated", "maximal device=", "devices=", "manual", "unknown", "unreduced"};
  out << '{' << words[static_cast<unsigned>(sharding.kind)];
  if (sharding.kind == hlo_kind::maximal) out << sharding.device;
  if (sharding.kind == hlo_kind::tiled) {
    detail::write_numbers(out, '[', sharding.tiles.dims, ']');
    const bool is_listed = sharding.tiles.is_list() || form == hlo_devices::listed;
    if (!is_listed) {
      out << "<=";
      detail::write_order(out, sharding.tiles.order);
    }
    for (index_t i = 0; is_listed && i < sharding.tiles.count(); ++i) {
      if (i > 0) out << ',';
      out << sharding.tiles.at(i);
    }
    if (sharding.groups.size() == 1 && sharding.groups[0] == hlo_group::replicated) {
      out << " last_tile_dim_replicate";
    } else if (!sharding.groups.empty()) {
      text_view separator = " last_tile_dims={";
      for (hlo_group group : sharding.groups) {
        out << separator << to_text(group);
        separator = ", ";
      }
      out << '}';
    }
  }
  if (sharding.tie.kind != hlo_tie::untied)
    out << (sharding.tie.kind == hlo_tie::as ? text_view(" shard_as ") : text_view(" shard_like "))
        << sharding.tie.number;
  out << '}';
  return sink;
}

}  // namespace shardwise
