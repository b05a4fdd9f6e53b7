// SPDX-License-Identifier: BSL-1.0
// Computations on uneven shards that are cut axis by axis, or once over all axes of a dimension.
#include "property/agreement.hpp"
#include "support/catch.hpp"
#include <shardwise/host/from_shards.hpp>
#include <shardwise/notation.hpp>

using namespace generated;

namespace {

std::vector<float> elements_of(const any_tensor<float>& x) {
  const auto host = to_host(x);
  return {host.elements().begin(), host.elements().end()};
}

/// One dimension over every order of some axes of a mesh, with both policies.
std::vector<layout_desc> both_cuts(const mesh_desc& mesh) {
  std::vector<layout_desc> all;
  for (layout_desc layout : layouts(mesh, 1, false)) {
    layout.follow(uneven{});
    all.push_back(layout);
    if (layout.dims[0].size() < 2) continue;
    layout.follow(single_cut{});
    all.push_back(layout);
  }
  return all;
}

bool cut_alike(const mesh_desc& mesh, const layout_desc& a, const layout_desc& b, index_t size) {
  for (index_t device = 0; device < mesh.devices(); ++device)
    if (!(shard_box(mesh, a, {size}, device) == shard_box(mesh, b, {size}, device))) return false;
  return true;
}

}  // namespace

TEST_CASE("from every cut to every other with the right bits and the bytes of the plan") {
  index_t moved = 0;
  for (const mesh_desc& mesh : meshes({{2, 2}, {2, 3}, {3, 2}, {1, 2}, {2, 1, 2}, {2, 2, 2}})) {
    const std::vector<layout_desc> all = both_cuts(mesh);
    for_all_owners(mesh, 211, [&](const device_pool& pool, every pick) {
      for (index_t n = 0; n <= 11; ++n) {
        const std::vector<float> host = whole_numbers(n, 1);
        for (const layout_desc& source : all) {
          const any_tensor<float> x =
              distribute(pool, std::span<const float>(host), extents_desc{n}, source);
          for (const auto& part : shards(x))
            for (index_t i = 0; i < part.extents()[0]; ++i)
              require(part.elements()[static_cast<std::size_t>(i)] ==
                      host[static_cast<std::size_t>(part.range()[0].begin + i)]);
          for (const layout_desc& target : all) {
            if (!pick()) continue;
            pool.reset_counters();
            const any_tensor<float> y = reshard(x, target);
            sync(y);
            const redistribution way = redistribute(mesh, x.tensor(), target);
            require(pool.counters().bytes_moved() == way.total_bytes());
            require(elements_of(y) == host);
            for (const auto& part : shards(y))
              require(part.extents() == extents_of(shard_box(mesh, target, {n}, part.device())));
            if (!(source.dims == target.dims)) continue;
            // The other cut of the same axes.
            require(way.moves.empty() == cut_alike(mesh, source, target, n));
            require(way.moves.empty() || y.layout() == target);
            if (pick.all()) moved += way.moves.empty() ? 0 : 1;
          }
        }
      }
    });
  }
  REQUIRE(moved > 100);
}

