// SPDX-License-Identifier: BSL-1.0
// The meaning of placements: facts that the static tests and the unit tests share.
#pragma once

#include <shardwise/notation.hpp>

/// The elements of every device of a mesh, in order.
struct placement_fact {
  using numbers = shardwise::inplace_vector<shardwise::index_t, 32>;

  shardwise::extents_desc mesh;  // the sizes of the axes a, b, c
  shardwise::extents_desc extents;
  shardwise::text_view placements;
  numbers sizes;    // of every dimension
  numbers offsets;  // of every dimension
  numbers indices;  // of dimension 0, where it is not one range
};

inline constexpr placement_fact placement_facts[] = {
    {{4, 2},
     {18, 2},
     "S(0) SS(0,2)",
     {3, 2, 2, 2, 3, 2, 2, 2, 3, 2, 2, 2, 2, 2, 1, 2},
     {0, 0, 2, 0, 5, 0, 7, 0, 10, 0, 12, 0, 15, 0, 16, 0},
     {}},
    {{4}, {8}, "SS(0,2)", {2, 2, 2, 2}, {0, 1, 2, 3}, {0, 4, 1, 5, 2, 6, 3, 7}},
    {{2}, {8}, "SS(0,2)", {4, 4}, {0, 2}, {0, 1, 4, 5, 2, 3, 6, 7}},
    {{4}, {12, 3}, "S(0)", {3, 3, 3, 3, 3, 3, 3, 3}, {0, 0, 3, 0, 6, 0, 9, 0}, {}},
    {{4}, {14, 3}, "S(0)", {4, 3, 4, 3, 4, 3, 2, 3}, {0, 0, 4, 0, 8, 0, 12, 0}, {}},
    {{4}, {3, 13}, "S(1)", {3, 4, 3, 4, 3, 4, 3, 1}, {0, 0, 0, 4, 0, 8, 0, 12}, {}},
    {{4}, {5}, "S(0)", {2, 2, 1, 0}, {0, 2, 4, 5}, {}},
    {{4}, {3}, "S(0)", {1, 1, 1, 0}, {0, 1, 2, 3}, {}},
    {{4}, {0, 2}, "S(0)", {0, 2, 0, 2, 0, 2, 0, 2}, {0, 0, 0, 0, 0, 0, 0, 0}, {}},
    {{2, 2}, {9, 5}, "S(0) S(1)", {5, 3, 5, 2, 4, 3, 4, 2}, {0, 0, 0, 3, 5, 0, 5, 3}, {}},
    {{2, 2}, {3, 5}, "S(0) S(0)", {1, 5, 1, 5, 1, 5, 0, 5}, {0, 0, 1, 0, 2, 0, 3, 0}, {}},
    {{2, 2}, {1, 3}, "S(0) S(0)", {1, 3, 0, 3, 0, 3, 0, 3}, {0, 0, 1, 0, 1, 0, 1, 0}, {}},
    {{2, 2}, {1, 3}, "S(0) S(1)", {1, 2, 1, 1, 0, 2, 0, 1}, {0, 0, 0, 2, 1, 0, 1, 2}, {}},
    {{2, 4},
     {9, 5},
     "S(0) S(1)",
     {5, 2, 5, 2, 5, 1, 5, 0, 4, 2, 4, 2, 4, 1, 4, 0},
     {0, 0, 0, 2, 0, 4, 0, 5, 5, 0, 5, 2, 5, 4, 5, 5},
     {}},
};

constexpr shardwise::mesh_desc mesh_abc(const shardwise::extents_desc& sizes) {
  constexpr shardwise::text_view labels[] = {"a", "b", "c"};
  shardwise::mesh_desc mesh;
  for (int a = 0; a < sizes.ssize(); ++a)
    mesh.axes.push_back({shardwise::short_name(labels[a]), sizes[a]});
  return mesh;
}

