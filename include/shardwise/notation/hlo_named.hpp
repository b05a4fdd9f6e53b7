// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/notation/named_text.hpp"

namespace shardwise {

/// Reads a named HLO sharding: `{mesh['a'=2,'b'=4], [{'a'}, {'b'}], unreduced={..}}`, with or
/// without quotes.
///
/// The buffer must have room for the devices of a mesh with an explicit order.
///
///     parse_hlo_named("{mesh['x'=2], [{}, {'x'}]}", devices).sharding.rank();    // 2
[[nodiscard]] constexpr named_result parse_hlo_named(text_view words,
                                                     device_buffer& buffer) noexcept {
  named_result result;
  named_sharding& sharding = result.sharding;
  text_reader in(words);
  const index_t room = buffer.room();
  in.expect('{', "a sharding begins with {");
  if (in.accept("maximal_mesh")) {
    in.expect('[', "a maximal mesh reads maximal_mesh[device_id=0]");
    in.expect("device_id=", "a maximal mesh reads maximal_mesh[device_id=0]");
    sharding.on.device = in.number(max_tile_devices, "a maximal mesh has a device");
    in.expect(']', "a maximal mesh reads maximal_mesh[device_id=0]");
  } else {
    in.expect("mesh", "a named sharding begins with its mesh");
    sharding.on.mesh = detail::read_mesh_axes(in);
    bool comma = in.accept(',');
    if (comma && in.accept("device_ids=")) {
      in.expect('(', "devices are in parentheses");
      detail::read_mesh_devices(in, sharding.on, buffer);
      in.expect(')', "devices are in parentheses");
      comma = in.accept(',');
    }
    if (!comma) in.fail("a mesh is followed by a sharding");
    detail::axis_uses uses(sharding.on.mesh);
    if (in.accept("replicated")) {
      sharding.whole = named_sharding::replicated_whole;
    } else if (in.accept("manual")) {
      sharding.whole = named_sharding::manual_whole;
    } else if (in.accept("unreduced")) {
      sharding.whole = named_sharding::unreduced_whole;
    } else {
      detail::read_named_dims(in, sharding, uses, false);
      detail::read_named_sets(in, sharding, uses);
    }
  }
  in.expect('}', "a sharding ends with }");
  result.verdict = detail::end_reading(in, sharding, buffer, room);
  return result;
}

/// Writes a named HLO sharding.
template <TextSink Out>
constexpr Out& write_hlo_named(Out& sink, const named_sharding& sharding,
                               quote_style quote = quote_style::single) {
  internal::text_out<Out> out(sink);
  if (sharding.on.maximal()) {
    out << "{maximal_mesh[device_id=" << sharding.on.device << "]}";
    return sink;
  }
  out << "{mesh[";
  detail::write_mesh_axes(out, sharding.on.mesh, quote, ",");
  out << ']';
  text_view separator = ", device_ids=(";
  for (index_t i = 0; i < sharding.on.devices.size(); ++i) {
    out << separator << sharding.on.devices[i];
    separator = ",";
  }
  out << (sharding.on.devices.empty() ? text_view(", ") : text_view("), "));
  constexpr text_view whole[] = {"", "replicated", "manual", "unreduced"};
  out << whole[static_cast<unsigned>(sharding.whole)];
  if (sharding.whole == named_sharding::listed) {
    detail::write_named_dims(out, sharding, quote);
    detail::write_named_sets(out, sharding, quote);
  }
  out << '}';
  return sink;
}

}  // namespace shardwise