TEST_CASE(
    "operations on both cuts: what agrees is computed, what does not is refused with the reshard "
    "that helps") {
  index_t refused = 0;
  for (const mesh_desc& mesh : meshes({{2, 2}, {2, 3}, {2, 2, 2}})) {
    const device_pool pool(mesh, 2);
    const std::vector<layout_desc> all = both_cuts(mesh);
    for (index_t n = 1; n <= 9; ++n)
      for (const layout_desc& first : all)
        for (const layout_desc& second : all) {
          const tensor_and_value x = make(pool, {n}, first, 1);
          const tensor_and_value y = make(pool, {n}, second, 2);
          std::vector<float> sums;
          for (std::size_t i = 0; i < x.value.size(); ++i) sums.push_back(x.value[i] + y.value[i]);
          const tensor_descs operands{x.tensor.tensor(), y.tensor.tensor()};
          const factor_rule rule =
              elementwise_rule(linearity::additive, {extents_desc{n}, extents_desc{n}});
          const propagation found = propagate(mesh, rule, operands);
          if (found.verdict.ok()) {
            REQUIRE(elements_of(x.tensor + y.tensor) == sums);
            continue;
          }
          ++refused;
          if (first.dims == second.dims) REQUIRE_FALSE(cut_alike(mesh, first, second, n));
          REQUIRE_THROWS_AS(x.tensor + y.tensor, error);
          const suggested_reshard fix = propose(mesh, rule, operands, found.verdict);
          REQUIRE(fix.operand == 1);
          REQUIRE(elements_of(x.tensor + reshard(y.tensor, fix.layout)) == sums);
        }
  }
  REQUIRE(refused > 1000);
}

namespace {

struct grid : mesh<axis<"x", 2>, axis<"y", 2>> {};
using rows = P<by("x", "y"), none>;
template <class Policy, index_t N>
using X = sharded_tensor<float, extents<N, 3>, layout<grid, rows, partial<>, Policy>>;
float value(const global_index& at) { return static_cast<float>(at[0] * 3 + at[1]); }

}  // namespace

TEST_CASE("types say the cut: five rows over two by two devices") {
  const device_pool pool{grid{}};
  const auto sizes = [](const auto& x) {
    std::vector<index_t> all;
    for (const auto& part : shards(x)) all.push_back(part.extents()[0]);
    return all;
  };
  const auto apart = generate<X<uneven, 5>>(pool, value);
  const auto once = generate<X<single_cut, 5>>(pool, value);
  REQUIRE(sizes(apart) == std::vector<index_t>{2, 1, 1, 1});
  REQUIRE(sizes(once) == std::vector<index_t>{2, 2, 1, 0});
  REQUIRE(to_host(apart) == to_host(once));

  // Operations keep it.
  const X<single_cut, 5> twice = once + once;
  REQUIRE(sizes(twice) == std::vector<index_t>{2, 2, 1, 0});
  REQUIRE(sizes(exp(once) * 2.0F) == std::vector<index_t>{2, 2, 1, 0});
  const auto totals = reshard<P<none>>(sum<0>(once));
  REQUIRE(to_host(totals)(2) == 2 + 5 + 8 + 11 + 14);

  // A single exchange converts between them.
  pool.reset_counters();
  const auto moved = reshard<layout<grid, rows, partial<>, single_cut>>(apart);
  sync(moved);
  REQUIRE(sizes(moved) == std::vector<index_t>{2, 2, 1, 0});
  REQUIRE(pool.counters().bytes_moved() > 0);
  REQUIRE(to_host(moved + once) == to_host(twice));
  REQUIRE(sizes(reshard<rows, single_cut>(apart)) == std::vector<index_t>{2, 2, 1, 0});
  REQUIRE(sizes(reshard<P<cut_once("x", "y"), none>>(apart)) == std::vector<index_t>{2, 2, 1, 0});
  REQUIRE(sizes(reshard<rows>(once)) == std::vector<index_t>{2, 1, 1, 1});
  REQUIRE(sizes(reshard<P<"x", none>>(once)) == std::vector<index_t>{3, 3, 2, 2});
}

TEST_CASE("types of both cuts meet where they are one") {
  const device_pool pool{grid{}};
  const auto apart = generate<X<uneven, 7>>(pool, value);
  const auto once = generate<X<single_cut, 7>>(pool, value);
  const auto even = generate<X<uneven, 8>>(pool, value);
  const auto whole = generate<X<exact, 8>>(pool, value);
  const auto cut = generate<X<single_cut, 8>>(pool, value);
  pool.reset_counters();
  REQUIRE(to_host(apart + once) == to_host(once + once));
  REQUIRE(to_host(whole + cut) == to_host(even + whole));
  const auto same = reshard<rows, single_cut>(apart);
  REQUIRE(to_host(same + once) == to_host(apart + apart));
  REQUIRE(pool.counters().bytes_moved() == 0);
}

