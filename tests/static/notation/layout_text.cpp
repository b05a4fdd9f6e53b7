// SPDX-License-Identifier: BSL-1.0
#include <shardwise/mesh/ordered_mesh.hpp>
#include <shardwise/notation.hpp>
#include <shardwise/paper.hpp>

using namespace shardwise;

constexpr mesh_desc pod{{axis_desc{"data", 2}, axis_desc{"model", 4}}};

constexpr auto in_notation = [](notation form, text_view spec) {
  bounded_text<200> out;
  const read_layout read = parse_layout(notation::jax, spec, pod);
  const parse_verdict verdict = write_layout_as(out, form, pod, read.layout);
  if (verdict.ok() && !(out == to_text(form, pod, read.layout))) out << " or something else";
  if (!verdict.ok()) out << "refused: " << verdict.reason;
  return out;
};
static_assert(in_notation(notation::hlo_listed, "P('data', None)") ==
              "{devices=[2,1,4]0,1,2,3,4,5,6,7 last_tile_dim_replicate}");
static_assert(in_notation(notation::hlo_ordered, "P('data', None)") ==
              "{devices=[2,1,4]<=[8] last_tile_dim_replicate}");
static_assert(in_notation(notation::hlo_named, "P('data', None)") ==
              "{mesh['data'=2,'model'=4], [{'data'}, {}]}");
static_assert(in_notation(notation::sdy, "P('data', None)") ==
              R"(#sdy.sharding<@mesh, [{"data"}, {}]>)");
static_assert(in_notation(notation::jax, "P('data', None)") == "P('data', None)");
static_assert(in_notation(notation::dtensor, "P('data', None)") == "S(0) R");
static_assert(in_notation(notation::dtensor, "P(('model', 'data'))") == "S(0)[1] S(0)[0]");
static_assert(in_notation(notation::hlo_ordered, "P(None, unreduced={'data'})") ==
              "{devices=[1,2,4]<=[8] last_tile_dims={unreduced, replicated}}");
static_assert(in_notation(notation::hlo_ordered, "P(unreduced={'data'}, unreduced_kind='max')") ==
              "refused: tiles are unreduced by a sum");
static_assert(in_notation(notation::dtensor, "P('model'*2)") == "R SS(0,2)");
static_assert(in_notation(notation::dtensor, "P('model'%2)") ==
              "refused: placements cut chunks and have no cyclic blocks");
static_assert(in_notation(notation::jax, "P('model'%2)") ==
              "refused: only contiguous parts of a dimension can be written so");
static_assert(in_notation(notation::sdy, "P('model'*2)") ==
              "refused: only contiguous parts of a dimension can be written so");

// Every notation is recognised and gives the same layout.
constexpr auto says = [](text_view words, text_view spec) {
  const read_layout read = parse_layout(words, pod, 2);
  return read.verdict.ok() && read.layout == parse_partition_spec(spec, pod, 2).layout;
};
static_assert(says("{devices=[1,4,2]<=[2,4]T(1,0) last_tile_dim_replicate}", "P(None, 'model')"));
static_assert(says("{devices=[1,4,2]0,4,1,5,2,6,3,7 last_tile_dim_replicate}", "P(None, 'model')"));
static_assert(says("{mesh['data'=2,'model'=4], [{}, {'model'}]}", "P(None, 'model')"));
static_assert(says(R"(#sdy.sharding<@mesh, [{}, {"model", ?}]>)", "P(None, 'model')"));
static_assert(says(R"(<@mesh, [{}, {"model"}], unreduced={"data"}>)",
                   "P(None, 'model', unreduced={'data'})"));
static_assert(says("(None, model)", "P(None, 'model')"));
static_assert(says("R S(1)", "P(None, 'model')"));
static_assert(says("P(sum) S(1)", "P(None, 'model', unreduced={'data'})"));
static_assert(says("SS(0,4) S(0)", "P(('model', 'data'))"));
static_assert(says("R SS(1,3)", "P(None, 'model'*3)"));

constexpr auto refusal = [](text_view words) { return parse_layout(words, pod, 2).verdict; };
static_assert(refusal("{mesh['data'=2,'model'=2], [{}, {'model'}]}").reason ==
              "the mesh of a sharding is the mesh of its tensor");
static_assert(refusal("P('data', 'modle')") == parse_verdict{10, "axes are those of the mesh"});
static_assert(refusal("S(0) Q") == parse_verdict{5, "a placement is R, S(0), SS(0,2) or P(sum)"});
static_assert(!refusal("").ok());

