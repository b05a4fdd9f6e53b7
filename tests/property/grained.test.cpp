// SPDX-License-Identifier: BSL-1.0
#include "property/agreement.hpp"
#include "support/catch.hpp"

#include <Eigen/Core>

using namespace generated;

namespace {

const std::vector<grain> portions{grain::cyclic(1), grain::cyclic(2), grain::strided(2),
                                  grain::single_cut()};

std::vector<float> elements_of(const any_tensor<float>& x) {
  const auto host = to_host(x);
  return {host.elements().begin(), host.elements().end()};
}

layout_desc uneven_layout(const mesh_desc& mesh, const spec_desc& spec) {
  return layout_of(mesh, spec, {}, uneven{});
}

}  // namespace

TEST_CASE("what is distributed cyclically is what is gathered, of every size, in every portion") {
  for (const mesh_desc& mesh : meshes({{1}, {2}, {3}, {4}, {2, 2}, {3, 2}, {2, 1}})) {
    const std::vector<layout_desc> all =
        grained_layouts(mesh, 1, false,
                        {grain::cyclic(1), grain::cyclic(2), grain::cyclic(3), grain::cyclic(5),
                         grain::strided(2), grain::strided(3), grain::single_cut()});
    for_all_owners(mesh, 11, [&](const device_pool& pool, every pick) {
      for (index_t n = 0; n <= 13; ++n) {
        const std::vector<float> host = whole_numbers(n, 1);
        for (const layout_desc& layout : all) {
          if (!pick()) continue;
          const any_tensor<float> x =
              distribute(pool, std::span<const float>(host), extents_desc{n}, layout);
          require(elements_of(x) == host);
          // Each device states which elements it holds, and holds them.
          index_t held = 0;
          for (const auto& part : shards(x)) {
            if (part.replica() == 0) held += part.extents()[0];
            for (index_t i = 0; i < part.extents()[0]; ++i)
              require(part.elements()[static_cast<std::size_t>(i)] ==
                      host[static_cast<std::size_t>(part.global(0, i))]);
          }
          // Other owners hold the other elements.
          require(held == n || !pick.all());
        }
      }
    });
  }
}

TEST_CASE("every reshard between portions gives the right bits and what its plan counts") {
  for (const mesh_desc& mesh : meshes({{2}, {3}, {2, 2}, {2, 3}, {2, 1}})) {
    const extents_desc extents{7, 5};
    const std::vector<layout_desc> targets = grained_layouts(mesh, 2, false, portions);
    const std::vector<layout_desc> sources = grained_layouts(mesh, 2, mesh.size(0) == 2, portions);
    for_all_owners(mesh, 307, [&](const device_pool& pool, every pick) {
      std::uint64_t seed = 0;
      for (const layout_desc& source : sources) {
        const tensor_and_value x = make(pool, extents, source, ++seed);
        for (const layout_desc& target : targets) {
          if (!pick()) continue;
          pool.reset_counters();
          const any_tensor<float> moved = reshard(x.tensor, target);
          sync(moved);
          const redistribution way = redistribute(mesh, x.tensor.tensor(), target);
          require(pool.counters().bytes_moved() == way.total_bytes());
          require(moved.layout() == (way.moves.empty() ? source : target));
          require(elements_of(moved) == x.value);
        }
      }
    });
  }
}

TEST_CASE("a tensor of rank 3 is distributed cyclically along each of its dimensions") {
  const mesh_desc mesh = meshes({{2, 2, 2}}).front();
  const std::vector<layout_desc> all = {
      uneven_layout(mesh, {{"x%1", "y%2", "z*2"}}), uneven_layout(mesh, {{"", "", ""}}),
      uneven_layout(mesh, {{"x,y%2", "", "z%1"}}),  uneven_layout(mesh, {{"z", "y,x%1", ""}}),
      uneven_layout(mesh, {{"", "z*2", "x,y*2"}}),  uneven_layout(mesh, {{"z,x*1", "y", ""}}),
      uneven_layout(mesh, {{"", "", "z,y,x*1"}}),   uneven_layout(mesh, {{"", "", "z,y,x%2"}})};
  for_all_owners(mesh, 7, [&](const device_pool& pool, every pick) {
    for (const extents_desc& extents : {extents_desc{4, 5, 9}, extents_desc{1, 8, 3}})
      for (const layout_desc& source : all) {
        const tensor_and_value x = make(pool, extents, source, 3);
        for (const layout_desc& target : all)
          if (pick()) require(elements_of(reshard(x.tensor, target)) == x.value);
      }
  });
}

