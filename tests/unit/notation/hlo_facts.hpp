// SPDX-License-Identifier: BSL-1.0
// HLO shardings and their texts: facts that the static tests and the unit tests share.
#pragma once

#include <shardwise/notation.hpp>

using long_text = shardwise::bounded_text<1500>;

/// The error of a parser as text, such as `19: every tile has a device`.
constexpr long_text said(const shardwise::parse_verdict& verdict) {
  long_text out;
  out << verdict.position << ": " << verdict.reason;
  return out;
}

// --- a mesh and a partition spec
// ------------------------------------------------------------------

struct op_fact {
  shardwise::text_view mesh;  // as a named sharding
  shardwise::text_view spec;
  shardwise::sharding_type type;
  shardwise::tile_dims dims;
  shardwise::index_t replicas;
  shardwise::inplace_vector<shardwise::index_t, 16> groups;  // of a partial sharding, one by one
  shardwise::text_view listed;
  shardwise::text_view ordered;  // empty where the mesh has an order of its own
};

using shardwise::sharding_type;

inline constexpr op_fact op_facts[] = {
    {"{mesh[data=1,model=8], replicated}",
     "(0, 1)",
     sharding_type::tiled,
     {1, 8},
     1,
     {},
     "{devices=[1,8]0,1,2,3,4,5,6,7}",
     ""},
    {"{mesh[ax0=1,ax1=8], device_ids=(7,6,5,4,3,2,1,0), replicated}",
     "(0, 1)",
     sharding_type::tiled,
     {1, 8},
     1,
     {},
     "{devices=[1,8]7,6,5,4,3,2,1,0}",
     ""},
    {"{mesh[ax0=2,ax1=1,ax2=4], replicated}",
     "(1, None, 0)",
     sharding_type::partial,
     {1, 1, 2},
     4,
     {0, 1, 2, 3, 4, 5, 6, 7},
     "{devices=[1,1,2,4]0,1,2,3,4,5,6,7 last_tile_dim_replicate}",
     "{devices=[1,1,2,4]<=[8] last_tile_dim_replicate}"},
    {"{mesh[r=1,b=2,m=4], replicated}",
     "(('r', 'b'), None)",
     sharding_type::partial,
     {2, 1},
     4,
     {0, 1, 2, 3, 4, 5, 6, 7},
     "{devices=[2,1,4]0,1,2,3,4,5,6,7 last_tile_dim_replicate}",
     "{devices=[2,1,4]<=[8] last_tile_dim_replicate}"},
    {"{mesh[r=1,b=2,m=4], replicated}",
     "(None, ('b', 'm'))",
     sharding_type::partial,
     {1, 8},
     1,
     {0, 1, 2, 3, 4, 5, 6, 7},
     "{devices=[1,8]0,1,2,3,4,5,6,7}",
     ""},
    {"{mesh[r=1,b=2,m=4], replicated}",
     "(None, ('m', 'b'))",
     sharding_type::partial,
     {1, 8},
     1,
     {0, 4, 1, 5, 2, 6, 3, 7},
     "{devices=[1,8]0,4,1,5,2,6,3,7}",
     "{devices=[1,8]<=[2,4]T(1,0)}"},
    {"{mesh[ax0=8], replicated}", "()", sharding_type::replicated, {}, 8, {}, "{replicated}", ""},
    {"{mesh[ax0=2,ax1=1,ax2=1,ax3=4], replicated}",
     "(3, 1, 2, 0)",
     sharding_type::tiled,
     {4, 1, 1, 2},
     1,
     {},
     "{devices=[4,1,1,2]0,4,1,5,2,6,3,7}",
     ""},
    {"{mesh[ax0=1,ax1=8], replicated}",
     "(0, 1)",
     sharding_type::tiled,
     {1, 8},
     1,
     {},
     "{devices=[1,8]0,1,2,3,4,5,6,7}",
     "{devices=[1,8]<=[8]}"},
    {"{mesh[ax0=2,ax1=4], replicated}",
     "(0, None)",
     sharding_type::partial,
     {2, 1},
     4,
     {0, 1, 2, 3, 4, 5, 6, 7},
     "{devices=[2,1,4]0,1,2,3,4,5,6,7 last_tile_dim_replicate}",
     "{devices=[2,1,4]<=[8] last_tile_dim_replicate}"},
    {"{mesh[ax0=2,ax1=2], replicated}",
     "(None, 0)",
     sharding_type::partial,
     {1, 2},
     2,
     {0, 1, 2, 3},
     "{devices=[1,2,2]0,1,2,3 last_tile_dim_replicate}",
     ""},
    {"{mesh[ax0=2,ax1=2], replicated}",
     "(1, 0)",
     sharding_type::tiled,
     {2, 2},
     1,
     {},
     "{devices=[2,2]0,2,1,3}",
     ""},
    {"{mesh[ax0=1,ax1=4], replicated}",
     "(0, 1)",
     sharding_type::tiled,
     {1, 4},
     1,
     {},
     "{devices=[1,4]0,1,2,3}",
     ""},
    {"{mesh[x=4,y=1], replicated}",
     "((0, 1), None)",
     sharding_type::partial,
     {4, 1},
     1,
     {0, 1, 2, 3},
     "{devices=[4,1]0,1,2,3}",
     ""},
    {"{mesh[x=2,y=2,z=2], device_ids=(0,4,2,6,1,5,3,7), replicated}",
     "(('z', 'x'), 'y')",
     sharding_type::tiled,
     {4, 2},
     1,
     {},
     "{devices=[4,2]0,2,1,3,4,6,5,7}",
     ""},
    {"{mesh[x=2,y=2,z=2], replicated}",
     "('x')",
     sharding_type::partial,
     {2},
     4,
     {0, 1, 2, 3, 4, 5, 6, 7},
     "{devices=[2,4]0,1,2,3,4,5,6,7 last_tile_dim_replicate}",
     ""},
    {"{mesh[x=2,y=2,z=2], replicated}",
     "('z')",
     sharding_type::partial,
     {2},
     4,
     {0, 2, 4, 6, 1, 3, 5, 7},
     "{devices=[2,4]0,2,4,6,1,3,5,7 last_tile_dim_replicate}",
     ""},
    {"{mesh[x=2,y=2,z=2], replicated}",
     "(('x', 'z'))",
     sharding_type::partial,
     {4},
     2,
     {0, 2, 1, 3, 4, 6, 5, 7},
     "{devices=[4,2]0,2,1,3,4,6,5,7 last_tile_dim_replicate}",
     ""},
    {"{mesh[x=2,y=2,z=2], replicated}",
     "(('x', 'y', 'z'))",
     sharding_type::tiled,
     {8},
     1,
     {},
     "{devices=[8]0,1,2,3,4,5,6,7}",
     ""},
    {"{mesh[x=2,y=2,z=2], replicated}",
     "('x', 'y', 'z')",
     sharding_type::tiled,
     {2, 2, 2},
     1,
     {},
     "{devices=[2,2,2]0,1,2,3,4,5,6,7}",
     ""},
    {"{mesh[x=2,y=2,z=2], replicated}",
     "(None, 'z', None, None)",
     sharding_type::partial,
     {1, 2, 1, 1},
     4,
     {0, 2, 4, 6, 1, 3, 5, 7},
     "{devices=[1,2,1,1,4]0,2,4,6,1,3,5,7 last_tile_dim_replicate}",
     ""},
    {"{mesh[fsdp=4,tp=2], replicated}",
     "(None, ('tp', 'fsdp'))",
     sharding_type::partial,
     {1, 8},
     1,
     {0, 2, 4, 6, 1, 3, 5, 7},
     "{devices=[1,8]0,2,4,6,1,3,5,7}",
     ""},
    {"{mesh[data=8,model=1], replicated}",
     "('data', None)",
     sharding_type::partial,
     {8, 1},
     1,
     {0, 1, 2, 3, 4, 5, 6, 7},
     "{devices=[8,1]0,1,2,3,4,5,6,7}",
     ""},
    {"{mesh[data=8,model=1], replicated}",
     "(None, 'model')",
     sharding_type::partial,
     {1, 1},
     8,
     {0, 1, 2, 3, 4, 5, 6, 7},
     "{replicated}",
     ""},
    {"{mesh[x=3,y=2], replicated}",
     "('x', None)",
     sharding_type::partial,
     {3, 1},
     2,
     {0, 1, 2, 3, 4, 5},
     "{devices=[3,1,2]0,1,2,3,4,5 last_tile_dim_replicate}",
     ""},
    {"{mesh[x=3,y=2], replicated}",
     "('y', None)",
     sharding_type::partial,
     {2, 1},
     3,
     {0, 2, 4, 1, 3, 5},
     "{devices=[2,1,3]0,2,4,1,3,5 last_tile_dim_replicate}",
     ""},
    {"{mesh[x=2,y=3], replicated}",
     "(None, ('y', 'x'))",
     sharding_type::partial,
     {1, 6},
     1,
     {0, 3, 1, 4, 2, 5},
     "{devices=[1,6]0,3,1,4,2,5}",
     ""},
    {"{mesh[a=2,b=3,c=2], replicated}",
     "('c', None)",
     sharding_type::partial,
     {2, 1},
     6,
     {0, 2, 4, 6, 8, 10, 1, 3, 5, 7, 9, 11},
     "{devices=[2,1,6]0,2,4,6,8,10,1,3,5,7,9,11 last_tile_dim_replicate}",
     ""},
    {"{mesh[x=2,y=2], device_ids=(3,1,2,0), replicated}",
     "('y', None)",
     sharding_type::partial,
     {2, 1},
     2,
     {3, 2, 1, 0},
     "{devices=[2,1,2]2,3,0,1 last_tile_dim_replicate}",
     ""},
    {"{mesh[x=2,y=2], device_ids=(3,1,2,0), replicated}",
     "(None, 'x')",
     sharding_type::partial,
     {1, 2},
     2,
     {3, 1, 2, 0},
     "{devices=[1,2,2]1,3,0,2 last_tile_dim_replicate}",
     ""},
    {"{mesh[x=2], device_ids=(1,0), replicated}",
     "(None, 'x')",
     sharding_type::partial,
     {1, 2},
     1,
     {1, 0},
     "{devices=[1,2]1,0}",
     ""},
};

