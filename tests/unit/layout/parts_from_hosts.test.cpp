// SPDX-License-Identifier: BSL-1.0
#include "support/catch.hpp"
#include "support/paper.hpp"
#include "unit/layout/host_batch_facts.hpp"

#include <set>
#include <vector>

using namespace shardwise;

TEST_CASE("every fact about per-host batches and joined shards holds") {
  for (std::size_t i = 0; i < std::size(host_batch_facts); ++i) {
    CAPTURE(i);
    CHECK(holds(host_batch_facts[i]));
  }
  for (std::size_t i = 0; i < std::size(join_facts); ++i) {
    CAPTURE(i);
    CHECK(holds(join_facts[i]));
  }
}

TEST_CASE("the shards of every tensor join to its extents, whatever is known before") {
  for (int axes = 0; axes <= 3; ++axes)
    for (const mesh_desc& mesh : paper::meshes(axes, axes == 3 ? 2 : 3))
      for (int rank = 0; rank <= 2; ++rank)
        for (const layout_desc& layout : paper::layouts(axes, rank, true))
          for (index_t rows : {index_t{5}, index_t{1}, index_t{0}}) {
            extents_desc extents;
            for (int d = 0; d < rank; ++d) extents.push_back(d == 0 ? rows : 3);
            std::vector<extents_desc> all;
            std::vector<extents_desc> distinct;
            const device_groups groups = shards_of(mesh, layout);
            for (index_t d = 0; d < mesh.devices(); ++d) {
              all.push_back(extents_of(shard_box(mesh, layout, extents, d)));
              if (groups.group_of(d) == 0) distinct.push_back(all.back());
            }
            INFO(paper::show(mesh, {element::f32, extents, layout}));
            for (unsigned unknown = 0; unknown < 1U << rank; ++unknown) {
              extents_desc before = extents;
              for (int d = 0; d < rank; ++d)
                if ((unknown >> d & 1U) != 0) before[d] = dyn;
              for (const std::vector<extents_desc>& shards : {all, distinct}) {
                const joined_shards joined = join_shards(mesh, layout, before, shards);
                REQUIRE(joined.verdict.ok());
                REQUIRE(joined.extents == extents);
              }
            }
            if (rank == 0) continue;
            std::vector<extents_desc> wrong = all;
            ++wrong.back()[0];
            REQUIRE_FALSE(join_shards(mesh, layout, extents, wrong).verdict.ok());
          }
}

TEST_CASE("the batches of hosts hold what their devices hold, in the global order") {
  for (int axes = 1; axes <= 3; ++axes)
    for (const mesh_desc& mesh : paper::meshes(axes, axes == 3 ? 2 : 4))
      for (const layout_desc& layout : paper::layouts(axes, 2))
        for (index_t hosts = 1; hosts <= mesh.devices(); ++hosts) {
          const host_batch batch(mesh, layout, hosts);
          INFO(paper::show(mesh, {element::f32, {24, 3}, layout}) << ", hosts " << hosts);
          // The rows of each host, from the shards of its devices.
          const index_t size = 24 * 9;
          std::vector<std::set<index_t>> rows(static_cast<std::size_t>(hosts));
          const bool divides = mesh.devices() % hosts == 0;
          for (index_t d = 0; divides && d < mesh.devices(); ++d) {
            const index_box part = shard_box(mesh, layout, {size, 3}, d);
            for (index_t r = part[0].begin; r < part[0].end; ++r)
              rows[static_cast<std::size_t>(d / (mesh.devices() / hosts))].insert(r);
          }
          bool alike = divides;
          for (const std::set<index_t>& a : rows)
            for (const std::set<index_t>& b : rows) {
              std::vector<index_t> common;
              std::set_intersection(a.begin(), a.end(), b.begin(), b.end(),
                                    std::back_inserter(common));
              alike = alike && a.size() == b.size() && (common.empty() || a == b);
            }
          if (mesh.devices() > 0 && size % mesh.parts(layout.dims[0]) != 0) continue;
          REQUIRE(batch.verdict().ok() == alike);
          if (!alike) continue;
          const extents_desc local{static_cast<index_t>(rows[0].size()), 3};
          REQUIRE(batch.check(local).ok());
          REQUIRE(batch.global(local) == extents_desc{size, 3});
          REQUIRE(batch.local({size, 3}) == local);
          for (index_t d = 0; d < mesh.devices(); ++d) {
            const index_box whole = shard_box(mesh, layout, {size, 3}, d);
            const index_box part = batch.part(local, d);
            const std::set<index_t>& mine = rows[static_cast<std::size_t>(batch.host_of(d))];
            REQUIRE(part[1] == whole[1]);
            REQUIRE(part[0].size() == whole[0].size());
            REQUIRE(*std::next(mine.begin(), part[0].begin) == whole[0].begin);
            REQUIRE(rows[static_cast<std::size_t>(batch.first_with_rows_of(batch.host_of(d)))] ==
                    mine);
          }
        }
}