namespace {

/// Counts the elements that the shards of two devices have in common, one by one.
index_t common(const held_box& a, const held_box& b) {
  index_t n = 1;
  for (int d = 0; d < a.ssize(); ++d) {
    index_t along = 0;
    for (index_t x = 0; x < a[d].size(); ++x)
      for (index_t y = 0; y < b[d].size(); ++y) along += a[d].global(x) == b[d].global(y) ? 1 : 0;
    n *= along;
  }
  return n;
}

/// The largest number of elements that a device receives in a collective.
index_t most_received(const mesh_desc& mesh, const extents_desc& extents, const layout_desc& before,
                      const planned_transfer& step) {
  index_t most = 0;
  const device_groups groups(mesh, step.axes);
  for (index_t device = 0; device < mesh.devices(); ++device) {
    const held_box have = held_of(mesh, before, extents, device);
    const held_box want = held_of(mesh, step.after, extents, device);
    index_t received = element_count(extents_of(want));
    if (step.kind == collective::reduce_scatter)
      received *= groups.size() - 1;
    else
      received -= common(have, want);
    most = received > most ? received : most;
  }
  return most;
}

}  // namespace

TEST_CASE("no device receives more than the plan says where elements are distributed cyclically") {
  index_t exact = 0;
  for (const mesh_desc& mesh : meshes({{2}, {3}, {2, 2}, {2, 3}}))
    for (const extents_desc& extents : {extents_desc{7, 5}, extents_desc{12, 18}}) {
      const std::vector<layout_desc> targets = grained_layouts(mesh, 2, false, portions);
      for (const layout_desc& source : grained_layouts(mesh, 2, true, portions))
        for (const layout_desc& target : targets) {
          layout_desc now = source;
          for (const planned_transfer& step :
               redistribute(mesh, {element::f32, extents, source}, target).moves) {
            const layout_desc before = now;
            now = step.after;
            const bool grained = (step.from >= 0 && !before.grains[step.from].is_contiguous()) ||
                                 (step.to >= 0 && !step.after.grains[step.to].is_contiguous());
            if (!grained || step.kind == collective::slice) continue;
            // Over several axes the ledger counts a reduction as hierarchical, which receives less.
            if (step.kind == collective::reduce_scatter && step.axes.size() > 1) continue;
            CAPTURE(to_text(mesh, {element::f32, extents, before}).c_str(),
                    to_text(mesh, {element::f32, extents, step.after}).c_str());
            const index_t most = 4 * most_received(mesh, extents, before, step);
            REQUIRE(most <= step.total_bytes());
            exact += most == step.total_bytes() ? 1 : 0;
          }
        }
    }
  REQUIRE(exact > 1000);
}

TEST_CASE("contiguous parts that become cyclic in whole rounds move what the formula says") {
  for (index_t k : {2, 3, 4})
    for (index_t block : {1, 2, 5})
      for (index_t rounds : {1, 2}) {
        const mesh_desc mesh{{axis_desc{"x", k}}};
        const extents_desc extents{block * k * k * rounds, 3};
        const layout_desc rows = resolve(mesh, {{"x", ""}}).layout;
        layout_desc cyclic_rows = rows;
        cyclic_rows.grains[0] = grain::cyclic(block);
        const redistribution there = redistribute(mesh, {element::f32, extents, rows}, cyclic_rows);
        const redistribution back = redistribute(mesh, {element::f32, extents, cyclic_rows}, rows);
        const index_t bytes = element_count(extents) * 4 / k * (k - 1) / k;
        REQUIRE(there.total_bytes() == bytes);
        REQUIRE(back.total_bytes() == bytes);
        REQUIRE(4 * most_received(mesh, extents, rows, there.moves[0]) == bytes);
        REQUIRE(4 * most_received(mesh, extents, cyclic_rows, back.moves[0]) == bytes);
      }
}

namespace {

int count_agreements(const std::vector<extents_desc>& extents, const tensor_function& f) {
  return agreements({{2}, {2, 3}}, extents, f, [](const mesh_desc& mesh, int rank) {
    return grained_layouts(mesh, rank, false,
                           {grain::cyclic(1), grain::strided(2), grain::single_cut()});
  });
}

using tensors = std::vector<any_tensor<float>>;

}  // namespace