constexpr bool holds(const op_fact& fact) {
  using namespace shardwise;
  tile_list<64> memory;
  const named_result on = parse_hlo_named(fact.mesh, memory.buffer);
  const mesh_desc& mesh = on.sharding.on.mesh;
  const device_view devices = on.sharding.on.devices;
  const read_layout spec = parse_partition_spec(fact.spec, mesh);
  const op_result op = to_op_sharding(mesh, spec.layout, devices);
  if (!on.verdict.ok() || !spec.verdict.ok() || !op.verdict.ok()) return false;
  if (op.sharding.type != fact.type || op.sharding.group_size != fact.replicas) return false;
  if (!(op.sharding.dims == fact.dims)) return false;
  for (int i = 0; i < fact.groups.ssize(); ++i)
    if (op.sharding.member(i / fact.replicas, i % fact.replicas) != fact.groups[i]) return false;
  for (index_t device = 0; device < mesh.devices(); ++device) {
    const index_t replica = op.sharding.replica_of(device);
    bool found = false;
    for (index_t g = 0; g < op.sharding.group_count(); ++g)
      found = found || op.sharding.member(g, replica) == device;
    if (!found) return false;
  }

  const hlo_result hlo = to_hlo(mesh, spec.layout, memory.buffer, devices);
  const hlo_result listed = to_list(hlo.sharding, memory.buffer);
  if (!hlo.verdict.ok() || !listed.verdict.ok()) return false;
  long_text list, order;
  write_hlo(list, listed.sharding);
  write_hlo(order, hlo.sharding);
  if (!(list == fact.listed)) return false;
  if (!fact.ordered.empty() && !(order == fact.ordered)) return false;
  if (!same_placement(hlo.sharding, listed.sharding)) return false;

  const read_layout back =
      to_layout(hlo.sharding, mesh, spec.layout.rank(), memory.buffer, devices);
  return back.verdict.ok() && back.layout == without_unit_axes(mesh, spec.layout);
}

