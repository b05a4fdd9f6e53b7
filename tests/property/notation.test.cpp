// SPDX-License-Identifier: BSL-1.0
// Texts are parsed back, and every conversion can be reversed, for pseudo-random layouts and
// shardings that are the same on every machine.
#include "support/catch.hpp"
#include "support/paper.hpp"
#include "support/watched.hpp"
#include <shardwise/notation.hpp>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <sstream>

using namespace shardwise;

namespace {

// A layout on a mesh of up to 64 devices, which may have an explicit order.
struct sample {
  mesh_desc mesh{};
  layout_desc layout{};
  std::vector<index_t> devices{};
};

template <class T>
void shuffle(std::vector<T>& items, paper::numbers& random) {
  for (std::size_t i = items.size(); i > 1; --i)
    std::swap(items[i - 1], items[std::size_t(random(index_t(i)))]);
}

mesh_desc random_mesh(paper::numbers& random) {
  constexpr text_view labels[] = {"x", "data", "y_2", "Z", "model"};
  mesh_desc mesh;
  const index_t rank = random(6);
  for (index_t a = 0; a < rank; ++a) {
    const index_t size = 1 + random(4);
    mesh.axes.push_back({short_name(labels[a]), mesh.devices() * size > 64 ? 1 : size});
  }
  return mesh;
}

std::vector<index_t> random_devices(const mesh_desc& mesh, paper::numbers& random) {
  std::vector<index_t> devices(std::size_t(mesh.devices()));
  std::iota(devices.begin(), devices.end(), 0);
  shuffle(devices, random);
  return devices;
}

sample random_sample(paper::numbers& random) {
  sample one{random_mesh(random), {}, {}};
  one.layout.dims.resize(std::size_t(random(5)));
  std::vector<std::uint8_t> axes(one.mesh.axes.size());
  std::iota(axes.begin(), axes.end(), std::uint8_t{0});
  shuffle(axes, random);
  for (std::uint8_t a : axes) {
    const index_t use = random(one.layout.rank() + 3);
    if (use < one.layout.rank())
      one.layout.dims[use].push_back(a);
    else if (use == one.layout.rank())
      one.layout.pending = static_cast<std::uint8_t>(one.layout.pending | 1U << a);
  }
  if (one.layout.pending != 0 && random(4) == 0)
    one.layout.kind = static_cast<reduction>(random(reduction_count));
  if (random(4) == 0) one.devices = random_devices(one.mesh, random);
  one.layout.follow(policy_desc(random(2) == 0 ? cut_policy::uneven : cut_policy::exact));
  return one;
}

template <class Write>
message_text written(Write&& write) {
  message_text out;
  write(out);
  return out;
}
std::string show(const message_text& words) { return words.c_str(); }
std::string hlo_text(const hlo_sharding& sharding) {
  return show(written([&](message_text& out) { write_hlo(out, sharding); }));
}

// Checks all properties of one layout; returns the name of the first that does not hold.
std::string what_fails(const sample& one) {
  const auto& [mesh, layout, devices] = one;
  const int rank = layout.rank();
  // Uneven dimensions are cut once in the notations of names and of tiles, and axis by axis in
  // placements.
  const policy_desc asked(layout.uneven ? cut_policy::uneven : cut_policy::exact);
  const policy_desc meant(layout.uneven ? cut_policy::single_cut : cut_policy::exact);
  layout_desc once = layout;
  once.follow(meant);
  const bool differ = !(without_unit_axes(mesh, once) == without_unit_axes(mesh, layout));
  tile_list<1024> memory;
  device_buffer& buffer = memory.buffer;

  // Named, as HLO and as Shardy.
  if (why_not(to_named(mesh, layout, devices)).empty() == differ) return "axis by axis in names";
  const named_sharding named = to_named(mesh, once, devices);
  const message_text v3 = written([&](message_text& out) { write_hlo_named(out, named); });
  const named_result read = parse_hlo_named(v3, buffer);
  if (!read.verdict.ok() || !(read.sharding == named)) return "named: " + show(v3);
  if (!(to_layout(read.sharding, rank, meant).layout == once)) return "named layout";
  if (!(to_layout(read.sharding, rank, asked).layout == layout)) return "named layout by axis";
  const message_text sdy = written([&](message_text& out) { write_sdy(out, "pod", named); });
  const message_text sdy_mesh =
      written([&](message_text& out) { write_sdy_mesh(out, "pod", named.on); });
  const sdy_mesh_result on = parse_sdy_mesh(sdy_mesh, buffer);
  if (!on.verdict.ok() || !(on.symbol == "pod")) return "sdy mesh: " + show(sdy_mesh);
  const named_result from_sdy = parse_sdy(sdy, on.mesh, on.symbol, buffer);
  if (!from_sdy.verdict.ok() || !(from_sdy.sharding == named)) return "sdy: " + show(sdy);

  // JAX.
  const message_text spec =
      written([&](message_text& out) { write_partition_spec(out, mesh, once); });
  layout_desc even = layout;
  even.follow(exact{});
  if (!(parse_partition_spec(spec, mesh, -1, meant).layout == once)) return "spec: " + show(spec);
  if (!(parse_partition_spec(spec, mesh).layout == even)) return "spec: " + show(spec);
  for (const layout_desc& cut : {layout, once}) {
    tensor_desc sized{element::f64, extents_desc{}, cut};
    for (int d = 0; d < rank; ++d) sized.extents.push_back(d == 0 ? dyn : 7 * d);
    const message_text type = written([&](message_text& out) { write_type(out, mesh, sized); });
    const message_text own = to_text(mesh, sized);
    if (!(parse_type(type, mesh, asked).tensor == sized)) return "type: " + show(type);
    if (!(parse_type(own, mesh, asked).tensor == sized)) return "own type: " + show(own);
  }

  // Placements: positions can express every order, factors every order of axes that split
  // something, and without either only the order of the mesh.
  for (dtensor_form form : {dtensor_form::plain, dtensor_form::strided, dtensor_form::ordered}) {
    const bool units = form == dtensor_form::strided;
    const layout_desc want = units ? without_unit_axes(mesh, layout) : layout;
    const read_placements placed = to_placements(mesh, want, form);
    if (!placed.verdict.ok()) {
      bool in_order = true;
      for (const axis_list& dim : want.dims)
        for (int i = 1; i < dim.ssize(); ++i) in_order = in_order && dim[i - 1] < dim[i];
      if (form != dtensor_form::plain || in_order) return "placements refused";
      continue;
    }
    const message_text text =
        written([&](message_text& out) { write_placements(out, placed.placements); });
    const read_placements again = parse_placements(text);
    if (!(again.placements == placed.placements)) return "placements: " + show(text);
    const read_layout back = to_layout(mesh, again.placements, rank, asked);
    if (!back.verdict.ok() || !(back.layout == want)) return "placements back: " + show(text);
  }

  // Tiles.
  const hlo_result tiles = to_hlo(mesh, once, buffer, devices);
  if (layout.kind != reduction::sum) return tiles.verdict.ok() ? "a kind is lost" : "";
  if (!tiles.verdict.ok()) return "tiles refused: " + std::string(tiles.verdict.reason.data());
  const hlo_result listed = to_list(tiles.sharding, buffer);
  for (const hlo_sharding& form : {tiles.sharding, listed.sharding, to_iota(listed.sharding)}) {
    const std::string text = hlo_text(form);
    const hlo_result parsed = parse_hlo(text, buffer);
    if (!parsed.verdict.ok()) return text + ": " + parsed.verdict.reason.data();
    if (!(hlo_text(parsed.sharding) == text)) return "not canonical: " + text;
    if (!same_placement(parsed.sharding, tiles.sharding)) return "another placement: " + text;
  }
  if (devices.empty() && !(hlo_text(to_iota(listed.sharding)) == hlo_text(tiles.sharding)))
    return "another order: " + hlo_text(listed.sharding);
  const read_layout back = to_layout(tiles.sharding, mesh, rank, buffer, devices, meant);
  const layout_desc want = without_unit_axes(mesh, once);
  // `{replicated}` and `{unreduced}` apply to all axes alike.
  if (!back.verdict.ok() || !(back.layout == want)) return "layout of " + hlo_text(tiles.sharding);
  return {};
}

// An order of `count` devices as a transposed box, and sizes with the same product.
tile_dims random_sizes(index_t count, paper::numbers& random) {
  tile_dims sizes;
  while (count > 1 && sizes.size() < 6) {
    const index_t factor = 1 + random(4);
    if (count % factor == 0 && (factor > 1 || random(3) == 0)) {
      sizes.push_back(factor);
      count /= factor;
    }
  }
  sizes.push_back(count);
  return sizes;
}

// True if the groups of each kind have the same devices for each tile, in canonical order.
std::string what_fails_of_tiles(paper::numbers& random) {
  constexpr index_t counts[] = {1, 2, 4, 6, 8, 12, 16, 24, 36, 48, 64};
  const index_t count = counts[random(11)];
  const tile_dims dims = random_sizes(count, random);
  const tile_dims box = random_sizes(count, random);
  std::vector<std::uint8_t> order(box.size());
  std::iota(order.begin(), order.end(), std::uint8_t{0});
  shuffle(order, random);
  iota_order iota{box, {}};
  for (std::uint8_t d : order) iota.order.push_back(d);
  hlo_sharding given = iota_tiles(dims, iota);
  for (index_t g = random(dims.ssize() + 1); g > 0; --g)
    given.groups.push_back(static_cast<hlo_group>(random(hlo_group_count)));

  tile_list<1024> memory;
  const hlo_result list = to_list(given, memory.buffer);
  const hlo_result a = canonical(given, memory.buffer);
  const hlo_result b = canonical(list.sharding, memory.buffer);
  const std::string shown = hlo_text(given);
  if (!a.verdict.ok() || !b.verdict.ok()) return shown + " is refused";
  if (!same_placement(a.sharding, b.sharding))
    return shown + ": " + hlo_text(a.sharding) + " and " + hlo_text(b.sharding);
  for (const hlo_sharding* form : {&a.sharding, &b.sharding}) {
    const hlo_result again = canonical(*form, memory.buffer);
    if (!(hlo_text(again.sharding) == hlo_text(*form))) return shown + " has two canonical forms";
    if (!(hlo_text(parse_hlo(hlo_text(*form), memory.buffer).sharding) == hlo_text(*form)))
      return shown + " is not read back";
  }
  const hlo_result parsed = parse_hlo(hlo_text(given), memory.buffer);
  if (!(hlo_text(parsed.sharding) == hlo_text(a.sharding))) return shown + " is read otherwise";
  const hlo_result parsed_list = parse_hlo(hlo_text(list.sharding), memory.buffer);
  if (!(hlo_text(parsed_list.sharding) == hlo_text(b.sharding))) return shown + " as a list";
  if (given.groups.empty() && given.kind == hlo_kind::tiled && a.sharding.kind == hlo_kind::tiled &&
      !same_placement(given, a.sharding))
    return shown + " moved";
  return {};
}

// A named sharding with sub-axes, open dimensions, priorities and every set of axes.
named_sharding random_named(paper::numbers& random) {
  named_sharding sharding;
  sharding.on.mesh = mesh_desc{{axis_desc{"x", 8}, axis_desc{"y", 4}, axis_desc{"z", 12}}};
  axis_refs pieces;
  for (std::uint8_t a = 0; a < 3; ++a) {
    const index_t full = sharding.on.mesh.size(a);
    for (index_t pre = 1; pre < full;) {
      index_t size = 1 + random(full / pre);
      while (size < 2 || full % (pre * size) != 0) size = 1 + random(full / pre);
      pieces.push_back(canonical(sharding.on.mesh, {a, pre, size}));
      pre *= size;
    }
  }
  sharding.dims.resize(std::size_t(random(4)));
  std::vector<axis_ref> items(pieces.begin(), pieces.end());
  std::vector<axis_ref> rest;
  shuffle(items, random);
  for (const axis_ref& ref : items) {
    const index_t d = random(sharding.rank() + 2);
    if (d < sharding.rank())
      append_axis(sharding.on.mesh, sharding.dims[d].axes, ref);
    else
      rest.push_back(ref);
  }
  for (named_dim& dim : sharding.dims) {
    dim.open = random(3) == 0;
    if (!dim.axes.empty() || dim.open) dim.priority = random(4) - 1;
  }
  for (const axis_ref& piece : pieces) {
    if (std::find(rest.begin(), rest.end(), piece) == rest.end()) continue;
    axis_refs* const sets[] = {&sharding.replicated, &sharding.unreduced, &sharding.manual};
    const index_t set = random(4);
    if (set < 3) append_axis(sharding.on.mesh, *sets[set], piece);
  }
  return sharding;
}

}  // namespace

