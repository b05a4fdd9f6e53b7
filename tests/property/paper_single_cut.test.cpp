// SPDX-License-Identifier: BSL-1.0
// Uneven dimensions of several axes are cut axis by axis or once: texts, pictures, collectives and
// rules all use the same cut of a layout.
#include "support/catch.hpp"
#include "support/paper.hpp"
#include <shardwise/draw/sharding_picture.hpp>
#include <shardwise/notation.hpp>
#include <shardwise/plan/constraint.hpp>

using namespace paper;

namespace {

using indices = std::vector<index_t>;

indices first(index_t n) {
  indices all;
  for (index_t i = 0; i < n; ++i) all.push_back(i);
  return all;
}

/// Piece `position` of a list that is cut into `parts` pieces of the quotient, rounded up.
indices piece(const indices& all, index_t parts, index_t position) {
  const auto n = static_cast<index_t>(all.size());
  index_t size = 0;
  while (size * parts < n) ++size;
  indices kept;
  for (index_t i = 0; i < n; ++i)
    if (i >= position * size && i < (position + 1) * size)
      kept.push_back(all[static_cast<std::size_t>(i)]);
  return kept;
}

/// The reference: which of `size` elements a device holds, cut axis by axis.
indices by_axis(const mesh_desc& mesh, const axis_list& axes, index_t size, index_t device) {
  indices held = first(size);
  for (std::uint8_t a : axes) held = piece(held, mesh.size(a), mesh.at(device)[a]);
  return held;
}

/// The same with one cut over all axes.
indices at_once(const mesh_desc& mesh, const axis_list& axes, index_t size, index_t device) {
  index_t parts = 1;
  index_t position = 0;
  for (std::uint8_t a : axes) {
    parts *= mesh.size(a);
    position = position * mesh.size(a) + mesh.at(device)[a];
  }
  return piece(first(size), parts, position);
}

indices elements_of(const index_range& range) {
  indices all;
  for (index_t i = range.begin; i < range.end; ++i) all.push_back(i);
  return all;
}
indices held(const mesh_desc& mesh, const layout_desc& layout, index_t size, index_t device) {
  const held_range own = held_of(mesh, layout, {size}, device)[0];
  indices all;
  for (index_t x = 0; x < own.size(); ++x) all.push_back(own.global(x));
  return all;
}

/// One dimension over some axes of a mesh, with both policies.
struct sample {
  mesh_desc mesh{};
  axis_list axes{};
  index_t size = 0;
  layout_desc apart{};  ///< `uneven`
  layout_desc once{};   ///< `single_cut`
  bool alike = true;    ///< counted by lists
  int several = 0;      ///< axes of more than one device
};

template <class F>
void for_each_sample(const F& f) {
  for (int rank = 1; rank <= 3; ++rank)
    for (const mesh_desc& mesh : meshes(rank))
      for (const layout_desc& layout : layouts(rank, 1))
        for (index_t size = 0; size <= 19; ++size) {
          sample one{mesh, layout.dims[0], size, layout, layout};
          one.apart.follow(uneven{});
          one.once.follow(single_cut{});
          for (std::uint8_t a : one.axes) one.several += mesh.size(a) > 1 ? 1 : 0;
          for (index_t device = 0; device < mesh.devices(); ++device)
            one.alike = one.alike && by_axis(mesh, one.axes, size, device) ==
                                         at_once(mesh, one.axes, size, device);
          f(one);
        }
}

std::string show(const sample& one) {
  return std::string(to_text(one.mesh, {element::f32, {one.size}, one.once}).c_str()) + " on " +
         [&] {
           message_text words;
           words << one.mesh;
           return std::string(words.c_str());
         }();
}

}  // namespace