// --- named shardings
// ------------------------------------------------------------------------------

struct named_fact {
  shardwise::text_view named;
  shardwise::text_view tiles;
};

inline constexpr named_fact named_facts[] = {
    {"{mesh['axis_0'=2,'axis_1'=4,'axis_2'=4], [{'axis_2'}, {'axis_0', 'axis_1'}]}",
     "{devices=[4,8]<=[8,4]T(1,0)}"},
    {"{mesh['axis_0'=2,'axis_1'=4,'axis_2'=4], [{}, {'axis_0'}]}",
     "{devices=[1,2,16]<=[32] last_tile_dim_replicate}"},
    {"{mesh['axis_0'=2,'axis_1'=4,'axis_2'=4], [{'axis_1'}, {'axis_2'}]}",
     "{devices=[4,4,2]<=[2,16]T(1,0) last_tile_dim_replicate}"},
    {"{mesh['axis_0'=2,'axis_1'=4,'axis_2'=4], [{}, {'axis_1'}]}",
     "{devices=[1,4,8]<=[2,4,4]T(1,0,2) last_tile_dim_replicate}"},
    {"{mesh['axis_0'=2,'axis_1'=4,'axis_2'=4], [{'axis_0', 'axis_1'}, {'axis_2'}]}",
     "{devices=[8,4]<=[32]}"},
    {"{mesh['axis_0'=16], [{'axis_0'}, {}]}", "{devices=[16,1]<=[16]}"},
    {"{mesh['x'=8,'y'=4], [{}, {}]}", "{replicated}"},
    {"{mesh['x'=8,'y'=4], [{'x':(1)2}, {'x':(2)4}]}",
     "{devices=[2,4,4]<=[32] last_tile_dim_replicate}"},
    {"{mesh['axis_0'=2,'axis_1'=4,'axis_2'=4], [{'axis_0'}, {'axis_2'}]}",
     "{devices=[2,4,4]<=[2,4,4]T(0,2,1) last_tile_dim_replicate}"},
    {"{mesh['x'=8,'y'=4], [{'y', 'x'}, {}]}", "{devices=[32,1]<=[8,4]T(1,0)}"},
    {"{mesh['x'=8,'y'=4], [{'x'}, {'y'}]}", "{devices=[8,4]<=[32]}"},
    {"{mesh['a'=2,'b'=2,'c'=2,'d'=2], [{'b'}, {'a'}]}",
     "{devices=[2,2,4]<=[2,2,4]T(1,0,2) last_tile_dim_replicate}"},
    {"{mesh['x'=8,'y'=4], [{'y'}, {}], manual={'x'}}",
     "{devices=[4,1,8]<=[8,4]T(1,0) last_tile_dims={manual}}"},
    {"{mesh['x'=8,'y'=4], [{'y'}, {}], unreduced={'x':(1)2}}",
     "{devices=[4,1,2,4]<=[8,4]T(1,0) last_tile_dims={unreduced, replicated}}"},
    {"{mesh['x'=8,'y'=4], [{}, {}], unreduced={'x':(1)2, 'y'}}",
     "{devices=[1,1,8,4]<=[2,4,4]T(0,2,1) last_tile_dims={unreduced, replicated}}"},
    {"{mesh['i'=2,'j'=2], [{'i'}, {}], manual={'j'}}",
     "{devices=[2,1,2]<=[4] last_tile_dims={manual}}"},
    {"{mesh['a'=2,'b'=4,'c'=4], [{'c'}, {'a', 'b'}]}", "{devices=[4,8]<=[8,4]T(1,0)}"},
    {"{mesh['a'=16,'b'=4], [{'a':(1)2, 'a':(8)2}, {'a':(2)4, 'b'}]}",
     "{devices=[4,16]<=[2,4,2,4]T(0,2,1,3)}"},
    {"{mesh['a'=2,'b'=2,'c'=2], device_ids=(0,2,4,6,1,3,5,7), [{'c'}, {'a', 'b'}]}",
     "{devices=[2,4]0,4,1,5,2,6,3,7}"},
    {"{mesh['a'=2,'b'=2], [{'a'}, {}], unreduced={'b'}}",
     "{devices=[2,1,2]<=[4] last_tile_dims={unreduced}}"},
    {"{mesh['a'=2,'b'=3,'c'=4,'d'=5], [{'a'}], replicated={'d'}, unreduced={'c'}, manual={'b'}}",
     "{devices=[2,3,4,5]<=[120] last_tile_dims={manual, unreduced, replicated}}"},
    {"{mesh['a'=2,'b'=2], unreduced}", "{unreduced}"},
    {"{mesh['a'=2,'b'=2], manual}", "{manual}"},
    {"{mesh['a'=2,'b'=2], [{}], manual={'a', 'b'}}", "{manual}"},
    {"{maximal_mesh[device_id=5]}", "{maximal device=5}"},
    {"{mesh['a'=2,'b'=2], [{}], unreduced=max{'a'}}", "refused: tiles are unreduced by a sum"},
};

