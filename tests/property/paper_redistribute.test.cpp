// SPDX-License-Identifier: BSL-1.0
#include "support/catch.hpp"
#include "support/paper.hpp"
#include <shardwise/plan/pieces.hpp>

using namespace paper;

namespace {

/// The layout after one collective, according to its definition; false if it is not applicable.
bool apply(const mesh_desc& mesh, const extents_desc& extents, layout_desc& layout,
           const planned_transfer& step) {
  if (step.kind == collective::collective_permute) {
    // Every device sends to one, which holds the same part afterwards.
    const shard_permutation shards(mesh, layout, step.after);
    std::vector<bool> sends(static_cast<std::size_t>(mesh.devices()));
    unsigned crossed = 0;
    for (index_t to = 0; to < mesh.devices(); ++to) {
      const index_t from = shards.source_of(to);
      if (from < 0 || from >= mesh.devices() || sends[static_cast<std::size_t>(from)]) return false;
      sends[static_cast<std::size_t>(from)] = true;
      if (!(shard_box(mesh, layout, extents, from) == shard_box(mesh, step.after, extents, to)))
        return false;
      for (std::uint8_t a = 0; a < mesh.axes.size(); ++a)
        if (mesh.at(from)[a] != mesh.at(to)[a]) crossed |= 1U << a;
    }
    // It names the axes that data crosses, and those of one device.
    for (std::uint8_t a = 0; a < mesh.axes.size(); ++a)
      if (mesh.size(a) > 1 && step.axes.contains(a) != ((crossed >> a & 1U) != 0)) return false;
    const bool is_rest_kept =
        step.from == -1 && step.to == -1 && layout.pending == step.after.pending;
    layout.dims = step.after.dims;
    return is_rest_kept;
  }
  const bool removes = step.kind == collective::all_gather || step.from >= 0;
  const bool adds = step.kind != collective::all_gather && step.kind != collective::all_reduce;
  const bool reduces =
      step.kind == collective::all_reduce || step.kind == collective::reduce_scatter;
  if (removes != (step.from >= 0) || adds != (step.to >= 0)) return false;
  if (removes && adds && step.from == step.to) {
    // Only the grain changes, among the devices that split the dimension.
    const grain how = step.after.grains[step.to];
    if (step.kind != collective::all_to_all || !(layout.dims[step.to] == step.axes)) return false;
    if (layout.grains[step.to] == how) return false;
    layout.grains[step.to] = how;
    return true;
  }
  for (std::uint8_t a : step.axes) {
    if (layout.is_pending(a) != reduces) return false;
    if (layout.dim_of(a) != (removes ? step.from : -1)) return false;
    if (reduces) layout.pending = static_cast<std::uint8_t>(layout.pending & ~(1U << a));
  }
  if (removes) {
    // The minor axes of a dimension are removed; with the last ones, its grain.
    axis_list& dim = layout.dims[step.from];
    for (int i = step.axes.ssize() - 1; i >= 0; --i) {
      if (dim.empty() || dim.back() != step.axes[i]) return false;
      dim.pop_back();
    }
    if (!dim.empty() && !layout.grains[step.from].is_contiguous()) return false;
    layout.grains[step.from] = {};
  }
  if (adds) {
    // A grain is added together with all axes of its dimension.
    const grain how = step.after.grains[step.to];
    if (!layout.grains[step.to].is_contiguous()) return false;
    if (!how.is_contiguous() && !layout.dims[step.to].empty()) return false;
    for (std::uint8_t a : step.axes) layout.dims[step.to].push_back(a);
    layout.grains[step.to] = how;
  }
  if (layout.pending == 0) layout.kind = reduction::sum;
  return true;
}

/// Checks all properties of one redistribution; returns the name of the first that does not hold,
/// or nothing.
const char* broken_law(const mesh_desc& mesh, const tensor_desc& from, const layout_desc& to) {
  const redistribution way = redistribute(mesh, from, to);
  const unsigned created = to.pending & ~unsigned{from.layout.pending};
  const bool is_reduction = internal::axes_of_several(mesh, created) != 0;
  if (!way.verdict.ok()) return is_reduction ? nullptr : "it is refused";
  if (is_reduction) return "a pending axis comes from nowhere";
  // A value is the reduction of itself over axes of one device, which no layout names.
  if (created != 0) return nullptr;
  // A single cut that equals the cut axis by axis is treated as that.
  layout_desc now = said_by_axis(mesh, from.layout, from.extents);
  bool free = true;
  bool all_slices = true;
  bool idle = false;
  if (way.moves.size() > way.moves.capacity()) return "there are more moves than have room";
  for (planned_transfer step : way.moves) {
    step.after = said_by_axis(mesh, step.after, from.extents);
    if (step.axes.empty()) return "a move has no axes";
    if (!apply(mesh, from.extents, now, step)) return "a move does not fit the layout before it";
    if (!(now == step.after)) return "a move says another layout than it leaves";
    if (!is_legal_layout(mesh, now, from.extents)) return "a layout on the way is not legal";
    if (step.bytes.size() != step.axes.size()) return "a move has not one count of bytes an axis";
    for (index_t bytes : step.bytes)
      if (bytes < 0) return "bytes are negative";
    if (step.total_bytes() > 0) free = false;
    if (step.kind != collective::slice) all_slices = false;
    if (step.kind != collective::slice && mesh.parts(step.axes) == 1) idle = true;
    if (step.kind == collective::slice && step.total_bytes() != 0) return "a slice moves bytes";
  }
  if (!(now == said_by_axis(mesh, to, from.extents))) return "it does not reach the target";
  if (all_slices && !free) return "slices move bytes";
  if (element_count(from.extents) > 0 && free && !all_slices && !idle)
    return "a collective is free";
  if (from.layout == to && !way.moves.empty()) return "nothing to do, and something is done";
  return nullptr;
}

void check_all(const mesh_desc& mesh, int rank, const extents_desc& extents,
               const std::vector<grain>& grains = {}) {
  const std::vector<layout_desc> all = layouts(mesh.rank(), rank, true, grains);
  for (const layout_desc& from : all)
    for (const layout_desc& to : all)
      if (const char* law = broken_law(mesh, {element::f32, extents, from}, to)) {
        CAPTURE(show(mesh, {element::f32, extents, from}), show(mesh, {element::f32, extents, to}));
        FAIL(law);
      }
}

index_t bytes_of(const mesh_desc& mesh, const extents_desc& extents, const layout_desc& layout) {
  return bytes_per_device(mesh, {element::f32, extents, layout});
}

}  // namespace