constexpr bool holds(const placement_fact& fact) {
  using namespace shardwise;
  const mesh_desc mesh = mesh_abc(fact.mesh);
  const read_placements read = parse_placements(fact.placements);
  if (!read.verdict.ok()) return false;
  bounded_text<100> printed;
  write_placements(printed, read.placements);
  if (!(printed == fact.placements)) return false;
  int next = 0;
  int next_index = 0;
  const read_layout as_layout = to_layout(mesh, read.placements, fact.extents.ssize(), uneven{});
  for (index_t device = 0; device < mesh.devices(); ++device)
    for (int d = 0; d < fact.extents.ssize(); ++d, ++next) {
      // Over one axis, the layout of the placements has the same shards.
      if (as_layout.verdict.ok() && as_layout.layout.dims[d].size() <= 1) {
        const held_range held = held_of(mesh, as_layout.layout, fact.extents, device)[d];
        if (held.size() != fact.sizes[next]) return false;
        if (held.size() > 0 && held.global(0) != fact.offsets[next]) return false;
      }
      const index_t size = placed_size(mesh, read.placements, d, fact.extents[d], device);
      const index_t offset = placed_index(mesh, read.placements, d, fact.extents[d], device, 0);
      if (size != fact.sizes[next] || offset != fact.offsets[next]) return false;
      for (index_t x = 0; d == 0 && !fact.indices.empty() && x < size; ++x)
        if (placed_index(mesh, read.placements, d, fact.extents[d], device, x) !=
            fact.indices[next_index++])
          return false;
    }
  return true;
}

/// A layout on mesh(a=4, b=2), as a partition spec and in the forms of placements.
struct order_of_axes_fact {
  shardwise::text_view spec;
  shardwise::text_view plain;  // empty where it is refused
  shardwise::text_view strided;
  shardwise::text_view ordered;
};

inline constexpr order_of_axes_fact order_of_axes_facts[] = {
    {"P(('b', 'a'))", "", "SS(0,2) S(0)", "S(0)[1] S(0)[0]"},
    {"P(('a', 'b'))", "S(0) S(0)", "S(0) S(0)", "S(0) S(0)"},
    {"P('b', 'a')", "S(1) S(0)", "S(1) S(0)", "S(1) S(0)"},
    {"P(None, 'a', unreduced={'b'})", "S(1) P(sum)", "S(1) P(sum)", "S(1) P(sum)"},
    {"P(None, unreduced={'a', 'b'}, unreduced_kind='max')", "P(max) P(max)", "P(max) P(max)",
     "P(max) P(max)"},
    {"P(None)", "R R", "R R", "R R"},
    {"P()", "R R", "R R", "R R"},
    // Chunks, each cut by the axes.
    {"P('a'*2)", "", "SS(0,2) R", "SS(0,2) R"},
    {"P('b'*4, 'a')", "", "S(1) SS(0,4)", "S(1) SS(0,4)"},
    {"P(('a', 'b')*2)", "", "SS(0,2) SS(0,2)", "SS(0,2) SS(0,2)"},
    {"P(('b', 'a')*3)", "", "SS(0,6) SS(0,3)", "SS(0,6) SS(0,3)"},
    // The factors of strided shards are at most 2^30.
    {"P(('a', 'b')*1073741824)", "", "SS(0,1073741824) SS(0,1073741824)",
     "SS(0,1073741824) SS(0,1073741824)"},
    {"P(('b', 'a')*1073741824)", "", "", ""},
    // Blocks are not chunks.
    {"P('a'%2)", "", "", ""},
};

constexpr bool holds(const order_of_axes_fact& fact) {
  using namespace shardwise;
  const mesh_desc mesh = mesh_abc({4, 2});
  const read_layout spec = parse_partition_spec(fact.spec, mesh);
  bounded_text<100> printed;
  write_partition_spec(printed, mesh, spec.layout);
  if (!spec.verdict.ok() || !(printed == fact.spec)) return false;
  const dtensor_form forms[] = {dtensor_form::plain, dtensor_form::strided, dtensor_form::ordered};
  const text_view texts[] = {fact.plain, fact.strided, fact.ordered};
  for (int i = 0; i < 3; ++i) {
    const read_placements placed = to_placements(mesh, spec.layout, forms[i]);
    if (placed.verdict.ok() != !texts[i].empty()) return false;
    if (!placed.verdict.ok()) continue;
    bounded_text<100> out;
    write_placements(out, placed.placements);
    const read_placements again = parse_placements(texts[i]);
    const read_layout back = to_layout(mesh, again.placements, spec.layout.rank());
    if (!(out == texts[i]) || !(again.placements == placed.placements)) return false;
    if (!back.verdict.ok() || !(back.layout == spec.layout)) return false;
  }
  return true;
}