/// The tiles of a named sharding, or the error.
constexpr long_text tiles_of(shardwise::text_view named) {
  using namespace shardwise;
  tile_list<256> memory;
  long_text out;
  const named_result read = parse_hlo_named(named, memory.buffer);
  if (!read.verdict.ok()) return said(read.verdict);
  const hlo_result hlo = to_hlo(read.sharding, memory.buffer);
  if (!hlo.verdict.ok())
    out << "refused: " << hlo.verdict.reason;
  else
    write_hlo(out, hlo.sharding);
  return out;
}
constexpr bool holds(const named_fact& fact) { return tiles_of(fact.named) == fact.tiles; }

// --- orders
// ---------------------------------------------------------------------------------------

struct order_fact {
  shardwise::tile_dims dims;
  shardwise::tile_dims sizes;
  shardwise::inplace_vector<std::uint8_t, shardwise::max_tile_dims> order;
  shardwise::text_view ordered;
  shardwise::text_view listed;
};

inline constexpr order_fact order_facts[] = {
    {{16},
     {4, 2, 2},
     {1, 0, 2},
     "{devices=[16]<=[4,2,2]T(1,0,2)}",
     "{devices=[16]0,1,4,5,8,9,12,13,2,3,6,7,10,11,14,15}"},
    {{1, 3, 1, 4, 1, 5},
     {1, 3, 1, 4, 1, 5},
     {4, 3, 2, 5, 1, 0},
     "{devices=[1,3,1,4,1,5]<=[3,20]T(1,0)}",
     "{devices=[1,3,1,4,1,5]0,20,40,1,21,41,2,22,42,3,23,43,4,24,44,5,25,45,6,26,46,7,27,47,8,28,"
     "48,9,29,49,10,30,50,11,31,51,12,32,52,13,33,53,14,34,54,15,35,55,16,36,56,17,37,57,18,38,58,"
     "19,39,59}"},
    {{3, 2}, {2, 3}, {1, 0}, "{devices=[3,2]<=[2,3]T(1,0)}", "{devices=[3,2]0,3,1,4,2,5}"},
    {{3, 4},
     {2, 2, 3},
     {2, 1, 0},
     "{devices=[3,4]<=[2,2,3]T(2,1,0)}",
     "{devices=[3,4]0,6,3,9,1,7,4,10,2,8,5,11}"},
    {{4, 8},
     {8, 4},
     {1, 0},
     "{devices=[4,8]<=[8,4]T(1,0)}",
     "{devices=[4,8]0,4,8,12,16,20,24,28,1,5,9,13,17,21,25,29,2,6,10,14,18,22,26,30,3,7,11,15,19,"
     "23,27,31}"},
    {{1, 8, 4},
     {2, 4, 4},
     {0, 2, 1},
     "{devices=[1,8,4]<=[2,4,4]T(0,2,1)}",
     "{devices=[1,8,4]0,4,8,12,1,5,9,13,2,6,10,14,3,7,11,15,16,20,24,28,17,21,25,29,18,22,26,30,19,"
     "23,27,31}"},
    {{8, 8},
     {2, 8, 4},
     {2, 0, 1},
     "{devices=[8,8]<=[16,4]T(1,0)}",
     "{devices=[8,8]0,4,8,12,16,20,24,28,32,36,40,44,48,52,56,60,1,5,9,13,17,21,25,29,33,37,41,45,"
     "49,53,57,61,2,6,10,14,18,22,26,30,34,38,42,46,50,54,58,62,3,7,11,15,19,23,27,31,35,39,43,47,"
     "51,55,59,63}"},
};