TEST_CASE("every layout leads to every other") {
  const extents_desc sizes{12, 7, 5};
  for (int axes = 0; axes <= 2; ++axes)
    for (const mesh_desc& mesh : meshes(axes))
      for (int rank = 0; rank <= 3; ++rank) {
        extents_desc extents;
        for (int d = 0; d < rank; ++d) extents.push_back(sizes[d]);
        check_all(mesh, rank, extents);
      }
  for (const mesh_desc& mesh : meshes(3)) {
    check_all(mesh, 0, {});
    check_all(mesh, 1, {36});
    check_all(mesh, 2, {12, 7});
  }
  const auto of_sizes = [](index_t x, index_t y, index_t z) {
    return mesh_desc{{axis_desc{"x", x}, axis_desc{"y", y}, axis_desc{"z", z}}};
  };
  check_all(of_sizes(2, 3, 2), 2, {5, 0});
  check_all(of_sizes(2, 2, 2), 3, {8, 8, 8});
  check_all(of_sizes(2, 3, 2), 3, {12, 7, 5});
  check_all(of_sizes(1, 2, 3), 3, {3, 7, 1});
}

TEST_CASE("every layout leads to every other, however its dimensions are distributed") {
  const std::vector<grain> grains{grain::cyclic(2), grain::strided(3), grain::single_cut()};
  for (int axes = 1; axes <= 2; ++axes)
    for (const mesh_desc& mesh : meshes(axes))
      for (int rank = 1; rank <= 2; ++rank)
        check_all(mesh, rank, rank == 1 ? extents_desc{12} : extents_desc{12, 7}, grains);
  const mesh_desc cube{{axis_desc{"x", 2}, axis_desc{"y", 3}, axis_desc{"z", 2}}};
  check_all(cube, 1, {36}, grains);
  check_all(cube, 2, {12, 7}, {grain::cyclic(1)});
  check_all(cube, 2, {14, 7}, {grain::single_cut()});
}