TEST_CASE("every layout is read back from every notation") {
  paper::numbers random(1);
  int failures = 0;
  for (int i = 0; i < (support::is_watched ? 20000 : 100000) && failures < 5; ++i) {
    const sample one = random_sample(random);
    const std::string failure = what_fails(one);
    if (failure.empty()) continue;
    ++failures;
    FAIL_CHECK(i << ": " << failure << " on "
                 << written([&](message_text& out) { out << one.mesh; }).c_str());
  }
  CHECK(failures == 0);
}

TEST_CASE("tiles have one canonical form, as an order and as a list") {
  paper::numbers random(2);
  int failures = 0;
  for (int i = 0; i < 20000 && failures < 5; ++i) {
    const std::string failure = what_fails_of_tiles(random);
    if (failure.empty()) continue;
    ++failures;
    FAIL_CHECK(i << ": " << failure);
  }
  CHECK(failures == 0);
}

TEST_CASE("named shardings with parts of axes are read back and have tiles") {
  paper::numbers random(3);
  for (int i = 0; i < 20000; ++i) {
    named_sharding sharding = random_named(random);
    const message_text sdy = written([&](message_text& out) { write_sdy(out, "m", sharding); });
    CAPTURE(i, show(sdy));
    REQUIRE(why_not(sharding).empty());
    device_buffer empty;
    const named_result from_sdy = parse_sdy(sdy, sharding.on, "m", empty);
    REQUIRE(from_sdy.verdict.ok());
    REQUIRE(from_sdy.sharding == sharding);
    for (named_dim& dim : sharding.dims) dim.priority = -1;
    const message_text v3 = written([&](message_text& out) { write_hlo_named(out, sharding); });
    const named_result from_hlo = parse_hlo_named(v3, empty);
    REQUIRE(from_hlo.verdict.ok());
    REQUIRE(from_hlo.sharding == sharding);
    const hlo_result tiles = to_hlo(sharding, empty);
    REQUIRE(tiles.verdict.ok());
    REQUIRE(hlo_text(parse_hlo(hlo_text(tiles.sharding), empty).sharding) ==
            hlo_text(tiles.sharding));
    for (int d = 0; tiles.sharding.kind == hlo_kind::tiled && d < sharding.rank(); ++d)
      REQUIRE(tiles.sharding.tiles.dims[d] == part_count(sharding.on.mesh, sharding.dims[d].axes));
  }
}

