// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/notation/replica_groups.hpp"

namespace shardwise {
namespace detail {

/// Reads groups up to the last bracket: `{0,1},{2,3}}`, with any kind of brackets. Without room for
/// the devices they are only counted.
constexpr void read_groups_once(text_reader& in, char open, char close, index_t* list, index_t most,
                                tile_dims& dims) noexcept {
  index_t count = 0;
  index_t groups = 0;
  index_t size = 0;
  do {
    const std::size_t begin = in.here();
    in.expect(open, "a group is in brackets");
    index_t here = 0;
    do {
      const index_t device = in.number(most, "a device is a number below the number of devices");
      if (in.ok() && list != nullptr) list[count] = device;
      ++count;
      ++here;
    } while (in.accept(','));
    in.expect(close, "a group ends as it begins");
    if (++groups == 1) size = here;
    if (in.ok() && here != size) in.fail_at(begin, "groups have as many members as the first");
  } while (in.accept(','));
  in.expect(close, "groups end as they begin");
  dims = {groups, size};
}

/// Reads groups into the buffer in two passes: the first counts, the second checks every number.
[[nodiscard]] constexpr tile_assignment read_groups(text_reader& in, char open, char close,
                                                    device_buffer& buffer) noexcept {
  tile_assignment members;
  text_reader ahead = in;
  read_groups_once(ahead, open, close, nullptr, max_tile_devices - 1, members.dims);
  if (!ahead.ok()) {
    in = ahead;
    return {};
  }
  const index_t count = members.count();
  index_t* const list = buffer.take(count);
  if (list == nullptr) {
    in.fail("the buffer has room for every device");
    return {};
  }
  read_groups_once(in, open, close, list, count - 1, members.dims);
  expect_each_once(in, list, count, "a device is in one group");
  members.list = {list, count};
  return members;
}

/// Writes the type of groups in StableHLO: `2x4xi64`.
[[nodiscard]] constexpr bounded_text<60> dense_type(const replica_groups& groups) noexcept {
  bounded_text<60> words;
  return words << groups.count() << 'x' << groups.size() << "xi64";
}

/// Reads what follows `dense`: `<[[0, 1], [2, 3]]> : tensor<2x2xi64>`.
constexpr void read_dense(text_reader& in, replica_groups& groups, device_buffer& buffer) noexcept {
  in.expect('<', "groups read dense<[[0, 1], [2, 3]]>");
  if (in.peek() == '0') {  // one group of one device
    (void)in.number(0, "groups read dense<[[0, 1], [2, 3]]>");
    groups.members = {.dims = {1, 1}, .order = plain_order(1)};
  } else {
    in.expect('[', "groups read dense<[[0, 1], [2, 3]]>");
    groups.members = read_groups(in, '[', ']', buffer);
  }
  in.expect('>', "groups read dense<[[0, 1], [2, 3]]>");
  if (!in.accept(':')) return;
  in.expect("tensor", "the type of groups reads tensor<2x2xi64>");
  in.expect('<', "the type of groups reads tensor<2x2xi64>");
  const std::size_t begin = in.here();
  if (const text_view type = in.word(); in.ok() && !(dense_type(groups) == type))
    in.fail_at(begin, "the type of groups has their sizes");
  in.expect('>', "the type of groups reads tensor<2x2xi64>");
}

}  // namespace detail

/// Reads groups with the names of a mesh: `mesh['x'=2,'y'=4] {'y'}`, or with an explicit order of
/// devices, `mesh['x'=2,'y'=2], device_ids=(3,1,0,2) {'y'}`.
[[nodiscard]] constexpr named_groups_result parse_named_groups(text_view words,
                                                               device_buffer& buffer) noexcept {
  named_groups_result result;
  named_groups& groups = result.groups;
  text_reader in(words);
  const index_t room = buffer.room();
  in.expect("mesh", "groups in names begin with their mesh");
  groups.on.mesh = detail::read_mesh_axes(in);
  if (in.accept(',')) {
    in.expect("device_ids=", "a mesh may have device_ids=(..)");
    in.expect('(', "devices are in parentheses");
    detail::read_mesh_devices(in, groups.on, buffer);
    in.expect(')', "devices are in parentheses");
  }
  detail::axis_uses uses(groups.on.mesh);
  in.expect('{', "axes are in braces");
  do {
    const axis_ref ref = detail::read_axis_ref(in, groups.on.mesh, uses, groups.axes, false);
    if (in.ok()) groups.axes.push_back(ref);
  } while (in.accept(','));
  in.expect('}', "axes are in braces");
  result.verdict = detail::end_reading(in, groups, buffer, room);
  return result;
}

/// Writes groups with the names of a mesh.
template <TextSink Out>
constexpr Out& write_named_groups(Out& sink, const named_groups& groups,
                                  quote_style quote = quote_style::single) {
  internal::text_out<Out> out(sink);
  out << "mesh[";
  detail::write_mesh_axes(out, groups.on.mesh, quote, ",");
  out << ']';
  text_view separator = ", device_ids=(";
  for (index_t i = 0; i < groups.on.devices.size(); ++i) {
    out << separator << groups.on.devices[i];
    separator = ",";
  }
  out << (groups.on.devices.empty() ? text_view(" {") : text_view(") {"));
  for (int i = 0; i < groups.axes.ssize(); ++i) {
    if (i > 0) out << ',';
    detail::write_axis_refs(out, groups.on.mesh, {groups.axes[i]}, quote);
  }
  out << '}';
  return sink;
}

/// Reads the groups of a collective in any of their forms: `{{0,1},{2,3}}`, `{}` for all devices,
/// `[2,4]<=[8]` or `[4,2]<=[2,4]T(1,0)`, names of a mesh as in `parse_named_groups`, and
/// StableHLO's `dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>`. Orders become canonical.
///
/// The buffer must have room for the devices of a list.
///
///     parse_groups("[4,2]<=[2,4]T(1,0)", devices).groups.member(0, 1);           // 4
[[nodiscard]] constexpr groups_result parse_groups(text_view words,
                                                   device_buffer& buffer) noexcept {
  groups_result result;
  text_reader in(words);
  const index_t room = buffer.room();
  tile_assignment& members = result.groups.members;
  if (in.accept('{')) {
    if (!in.accept('}')) members = detail::read_groups(in, '{', '}', buffer);
  } else if (in.peek() == '[') {
    const std::size_t begin = in.here();
    members.dims = detail::read_tile_dims(in);
    if (in.ok() && members.dims.size() != 2)
      in.fail_at(begin, "groups have two sizes: how many, and how many members each");
    in.expect("<=", "sizes of groups are followed by <= and an order of devices");
    if (in.ok()) members.order = canonical(detail::read_order(in, members.count()));
  } else if (in.accept("dense")) {
    detail::read_dense(in, result.groups, buffer);
  } else if (in.accept("mesh")) {
    const named_groups_result named = parse_named_groups(words, buffer);
    if (named.verdict.ok()) return to_groups(named.groups, buffer);
    return {{}, named.verdict};
  } else {
    in.fail("groups begin with {, [, mesh or dense");
  }
  result.verdict = detail::end_reading(in, result.groups, buffer, room);
  return result;
}

/// Writes groups as HLO does: lists as lists, and an order as an order.
template <TextSink Out>
constexpr Out& write_groups(Out& sink, const replica_groups& groups) {
  internal::text_out<Out> out(sink);
  const bool listed = groups.is_everyone() || groups.members.is_list();
  if (!listed) {
    out << '[' << groups.count() << ',' << groups.size() << "]<=";
    detail::write_order(out, groups.members.order);
    return sink;
  }
  out << '{';
  for (index_t g = 0; !groups.is_everyone() && g < groups.count(); ++g) {
    out << (g > 0 ? text_view(",{") : text_view("{"));
    for (index_t i = 0; i < groups.size(); ++i) {
      if (i > 0) out << ',';
      out << groups.member(g, i);
    }
    out << '}';
  }
  out << '}';
  return sink;
}

/// Writes groups as an attribute of StableHLO, `dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>`. The
/// group of all devices has no such form: then nothing is written, and the verdict says so.
template <TextSink Out>
constexpr parse_verdict write_dense_groups(Out& sink, const replica_groups& groups) {
  if (groups.is_everyone()) return {0, "dense groups say how many devices there are"};
  internal::text_out<Out> out(sink);
  out << "dense<";
  if (groups.members.count() == 1) {
    out << groups.member(0, 0);
  } else {
    for (index_t g = 0; g < groups.count(); ++g) {
      out << (g > 0 ? text_view(", [") : text_view("[["));
      for (index_t i = 0; i < groups.size(); ++i) {
        if (i > 0) out << ", ";
        out << groups.member(g, i);
      }
      out << ']';
    }
    out << ']';
  }
  out << "> : tensor<" << text_view(detail::dense_type(groups)) << '>';
  return {};
}

}  // namespace shardwise