TEST_CASE("seven axes lead home") {
  mesh_desc mesh;
  constexpr text_view labels[] = {"a", "b", "c", "d", "e", "f", "g"};
  for (text_view label : labels) mesh.axes.push_back({short_name(label), 2});
  numbers random(7);
  for (int n = 0; n < 8000; ++n) {
    layout_desc ends[2];
    for (layout_desc& end : ends) {
      end.uneven = true;
      end.dims.resize(max_rank);
      for (int i = 0; i < 7; ++i) {
        const auto a = static_cast<std::uint8_t>(i % 2 == 0 ? i / 2 : 6 - i / 2);
        const index_t d = random(n % 2 == 0 ? 3 : 10);
        if (d < max_rank)
          end.dims[d].push_back(a);
        else if (d == 9 && &end == ends)
          end.pending = static_cast<std::uint8_t>(end.pending | 1U << a);
      }
      for (int d = 0; d < max_rank; ++d)
        if (n % 4 >= 2)
          end.grains[d] = grain{static_cast<int>(random(4)) - 2}.over(end.dims[d].ssize());
    }
    const extents_desc extents{128, 5, 1, n % 3 == 0 ? 0 : 64, 3, 2, 96, 128};
    const char* law = broken_law(mesh, {element::f64, extents, ends[0]}, ends[1]);
    CAPTURE(show(mesh, {element::f64, extents, ends[0]}),
            show(mesh, {element::f64, extents, ends[1]}));
    if (law != nullptr) FAIL(law);
  }
}

TEST_CASE("layouts on the way are no less exact than both ends") {
  index_t refused = 0;
  const std::vector<grain> grains{grain::cyclic(1), grain::strided(2)};
  for (const mesh_desc& mesh : meshes(2))
    for (const extents_desc& extents :
         {extents_desc{4, 5}, extents_desc{6, 9}, extents_desc{36, 36}})
      for (layout_desc from : layouts(2, 2, true, grains))
        for (layout_desc to : layouts(2, 2, false, grains))
          for (bool exact_start : {false, true}) {
            from.uneven = !exact_start;
            to.uneven = false;
            const tensor_desc tensor{element::f32, extents, from};
            if (!validate(mesh, from, extents).ok()) continue;
            const redistribution way = redistribute(mesh, tensor, to);
            if (!way.verdict.ok()) {
              REQUIRE(way.verdict == validate(mesh, to, extents));
              ++refused;
              continue;
            }
            CAPTURE(show(mesh, tensor), show(mesh, {element::f32, extents, to}), exact_start);
            for (const planned_transfer& step : way.moves)
              REQUIRE(is_legal_layout(mesh, step.after, extents));
            if (!way.moves.empty()) REQUIRE(way.moves.back().after == to);
          }
  CHECK(refused > 0);
}