/// Placements and their canonical spelling, or their error.
struct placement_text_fact {
  shardwise::text_view given;
  shardwise::text_view printed;
};

inline constexpr placement_text_fact placement_text_facts[] = {
    {"(Shard(dim=0), Replicate(), Partial(sum))", "S(0) R P(sum)"},
    {"_S(0, 2) S(0)", "SS(0,2) S(0)"},
    {"[_StridedShard(dim=0, sf=2), Shard(0)]", "SS(0,2) S(0)"},
    {"_StridedShard(dim=1, split_factor=4)", "SS(1,4)"},
    {"S(0)RS(1)", "S(0) R S(1)"},
    {"S(1)[1]S(1)[2]S(1)[0]", "S(1)[1] S(1)[2] S(1)[0]"},
    {"P P(prod) Partial()", "P(sum) P(product) P(sum)"},
    {"SS(0,1)", "S(0)"},
    {"S(-1)", "S(-1)"},
    {"", ""},
    {"[]", ""},
    {"S", "1: a shard reads S(0) or S(0)[1]"},
    {"S(x)", "2: a shard reads S(0) or S(0)[1]"},
    {"SS(0)", "4: a strided shard reads SS(0,2)"},
    {"SS(0,0)", "6: the factor of a strided shard is at least 1"},
    {"P(avg)", "2: a reduction is sum, product, max or min"},
    {"Q", "0: a placement is R, S(0), SS(0,2) or P(sum)"},
    {"[R", "2: placements end as they begin"},
    {"R R R R R R R R", "14: a mesh has at most 7 axes"},
    {"S(99999999999999999999)", "2: a shard reads S(0) or S(0)[1]"},
};

constexpr bool holds(const placement_text_fact& fact) {
  const shardwise::read_placements read = shardwise::parse_placements(fact.given);
  shardwise::bounded_text<200> out;
  if (read.verdict.ok())
    shardwise::write_placements(out, read.placements);
  else
    out << read.verdict.position << ": " << read.verdict.reason;
  return out == fact.printed;
}

/// Placements on mesh(a=4, b=2) that no layout of rank 2 has.
struct refused_placements {
  shardwise::text_view placements;
  shardwise::text_view reason;
};

inline constexpr refused_placements refused_placements_facts[] = {
    {"SS(0,3) S(0)", "a strided shard counts the same chunks and axes to its right"},
    {"S(0) SS(0,2)", "a strided shard counts the same chunks and axes to its right"},
    {"SS(0,3) SS(0,2)", "a strided shard counts the same chunks and axes to its right"},
    {"SS(0,1) SS(0,2)", "a strided shard counts the same chunks and axes to its right"},
    {"S(2) R", "a shard is of a dimension of the tensor"},
    {"S(-3) R", "a shard is of a dimension of the tensor"},
    {"P(sum) P(max)", "a layout is pending by one reduction"},
    {"S(0)[0] S(0)[0]", "axes of a dimension have different places"},
    {"S(0)[0] S(0)", "every axis of a dimension has a place, or none has"},
    {"S(0)[1] S(0)[2]", "the places of the axes of a dimension are 0, 1, 2, ..."},
    {"S(0)", "every axis of the mesh has a placement"},
};

constexpr bool holds(const refused_placements& fact) {
  const shardwise::read_placements read = shardwise::parse_placements(fact.placements);
  return read.verdict.ok() &&
         shardwise::to_layout(mesh_abc({4, 2}), read.placements, 2).verdict.reason == fact.reason;
}