TEST_CASE("a layout of blocks and chunks is written and read back, or refused") {
  const std::vector<grain> grains{grain::cyclic(1), grain::cyclic(64), grain::strided(2),
                                  grain::strided(6)};
  for (const mesh_desc& mesh : paper::meshes(2))
    for (const layout_desc& any : paper::layouts(2, 2, true, grains)) {
      const layout_desc layout = without_unit_axes(mesh, any);
      if (layout.is_contiguous()) continue;
      bool blocks = false;
      for (int d = 0; d < 2; ++d) blocks = blocks || layout.grains[d].is_cyclic();
      const tensor_desc tensor{element::f32, {100, dyn}, layout};
      CAPTURE(to_text(mesh, tensor).c_str());
      REQUIRE(parse_type(to_text(mesh, tensor), mesh, uneven{}).tensor == tensor);
      REQUIRE(parse_type(written([&](message_text& out) { write_type(out, mesh, tensor); }), mesh,
                         uneven{})
                  .tensor == tensor);
      layout_desc even = layout;
      even.uneven = false;
      REQUIRE(
          parse_partition_spec(
              written([&](message_text& out) { write_partition_spec(out, mesh, layout); }), mesh)
              .layout == even);
      // Only DTensor has chunks.
      for (int form = 0; form < notation_count; ++form) {
        message_text out;
        const auto as = static_cast<notation>(form);
        const parse_verdict verdict = write_layout_as(out, as, mesh, layout);
        REQUIRE(verdict.ok() == (as == notation::dtensor && !blocks));
        REQUIRE(out.empty() == !verdict.ok());
        if (verdict.ok()) REQUIRE(parse_layout(out, mesh, 2).layout == even);
      }
      REQUIRE(!to_op_sharding(mesh, layout).verdict.ok());
      REQUIRE(!to_placements(mesh, layout).verdict.ok());
      const read_placements placed = to_placements(mesh, layout, dtensor_form::strided);
      REQUIRE(placed.verdict.ok() == !blocks);
      if (!blocks) REQUIRE(to_layout(mesh, placed.placements, 2, uneven{}).layout == layout);
    }
}

