// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/error.hpp"
#include "shardwise/mesh/mesh_text.hpp"
#include "shardwise/notation/tile_assignment.hpp"

namespace shardwise {

/// A mesh, or the reason why a text describes none: the position and the reason in words, and the
/// broken rule, which is `text_is_malformed` if the text does not list axes at all.
struct read_mesh {
  mesh_desc mesh{};
  parse_verdict verdict{};
  diagnosis rule{};
};

namespace detail {

/// Reads sizes without names, `2x4`, whose axes are `axis_0` and `axis_1`.
[[nodiscard]] constexpr parsed_axes parse_sizes(text_view words) noexcept {
  parsed_axes read;
  text_reader in(words);
  do {
    read.position = in.here();
    const index_t size =
        in.number(max_tile_devices, "a mesh reads data=2, model=4 or, without names, 2x4");
    bounded_text<12> label;
    label << "axis_" << read.value.rank();
    if (!in.ok()) {
      read.verdict.rule = violation::text_is_malformed;
      read.reason = in.verdict().reason;
    } else if (size < 1) {
      read.verdict = {
          .rule = violation::axis_size_is_not_positive, .axis = text_view(label), .want = 1};
    } else if (read.value.axes.full()) {
      read.verdict.rule = violation::mesh_has_too_many_axes;
    } else {
      read.value.axes.push_back({text_view(label), size});
    }
  } while (read.verdict.ok() && in.accept('x'));
  if (!read.verdict.ok()) return read;
  read.position = in.position();
  read.verdict = validate(read.value);
  return read;
}

/// Reads the devices of a mesh up to the bracket, `3,1,2,0]`, and stores the inverse order.
constexpr void read_device_order(text_reader& in, mesh_desc& mesh, device_buffer& buffer) noexcept {
  const index_t count = mesh.devices();
  if (count == dyn) in.fail("an order of devices needs every size of the mesh");
  if (in.ok() && count > buffer.room() / 2) in.fail("the buffer has room for every device twice");
  if (!in.ok()) return;
  index_t* const devices = buffer.take(count);
  index_t* const positions = buffer.take(count);
  for (index_t i = 0; i < count; ++i) positions[i] = -1;
  for (index_t i = 0; in.ok() && i < count; ++i) {
    if (i > 0) in.expect(',', "an order has every device of the mesh");
    const std::size_t begin = in.here();
    const index_t device = in.number(count - 1, "a device is a number below the size of the mesh");
    if (in.ok() && positions[device] >= 0) in.fail_at(begin, "each device appears once in a mesh");
    devices[i] = device;
    positions[device] = i;
  }
  in.expect(']', "an order has every device of the mesh, and ends with ]");
  const auto size = static_cast<std::size_t>(count);
  if (in.ok() && !is_plain({devices, count}))
    mesh.order = {device_numbers(devices, size), device_numbers(positions, size)};
  else
    buffer.give_back(2 * count);
}

}  // namespace detail

/// Reads a mesh: `data=2, model=4` with or without blanks, where `?` is a size that is not known
/// yet; `2x4`, with axes `axis_0` and `axis_1`; or the notation of the library, `mesh(data=2,
/// model=4)`. An explicit order of all devices may follow: `mesh(x=2, y=2)[3,1,2,0]`.
///
/// An order takes room for twice the devices from the buffer. At most 2^30 devices are allowed.
///
///     parse_mesh("data=2,model=4").mesh.size(1);                 // 4
///     parse_mesh("data=2,model").verdict;                        // position 12, "an axis has ..."
[[nodiscard]] constexpr read_mesh parse_mesh(text_view words, device_buffer& buffer) noexcept {
  text_reader in(words);
  const bool wrapped = in.accept("mesh") && in.accept('(');
  bool is_named = wrapped;
  for (const char c : words) is_named = is_named || c == '=';
  const internal::parsed_axes read = is_named
                                         ? internal::parse_axes(words, wrapped ? in.position() : 0)
                                         : detail::parse_sizes(words);
  if (!read.verdict.ok()) {
    const bool says = !read.reason.empty();
    return {
        {}, {read.position, says ? read.reason : text_of(read.verdict.rule).demand}, read.verdict};
  }
  read_mesh result{read.value, {}, {}};

  text_reader rest(words.substr(read.position, words.size()));
  const index_t room = buffer.room();
  if (wrapped) rest.expect(')', "a mesh ends with )");
  if (rest.accept('[')) detail::read_device_order(rest, result.mesh, buffer);
  result.verdict = detail::end_reading(rest, result.mesh, buffer, room);
  if (!result.verdict.ok()) {
    result.verdict.position += read.position;
    result.rule.rule = violation::text_is_malformed;
  }
  return result;
}

/// Has no room for an explicit order of devices.
[[nodiscard]] constexpr read_mesh parse_mesh(text_view words) noexcept {
  device_buffer no_room;
  return parse_mesh(words, no_room);
}

namespace internal {

/// Throws `error` for malformed text: the reason, the text, and the characters at the position of
/// the failure; of a long text only the surroundings of that position.
constexpr void require_read(const parse_verdict& verdict, text_view words) {
  if (verdict.ok()) return;
  constexpr std::size_t shown = 60;
  const std::size_t at = verdict.position < words.size() ? verdict.position : words.size();
  const std::size_t begin = at > shown ? at - shown : 0;
  const bool is_cut = words.size() - at > shown;
  message_text advice;
  advice << verdict.reason << ", in \"" << (begin > 0 ? "..." : "")
         << words.substr(begin, at - begin + shown) << (is_cut ? "...\"" : "\"");
  if (at == words.size())
    advice << " at its end";
  else
    advice << " at \"" << words.substr(at, shown) << (is_cut ? "...\"" : "\"");
  fail({.rule = violation::text_is_malformed,
        .have = static_cast<index_t>(verdict.position),
        .want = static_cast<index_t>(words.size())},
       advice);
}

}  // namespace internal

/// Returns the mesh that a text describes; see `parse_mesh`. Throws `error` if the text is illegal.
///
///     const mesh_desc mesh = mesh_from_text("data=2,model=4");
[[nodiscard]] constexpr mesh_desc mesh_from_text(text_view words, device_buffer& buffer) {
  const read_mesh read = parse_mesh(words, buffer);
  if (read.rule.rule == violation::text_is_malformed) internal::require_read(read.verdict, words);
  require(read.rule);
  return read.mesh;
}
[[nodiscard]] constexpr mesh_desc mesh_from_text(text_view words) {
  device_buffer no_room;
  return mesh_from_text(words, no_room);
}

/// Returns the text of a mesh in the notation of the library, with all devices of an explicit
/// order, as `mesh_from_text` reads it. Throws `error` if the text is longer than `Capacity`.
///
///     to_text(mesh_from_text("data=2,model=4"));             // mesh(data=2, model=4)
template <std::size_t Capacity = 1000>
[[nodiscard]] constexpr bounded_text<Capacity> to_text(const mesh_desc& mesh) {
  bounded_text<Capacity + 1> out;
  internal::write_mesh(out, mesh, mesh.order.devices().ssize());
  if (out.size() > Capacity)
    fail({.rule = violation::layout_has_no_text},
         "the text is longer: to_text<N> has room for N characters");
  return bounded_text<Capacity>(out);
}

}  // namespace shardwise