constexpr bool holds(const order_fact& fact) {
  using namespace shardwise;
  tile_list<256> memory;
  const hlo_sharding given = iota_tiles(fact.dims, {fact.sizes, fact.order});
  const hlo_result once = canonical(given, memory.buffer);
  const hlo_result list = to_list(given, memory.buffer);
  if (!once.verdict.ok() || !list.verdict.ok()) return false;
  for (index_t i = 0; i < given.tiles.count(); ++i)
    if (given.tiles.find(given.tiles.at(i)) != i || once.sharding.tiles.at(i) != given.tiles.at(i))
      return false;
  long_text ordered, listed, found;
  write_hlo(ordered, once.sharding);
  write_hlo(listed, list.sharding);
  write_hlo(found, to_iota(list.sharding));
  return ordered == fact.ordered && listed == fact.listed && found == fact.ordered;
}

// --- text
// -----------------------------------------------------------------------------------------

/// A text and its canonical form, or its error.
struct text_fact {
  shardwise::text_view given;
  shardwise::text_view printed;
};

inline constexpr text_fact hlo_text_facts[] = {
    {"{replicated}", "{replicated}"},
    {" { replicated } ", "{replicated}"},
    {"{manual}", "{manual}"},
    {"{unknown}", "{unknown}"},
    {"{unreduced}", "{unreduced}"},
    {"{maximal device=42}", "{maximal device=42}"},
    {"{devices=[3,4]<=[2,2,3]T(2,1,0)}", "{devices=[3,4]<=[2,2,3]T(2,1,0)}"},
    {"{devices=[2,2]<=[2,2]T(0,1)}", "{devices=[2,2]<=[4]}"},
    {"{devices=[2,2]<=[2,2]}", "{devices=[2,2]<=[4]}"},
    {"{devices=[2,1]0,1 last_tile_dim_replicate}", "{devices=[2]0,1}"},
    {"{devices=[1,1,4]<=[4] last_tile_dim_replicate}", "{replicated}"},
    {"{devices=[1,1,4]3,1,2,0 last_tile_dim_replicate}", "{replicated}"},
    {"{devices=[1,1]0}", "{replicated}"},
    {"{devices=[1,4]<=[4] last_tile_dims={manual}}", "{manual}"},
    {"{devices=[1,4]<=[4] last_tile_dims={unreduced}}", "{unreduced}"},
    {"{devices=[2,2,2,2]<=[2,2,4]T(2,1,0) last_tile_dims={manual, replicated}}",
     "{devices=[2,2,2,2]<=[2,2,4]T(2,1,0) last_tile_dims={manual, replicated}}"},
    {"{devices=[2,2,2,2]<=[16] last_tile_dims={manual, replicated} shard_like 1}",
     "{devices=[2,2,2,2]<=[16] last_tile_dims={manual, replicated} shard_like 1}"},
    {"{replicated shard_as 7}", "{replicated shard_as 7}"},
    {"{devices=[2]<=[2] metadata={op_name=a(b) {}} shard_as 7}", "{devices=[2]<=[2] shard_as 7}"},
    {"{devices=[2]<=[2] shard_as 7 metadata={op_name=\"a}b /* \\\" {\"}}",
     "{devices=[2]<=[2] shard_as 7}"},
    // Replicas ascend, groups are in order and joined.
    {"{devices=[2,2]3,1,2,0 last_tile_dim_replicate}",
     "{devices=[2,2]1,3,0,2 last_tile_dim_replicate}"},
    {"{devices=[2,4]<=[2,2,2]T(2,1,0) last_tile_dim_replicate}",
     "{devices=[2,4]<=[4,2]T(1,0) last_tile_dim_replicate}"},
    {"{devices=[2,2,2]<=[8] last_tile_dims={replicated, replicated}}",
     "{devices=[2,4]<=[8] last_tile_dim_replicate}"},
    {"{devices=[2,2,2]<=[8] last_tile_dims={replicated, manual}}",
     "{devices=[2,2,2]<=[2,2,2]T(0,2,1) last_tile_dims={manual, replicated}}"},
    {"{devices=[2,2,2]0,1,2,3,4,5,6,7 last_tile_dims={replicated, manual}}",
     "{devices=[2,2,2]0,2,1,3,4,6,5,7 last_tile_dims={manual, replicated}}"},
    // An order that sorting changes is written as a list.
    {"{devices=[3,4]<=[6,2]T(1,0) last_tile_dim_replicate}",
     "{devices=[3,4]0,2,4,6,1,3,8,10,5,7,9,11 last_tile_dim_replicate}"},
    // Errors, with their position and reason.
    {"", "0: a sharding begins with {"},
    {"{", "1: a sharding is replicated, maximal, manual, unknown, unreduced or has devices"},
    {"{}", "1: a sharding is replicated, maximal, manual, unknown, unreduced or has devices"},
    {"{replicatedx}",
     "1: a sharding is replicated, maximal, manual, unknown, unreduced or has devices"},
    {"{replicated", "11: a sharding ends with }"},
    {"{replicated} x", "13: nothing follows the end"},
    {"devices=2,2", "0: a sharding begins with {"},
    {"{maximal}", "8: a maximal sharding has a device"},
    {"{maximal device=-1}", "16: a maximal sharding has a device"},
    {"{devices=2,2}", "9: sizes begin with ["},
    {"{devices=[]0}", "10: a size is a number up to 2^30"},
    {"{devices=[0]}", "10: a size is at least 1"},
    {"{devices=[2,99999999999999999999]0}", "12: a size is a number up to 2^30"},
    {"{devices=[65536,65536]0}", "16: there are at most 2^30 devices"},
    {"{devices=[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]0}", "42: there are at most 16 sizes"},
    {"{devices=[1024]0}", "15: the buffer has room for every device"},
    {"{devices=[2,2]0,1,2}", "19: every tile has a device"},
    {"{devices=[2,2]0,1,2,4}", "20: a device is a number below the number of tiles"},
    {"{devices=[2,2]0,1,1,2}", "21: a device has one tile"},
    {"{devices=[2,2]0,1,2,3,4}", "21: a sharding ends with }"},
    {"{devices=[2,2]<=[8]}", "16: an order has as many devices as tiles"},
    {"{devices=[2,2]<=[2,2]T(0,0)}", "25: a transposition names each dimension once"},
    {"{devices=[2,2]<=[2,2]T(0,2)}", "25: a transposition names each dimension once"},
    {"{devices=[2,2]<=[2,2]T(0)}", "25: a transposition names each dimension once"},
    {"{devices=[2]<=[2] last_tile_dims={maximal}}",
     "34: a group is manual, unreduced or replicated"},
    {"{devices=[2]<=[2] last_tile_dims={manual, manual}}", "49: a group has a dimension"},
    {"{replicated /* never ends}", "12: a comment ends with */"},
};