TEST_CASE("strided shards hold the chunks' pieces that the layout holds") {
  // For sizes that are divided evenly and, over one axis, for all sizes, according to the
  // placements.
  const mesh_desc mesh{{axis_desc{"a", 3}, axis_desc{"b", 2}, axis_desc{"c", 2}}};
  index_t otherwise = 0;
  for (index_t chunks : {2, 3, 5})
    for (const layout_desc& layout : paper::layouts(3, 1, false, {grain::strided(chunks)})) {
      if (layout.is_contiguous()) continue;
      const read_placements placed = to_placements(mesh, layout, dtensor_form::strided);
      REQUIRE(placed.verdict.ok());
      for (index_t size = 0; size <= 120; ++size) {
        if (!cuts_alike(mesh, placed.placements, layout, {size})) {
          ++otherwise;
          REQUIRE(layout.dims[0].size() > 1);
          continue;
        }
        for (index_t device = 0; device < mesh.devices(); ++device) {
          const held_range held = held_of(mesh, layout, {size}, device)[0];
          REQUIRE(placed_size(mesh, placed.placements, 0, size, device) == held.size());
          for (index_t x = 0; x < held.size(); ++x)
            REQUIRE(placed_index(mesh, placed.placements, 0, size, device, x) == held.global(x));
          REQUIRE(placed_run(mesh, placed.placements, 0, size, device, held.size()) == 0);
        }
      }
    }
  REQUIRE(otherwise > 1000);
}