TEST_CASE("each policy gives every device what cutting lists gives it") {
  index_t different = 0;
  for_each_sample([&](const sample& one) {
    INFO(show(one));
    REQUIRE((one.once == one.apart) == (one.axes.size() < 2));
    REQUIRE(is_cut_alike(one.mesh, one.axes, one.size) == one.alike);
    REQUIRE(is_cut_alike(one.mesh, one.axes, dyn) == (one.several < 2));
    different += one.alike ? 0 : 1;
    index_t most = 0;
    for (index_t device = 0; device < one.mesh.devices(); ++device) {
      const indices apart = by_axis(one.mesh, one.axes, one.size, device);
      const indices once = at_once(one.mesh, one.axes, one.size, device);
      REQUIRE(held(one.mesh, one.apart, one.size, device) == apart);
      REQUIRE(held(one.mesh, one.once, one.size, device) == once);
      // Shards are contiguous: boxes have global indices.
      REQUIRE(elements_of(shard_box(one.mesh, one.once, {one.size}, device)[0]) == once);
      most = std::max(most, static_cast<index_t>(once.size()));
    }
    REQUIRE(largest_shard_size(one.mesh, one.once, {one.size}) == most);
    // The two spellings of a single cut.
    const layout_desc said = said_by_axis(one.mesh, one.once, {one.size});
    REQUIRE(said == (one.alike ? one.apart : one.once));
    REQUIRE(in_single_cuts(one.mesh, one.apart, {one.size}) == (one.alike ? one.once : one.apart));
    // Exact layouts are cut alike.
    layout_desc even = one.once;
    even.follow(exact{});
    if (validate(one.mesh, even, {one.size}).ok()) REQUIRE(one.alike);
  });
  REQUIRE(different > 300);
}

TEST_CASE("every notation says a single cut or axis after axis, and is read back so") {
  for_each_sample([&](const sample& one) {
    const auto& [mesh, axes, size, apart, once, alike, several] = one;
    INFO(show(one));
    for (notation form : {notation::hlo_listed, notation::hlo_ordered, notation::hlo_named,
                          notation::sdy, notation::jax, notation::dtensor}) {
      const bool is_dtensor = form == notation::dtensor;
      const layout_desc& meant = is_dtensor ? apart : once;
      const layout_desc& other = is_dtensor ? once : apart;
      const policy_desc policy = is_dtensor ? policy_desc(uneven{}) : policy_desc(single_cut{});
      // A cut that the notation can express is written and parsed back, or with the other policy on
      // request.
      const auto words = to_text<>(form, mesh, meant);
      const bool tiles = form <= notation::hlo_ordered;
      const auto kept = [&](const layout_desc& layout) {
        return tiles ? without_unit_axes(mesh, layout) : layout;
      };
      REQUIRE(layout_of(form, words, mesh, 1, policy) == kept(meant));
      REQUIRE(layout_of(form, words, mesh, 1,
                        is_dtensor ? policy_desc(single_cut{}) : policy_desc(uneven{})) ==
              kept(other));
      REQUIRE_FALSE(layout_of(form, words, mesh, 1).uneven);
      // A cut that the notation cannot express is an error, unless the extents are cut alike.
      message_text out;
      REQUIRE(write_layout_as(out, form, mesh, other).ok() == (several < 2));
      const layout_desc said =
          is_dtensor ? in_chunks(mesh, other, {size}) : in_single_cuts(mesh, other, {size});
      message_text more;
      REQUIRE(write_layout_as(more, form, mesh, said).ok() == (several < 2 || alike));
    }
    // The notation of the library.
    for (const layout_desc& layout : {apart, once}) {
      const tensor_desc tensor{element::f32, {size}, layout};
      REQUIRE(parse_type(to_text(mesh, tensor), mesh, uneven{}).tensor == tensor);
      message_text typed;
      write_type(typed, mesh, tensor);
      REQUIRE(parse_type(typed, mesh, uneven{}).tensor == tensor);
    }
  });
}