/// A text after parsing and writing.
constexpr long_text printed_hlo(shardwise::text_view given) {
  shardwise::tile_list<64> memory;
  const shardwise::hlo_result read = shardwise::parse_hlo(given, memory.buffer);
  if (!read.verdict.ok()) return said(read.verdict);
  long_text out;
  shardwise::write_hlo(out, read.sharding);
  return out;
}

inline constexpr text_fact hlo_named_text_facts[] = {
    {"{mesh[a=2,b=4,c=3,d=8], [{c}, {a, b:(2)2, ?}]}",
     "{mesh['a'=2,'b'=4,'c'=3,'d'=8], [{'c'}, {'a', 'b':(2)2, ?}]}"},
    {"{mesh[], replicated}", "{mesh[], replicated}"},
    {"{mesh[a=2,b=4,c=3,d=8], [{a}], replicated={c}, unreduced={d:(4)2}, manual={b:(2)2}}",
     "{mesh['a'=2,'b'=4,'c'=3,'d'=8], [{'a'}], replicated={'c'}, unreduced={'d':(4)2}, "
     "manual={'b':(2)2}}"},
    {"{mesh['a'=2,'b'=4,'c'=3,'d'=8], [{'a'}, {'c', 'b'}]}",
     "{mesh['a'=2,'b'=4,'c'=3,'d'=8], [{'a'}, {'c', 'b'}]}"},
    {"{mesh['x'=2,'y'=2], device_ids=(0,2,1,3), [{'x'}]}",
     "{mesh['x'=2,'y'=2], device_ids=(0,2,1,3), [{'x'}]}"},
    {"{mesh['x'=2,'y'=2], device_ids=([2,2]T(1,0)), [{'x'}]}",
     "{mesh['x'=2,'y'=2], device_ids=(0,2,1,3), [{'x'}]}"},
    {"{mesh['x'=2,'y'=2], device_ids=(0,1,2,3), [{'x'}]}", "{mesh['x'=2,'y'=2], [{'x'}]}"},
    {"{mesh['a'=2,'b'=4], [{'a'}], replicated={'b'}}",
     "{mesh['a'=2,'b'=4], [{'a'}], replicated={'b'}}"},
    {"{mesh['a'=2,'b'=4,'c'=3,'d'=8], [{}, {'b'}], unreduced={'d':(4)2}}",
     "{mesh['a'=2,'b'=4,'c'=3,'d'=8], [{}, {'b'}], unreduced={'d':(4)2}}"},
    {"{mesh['a'=2], [{?}], unreduced=max{'a'}}", "{mesh['a'=2], [{?}], unreduced=max{'a'}}"},
    {"{mesh['a'=2], manual}", "{mesh['a'=2], manual}"},
    {"{maximal_mesh[device_id=5]}", "{maximal_mesh[device_id=5]}"},
    {"{mesh['x'=2,'x'=4], [{}]}", "12: the axes of a mesh have different names"},
    {"{mesh['x'=2,'y'=4], device_ids=(0,1,2,3,4,5,6), [{}]}", "45: every tile has a device"},
    {"{mesh['x'=2], [{'z'}]}", "16: axes are those of the mesh"},
    {"{mesh['x'=2], [{'x', 'x'}]}", "21: an axis is used once"},
    {"{mesh['x'=2]}", "12: a mesh is followed by a sharding"},
    {"{mesh['x'=0], [{}]}", "6: a size is at least 1"},
    {"{mesh['x'=65536,'y'=65536], [{}]}", "16: there are at most 2^30 devices"},
};