TEST_CASE("what one collective can do takes one, at the price of the formula") {
  for (index_t n : {2, 3, 4, 8}) {
    const mesh_desc mesh{{axis_desc{"x", n}}};
    const extents_desc extents{24, 48};
    const layout_desc whole_copy{{axis_list{}, axis_list{}}};
    const layout_desc rows{{axis_list{0}, axis_list{}}};
    const layout_desc columns{{axis_list{}, axis_list{0}}};
    layout_desc pending = whole_copy;
    pending.pending = 1;
    const index_t whole = 24 * 48 * 4;
    const auto only = [&](const layout_desc& from, const layout_desc& to, collective kind,
                          index_t bytes) {
      const redistribution way = redistribute(mesh, {element::f32, extents, from}, to);
      REQUIRE(way.moves.size() == 1);
      CHECK(way.moves[0].kind == kind);
      CHECK(way.total_bytes() == bytes);
    };
    only(rows, whole_copy, collective::all_gather, whole / n * (n - 1));
    only(whole_copy, rows, collective::slice, 0);
    only(rows, columns, collective::all_to_all, whole / n * (n - 1) / n);
    only(pending, columns, collective::reduce_scatter, whole * (n - 1) / n);
    only(pending, whole_copy, collective::all_reduce, 2 * whole * (n - 1) / n);
  }
}

TEST_CASE("a gather of some axes of a dimension runs over those alone") {
  const mesh_desc mesh{{axis_desc{"x", 2}, axis_desc{"y", 4}}};
  const redistribution way =
      redistribute(mesh, {element::f32, {16}, {{axis_list{0, 1}}}}, {{axis_list{0}}});
  REQUIRE(way.moves.size() == 1);
  CHECK(way.moves[0].kind == collective::all_gather);
  CHECK(way.moves[0].axes == axis_list{1});
  CHECK(way.total_bytes() == 2 * 4 * 3);
}

TEST_CASE("a collective over several axes costs what one over their product does") {
  for (const mesh_desc& mesh : meshes(3))
    for (const layout_desc& split : layouts(3, 1)) {
      if (split.dims[0].empty()) continue;
      const extents_desc extents{36 * 6};
      const index_t n = mesh.parts(split.dims[0]);
      const index_t whole = element_count(extents) * 4;
      layout_desc whole_copy{{axis_list{}}};
      whole_copy.uneven = true;
      layout_desc pending = whole_copy;
      for (std::uint8_t a : split.dims[0])
        pending.pending = static_cast<std::uint8_t>(pending.pending | 1U << a);
      const tensor_desc gathered{element::f32, extents, split};
      const tensor_desc terms{element::f32, extents, pending};
      CAPTURE(show(mesh, gathered));
      CHECK(redistribute(mesh, gathered, whole_copy).total_bytes() ==
            bytes_of(mesh, extents, split) * (n - 1));
      CHECK(redistribute(mesh, gathered, whole_copy).moves.size() == 1);
      CHECK(redistribute(mesh, terms, split).total_bytes() == whole / n * (n - 1));
      CHECK(redistribute(mesh, terms, split).moves.size() == 1);
      CHECK(redistribute(mesh, terms, whole_copy).total_bytes() == 2 * whole / n * (n - 1));
      CHECK(redistribute(mesh, terms, whole_copy).moves.size() == 1);
    }
}

TEST_CASE("a reshard never starts a reduction") {
  const mesh_desc mesh{{axis_desc{"x", 2}, axis_desc{"y", 2}}};
  layout_desc pending{{axis_list{}}, 2};
  const auto refused = [&](const layout_desc& from, const layout_desc& to) {
    return redistribute(mesh, {element::f32, {4}, from}, to).verdict;
  };
  CHECK(refused({{axis_list{}}}, pending) ==
        diagnosis{.rule = violation::reshard_would_create_partial, .axis = "y"});
  layout_desc maximum = pending;
  maximum.kind = reduction::max;
  CHECK(refused(pending, maximum).rule == violation::reshard_would_create_partial);
  CHECK(refused(pending, pending).ok());
  CHECK(refused({{axis_list{}}}, {{axis_list{0}, axis_list{}}}).rule ==
        violation::rank_differs_from_spec);
}

