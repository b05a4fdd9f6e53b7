// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/notation/dtensor.hpp"
#include "shardwise/notation/jax_spec.hpp"

namespace shardwise {
namespace detail {

/// Reads a number that may be negative, optionally after `label=`.
[[nodiscard]] constexpr index_t read_argument(text_reader& in, text_view label,
                                              text_view reason) noexcept {
  if (in.accept(label)) in.expect('=', reason);
  const bool negative = in.accept('-');
  const index_t value = in.number(max_tile_devices, reason);
  return negative ? -value : value;
}

[[nodiscard]] constexpr dtensor_placement read_placement(text_reader& in) noexcept {
  dtensor_placement one;
  constexpr text_view shard = "a shard reads S(0) or S(0)[1]";
  constexpr text_view strided = "a strided shard reads SS(0,2)";
  if (in.accept("Replicate")) {
    in.expect('(', "a replica reads R or Replicate()");
    in.expect(')', "a replica reads R or Replicate()");
  } else if (in.accept("SS") || in.accept("_StridedShard") || in.accept("_S")) {
    one.kind = dtensor_placement::strided;
    in.expect('(', strided);
    one.dim = static_cast<int>(read_argument(in, "dim", strided));
    in.expect(',', strided);
    if (in.accept("split_factor") || in.accept("sf")) in.expect('=', strided);
    one.factor = in.number(max_tile_devices, strided);
    if (in.ok() && one.factor < 1) in.fail("the factor of a strided shard is at least 1");
    in.expect(')', strided);
    if (one.factor == 1) one.kind = dtensor_placement::shard;
  } else if (in.accept("Shard") || in.accept("S")) {
    one.kind = dtensor_placement::shard;
    in.expect('(', shard);
    one.dim = static_cast<int>(read_argument(in, "dim", shard));
    in.expect(')', shard);
    if (in.accept('[')) {
      one.place = static_cast<int>(in.number(max_axes - 1, shard));
      in.expect(']', shard);
    }
  } else if (in.accept("Partial") || in.accept("P")) {
    one.kind = dtensor_placement::partial;
    if (in.accept('(') && !in.accept(')')) {
      one.op = read_reduction(in);
      in.expect(')', "a pending reduction reads P or P(sum)");
    }
  } else if (!in.accept('R')) {
    in.fail("a placement is R, S(0), SS(0,2) or P(sum)");
  }
  return one;
}

}  // namespace detail

/// Reads placements, one for each axis of a mesh: `S(0) R P(sum)`, with or without commas and
/// brackets, and also `Shard(dim=0)`, `_S(0, 2)`, `_StridedShard(dim=0, sf=2)`, `Replicate()`,
/// `Partial(sum)`.
///
///     parse_placements("SS(0,2), S(0)").placements[0].factor;                    // 2
[[nodiscard]] constexpr read_placements parse_placements(text_view words) noexcept {
  read_placements result;
  text_reader in(words);
  const char close = in.accept('[') ? ']' : in.accept('(') ? ')' : '\0';
  while (in.ok() && in.peek() != '\0' && in.peek() != close) {
    if (result.placements.full()) in.fail("a mesh has at most 7 axes");
    const dtensor_placement one = detail::read_placement(in);
    if (in.ok()) result.placements.push_back(one);
    in.accept(',');
  }
  if (close != '\0') in.expect(close, "placements end as they begin");
  result.verdict = in.finish();
  if (!result.verdict.ok()) result.placements.clear();
  return result;
}

/// Writes placements: `S(0) R P(sum)`.
template <TextSink Out>
constexpr Out& write_placements(Out& sink, const dtensor_placements& placements) {
  internal::text_out<Out> out(sink);
  text_view separator{};
  for (const dtensor_placement& one : placements) {
    out << separator;
    separator = " ";
    switch (one.kind) {
      case dtensor_placement::replicate:
        out << 'R';
        break;
      case dtensor_placement::shard:
        out << "S(" << index_t{one.dim} << ')';
        break;
      case dtensor_placement::strided:
        out << "SS(" << index_t{one.dim} << ',' << one.factor << ')';
        break;
      case dtensor_placement::partial:
        out << "P(" << to_text(one.op) << ')';
        break;
    }
    if (one.place >= 0) out << '[' << index_t{one.place} << ']';
  }
  return sink;
}

}  // namespace shardwise