constexpr long_text printed_hlo_named(shardwise::text_view given) {
  shardwise::tile_list<64> memory;
  const shardwise::named_result read = shardwise::parse_hlo_named(given, memory.buffer);
  if (!read.verdict.ok()) return said(read.verdict);
  long_text out;
  shardwise::write_hlo_named(out, read.sharding);
  return out;
}

// --- equality
// -------------------------------------------------------------------------------------

struct equality_fact {
  shardwise::text_view a, b;
  bool equal;
};

inline constexpr equality_fact equality_facts[] = {
    {"{devices=[2,2]0,2,1,3}", "{devices=[2,2]<=[2,2]T(1,0)}", true},
    {"{devices=[2,2]0,1,2,3}", "{devices=[2,2]<=[4]}", true},
    {"{devices=[2,1,2]0,1,2,3 last_tile_dim_replicate}",
     "{devices=[2,1,2]0,2,1,3 last_tile_dim_replicate}", false},
    {"{devices=[2,1,2]0,1,2,3 last_tile_dim_replicate}",
     "{devices=[2,1,2]1,0,3,2 last_tile_dim_replicate}", true},
    {"{devices=[2,2]0,1,2,3 last_tile_dims={unreduced}}",
     "{devices=[2,2]1,0,2,3 last_tile_dims={unreduced}}", false},
    {"{devices=[4]<=[4]}", "{devices=[2,2]<=[4]}", false},
    {"{devices=[1,4]<=[4]}", "{devices=[4,1]<=[4]}", false},
    {"{maximal device=1}", "{maximal device=2}", false},
    {"{replicated}", "{devices=[1,4]<=[4] last_tile_dim_replicate}", true},
    {"{replicated}", "{manual}", false},
};

constexpr bool holds(const equality_fact& fact) {
  shardwise::tile_list<64> memory;
  const shardwise::hlo_result a = shardwise::parse_hlo(fact.a, memory.buffer);
  const shardwise::hlo_result b = shardwise::parse_hlo(fact.b, memory.buffer);
  return a.verdict.ok() && b.verdict.ok() &&
         shardwise::same_placement(a.sharding, b.sharding) == fact.equal &&
         shardwise::same_placement(b.sharding, a.sharding) == fact.equal;
}

// --- meshes from lists
// --------------------------------------------------------------------------------

struct listed_mesh_fact {
  shardwise::inplace_vector<shardwise::index_t, 8> ids;
  shardwise::extents_desc sizes;
  shardwise::inplace_vector<shardwise::text_view, 8> names;
  shardwise::text_view says;  // as a named sharding, or what is wrong
};

inline constexpr listed_mesh_fact listed_mesh_facts[] = {
    {{0, 1, 2, 3, 4, 5, 6, 7}, {2, 4}, {"x", "y"}, "{mesh['x'=2,'y'=4], replicated}"},
    {{3, 1, 2, 0}, {2, 2}, {"x", "y"}, "{mesh['x'=2,'y'=2], device_ids=(3,1,2,0), replicated}"},
    {{0, 1, 2, 3}, {1, 4}, {}, "{mesh['axis_0'=1,'axis_1'=4], replicated}"},
    {{}, {2, 4}, {"x", "y"}, "{mesh['x'=2,'y'=4], replicated}"},
    {{0}, {}, {}, "{mesh[], replicated}"},
    {{0, 1, 2, 3, 4, 5, 6, 7}, {2, 4}, {"x", "x"}, "1: the axes of a mesh have different names"},
    {{0, 1, 2, 3, 4, 5, 6}, {2, 4}, {"x", "y"}, "0: a mesh has as many devices as its sizes say"},
    {{0, 1, 2, 3, 4, 5, 6, 7}, {2, 4}, {"x"}, "0: a mesh has one name for each axis"},
    {{0, 1, 2, 3, 4, 5, 6, 6}, {2, 4}, {"x", "y"}, "0: each device appears once in a mesh"},
    {{0, 1, 2, 3, 4, 5, 6, 8},
     {2, 4},
     {"x", "y"},
     "0: a device is a number below the size of the mesh"},
    {{0, 1}, {2, 0}, {"x", "y"}, "1: a size is at least 1"},
    {{0, 1},
     {2, 1},
     {"x", "1y"},
     "1: a name is a letter or _ and up to 22 more letters, digits or _"},
    {{0}, {1, 1, 1, 1, 1, 1, 1, 1}, {}, "7: a mesh has at most 7 axes"},
};

