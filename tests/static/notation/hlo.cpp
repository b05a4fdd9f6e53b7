// SPDX-License-Identifier: BSL-1.0
#include "support/facts.hpp"
#include "unit/notation/hlo_facts.hpp"

#include <initializer_list>

using namespace shardwise;

static_assert(facts_hold<op_facts>);
static_assert(facts_hold<named_facts>);
static_assert(facts_hold<order_facts>);
static_assert(facts_hold<equality_facts>);
static_assert(facts_hold<tile_facts>);
static_assert(facts_hold<listed_mesh_facts>);

template <std::size_t I>
inline constexpr bool text_holds =
    printed_hlo(hlo_text_facts[I].given) == hlo_text_facts[I].printed;
template <std::size_t I>
inline constexpr bool named_text_holds =
    printed_hlo_named(hlo_named_text_facts[I].given) == hlo_named_text_facts[I].printed;
template <std::size_t... I>
constexpr bool texts_hold(std::index_sequence<I...>) {
  return (... && text_holds<I>);
}
template <std::size_t... I>
constexpr bool named_texts_hold(std::index_sequence<I...>) {
  return (... && named_text_holds<I>);
}
static_assert(texts_hold(std::make_index_sequence<std::size(hlo_text_facts)>{}));
static_assert(named_texts_hold(std::make_index_sequence<std::size(hlo_named_text_facts)>{}));

// The numbers of the types are documented.
static_assert(int(sharding_type::replicated) == 0 && int(sharding_type::maximal) == 1);
static_assert(int(sharding_type::tuple) == 2 && int(sharding_type::tiled) == 3);
static_assert(int(sharding_type::manual) == 4 && int(sharding_type::partial) == 5);
static_assert(int(sharding_type::unknown) == 6);
constexpr auto type_of_text = [](text_view words) {
  tile_list<16> memory;
  return type_of(parse_hlo(words, memory.buffer).sharding);
};
static_assert(type_of_text("{replicated}") == sharding_type::replicated);
static_assert(type_of_text("{maximal device=3}") == sharding_type::maximal);
static_assert(type_of_text("{devices=[2,2]0,1,2,3}") == sharding_type::tiled);
static_assert(type_of_text("{devices=[2,2]<=[4] last_tile_dim_replicate}") ==
              sharding_type::partial);
static_assert(type_of_text("{manual}") == sharding_type::manual);
static_assert(type_of_text("{unknown}") == sharding_type::unknown);

// Types of a front end: the type is partial if axes remain that the spec does not name, and maximal
// for a mesh of one device.
constexpr auto op_of = [](const mesh_desc& mesh, text_view spec) {
  return to_op_sharding(mesh, parse_partition_spec(spec, mesh).layout).sharding;
};
constexpr mesh_desc line{{axis_desc{"x", 8}}};
constexpr mesh_desc plane{{axis_desc{"x", 2}, axis_desc{"y", 4}}};
constexpr mesh_desc dot{{axis_desc{"x", 1}}};
static_assert(op_of(line, "(None, None)").type == sharding_type::replicated);
static_assert(op_of(plane, "(None,)").type == sharding_type::partial);
static_assert(op_of(plane, "(None,)").is_replicated() && !op_of(line, "('x',)").is_replicated());
static_assert(op_of(dot, "('x', None)").type == sharding_type::maximal);
static_assert(op_of(dot, "()").type == sharding_type::replicated);
static_assert(!to_op_sharding(line, {{axis_list{0}}, 0}, device_view{}).sharding.is_replicated());

// Devices of a mesh are a permutation.
constexpr auto why_not_devices = [](std::initializer_list<index_t> ids) {
  return why_not(plane, device_view(ids.begin(), static_cast<index_t>(ids.size())));
};
static_assert(why_not_devices({0, 1, 2, 3, 4, 5, 6}) ==
              "a mesh has as many devices as its sizes say");
static_assert(why_not_devices({0, 1, 2, 3, 4, 5, 6, 8}) ==
              "a device is a number below the size of the mesh");
static_assert(why_not_devices({0, 1, 2, 3, 4, 5, 6, 6}) == "each device appears once in a mesh");
static_assert(why_not_devices({7, 1, 2, 3, 4, 5, 6, 0}).empty());