TEST_CASE("tiles and placements hold what their layouts hold") {
  for_each_sample([&](const sample& one) {
    const auto& [mesh, axes, size, apart, once, alike, several] = one;
    INFO(show(one));
    device_buffer no_room;
    const hlo_result tiles = to_hlo(mesh, once, no_room);
    REQUIRE(tiles.verdict.ok());
    REQUIRE(to_op_sharding(mesh, once).verdict.ok());
    REQUIRE(to_op_sharding(mesh, apart).verdict.ok() == (several < 2));
    bool in_order = true;
    for (int i = 1; i < axes.ssize(); ++i) in_order = in_order && axes[i - 1] < axes[i];
    const read_placements placed = to_placements(mesh, apart);
    REQUIRE(placed.verdict.ok() == in_order);
    for (index_t device = 0; device < mesh.devices(); ++device) {
      const hlo_shard shard = shard_of(tiles.sharding, {size}, device);
      REQUIRE(elements_of(shard.part[0]) == at_once(mesh, axes, size, device));
      if (!in_order) continue;
      indices there;
      for (index_t x = 0; x < placed_size(mesh, placed.placements, 0, size, device); ++x)
        there.push_back(placed_index(mesh, placed.placements, 0, size, device, x));
      REQUIRE(there == by_axis(mesh, axes, size, device));
    }
  });
}

namespace {

/// True if a picture shows every device with these elements.
bool shows(const sharding_picture& shown, const sample& one, bool cut_once) {
  for (index_t device = 0; device < one.mesh.devices(); ++device) {
    const indices want = cut_once ? at_once(one.mesh, one.axes, one.size, device)
                                  : by_axis(one.mesh, one.axes, one.size, device);
    const indices have = shown.form == sharding_picture::as_layout
                             ? held(one.mesh, shown.tensor.layout, one.size, device)
                             : elements_of(shard_of(shown.tiles, {one.size}, device).part[0]);
    if (have != want) return false;
  }
  return true;
}

/// True if the parts in the picture of a layout are those that devices hold.
bool draws(const sample& one, const layout_desc& layout) {
  const detail::layout_tiles tiles(one.mesh, {element::f32, {one.size}, layout}, true);
  index_t count = 0;
  (void)tiles.part(0, 0, count);
  index_t drawn = 0;
  for (index_t i = 0; i < count; ++i) {
    const detail::shown_part part = tiles.part(0, i, count);
    drawn += part.range.size();
    const detail::holders who = tiles.who({part.number});
    for (index_t r = 0; r < who.replicas.count(); ++r)
      if (held(one.mesh, layout, one.size, who.replicas[r]) != elements_of(part.range))
        return false;
  }
  return drawn == one.size && tiles.parts(0, 64).ssize() == count;
}

}  // namespace

TEST_CASE("pictures of texts are cut as the texts mean it") {
  for_each_sample([&](const sample& one) {
    INFO(show(one));
    REQUIRE(draws(one, one.apart));
    REQUIRE(draws(one, one.once));
    device_buffer no_room;
    const sharding_context about(one.mesh, {one.size});
    for (notation form : {notation::hlo_ordered, notation::hlo_named, notation::sdy, notation::jax})
      REQUIRE(shows(read_picture(to_text<>(form, one.mesh, one.once), about, no_room), one, true));
    REQUIRE(shows(read_picture(to_text<>(notation::dtensor, one.mesh, one.apart), about, no_room),
                  one, false));
    for (const layout_desc& layout : {one.apart, one.once})
      REQUIRE(
          shows(read_picture(to_text(one.mesh, {element::f32, {one.size}, layout}), about, no_room),
                one, layout == one.once && one.axes.size() > 1));
  });
}