TEST_CASE("a halo costs what a device takes from the others at most, over each axis") {
  for (int rank = 1; rank <= 2; ++rank)
    for (const mesh_desc& mesh : meshes(rank, 4))
      for (const layout_desc& split : layouts(rank, 1))
        for (index_t size = 0; size < 14 && !split.dims[0].empty(); ++size)
          for (grain how : {grain::halo(1, 0), grain::halo(3, 1), grain::halo(30, 5)}) {
            const tensor_desc tensor{element::f32, {size}, split};
            layout_desc target = split;
            target.grains[0] = how;
            const redistribution way = redistribute(mesh, tensor, target);
            CAPTURE(show(mesh, tensor));
            REQUIRE(way.moves.size() == 1);
            const device_groups groups(mesh, way.moves[0].axes);
            inplace_vector<index_t, max_axes> most;
            most.resize(way.moves[0].axes.size());
            for (index_t to = 0; to < mesh.devices(); ++to) {
              inplace_vector<index_t, max_axes> bytes;
              bytes.resize(most.size());
              for (index_t p = 0; p < groups.size(); ++p) {
                const index_t from = groups.member(groups.group_of(to), p);
                int axis = 0;
                while (axis < bytes.ssize() && mesh.at(from)[way.moves[0].axes[axis]] ==
                                                   mesh.at(to)[way.moves[0].axes[axis]])
                  ++axis;
                if (axis < bytes.ssize())
                  bytes[axis] += 4 * volume_of(intersect(shard_box(mesh, split, {size}, from),
                                                         shard_box(mesh, target, {size}, to)));
              }
              for (int i = 0; i < most.ssize(); ++i) most[i] = std::max(most[i], bytes[i]);
            }
            CHECK(way.moves[0].bytes == most);
          }
}

TEST_CASE("a halo of few elements on many devices is planned at once") {
  const mesh_desc mesh{{axis_desc{"x", index_t{1} << 18}}};
  const layout_desc rows = layout_of(mesh, spec_desc{{"x"}}, {}, uneven{});
  const layout_desc target = layout_of(mesh, spec_desc{{"x~1:2"}}, {}, uneven{});
  CHECK(redistribute(mesh, {element::f32, {5}, rows}, target).total_bytes() == 3 * 4);
}

TEST_CASE("scattering a reduction to chunks costs a term from each device") {
  const mesh_desc mesh{{axis_desc{"x", 2}, axis_desc{"y", 2}}};
  const layout_desc terms = layout_of(mesh, spec_desc{{""}}, {"x,y"}, uneven{});
  const layout_desc target = layout_of(mesh, spec_desc{{"x,y*4"}}, {}, uneven{});
  const tensor_desc tensor{element::f32, {5}, terms};
  const redistribution way = redistribute(mesh, tensor, target);
  REQUIRE(way.moves.size() == 1);
  CHECK(way.moves[0].bytes == inplace_vector<index_t, max_axes>{4 * 3 * 2, 4 * 3});
  CHECK(piece_bytes(mesh, tensor, way.moves[0], 0) == way.moves[0].bytes);
}

TEST_CASE("bytes that nobody can count are as many as can be counted") {
  const mesh_desc mesh{{axis_desc{"x", 1024}, axis_desc{"y", 1024}}};
  const tensor_desc row{element::f64, {1, max_elements - 1}, {{axis_list{0, 1}, axis_list{}}}};
  for (const grain how : {grain{}, grain::cyclic(1)}) {
    tensor_desc tensor = row;
    tensor.layout.uneven = true;
    tensor.layout.grains[0] = how;
    layout_desc whole{{axis_list{}, axis_list{}}};
    whole.uneven = true;
    layout_desc terms = whole;
    terms.pending = 3;
    const redistribution gathered = redistribute(mesh, tensor, whole);
    CHECK(gathered.moves[0].bytes[0] == INT64_MAX);
    CHECK(gathered.total_bytes() == INT64_MAX);
    const redistribution scattered =
        redistribute(mesh, {element::f64, row.extents, terms}, tensor.layout);
    CHECK(scattered.total_bytes() == INT64_MAX);
  }
}