TEST_CASE("placements say which of their indices are neighbours") {
  const mesh_desc mesh{{axis_desc{"a", 3}, axis_desc{"b", 2}}};
  for (const text_view words : {"S(0) SS(0,2)", "SS(0,2) S(0)", "SS(0,3) SS(0,2)", "SS(0,4) R",
                                "S(0) S(0)", "R R", "P(sum) SS(0,5)"}) {
    const dtensor_placements placements = parse_placements(words).placements;
    for (index_t size = 0; size < 60; ++size)
      for (index_t device = 0; device < mesh.devices(); ++device) {
        const index_t held = placed_size(mesh, placements, 0, size, device);
        index_t runs = 0;
        for (index_t x = 0; x < held; ++runs) {
          const index_t first = placed_index(mesh, placements, 0, size, device, x);
          const index_t run = placed_run(mesh, placements, 0, size, device, x);
          REQUIRE((run >= 1 && run <= held - x));
          for (index_t i = 1; i < run; ++i)
            REQUIRE(placed_index(mesh, placements, 0, size, device, x + i) == first + i);
          x += run;
        }
        // One, and one for each further chunk.
        REQUIRE(runs < placements[0].factor + placements[1].factor);
      }
  }
}

TEST_CASE("cyclic blocks in whole rounds are chunks") {
  const mesh_desc mesh{{axis_desc{"a", 3}, axis_desc{"b", 2}}};
  index_t said = 0;
  for (index_t block : {1, 2, 5})
    for (const layout_desc& layout : paper::layouts(2, 1, false, {grain::cyclic(block)}))
      for (index_t size = 0; size <= 60; ++size) {
        const layout_desc chunks = in_chunks(mesh, layout, {size});
        for (index_t device = 0; device < mesh.devices(); ++device) {
          const held_range a = held_of(mesh, layout, {size}, device)[0];
          const held_range b = held_of(mesh, chunks, {size}, device)[0];
          REQUIRE(a.size() == b.size());
          for (index_t x = 0; x < a.size(); ++x) REQUIRE(a.global(x) == b.global(x));
        }
        const index_t round = block * mesh.parts(layout.dims[0]);
        const bool whole = layout.is_contiguous() || (size > 0 && size % round == 0);
        REQUIRE(to_placements(mesh, chunks, dtensor_form::ordered).verdict.ok() == whole);
        said += whole && !layout.is_contiguous() ? 1 : 0;
      }
  REQUIRE(said > 100);
}