TEST_CASE("from one policy to the other is one exchange, or nothing where they cut alike") {
  for_each_sample([&](const sample& one) {
    INFO(show(one));
    for (const bool back : {false, true}) {
      const layout_desc& from = back ? one.once : one.apart;
      const layout_desc& to = back ? one.apart : one.once;
      const tensor_desc x{element::f32, {one.size}, from};
      const redistribution way = redistribute(one.mesh, x, to);
      REQUIRE(way.verdict.ok());
      REQUIRE(way.moves.empty() == one.alike);
      REQUIRE(check_constraint(one.mesh, x, to).ok() == one.alike);
      REQUIRE(redistribute(one.mesh, {element::f32, {dyn}, from}, to).moves.empty() ==
              (one.several < 2));
      if (one.alike) continue;
      REQUIRE(way.moves.size() == 1);
      REQUIRE(way.moves[0].kind == collective::all_to_all);
      REQUIRE(way.moves[0].after == to);
      index_t most = 0;
      for (index_t device = 0; device < one.mesh.devices(); ++device) {
        index_t received = 0;
        const indices have = held(one.mesh, from, one.size, device);
        for (index_t i : held(one.mesh, to, one.size, device))
          received += std::find(have.begin(), have.end(), i) == have.end() ? 1 : 0;
        most = std::max(most, received);
      }
      REQUIRE(most > 0);
      REQUIRE(4 * most <= way.total_bytes());
    }
  });
}

TEST_CASE("operands that are cut otherwise conflict, and the call that is proposed helps") {
  const factor_rule add =
      elementwise_rule(linearity::nonlinear, {extents_desc{dyn}, extents_desc{dyn}});
  for_each_sample([&](const sample& one) {
    INFO(show(one));
    for (const bool back : {false, true}) {
      tensor_descs operands{tensor_desc{element::f32, {one.size}, back ? one.once : one.apart},
                            tensor_desc{element::f32, {one.size}, back ? one.apart : one.once}};
      const propagation found = propagate(one.mesh, add, operands);
      REQUIRE(found.verdict.ok() == one.alike);
      if (one.alike) {
        REQUIRE(found.result.layout == operands[0].layout);
        continue;
      }
      REQUIRE(found.verdict.rule == violation::operand_layouts_conflict);
      const suggested_reshard fix = propose(one.mesh, add, operands, found.verdict);
      REQUIRE(fix.operand == 1);
      REQUIRE(fix.layout == operands[0].layout);
      REQUIRE(redistribute(one.mesh, operands[1], fix.layout).verdict.ok());
      operands[1].layout = fix.layout;
      REQUIRE(propagate(one.mesh, add, operands).verdict.ok());
      // Sizes that are not known yet may be cut differently.
      for (tensor_desc& operand : operands) operand.extents[0] = dyn;
      operands[1].layout = back ? one.apart : one.once;
      REQUIRE_FALSE(propagate(one.mesh, add, operands).verdict.ok());
    }
    // Fewer axes combine with a single cut if every device has the elements that it reads.
    for (int kept = 1; kept < one.axes.ssize(); ++kept) {
      layout_desc major = one.apart;
      major.dims[0].resize(static_cast<std::size_t>(kept));
      bool within = true;
      for (index_t device = 0; device < one.mesh.devices(); ++device) {
        const indices have = held(one.mesh, major, one.size, device);
        for (index_t i : held(one.mesh, one.once, one.size, device))
          within = within && std::find(have.begin(), have.end(), i) != have.end();
      }
      const tensor_descs operands{tensor_desc{element::f32, {one.size}, major},
                                  tensor_desc{element::f32, {one.size}, one.once}};
      if (propagate(one.mesh, add, operands).verdict.ok()) REQUIRE(within);
      if (one.alike) REQUIRE(propagate(one.mesh, add, operands).verdict.ok());
    }
  });
}