constexpr bool holds(const listed_mesh_fact& fact) {
  using namespace shardwise;
  const list_view<const text_view> names(fact.names.begin(), fact.names.size());
  const device_view ids(fact.ids.begin(), fact.ids.ssize());
  const named_mesh_result made = to_named_mesh(ids, fact.sizes, names);
  if (!made.verdict.ok()) return said(made.verdict) == fact.says;
  named_sharding whole;
  whole.on = made.mesh;
  whole.whole = named_sharding::replicated_whole;
  long_text out;
  write_hlo_named(out, whole);
  return out == fact.says;
}

// --- shards
// ---------------------------------------------------------------------------------------

/// The box at one position of a sharding, as begin and end of each dimension.
struct tile_fact {
  shardwise::text_view sharding;
  shardwise::extents_desc extents;
  shardwise::index_t position;
  shardwise::inplace_vector<shardwise::index_t, 10> ranges;
};

inline constexpr tile_fact tile_facts[] = {
    {"{devices=[2,2]0,3,2,1}", {4, 5}, 0, {0, 2, 0, 3}},
    {"{devices=[2,2]0,3,2,1}", {4, 5}, 1, {0, 2, 3, 5}},
    {"{devices=[2,2]0,3,2,1}", {4, 5}, 2, {2, 4, 0, 3}},
    {"{devices=[2,2]0,3,2,1}", {4, 5}, 3, {2, 4, 3, 5}},
    {"{devices=[2,2]<=[4]}", {8, 7}, 0, {0, 4, 0, 4}},
    {"{devices=[2,2]<=[4]}", {8, 7}, 1, {0, 4, 4, 7}},
    {"{devices=[2,2]<=[4]}", {8, 7}, 3, {4, 8, 4, 7}},
    {"{devices=[2,4,1]<=[8]}", {8, 7, 4}, 0, {0, 4, 0, 2, 0, 4}},
    {"{devices=[2,4,1]<=[8]}", {8, 7, 4}, 3, {0, 4, 6, 7, 0, 4}},
    {"{devices=[2,4,1]<=[8]}", {8, 7, 4}, 7, {4, 8, 6, 7, 0, 4}},
    {"{devices=[1,4,2]<=[8]}", {8, 7, 4}, 0, {0, 8, 0, 2, 0, 2}},
    {"{devices=[1,4,2]<=[8]}", {8, 7, 4}, 7, {0, 8, 6, 7, 2, 4}},
    {"{devices=[1,2,2,2]<=[8]}", {10, 8, 7, 4}, 0, {0, 10, 0, 4, 0, 4, 0, 2}},
    {"{devices=[1,2,2,2]<=[8]}", {10, 8, 7, 4}, 7, {0, 10, 4, 8, 4, 7, 2, 4}},
    {"{devices=[1,1,2,2,2]<=[8]}", {10, 1, 8, 7, 4}, 0, {0, 10, 0, 1, 0, 4, 0, 4, 0, 2}},
    {"{devices=[1,1,2,2,2]<=[8]}", {10, 1, 8, 7, 4}, 7, {0, 10, 0, 1, 4, 8, 4, 7, 2, 4}},
    {"{devices=[4]<=[4]}", {5}, 0, {0, 2}},
    {"{devices=[4]<=[4]}", {5}, 1, {2, 4}},
    {"{devices=[4]<=[4]}", {5}, 2, {4, 5}},
    {"{devices=[4]<=[4]}", {5}, 3, {5, 5}},
    {"{devices=[8]<=[8]}", {3}, 0, {0, 1}},
    {"{devices=[8]<=[8]}", {3}, 2, {2, 3}},
    {"{devices=[8]<=[8]}", {3}, 3, {3, 3}},
    {"{devices=[8]<=[8]}", {3}, 7, {3, 3}},
    {"{devices=[8,1,1]<=[8]}", {16, 7, 4}, 4, {8, 10, 0, 7, 0, 4}},
    {"{devices=[2,1,2]<=[4] last_tile_dim_replicate}", {4, 5}, 3, {2, 4, 0, 5}},
    {"{replicated}", {4, 5}, 3, {0, 4, 0, 5}},
    {"{maximal device=1}", {4}, 1, {0, 4}},
    {"{maximal device=1}", {4}, 0, {0, 0}},
};

constexpr bool holds(const tile_fact& fact) {
  using namespace shardwise;
  tile_list<64> memory;
  const hlo_result read = parse_hlo(fact.sharding, memory.buffer);
  if (!read.verdict.ok()) return false;
  const hlo_shard shard = shard_at(read.sharding, fact.extents, fact.position);
  for (int d = 0; d < fact.extents.ssize(); ++d)
    if (!(shard.part[d] == index_range{fact.ranges[2 * d], fact.ranges[2 * d + 1]})) return false;
  if (read.sharding.kind == hlo_kind::tiled)
    return shard_of(read.sharding, fact.extents, read.sharding.tiles.at(fact.position)) == shard;
  return shard_of(read.sharding, fact.extents, fact.position) == shard;
}
