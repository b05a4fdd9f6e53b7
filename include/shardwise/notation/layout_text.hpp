// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/error.hpp"
#include "shardwise/layout/tensor_desc.hpp"
#include "shardwise/notation/dtensor_text.hpp"
#include "shardwise/notation/hlo_layout.hpp"
#include "shardwise/notation/hlo_named.hpp"
#include "shardwise/notation/mesh_reader.hpp"
#include "shardwise/notation/sdy_text.hpp"

namespace shardwise {

/// The notations in which a layout can be written. `hlo_listed` lists every device; `hlo_ordered`
/// writes an order of the devices if they follow one.
enum class notation : std::uint8_t { hlo_listed, hlo_ordered, hlo_named, sdy, jax, dtensor };

/// The number of notations.
inline constexpr int notation_count = 6;

/// Writes a layout in a notation. If the notation cannot express it, writes nothing and returns the
/// reason. Only DTensor can express chunks, and none can express block-cyclic dimensions. Of
/// layouts that are uneven over several axes of a dimension, DTensor can express `uneven` and the
/// others a `single_cut`; `in_single_cuts` and `in_chunks` convert between them for known extents.
/// Shardy names the mesh by the symbol `mesh`, or writes it out if it has an explicit order of
/// devices. DTensor placements state the positions of axes if these are not in mesh order. The
/// buffer must have room for every device if the mesh has an explicit order and the notation is
/// that of HLO tiles.
///
///     // rows over "data" of mesh(data=2, model=4), Shardy: #sdy.sharding<@mesh, [{"data"}, {}]>
template <TextSink Out>
constexpr parse_verdict write_layout_as(Out& out, notation form, const mesh_desc& mesh,
                                        const layout_desc& layout, device_buffer& buffer,
                                        device_view devices = {}) {
  layout_desc plain = layout;
  if (form == notation::dtensor) {  // the one that has a word for chunks, and cuts axis by axis
    for (grain& how : plain.grains) how = {};
    plain.uneven = false;
  }
  const named_sharding named = to_named(mesh, plain, devices);
  if (const text_view reason = why_not(named); !reason.empty()) return {0, reason};
  switch (form) {
    case notation::hlo_listed:
    case notation::hlo_ordered: {
      const hlo_result tiles = to_hlo(named, buffer);
      if (!tiles.verdict.ok()) return tiles.verdict;
      if (form == notation::hlo_listed)
        write_hlo(out, tiles.sharding, hlo_devices::listed);
      else
        write_hlo(out, to_iota(tiles.sharding));
      return {};
    }
    case notation::hlo_named:
      write_hlo_named(out, named);
      return {};
    case notation::sdy:
      write_sdy(out, named);
      return {};
    case notation::jax:
      if (layout.manual != 0) return {0, "a partition spec has no manual axes"};
      write_partition_spec(out, mesh, layout);
      return {};
    case notation::dtensor:
      break;
  }
  const read_placements placed = to_placements(mesh, layout, dtensor_form::ordered);
  if (placed.verdict.ok()) write_placements(out, placed.placements);
  return placed.verdict;
}

/// The most devices for whose lists the functions below have memory of their own; for more, pass a
/// buffer.
inline constexpr index_t most_listed = 4096;

namespace detail {

/// Returns the verdict for a caller who passed no buffer.
[[nodiscard]] constexpr parse_verdict without_buffer(const parse_verdict& verdict) noexcept {
  if (!(verdict.reason == "the buffer has room for every device")) return verdict;
  return {verdict.position, "a list of more than 4096 devices needs a buffer of the caller's"};
}

}  // namespace detail

/// Uses memory of its own, which suffices for every mesh without an explicit order, and for orders
/// of up to 4096 devices.
///
///     write_layout_as(words, notation::sdy, mesh, layout);
template <TextSink Out>
constexpr parse_verdict write_layout_as(Out& out, notation form, const mesh_desc& mesh,
                                        const layout_desc& layout) {
  device_buffer no_room;
  if (form > notation::hlo_ordered || mesh.order.empty())
    return write_layout_as(out, form, mesh, layout, no_room);
  tile_list<most_listed> room;
  return detail::without_buffer(write_layout_as(out, form, mesh, layout, room.buffer));
}

/// Returns an upper bound of the length of the text of any layout on this mesh: 1000 characters,
/// and the devices if the notation lists them.
[[nodiscard]] constexpr std::size_t longest_text(notation form, const mesh_desc& mesh) noexcept {
  constexpr std::size_t without_devices = 1000;
  const index_t count = mesh.devices();
  const bool lists = form == notation::hlo_listed || (form <= notation::sdy && !mesh.order.empty());
  if (!lists || count == dyn) return without_devices;
  bounded_text<20> digits;
  digits << count;
  return without_devices + static_cast<std::size_t>(count) * (digits.size() + 2);
}

/// Returns the text of a layout in a notation.
///
/// Throws `error` if the notation cannot express it, or if the text is longer than `Capacity`. Only
/// lists of devices need more than 1000 characters (`longest_text` tells how many); `hlo_ordered`
/// writes a list only if the explicit order of the mesh has no closed form. `write_layout_as`
/// returns a verdict instead and writes text of any length to a sink.
///
///     to_text(notation::jax, mesh, layout);                  // P('data', None)
///     to_text<30'000>(notation::hlo_listed, mesh, layout);   // of 4096 devices
template <std::size_t Capacity = 1000>
[[nodiscard]] constexpr bounded_text<Capacity> to_text(notation form, const mesh_desc& mesh,
                                                       const layout_desc& layout) {
  bounded_text<Capacity + 1> out;
  const parse_verdict verdict = write_layout_as(out, form, mesh, layout);
  if (!verdict.ok()) fail({.rule = violation::layout_has_no_text}, verdict.reason);
  if (out.size() > Capacity)
    fail({.rule = violation::layout_has_no_text},
         "the text is longer: to_text<N> has room for N characters");
  return bounded_text<Capacity>(out);
}

namespace detail {

/// The layout type of a layout or tensor type.
template <class Layout>
struct layout_within {
  using type = Layout;
};
template <class T, class Extents, class Layout>
struct layout_within<sharded_tensor<T, Extents, Layout>> {
  using type = Layout;
};

}  // namespace detail

/// The text of a layout type, or of the layout of a tensor type, in a notation, with room for all
/// devices that it lists.
///
///     static_assert(type_name<notation::jax, rows>() == "P('data', None)");
template <notation Form, class X>
[[nodiscard]] constexpr auto type_name() {
  using layout = typename detail::layout_within<X>::type;
  constexpr const mesh_desc& mesh = layout::mesh_type::value;
  return to_text<longest_text(Form, mesh)>(Form, mesh, layout::value);
}

/// Reads a layout from a text in this notation, for a tensor of this rank on a mesh. Each of the
/// three HLO notations reads all three forms.
///
/// With a rank of -1 the text determines the rank and must list the dimensions, which placements
/// and `{replicated}` do not. The buffer must have room for the listed devices, and for twice as
/// many if the mesh has an explicit order.
///
/// The layout is exact unless `policy` says otherwise. For extents that are not divisible, HLO,
/// Shardy and JAX mean a `single_cut` and DTensor means `uneven`; either policy can be requested
/// for each notation.
[[nodiscard]] constexpr read_layout parse_layout(notation form, text_view words,
                                                 const mesh_desc& mesh, int rank,
                                                 device_buffer& buffer, device_view devices = {},
                                                 policy_desc policy = exact{}) noexcept {
  const auto refuse = [](text_view reason) { return read_layout{{}, {0, reason}}; };
  constexpr text_view no_rank = "a text without dimensions needs the rank of the tensor";
  const auto on_this_mesh = [&](const named_result& read) {
    const named_sharding& sharding = read.sharding;
    if (!read.verdict.ok()) return read_layout{{}, read.verdict};
    if (sharding.on.mesh.axes != mesh.axes)
      return refuse("the mesh of a sharding is the mesh of its tensor");
    if (!same_devices(sharding.on.devices, devices_of(mesh, devices)))
      return refuse("the devices of a sharding are the devices of its mesh");
    if (rank < 0 && sharding.whole != named_sharding::listed) return refuse(no_rank);
    return to_layout(sharding, rank < 0 ? sharding.rank() : rank, policy);
  };
  switch (form) {
    case notation::hlo_listed:
    case notation::hlo_ordered:
    case notation::hlo_named: {
      text_reader in(words);
      in.accept('{');
      if (const text_view word = in.word(); word == "mesh" || word == "maximal_mesh")
        return on_this_mesh(parse_hlo_named(words, buffer));
      const hlo_result read = parse_hlo(words, buffer);
      if (!read.verdict.ok()) return {{}, read.verdict};
      const bool is_tiled = read.sharding.kind == hlo_kind::tiled;
      if (rank < 0 && !is_tiled) return refuse(no_rank);
      return to_layout(read.sharding, mesh, rank < 0 ? read.sharding.rank() : rank, buffer, devices,
                       policy);
    }
    case notation::sdy:
      return on_this_mesh(parse_sdy(words, to_named(mesh, devices), {}, buffer));
    case notation::jax:
      return parse_partition_spec(words, mesh, rank, policy);
    case notation::dtensor:
      break;
  }
  const read_placements placed = parse_placements(words);
  if (!placed.verdict.ok()) return {{}, placed.verdict};
  return rank < 0 ? refuse(no_rank) : to_layout(mesh, placed.placements, rank, policy);
}

/// Uses memory of its own, for lists of up to 4096 devices.
///
///     parse_layout(notation::jax, "P('data', None)", mesh).layout;
///     parse_layout(notation::jax, "P(('x', 'y'))", mesh, 1, single_cut{}).layout;  // uneven
[[nodiscard]] constexpr read_layout parse_layout(notation form, text_view words,
                                                 const mesh_desc& mesh, int rank = -1,
                                                 policy_desc policy = exact{}) noexcept {
  tile_list<std::size_t{2} * most_listed> room;
  read_layout read = parse_layout(form, words, mesh, rank, room.buffer, {}, policy);
  read.verdict = detail::without_buffer(read.verdict);
  return read;
}

namespace internal {

/// Returns why a text is neither a partition spec nor placements: the error of the reader that got
/// further, or, if both got as far, of the one whose names are quoted as in the text.
[[nodiscard]] constexpr parse_verdict spec_or_placements(text_view words, const parse_verdict& spec,
                                                         const parse_verdict& placements) noexcept {
  if (spec.position != placements.position)
    return spec.position > placements.position ? spec : placements;
  for (const char c : words)
    if (c == '\'' || c == '"') return spec;
  return placements;
}

}  // namespace internal

/// Reads a layout for a tensor of this rank on a mesh and detects the notation: `{..}` is HLO,
/// `#sdy.sharding<..>` or `<..>` Shardy, `P('x', None)` or `('x', None)` a partition spec, and
/// anything else placements.
///
///     parse_layout("{devices=[2,1,4]<=[8] last_tile_dim_replicate}", pod::value, 2, devices);
[[nodiscard]] constexpr read_layout parse_layout(text_view words, const mesh_desc& mesh, int rank,
                                                 device_buffer& buffer, device_view devices = {},
                                                 policy_desc policy = exact{}) noexcept {
  const auto as = [&](notation form) {
    return parse_layout(form, words, mesh, rank, buffer, devices, policy);
  };
  const char first = text_reader(words).peek();
  if (first == '#' || first == '<') return as(notation::sdy);
  if (first == '{') return as(notation::hlo_ordered);
  const read_layout spec = as(notation::jax);
  if (spec.verdict.ok()) return spec;
  const read_placements placed = parse_placements(words);
  if (placed.verdict.ok()) return as(notation::dtensor);
  return {{}, internal::spec_or_placements(words, spec.verdict, placed.verdict)};
}

/// Uses memory of its own, for lists of up to 4096 devices.
///
///     parse_layout("S(0) R", mesh, 2).layout;
[[nodiscard]] constexpr read_layout parse_layout(text_view words, const mesh_desc& mesh,
                                                 int rank = -1,
                                                 policy_desc policy = exact{}) noexcept {
  tile_list<std::size_t{2} * most_listed> room;
  read_layout read = parse_layout(words, mesh, rank, room.buffer, {}, policy);
  read.verdict = detail::without_buffer(read.verdict);
  return read;
}

/// Returns the layout that a text describes; see `parse_layout`. Throws `error` if the text is
/// illegal.
///
///     layout_of(notation::jax, "P('data', None)", mesh);
///     layout_of("S(0) R", mesh, 2);                             // in whichever notation it is
[[nodiscard]] constexpr layout_desc layout_of(notation form, text_view words, const mesh_desc& mesh,
                                              int rank = -1, policy_desc policy = exact{}) {
  const read_layout read = parse_layout(form, words, mesh, rank, policy);
  internal::require_read(read.verdict, words);
  return read.layout;
}
[[nodiscard]] constexpr layout_desc layout_of(text_view words, const mesh_desc& mesh, int rank = -1,
                                              policy_desc policy = exact{}) {
  const read_layout read = parse_layout(words, mesh, rank, policy);
  internal::require_read(read.verdict, words);
  return read.layout;
}

}  // namespace shardwise