TEST_CASE("a policy without a dimension of several axes is that of one axis") {
  using plain = sharded_tensor<float, extents<5>, layout<grid, P<"x">, partial<>, single_cut>>;
  const device_pool pool{grid{}};
  const auto x = generate<plain>(pool, [](const global_index& at) { return float(at[0]); });
  const plain y = x + x;  // the type of the sum says uneven, which is the same layout
  plain z = y * 2.0F;
  z += x;
  REQUIRE(to_host(z)(4) == 20);
  const sharded_tensor<float, extents<5>, layout<grid, P<"x">, partial<>, uneven>> back = x;
  REQUIRE(to_host(back) == to_host(x));
}

TEST_CASE("a product has rows that are cut once and columns that are cut axis by axis") {
  struct cube : mesh<axis<"a", 2>, axis<"b", 2>, axis<"c", 2>, axis<"d", 2>> {};
  using left = sharded_tensor<float, extents<5, 3>,
                              layout<cube, P<by("a", "b"), none>, partial<>, single_cut>>;
  using right =
      sharded_tensor<float, extents<3, 5>, layout<cube, P<none, by("c", "d")>, partial<>, uneven>>;
  using both = layout<cube, P<cut_once("a", "b"), by("c", "d")>, partial<>, uneven>;
  const device_pool pool{cube{}};
  const auto x = generate<left>(pool, value);
  const auto y = generate<right>(
      pool, [](const global_index& at) { return static_cast<float>(at[0] - at[1]); });
  const auto z = einsum<"ik,kj->ij">(x, y);
  static_assert(std::is_same_v<std::remove_const_t<decltype(z)>::layout_type, both>);
  REQUIRE(type_name<sharded_tensor<float, extents<5, 5>, both>>() == "f32[5@(a,b)*1, 5@(c,d)]");
  const sharded_tensor<float, extents<5, 5>, both> kept = z;
  for (const auto& part : shards(kept))
    REQUIRE(part.extents() ==
            extents_of(shard_box(cube::value, both::value, {5, 5}, part.device())));
  const auto host = to_host(kept);
  for (index_t i = 0; i < 5; ++i)
    for (index_t j = 0; j < 5; ++j) {
      float sum = 0;
      for (index_t k = 0; k < 3; ++k) sum += static_cast<float>((i * 3 + k) * (k - j));
      REQUIRE(host(i, j) == sum);
    }
}

TEST_CASE("rows that only the run counts are cut by their number") {
  using A = sharded_tensor<float, extents<dyn, 3>, layout<grid, rows, partial<>, uneven>>;
  using B = sharded_tensor<float, extents<dyn, 3>, layout<grid, rows, partial<>, single_cut>>;
  const device_pool pool{grid{}};
  for (int n : {0, 1, 2, 3, 5, 6, 7, 8, 9}) {
    const A apart = generate<A>(pool, value, n);
    const B once = generate<B>(pool, value, n);
    pool.reset_counters();
    const B moved = reshard<rows, single_cut>(apart);
    sync(moved);
    const bool alike = is_cut_alike(grid::value, axis_list{0, 1}, n);
    REQUIRE((pool.counters().bytes_moved() == 0) == alike);
    const B sum = moved + once;
    for (const auto& part : shards(sum))
      REQUIRE(part.extents() ==
              extents_of(shard_box(grid::value, B::layout_type::value, {n, 3}, part.device())));
    REQUIRE(to_host(sum) == to_host(apart + apart));
    const A back = reshard<rows>(sum);
    REQUIRE(to_host(back - apart) == to_host(apart));
  }
}

