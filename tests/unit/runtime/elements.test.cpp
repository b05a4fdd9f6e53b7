// SPDX-License-Identifier: BSL-1.0
// Tensors of every element type are created, moved and read.
#include "unit/runtime/element_values.hpp"

#include <set>
#include <sstream>
#include <string>

using namespace element_values;

namespace {

/// Reshards tensors from every layout, with every pending reduction, to other layouts, and collects
/// the kinds of collectives that were used.
template <class T>
void check_moves(std::set<collective>& seen) {
  generated::numbers random(7);
  for (const mesh_desc& mesh : generated::meshes({{2}, {3, 2}})) {
    const device_pool pool(mesh, 2);
    for (const extents_desc& extents :
         {extents_desc{5, 4}, extents_desc{1, 7}, extents_desc{0, 3}}) {
      const auto targets = generated::layouts(mesh, 2, false);
      for (reduction kind : reductions<T>())
        for (const layout_desc& layout : generated::layouts(mesh, 2, true, kind)) {
          const known<T> x = make<T>(pool, extents, layout, 3);
          for (int round = 0; round < 2; ++round) {
            const layout_desc& target =
                targets[static_cast<std::size_t>(random.below(std::ssize(targets)))];
            const redistribution way = redistribute(mesh, x.tensor.tensor(), target);
            for (const planned_transfer& moved : way.moves) seen.insert(moved.kind);
            const any_tensor<T> y = reshard(x.tensor, target);
            INFO(to_text(mesh, x.tensor.tensor()).c_str()
                 << " to " << to_text(mesh, y.tensor()).c_str());
            REQUIRE(every_device_has(y, x.value));
            REQUIRE(same_bits(values(y), x.value));
          }
        }
    }
  }
}

struct pair_of : mesh<axis<"x", 2>> {};
template <class T>
using V = sharded_tensor<T, extents<5>, layout<pair_of, P<"x">, partial<>, uneven>>;
template <class T>
using R = sharded_tensor<T, extents<2, 2>, layout<pair_of, P<none, "x">>>;

template <class T>
void check_factories(const device_pool& pool) {
  const V<T> x = iota<V<T>>(pool);
  const auto host = to_host(x);
  for (int i = 0; i < 5; ++i)
    REQUIRE(number<T>(host(i)) == (std::same_as<T, bool> ? std::min(i, 1) : i));
  REQUIRE(local(x, 0).elements().size() == 3);
  REQUIRE(local(x, 1).elements().size() == 2);
  REQUIRE(number<T>(local(x, 1).elements()[0]) == (std::same_as<T, bool> ? 1 : 3));
  const R<T> all = full<R<T>>(pool, element_from<T>(1));
  for (const local_shard<T>& shard : shards(all)) {
    REQUIRE(shard.elements().size() == 2);
    for (const T& value : shard.elements()) REQUIRE(number<T>(value) == 1);
  }
  REQUIRE(x.share()->tensor().type == element_of<T>);
  REQUIRE(local(x, 0).elements().size_bytes() == 3 * sizeof(T));
}

template <class T>
std::string printed(const device_pool& pool, plain<T> step, plain<T> first) {
  row<T> elements(5);
  for (std::size_t i = 0; i < 5; ++i)
    elements[i] = element_from<T>(first + step * static_cast<plain<T>>(i));
  layout_desc layout;
  layout.dims.resize(1);
  std::ostringstream out;
  out << to_host(distribute<T>(pool, std::span<const T>(elements), {5}, layout));
  return out.str();
}

}  // namespace

TEST_CASE("every element type moves by every collective, and pending reductions are finished") {
  for_each_type([]<class T>(std::type_identity<T>) {
    std::set<collective> seen;
    INFO(to_text(element_of<T>));
    check_moves<T>(seen);
    for (collective kind : {collective::all_gather, collective::all_reduce,
                            collective::reduce_scatter, collective::all_to_all, collective::slice})
      REQUIRE(seen.count(kind) == 1);
  });
}

TEST_CASE("tensors of every element type are made and read shard by shard") {
  const device_pool pool{pair_of{}};
  for_each_type([&]<class T>(std::type_identity<T>) { check_factories<T>(pool); });
}

TEST_CASE("a tensor of any elements prints as numbers") {
  const device_pool pool{pair_of{}};
  REQUIRE(printed<bool>(pool, 1, 0) == "0 1 1 1 1");
  REQUIRE(printed<std::int8_t>(pool, 33, -65) == "-65 -32   1  34  67");
  REQUIRE(printed<std::uint8_t>(pool, 50, 40) == " 40  90 140 190 240");
  REQUIRE(printed<std::int32_t>(pool, -1, 2) == " 2  1  0 -1 -2");
  REQUIRE(printed<std::int64_t>(pool, 1, 7) == " 7  8  9 10 11");
  REQUIRE(printed<bfloat16>(pool, 0.5, -1) == "  -1 -0.5    0  0.5    1");
  REQUIRE(printed<float16>(pool, 0.5, -1) == "  -1 -0.5    0  0.5    1");
  REQUIRE(printed<float>(pool, 0.5, -1) == "  -1 -0.5    0  0.5    1");
  REQUIRE(printed<double>(pool, 0.25, 0) == "   0 0.25  0.5 0.75    1");
}

TEST_CASE("of truth values the largest says any, the least says all") {
  const device_pool pool(2);
  const bool rows[3][4] = {
      {true, false, true, true}, {false, false, false, false}, {true, true, true, true}};
  for (const layout_desc& layout : generated::layouts(pool.mesh(), 2, false)) {
    const any_tensor<bool> x = distribute<bool>(pool, {&rows[0][0], 12}, {3, 4}, layout);
    const row<bool> any = values(max(x, over{1}));
    const row<bool> all = values(min(x, over{1}));
    for (std::size_t i = 0; i < 3; ++i) {
      REQUIRE(any[i] == (i != 1));
      REQUIRE(all[i] == (i == 2));
    }
  }
}