TEST_CASE("strided shards are where the axes in their order put them") {
  // For sizes that are divided evenly; `SS` cuts others differently.
  const mesh_desc mesh{{axis_desc{"a", 3}, axis_desc{"b", 2}, axis_desc{"c", 2}}};
  for (const layout_desc& layout : paper::layouts(3, 1)) {
    const read_placements placed = to_placements(mesh, layout, dtensor_form::strided);
    REQUIRE(placed.verdict.ok());
    for (index_t size : {12, 24, 36, 60})
      for (index_t device = 0; device < mesh.devices(); ++device) {
        const index_box part = shard_box(mesh, layout, {size}, device);
        REQUIRE(placed_size(mesh, placed.placements, 0, size, device) == part[0].size());
        for (index_t x = 0; x < part[0].size(); ++x)
          REQUIRE(placed_index(mesh, placed.placements, 0, size, device, x) == part[0].begin + x);
      }
  }
  // Plain placements cut like layouts, for every size, and the sizes of the shards add up to the
  // extent.
  for (const layout_desc& layout : paper::layouts(3, 1)) {
    const read_placements placed = to_placements(mesh, layout);
    if (!placed.verdict.ok()) continue;
    for (index_t size = 0; size < 40; ++size) {
      std::vector<index_t> sizes;
      for (index_t device = 0; device < mesh.devices(); ++device) {
        const index_box part = shard_box(mesh, layout, {size}, device);
        REQUIRE(placed_size(mesh, placed.placements, 0, size, device) == part[0].size());
        if (!part[0].empty())
          REQUIRE(placed_index(mesh, placed.placements, 0, size, device, 0) == part[0].begin);
        sizes.push_back(part[0].size());
      }
      REQUIRE(global_size(mesh, placed.placements, 0, sizes) == size);
    }
  }
}

TEST_CASE("every element is held once for each replica, short and empty tiles included") {
  tile_list<64> memory;
  for (text_view words : {text_view("{devices=[3,2]<=[6]}"),
                          text_view("{devices=[4,1,2]<=[2,4]T(1,0) "
                                    "last_tile_dim_replicate}"),
                          text_view("{devices=[2,2]3,1,2,0}")}) {
    const hlo_sharding sharding = parse_hlo(words, memory.buffer).sharding;
    for (index_t rows = 0; rows < 9; ++rows) {
      const extents_desc extents{rows, 5};
      std::vector<index_t> held(std::size_t(rows * 5));
      for (index_t device = 0; device < sharding.tiles.count(); ++device) {
        const hlo_shard shard = shard_of(sharding, extents, device);
        for (index_t r = shard.part[0].begin; r < shard.part[0].end; ++r)
          for (index_t c = shard.part[1].begin; c < shard.part[1].end; ++c)
            ++held[std::size_t(r * 5 + c)];
      }
      for (index_t times : held) REQUIRE(times == sharding.replicas());
    }
  }
}

TEST_CASE("a list of 4,096 devices is understood at once") {
  const mesh_desc mesh{{axis_desc{"pod", 4}, axis_desc{"data", 64}, axis_desc{"model", 16}}};
  paper::numbers random(4);
  std::vector<index_t> devices = random_devices(mesh, random);
  std::vector<index_t> memory(6 * 4096);
  device_buffer buffer(memory.data(), index_t(memory.size()));
  const layout_desc layout = parse_partition_spec("P('model', 'data')", mesh).layout;

  const auto begin = std::chrono::steady_clock::now();
  const hlo_result tiles = to_hlo(mesh, layout, buffer, devices);
  std::ostringstream out;
  write_hlo(out, tiles.sharding);
  const std::string written = out.str();
  const hlo_result read = parse_hlo(written, buffer);
  const read_layout back = to_layout(read.sharding, mesh, 2, buffer, devices);
  const hlo_shard shard = shard_of(read.sharding, {512, 512}, devices[4095]);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;

  REQUIRE(read.verdict.ok());
  CHECK(same_placement(read.sharding, tiles.sharding));
  CHECK(back.layout == layout);
  CHECK(shard.part == index_box{index_range{480, 512}, index_range{504, 512}});
  CHECK(shard.replica < 4);
  CHECK(seconds.count() < 1.0);
}