TEST_CASE("shards of both cuts are put together and taken apart") {
  const device_pool pool{grid{}};
  const std::vector<index_t> sizes{2, 2, 1, 0};
  std::vector<std::vector<float>> blocks;
  float next = 0;
  for (index_t size : sizes) {
    blocks.emplace_back();
    for (index_t i = 0; i < 3 * size; ++i) blocks.back().push_back(next++);
  }
  const auto x = from_shards<X<single_cut, 5>>(pool, blocks);
  REQUIRE(to_host(x) == to_host(generate<X<single_cut, 5>>(pool, value)));
  REQUIRE_THROWS_AS((from_shards<X<uneven, 5>>(pool, blocks)), error);
}

TEST_CASE("a prepared program takes a tensor whose layout says the same parts in other words") {
  const device_pool pool{grid{}};
  const auto twice = [](const auto& x) { return x + x * 2.0F; };
  const prepared_program ready = prepare<float>(trace_program(twice, abstract<X<single_cut, 7>>()));
  const auto apart = generate<X<uneven, 7>>(pool, value);
  const auto same = reshard<rows, single_cut>(apart);
  REQUIRE(to_host(run<float>(ready, same)).elements() == to_host(twice(apart)).elements());
  const prepared_program other = prepare<float>(trace_program(twice, abstract<X<single_cut, 5>>()));
  const any_tensor<float> refused = generate<X<uneven, 5>>(pool, value);
  REQUIRE_THROWS_AS(run<float>(other, refused), error);
  REQUIRE(to_host(run<float>(other, generate<X<single_cut, 5>>(pool, value))).elements() ==
          to_host(twice(generate<X<uneven, 5>>(pool, value))).elements());
}

TEST_CASE("what is fetched over permitted axes is no other cut over others") {
  const mesh_desc mesh = grid::value;
  const tensor_desc apart{element::f32, {5, 3}, X<uneven, 5>::layout_type::value};
  const tensor_desc once{element::f32, {5, 3}, X<single_cut, 5>::layout_type::value};
  const factor_rule add = elementwise_rule(linearity::additive, {apart.extents, once.extents});
  const auto after = [&](unsigned permitted) {
    return fetched(mesh, add, {apart, once}, permitted)[1].layout;
  };
  REQUIRE(after(0) == once.layout);
  REQUIRE(after(1) == once.layout);
  REQUIRE(after(2) == once.layout);
  REQUIRE(after(3) == apart.layout);
}

TEST_CASE("the highest of a dimension that is cut once, where its parts are even") {
  const device_pool pool{grid{}};
  const auto x = generate<X<single_cut, 8>>(
      pool, [](const global_index& at) { return static_cast<float>((at[0] * 5 + at[1]) % 8); });
  const auto [highest, index] = max_with_index<0>(x, across<"x", "y">);
  const auto host = to_host(x);
  for (index_t j = 0; j < 3; ++j) {
    index_t best = 0;
    for (index_t i = 1; i < 8; ++i)
      if (host(i, j) > host(best, j)) best = i;
    REQUIRE(to_host(highest)(j) == host(best, j));
    REQUIRE(to_host(index)(j) == best);
  }
}

TEST_CASE("a layout that was read from HLO runs with the shards of HLO") {
  const mesh_desc mesh = grid::value;
  const device_pool pool(mesh, 2);
  const layout_desc tiles =
      layout_of(notation::hlo_ordered, "{devices=[4]<=[4]}", mesh, 1, single_cut{});
  const std::vector<float> host{0, 1, 2, 3, 4};
  const any_tensor<float> x =
      distribute(pool, std::span<const float>(host), extents_desc{5}, tiles);
  std::vector<index_t> sizes;
  for (const auto& part : shards(x)) sizes.push_back(part.extents()[0]);
  REQUIRE(sizes == std::vector<index_t>{2, 2, 1, 0});
  REQUIRE(to_text<>(notation::hlo_ordered, mesh, x.layout()) == "{devices=[4]<=[4]}");
  REQUIRE(elements_of(x) == host);
}
