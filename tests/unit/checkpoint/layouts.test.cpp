// SPDX-License-Identifier: BSL-1.0
// What is saved with one layout is loaded with another, by one process or several.
#include "support/catch.hpp"
#include "support/checkpoints.hpp"
#include "support/owners.hpp"
#include "support/temporary.hpp"
#include "support/watched.hpp"
#include <shardwise/checkpoint/checkpoint.hpp>
#include <shardwise/checkpoint/save_checkpoint.hpp>
#include <shardwise/shardwise.hpp>

#include <numeric>
#include <string>
#include <vector>

using namespace shardwise;
using namespace support;

namespace {

/// The owners of the devices of a mesh: `count` of them, or one for each device if there are fewer.
std::vector<index_t> owners_of(const mesh_desc& mesh, index_t count) {
  return owners_in_turn(mesh.devices(), std::min(count, mesh.devices()));
}

index_t bytes_in(const std::vector<std::vector<std::byte>>& all) {
  return std::accumulate(all.begin(), all.end(), index_t{0}, [](index_t sum, const auto& each) {
    return sum + static_cast<index_t>(each.size());
  });
}

index_t chunks_in(const checkpoint& saved) {
  std::size_t count = 0;
  for (const auto& [name, tensor] : saved.tensors())
    for (const checkpoint_piece& piece : tensor.pieces) count += piece.checksums.size();
  return static_cast<index_t>(count);
}

}  // namespace

TEST_CASE("a state that is saved with any layout has the same bits with any other") {
  const std::vector<placement> all = placements();
  const device_pool one(all[0].mesh, 1);
  const auto wanted = bytes_of(make_state(one, all[0], 7));
  for (const placement& from : sampled(all, 3)) {
    const temporary_folder folder("checkpoint-layouts");
    {
      const device_pool pool(from.mesh, 2);
      save_checkpoint(folder.path(), make_state(pool, from, 7), {{"step", "12"}});
    }
    // One copy of replicas.
    const checkpoint saved(folder.path());
    REQUIRE(saved.metadata() == std::map<std::string, std::string>{{"step", "12"}});
    REQUIRE(saved.verify().empty());
    REQUIRE(saved.traffic().bytes == bytes_in(wanted));
    for (const placement& to : all) {
      CAPTURE(from.name, to.name);
      const device_pool pool(to.mesh, 2);
      saved_state loaded = make_state(pool, to, 0);
      const checkpoint read(folder.path());
      REQUIRE(read.load(loaded).empty());
      REQUIRE(bytes_of(loaded) == wanted);
      REQUIRE(read.traffic().bytes == bytes_in(wanted));
      REQUIRE(read.traffic().chunks == chunks_in(read));
    }
  }
}

TEST_CASE("processes read the chunks that hold elements of theirs, each once, whoever saved them") {
  const std::vector<placement> all = placements();
  const device_pool one(all[0].mesh, 1);
  const auto wanted = bytes_of(make_state(one, all[0], 7));
  for (std::size_t i = 0; i < all.size(); i += is_watched ? 5 : 1) {
    const placement& from = all[i];
    const temporary_folder folder("checkpoint-processes");
    run_all_owners(from.mesh, owners_of(from.mesh, 3), [&](const device_pool& pool) {
      save_checkpoint(folder.path(), make_state(pool, from, 7));
    });
    REQUIRE(checkpoint(folder.path()).verify().empty());
    const placement& to = all[(i + (i % 2 == 0 ? 1 : 5)) % all.size()];
    for (const index_t owners : {1, 2, 3}) {
      CAPTURE(from.name, to.name, owners);
      run_all_owners(to.mesh, owners_of(to.mesh, owners), [&](const device_pool& pool) {
        saved_state loaded = make_state(pool, to, 0);
        const checkpoint read(folder.path());
        require(read.load(loaded).empty(), "other names");
        const checkpoint_traffic least = least_traffic(read, loaded);
        require(read.traffic().bytes == least.bytes, "other bytes are read");
        require(read.traffic().chunks == least.chunks, "other chunks are read");
        require(bytes_of(loaded) == wanted, "other elements");
      });
    }
  }
}