// A box of extents with padding.
constexpr auto padded = [](text_view words, const extents_desc& extents) {
  tile_list<16> memory;
  return padded_shape(parse_hlo(words, memory.buffer).sharding, extents);
};
static_assert(padded("{devices=[4,1,1,2]0,4,1,5,2,6,3,7}", {32, 4, 8, 16}) ==
              extents_desc{8, 4, 8, 8});
static_assert(padded("{devices=[4]<=[4]}", {5}) == extents_desc{2});
static_assert(padded("{devices=[8,1,1]<=[8]}", {16, 7, 4}) == extents_desc{2, 7, 4});
static_assert(padded("{replicated}", {5, 3}) == extents_desc{5, 3});

// Every device of a replicated tensor holds all of it; the replica is the device.
static_assert(shard_of({}, {4, 5}, 3) == hlo_shard{{index_range{0, 4}, index_range{0, 5}}, 3});

// Tuples, with elements of every kind.
constexpr auto tuple_says = [](text_view words) {
  tile_list<64> memory;
  int count = 0;
  const parse_verdict verdict = parse_hlo_tuple(words, [&](text_view element) {
    ++count;
    const parse_verdict named = parse_hlo_named(element, memory.buffer).verdict;
    return named.ok() ? named : parse_hlo(element, memory.buffer).verdict;
  });
  bounded_text<100> out;
  out << count << " elements, " << verdict.position << ": " << verdict.reason;
  return out;
};
static_assert(is_hlo_tuple("{{replicated}}") && is_hlo_tuple("{}") &&
              !is_hlo_tuple("{replicated}"));
static_assert(tuple_says("{}") == "0 elements, 0: ");
static_assert(tuple_says("{{replicated}, {maximal device=1}}") == "2 elements, 0: ");
static_assert(tuple_says("{{mesh['a'=2,'b'=2], [{'a'}, {}]}, {devices=[2,2]<=[4] "
                         "last_tile_dim_replicate}}") == "2 elements, 0: ");
static_assert(tuple_says("{{replicated}, /*index=1*/{devices=[2]0,2}}") ==
              "2 elements, 40: a device is a number below the number of tiles");
static_assert(tuple_says("{{devices=[1,4,8]<=[8,4]T(1,0) last_tile_dim_replicate}, "
                         "{devices=[4,1,8]<=[8,4]T(1,0) last_tile_dim_replicate}}") ==
              "2 elements, 0: ");
static_assert(tuple_says("{{replicated}, manual}") ==
              "1 elements, 15: an element of a tuple begins with {");
static_assert(tuple_says("{{replicated}") == "1 elements, 13: a tuple ends with }");

// Layouts that tiles cannot express, and tiles that layouts cannot express.
constexpr auto tiled_layout = [](text_view words, const mesh_desc& mesh, int rank) {
  tile_list<64> memory;
  return to_layout(parse_hlo(words, memory.buffer).sharding, mesh, rank, memory.buffer);
};
static_assert(tiled_layout("{devices=[1,8]<=[2,4]T(1,0)}", plane, 2).layout.dims[1] ==
              axis_list{1, 0});
static_assert(tiled_layout("{unreduced}", plane, 1).layout.pending == 3);
static_assert(tiled_layout("{replicated}", plane, 3).layout.rank() == 3);
static_assert(tiled_layout("{devices=[4,2]<=[8]}", plane, 2).verdict.reason ==
              "no axes of the mesh make these tiles");
static_assert(tiled_layout("{devices=[8]0,1,2,3,4,5,7,6}", plane, 1).verdict.reason ==
              "no axes of the mesh make these tiles");
static_assert(tiled_layout("{devices=[4]<=[4]}", plane, 1).verdict.reason ==
              "tiles and mesh have as many devices");
static_assert(tiled_layout("{devices=[8]<=[8]}", plane, 2).verdict.reason ==
              "a sharding has one entry for each dimension");
static_assert(tiled_layout("{maximal device=0}", plane, 1).verdict.reason ==
              "a layout has a mesh, not one device");
static_assert(tiled_layout("{manual}", plane, 1).layout.manual == 3);
static_assert(
    tiled_layout("{devices=[2,4]<=[8] last_tile_dims={manual}}", plane, 1).layout.manual == 2);
static_assert(tiled_layout("{unknown}", plane, 1).verdict.reason ==
              "an unknown sharding has no layout");