TEST_CASE("every legal operation on block-cyclic tensors gives what whole tensors give") {
  const auto add = [](const tensors& x) { return x[0] + x[1]; };
  REQUIRE(count_agreements({{5, 4}, {5, 4}}, add) > 100);
  REQUIRE(count_agreements({{5, 4}, {4}}, add) > 100);
  REQUIRE(count_agreements({{5, 1}, {1, 4}}, add) > 40);
  REQUIRE(count_agreements({{4, 5}, {5, 3}},
                           [](const tensors& x) { return einsum("ik,kj->ij", x[0], x[1]); }) > 100);
  REQUIRE(count_agreements({{5, 5}}, [](const tensors& x) { return einsum("ii->i", x[0]); }) > 10);
  REQUIRE(count_agreements({{5, 4}}, [](const tensors& x) { return einsum("ij->ji", x[0]); }) > 40);
  for (reduction kind : {reduction::sum, reduction::max})
    for (const over& dims : {over{0}, over{1}, over{0, 1}})
      REQUIRE(count_agreements({{5, 4}},
                               [&](const tensors& x) { return reduce(kind, x[0], dims); }) > 40);
}

TEST_CASE("operands with different blocks are refused, and the suggested reshard helps") {
  const mesh_desc mesh = meshes({{2, 2}}).front();
  const device_pool pool(mesh, 2);
  const auto with = [&](text_view entry) {
    return make(pool, {6}, uneven_layout(mesh, spec_desc{{entry}}), 5).tensor;
  };
  const std::vector<text_view> entries{"x", "x,y*1", "x%1", "x%2", "x*2", "x,y%1", "y%1", "y,x%1"};
  for (text_view a : entries)
    for (text_view b : entries) {
      if (a == b) {
        sync(with(a) + with(b));
        continue;
      }
      REQUIRE_THROWS_AS(with(a) + with(b), error);
      const tensor_descs operands{with(a).tensor(), with(b).tensor()};
      const factor_rule rule =
          elementwise_rule(linearity::additive, {operands[0].extents, operands[1].extents});
      const suggested_reshard fix =
          propose(mesh, rule, operands, propagate(mesh, rule, operands).verdict);
      REQUIRE(fix.operand == 1);
      sync(with(a) + reshard(with(b), fix.layout));
    }
  try {
    sync(with("x%1") + with("x%2"));
    FAIL("it was not refused");
  } catch (const error& refusal) {
    REQUIRE(
        std::string(refusal.what())
            .find("operands f32[6@x%1], f32[6@x%2]; try reshard<P<block_cyclic<1>(\"x\")>>(operand "
                  "1)") != std::string::npos);
  }
}

namespace {
struct two_by_two : mesh<axis<"x", 2>, axis<"y", 2>> {};
template <class Spec>
using spread = sharded_tensor<float, extents<dyn, 6>, layout<two_by_two, Spec, partial<>, uneven>>;
}  // namespace

TEMPLATE_TEST_CASE("the bits of an element depend on its global index alone, wherever it is", "",
                   (spread<P<"x%1", none>>), (spread<P<"x,y%2", none>>), (spread<P<"y*2", "x%1">>),
                   (spread<P<none, "x,y%1">>), (spread<P<"x,y*1", none>>),
                   (spread<P<none, "y,x*1">>)) {
  const device_pool pool{two_by_two{}};
  using whole = spread<P<none, none>>;
  for (int rows : {0, 1, 5, 12}) {
    REQUIRE(to_host(uniform<TestType>(pool, random_key{4}, rows)) ==
            to_host(uniform<whole>(pool, random_key{4}, rows)));
    REQUIRE(to_host(normal<TestType>(pool, random_key{4}, rows)) ==
            to_host(normal<whole>(pool, random_key{4}, rows)));
    REQUIRE(to_host(iota<TestType>(pool, rows)) == to_host(iota<whole>(pool, rows)));
    const auto f = [](const global_index& at) { return static_cast<float>(at[0] * 100 + at[1]); };
    REQUIRE(to_host(generate<TestType>(pool, f, rows)) == to_host(generate<whole>(pool, f, rows)));
    const auto x = normal<TestType>(pool, random_key{5}, rows);
    const auto y = uniform<whole>(pool, random_key{6}, rows);
    // A replicated tensor beside a block-cyclic one: each device reads the elements that it needs.
    const TestType z = exp(x) * y + 1.0F;
    REQUIRE(to_host(z) == to_host(exp(normal<whole>(pool, random_key{5}, rows)) * y + 1.0F));
    // Single rows of an Eigen matrix, in either storage order.
    const Eigen::MatrixXf values = to_host(x);
    REQUIRE(to_host(distribute<TestType>(pool, values)) == to_host(x));
  }
}
