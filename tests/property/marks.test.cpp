// SPDX-License-Identifier: BSL-1.0
// Layouts that are marked, cleared and copied, and tensors that are assembled from their shards.
#include "property/generated.hpp"
#include "support/catch.hpp"
#include <shardwise/host/from_host_batches.hpp>
#include <shardwise/host/from_shards.hpp>
#include <shardwise/plan/constraint.hpp>
#include <shardwise/plan/mark.hpp>
#include <shardwise/runtime/any_mark.hpp>

using namespace generated;

namespace {

/// True if both tensors have the same shards, including the terms of pending sums.
bool same_shards(const any_tensor<float>& a, const any_tensor<float>& b) {
  const auto left = shards(a);
  const auto right = shards(b);
  for (std::size_t d = 0; d < left.size(); ++d)
    if (left[d].range() != right[d].range() ||
        std::vector<float>(left[d].elements().begin(), left[d].elements().end()) !=
            std::vector<float>(right[d].elements().begin(), right[d].elements().end()))
      return false;
  return left.size() == right.size();
}

/// Computes the result of a call; returns the rule that it breaks, if any.
template <class F>
violation outcome(const F& call) {
  try {
    sync(call());
    return violation::nothing;
  } catch (const error& refused) {
    return refused.code();
  }
}

}  // namespace

TEST_CASE("a tensor is its shards, on every mesh under every layout") {
  for (const mesh_desc& mesh :
       meshes({{1}, {2}, {3}, {5}, {2, 2}, {3, 2}, {2, 1}, {2, 2, 2}, {2, 1, 3}})) {
    const device_pool pool(mesh, 2);
    for (const extents_desc& extents :
         {extents_desc{}, extents_desc{5}, extents_desc{0}, extents_desc{3, 4}})
      for (const layout_desc& layout : layouts(mesh, extents.ssize(), true)) {
        const any_tensor<float> x = make(pool, extents, layout, 11).tensor;
        const auto all = shards(x);
        std::vector<local_shard<float>> distinct;
        for (const auto& shard : all)
          if (shard.replica() == 0) distinct.push_back(shard);
        extents_desc unknown = extents;
        for (index_t& size : unknown) size = dyn;
        REQUIRE(same_shards(from_shards(pool, all, extents, layout), x));
        REQUIRE(same_shards(from_shards(pool, distinct, unknown, layout), x));
        std::vector<std::span<const float>> runs;
        for (const auto& shard : all) runs.push_back(shard.elements());
        REQUIRE(same_shards(from_shards(pool, runs, extents, layout), x));
        if (layout.pending != 0 || !layout.splitting_axes().empty())
          REQUIRE(same_shards(load_local_shards(x, runs), x));
        else
          REQUIRE_THROWS_AS(load_local_shards(x, runs), error);
      }
  }
}

TEST_CASE("every promise either costs nothing and keeps the values, or is refused") {
  for (const mesh_desc& mesh : meshes({{2}, {1, 2}, {3, 2}, {2, 2, 2}})) {
    const device_pool pool(mesh, 2);
    const extents_desc extents{5, 3};
    const std::vector<layout_desc> all = layouts(mesh, extents.ssize(), true);
    for (const layout_desc& from : all) {
      const tensor_and_value x = make(pool, extents, from, 5);
      const diagnosis read =
          from.pending != 0 ? diagnosis{.rule = violation::partial_value_is_read} : diagnosis{};
      pool.reset_counters();
      REQUIRE(outcome([&] { return clear_sharding(x.tensor); }) == read.rule);
      if (read.ok()) {
        const redistribution way = redistribute(mesh, x.tensor.tensor(), cleared(from));
        REQUIRE(pool.counters().bytes_moved() == way.total_bytes());
        REQUIRE(values(clear_sharding(x.tensor)) == x.value);
      }
      for (const layout_desc& to : all) {
        const unsigned created = created_pending(from, to);
        const bool creates = internal::axes_of_several(mesh, created) != 0;
        pool.reset_counters();
        const violation constraint = outcome([&] { return constrain(x.tensor, to); });
        const violation marking = outcome([&] { return mark_sharding(x.tensor, to); });
        REQUIRE(pool.counters().bytes_moved() == 0);
        REQUIRE(pool.counters().collectives() == 0);
        if (creates) {
          REQUIRE(constraint == violation::reshard_would_create_partial);
          REQUIRE(marking == violation::reshard_would_create_partial);
          continue;
        }
        if (created != 0) continue;
        REQUIRE(constraint == check_constraint(mesh, x.tensor.tensor(), to).rule);
        REQUIRE(marking == check_marking(mesh, from, to).rule);
        if (constraint == violation::nothing) {
          REQUIRE(constrain(x.tensor, to).layout() == to);
          REQUIRE(values(constrain(x.tensor, to)) == x.value);
        }
        if (marking == violation::nothing) {
          REQUIRE(mark_sharding(x.tensor, to).layout() == to);
          REQUIRE(values(mark_sharding(x.tensor, to)) == x.value);
        }
        const any_tensor<float> like = make(pool, extents, to, 9).tensor;
        REQUIRE(shard_as(x.tensor, like).layout() == to);
        REQUIRE(values(shard_as(x.tensor, like)) == x.value);
      }
    }
  }
}

TEST_CASE("what hosts read apart is what one host would spread") {
  for (const mesh_desc& mesh : meshes({{4}, {2, 3}, {2, 2, 2}})) {
    const device_pool pool(mesh, 2);
    for (const layout_desc& layout : layouts(mesh, 2, false))
      for (index_t hosts = 1; hosts <= mesh.devices(); ++hosts) {
        const host_batch batch(mesh, layout, hosts);
        const index_t parts = mesh.parts(layout.dims[0]);
        const extents_desc extents{parts * 2, 3};
        const std::vector<float> whole = whole_numbers(element_count(extents), 4);
        const any_tensor<float> x =
            distribute(pool, std::span<const float>(whole), extents, layout);
        if (!batch.verdict().ok()) {
          REQUIRE_THROWS_AS(
              from_host_batches(pool, std::vector<std::vector<float>>(std::size_t(hosts)), {dyn, 3},
                                layout),
              error);
          continue;
        }
        // The rows of each host, in the order of the whole tensor.
        std::vector<std::vector<float>> read;
        for (index_t host = 0; host < hosts; ++host) {
          std::vector<float> rows;
          for (index_t r = 0; r < extents[0]; ++r) {
            bool mine = false;
            for (index_t d = batch.devices(host).begin; d < batch.devices(host).end; ++d) {
              const index_range held = shard_box(mesh, layout, extents, d)[0];
              mine = mine || (held.begin <= r && r < held.end);
            }
            for (index_t c = 0; mine && c < 3; ++c)
              rows.push_back(whole[static_cast<std::size_t>(r * 3 + c)]);
          }
          read.push_back(rows);
        }
        REQUIRE(same_shards(from_host_batches(pool, read, {dyn, 3}, layout), x));
      }
  }
}