// A named notation reads only its own texts; the forms of HLO read each other's.
constexpr auto reads_as = [](notation form, text_view words, int rank = -1) {
  const read_layout read = parse_layout(form, words, pod, rank);
  return read.verdict.ok() && read.layout == parse_partition_spec("P('data', None)", pod).layout;
};
static_assert(reads_as(notation::jax, "P('data', None)") &&
              reads_as(notation::jax, "P('data')", 2));
static_assert(reads_as(notation::dtensor, "S(0) R", 2) && !reads_as(notation::dtensor, "S(0) R"));
static_assert(reads_as(notation::sdy, R"(<@mesh, [{"data"}, {}]>)"));
static_assert(reads_as(notation::hlo_listed, "{devices=[2,1,4]<=[8] last_tile_dim_replicate}") &&
              reads_as(notation::hlo_ordered, "{mesh['data'=2,'model'=4], [{'data'}, {}]}") &&
              reads_as(notation::hlo_named,
                       "{devices=[2,1,4]0,1,2,3,4,5,6,7 last_tile_dim_replicate}"));
static_assert(!reads_as(notation::jax, "S(0) R", 2) &&
              !reads_as(notation::dtensor, "('data',)", 2));

// Without a rank the text has to list its dimensions.
constexpr auto needs_rank = [](notation form, text_view words) {
  return parse_layout(form, words, pod).verdict ==
             parse_verdict{0, "a text without dimensions needs the rank of the tensor"} &&
         parse_layout(form, words, pod, 2).verdict.ok();
};
static_assert(needs_rank(notation::dtensor, "S(0) R") &&
              needs_rank(notation::hlo_ordered, "{replicated}") &&
              needs_rank(notation::hlo_ordered, "{unreduced}") &&
              needs_rank(notation::hlo_named, "{mesh['data'=2,'model'=4], replicated}"));
static_assert(parse_layout("S(0) Q", pod).verdict.position == 5);
static_assert(parse_layout(notation::hlo_named, "{maximal_mesh[device_id=0]}", pod)
                  .verdict.reason == "the mesh of a sharding is the mesh of its tensor");
static_assert(parse_layout(notation::hlo_listed, "{maximal device=0}", pod, 2).verdict.reason ==
              "a layout has a mesh, not one device");

// Types, and the layouts of tensor types.
struct rack : mesh<axis<"data", 2>, axis<"model", 4>> {};
using rows = layout<rack, P<"data", none>>;
static_assert(type_name<notation::jax, rows>() == "P('data', None)");
static_assert(type_name<notation::sdy, sharded_tensor<float, extents<dyn, 8>, rows>>() ==
              R"(#sdy.sharding<@mesh, [{"data"}, {}]>)");
static_assert(layout_of(notation::jax, "P('data', None)", rack::value) == rows::value &&
              layout_of("S(0) R", rack::value, 2) == rows::value);

// The length of a list grows with the number of devices; the unit test lists 4096.
struct hall : mesh<axis<"data", 16>, axis<"model", 16>> {};
using columns = layout<hall, P<none, "model">>;
constexpr auto listed = type_name<notation::hlo_listed, columns>();
static_assert(listed.size() == 956 && listed.data()[listed.size() - 1] == '}');
static_assert(type_name<notation::hlo_ordered, columns>() ==
              "{devices=[1,16,16]<=[16,16]T(1,0) last_tile_dim_replicate}");

inline constexpr index_t backwards[] = {3, 2, 1, 0};
struct ring : ordered_mesh<mesh<axis<"x", 4>>, backwards> {};
static_assert(type_name<notation::hlo_listed, layout<ring, P<"x">>>() == "{devices=[4]3,2,1,0}");

// An order of devices is never dropped.
constexpr bool devices_stay() {
  constexpr index_t ids[] = {7, 6, 5, 4, 3, 2, 1, 0};
  const device_view devices(ids, 8);
  for (int form = 0; form < notation_count; ++form) {
    tile_list<64> memory;
    const read_layout read = parse_partition_spec("P('data', 'model')", pod);
    bounded_text<200> out;
    const auto kind = static_cast<notation>(form);
    if (!write_layout_as(out, kind, pod, read.layout, memory.buffer, devices).ok()) return false;
    const read_layout back = parse_layout(out, pod, 2, memory.buffer, devices);
    if (!back.verdict.ok() || !(back.layout == read.layout)) return false;
    const bool has_devices = form <= int(notation::hlo_named);
    if (has_devices && parse_layout(out, pod, 2, memory.buffer).verdict.ok()) return false;
  }
  return true;
}
static_assert(devices_stay());