TEST_CASE("a reshape keeps a single cut where every device keeps its elements") {
  index_t kept = 0;
  for (const mesh_desc& mesh : meshes(2))
    for (const layout_desc& rows : layouts(2, 1))
      for (index_t n = 1; n <= 9; ++n)
        for (index_t rest = 1; rest <= 4; ++rest)
          for (const bool splits : {false, true}) {
            const extents_desc flat{n * rest};
            const extents_desc tall{n, rest};
            layout_desc source = rows;
            source.dims.resize(splits ? 1 : 2);
            source.follow(single_cut{});
            const extents_desc& from = splits ? flat : tall;
            const extents_desc& to = splits ? tall : flat;
            const propagation found =
                propagate(mesh, reshape_rule(from, to), {tensor_desc{element::f32, from, source}});
            if (!found.verdict.ok()) continue;
            ++kept;
            for (index_t device = 0; device < mesh.devices(); ++device) {
              const held_box before = held_of(mesh, source, from, device);
              const held_box after = held_of(mesh, found.result.layout, to, device);
              const auto numbers = [&](const held_box& own) {
                indices all;
                for (index_t i = 0; i < own[0].size(); ++i)
                  for (index_t k = 0; k < (own.size() > 1 ? own[1].size() : 1); ++k)
                    all.push_back(own.size() > 1 ? own[0].global(i) * rest + own[1].global(k)
                                                 : own[0].global(i));
                return all;
              };
              INFO(paper::show(mesh, {element::f32, from, source}));
              REQUIRE(numbers(before) == numbers(after));
            }
          }
  REQUIRE(kept > 1000);
}

TEST_CASE("uneven shards of PyTorch/XLA, DTensor and JAX") {
  struct shard_fact {
    index_t size;
    inplace_vector<index_t, 3> mesh;
    inplace_vector<index_t, 8> once;   // HLO, JAX
    inplace_vector<index_t, 8> apart;  // DTensor
  };
  // Over one axis both are the same: op160, op161, dr019, dr021, dr025, dr026, dr028 of the tests
  // of those projects; over two, what DTensor has (dr034, dr035, dr120), and HLO's quotient.
  const shard_fact facts[] = {
      {5, {4}, {2, 2, 1, 0}, {2, 2, 1, 0}},
      {3, {8}, {1, 1, 1, 0, 0, 0, 0, 0}, {1, 1, 1, 0, 0, 0, 0, 0}},
      {12, {4}, {3, 3, 3, 3}, {3, 3, 3, 3}},
      {14, {4}, {4, 4, 4, 2}, {4, 4, 4, 2}},
      {3, {4}, {1, 1, 1, 0}, {1, 1, 1, 0}},
      {0, {4}, {0, 0, 0, 0}, {0, 0, 0, 0}},
      {3, {2, 2}, {1, 1, 1, 0}, {1, 1, 1, 0}},
      {1, {2, 2}, {1, 0, 0, 0}, {1, 0, 0, 0}},
      {9, {2, 2}, {3, 3, 3, 0}, {3, 2, 2, 2}},
      {5, {2, 2}, {2, 2, 1, 0}, {2, 1, 1, 1}},
  };
  for (const shard_fact& fact : facts) {
    mesh_desc mesh;
    layout_desc layout;
    layout.dims.resize(1);
    constexpr text_view labels[] = {"x", "y", "z"};
    for (int a = 0; a < fact.mesh.ssize(); ++a) {
      mesh.axes.push_back({short_name(labels[a]), fact.mesh[a]});
      layout.dims[0].push_back(static_cast<std::uint8_t>(a));
    }
    layout_desc once = layout;
    layout.follow(uneven{});
    once.follow(single_cut{});
    for (index_t device = 0; device < mesh.devices(); ++device) {
      REQUIRE(shard_box(mesh, layout, {fact.size}, device)[0].size() == fact.apart[device]);
      REQUIRE(shard_box(mesh, once, {fact.size}, device)[0].size() == fact.once[device]);
      // An empty shard begins at the extent, as in their tests.
      if (fact.once[device] == 0)
        REQUIRE(shard_box(mesh, once, {fact.size}, device)[0].begin == fact.size);
    }
  }
}
