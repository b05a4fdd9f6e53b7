// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/notation/named_text.hpp"

namespace shardwise {

/// A mesh of a Shardy module and its symbol, or the reason why there is none.
struct sdy_mesh_result {
  named_mesh mesh{};
  text_view symbol{};
  parse_verdict verdict{};
};

namespace detail {

/// Reads a mesh up to its closing bracket: `["x"=2], device_ids=[1,0]>`.
constexpr void read_sdy_mesh(text_reader& in, named_mesh& on, device_buffer& buffer) noexcept {
  in.expect('<', "a mesh is in < >");
  on.mesh = read_mesh_axes(in);
  if (in.accept(',')) {
    in.expect("device_ids=", "a mesh may have device_ids=[..]");
    in.expect('[', "devices are in brackets");
    if (on.mesh.rank() == 0)
      on.device = in.number(max_tile_devices, "a maximal mesh has a device");
    else
      read_mesh_devices(in, on, buffer);
    in.expect(']', "devices are in brackets");
  }
  in.expect('>', "a mesh is in < >");
}

}  // namespace detail

/// Reads a mesh: `sdy.mesh @pod = <["data"=2, "model"=4]>`, or the attribute
/// `#sdy.mesh<["data"=2]>`, which has no symbol.
[[nodiscard]] constexpr sdy_mesh_result parse_sdy_mesh(text_view words,
                                                       device_buffer& buffer) noexcept {
  sdy_mesh_result result;
  text_reader in(words);
  const index_t room = buffer.room();
  if (in.accept("sdy.mesh")) {
    in.expect('@', "the symbol of a mesh begins with @");
    result.symbol = in.word();
    if (result.symbol.empty()) in.fail("the symbol of a mesh begins with @");
    in.expect('=', "a symbol is followed by = and its mesh");
  } else {
    in.expect("#sdy.mesh", "a mesh begins with sdy.mesh or #sdy.mesh");
  }
  detail::read_sdy_mesh(in, result.mesh, buffer);
  result.verdict = detail::end_reading(in, result.mesh, buffer, room);
  return result;
}

/// Writes a mesh without its symbol: `<["data"=2, "model"=4]>`.
template <TextSink Out>
constexpr Out& write_sdy_mesh(Out& sink, const named_mesh& on) {
  internal::text_out<Out> out(sink);
  out << "<[";
  detail::write_mesh_axes(out, on.mesh, quote_style::doubled, ", ");
  out << ']';
  if (on.maximal()) out << ", device_ids=[" << on.device << ']';
  text_view separator = ", device_ids=[";
  for (index_t i = 0; i < on.devices.size(); ++i) {
    out << separator << on.devices[i];
    separator = ", ";
  }
  if (!on.devices.empty()) out << ']';
  out << '>';
  return sink;
}

/// Writes the operation that names a mesh: `sdy.mesh @pod = <["data"=2, "model"=4]>`.
template <TextSink Out>
constexpr Out& write_sdy_mesh(Out& sink, text_view symbol, const named_mesh& on) {
  internal::text_out<Out> out(sink);
  out << "sdy.mesh @" << symbol << " = ";
  return write_sdy_mesh(sink, on);
}

/// Reads a Shardy sharding on a mesh that has already been read: `#sdy.sharding<@pod, [{"x", ?}p1,
/// {}]>`, or only `<...>` as in operations. An inline mesh in place of the symbol is accepted too.
///
/// An empty `symbol` matches every mesh.
///
///     constexpr named_mesh pod{{{axis_desc{"x", 2}}}};
///     parse_sdy("#sdy.sharding<@pod, [{\"x\"}]>", pod, "pod",
///     devices).sharding.dims[0].axes[0].axis;   // 0
[[nodiscard]] constexpr named_result parse_sdy(text_view words, const named_mesh& on,
                                               text_view symbol, device_buffer& buffer) noexcept {
  named_result result;
  named_sharding& sharding = result.sharding;
  sharding.on = on;
  text_reader in(words);
  const index_t room = buffer.room();
  in.accept("#sdy.sharding");
  in.expect('<', "a sharding is in < >");
  if (in.accept('@')) {
    const std::size_t begin = in.here();
    const text_view label = in.word();
    if (!symbol.empty() && !(label == symbol)) in.fail_at(begin, "a sharding names its mesh");
  } else {
    in.expect("mesh", "a sharding begins with @ and the symbol of its mesh");
    sharding.on = {};
    detail::read_sdy_mesh(in, sharding.on, buffer);
  }
  in.expect(',', "a mesh is followed by dimensions");
  const std::size_t begin = in.here();
  detail::axis_uses uses(sharding.on.mesh);
  detail::read_named_dims(in, sharding, uses, true);
  detail::read_named_sets(in, sharding, uses);
  in.expect('>', "a sharding is in < >");
  if (const text_view reason = why_not(sharding); in.ok() && !reason.empty())
    in.fail_at(begin, reason);
  result.verdict = detail::end_reading(in, sharding, buffer, room);
  return result;
}

/// Writes a Shardy sharding: `#sdy.sharding<@pod, [{"x"}, {}], unreduced={"y"}>`. Without a symbol
/// the mesh is written inline. Shardy has no words for a whole tensor that is manual or unreduced:
/// all axes are listed.
template <TextSink Out>
constexpr Out& write_sdy(Out& sink, text_view symbol, const named_sharding& sharding) {
  internal::text_out<Out> out(sink);
  out << "#sdy.sharding<";
  if (symbol.empty())
    write_sdy_mesh(out << "mesh", sharding.on);
  else
    out << '@' << symbol;
  out << ", ";
  detail::write_named_dims(out, sharding, quote_style::doubled);
  detail::write_named_sets(out, sharding.with_axes_listed(), quote_style::doubled);
  out << '>';
  return sink;
}

/// Writes a Shardy sharding on the only mesh of a program, which has the symbol `mesh`, or is
/// written inline if its devices have an explicit order.
template <TextSink Out>
constexpr Out& write_sdy(Out& sink, const named_sharding& sharding) {
  return write_sdy(sink, sharding.on.devices.empty() ? text_view("mesh") : text_view(), sharding);
}

/// Reads the shardings of the results of an operation, `#sdy.sharding_per_value<[<@pod,
/// [{"x"}]>]>`. Calls `each(element)` with the text of each, which returns its verdict. Checks that
/// there are `results` of them, unless that is -1.
template <class F>
[[nodiscard]] constexpr parse_verdict parse_sdy_values(text_view words, int results, F&& each) {
  text_reader in(words);
  int count = 0;
  in.expect("#sdy.sharding_per_value", "shardings begin with #sdy.sharding_per_value");
  in.expect('<', "shardings are in <[ ]>");
  in.expect('[', "shardings are in <[ ]>");
  while (in.ok() && in.peek() != ']') {
    const std::size_t begin = in.here();
    if (in.peek() != '<') in.fail("a sharding is in < >");
    for (int depth = 0; in.ok();) {
      const char c = in.peek();
      if (c == '\0' || !in.accept(c)) in.fail("a sharding is in < >");
      if (c == '<') ++depth;
      if (c == '>' && --depth == 0) break;
    }
    if (!in.ok()) break;
    const parse_verdict verdict = each(words.substr(begin, in.position() - begin));
    if (!verdict.ok()) in.fail_at(begin + verdict.position, verdict.reason);
    ++count;
    if (!in.accept(',')) break;
  }
  in.expect(']', "shardings are in <[ ]>");
  if (in.ok() && results >= 0 && count != results) in.fail("every result has a sharding");
  in.expect('>', "shardings are in <[ ]>");
  return in.finish();
}

}  // namespace shardwise
