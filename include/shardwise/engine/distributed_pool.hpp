// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/engine/device_pool.hpp"
#include "shardwise/mesh/mesh.hpp"
#include "shardwise/process/owner_link.hpp"
#include "shardwise/process/spawn.hpp"
#if !defined(SHARDWISE_COMPILED)
// What a pool with other owners refers to.
#include "shardwise/engine/collective_pieces.hpp"
#include "shardwise/engine/run_program.hpp"
#include "shardwise/engine/shards_of_all.hpp"
#endif

#include <memory>
#include <stop_token>
#include <utility>
#include <vector>

namespace shardwise {

/// How the processes of a program share the devices of a pool; the same in all of them.
struct pool_options {
  /// The process of each device, by device; empty for contiguous blocks. Every process has at least
  /// one device. Without other processes it has no effect.
  std::vector<index_t> owner_of{};
  /// The number of threads of this process; 0 means `min(its devices, its part of the cores)`.
  index_t threads = 0;
  /// How long another process may give no sign of life while this one waits for it.
  std::chrono::milliseconds patience = owner_share{}.patience;
  /// False if processes of one host send messages instead of reading each other's shards in place.
  bool shares_memory = true;
  /// True if processes compare what they must have alike; see `owner_share`.
  bool checks = false;
  /// Stops the pool; see `device_pool`.
  std::stop_token stop{};
};

/// Returns the pool of this process's part of a mesh, if several processes run the program: those
/// of MPI, where it includes `<shardwise/mpi.hpp>`, or the owners of `spawn`. Otherwise a
/// `device_pool` of all devices.
///
///     auto pool = distributed_pool(pod{});                 // mpirun -n 2: half of the devices
///     auto turns = distributed_pool(pod{}, {.owner_of = owners_in_turn(8, 2)});
///
/// All processes make their pools in the same order. There are at most as many as devices.
[[nodiscard]] inline device_pool distributed_pool(const mesh_desc& mesh,
                                                  pool_options options = {}) {
  std::shared_ptr<process_group> group = current_group::get();
  if (group == nullptr || group->count() == 1)
    return device_pool(mesh, options.threads, std::move(options.stop));
  owner_share share{.owner_of = std::move(options.owner_of),
                    .group = std::move(group),
                    .patience = options.patience,
                    .shares_memory = options.shares_memory,
                    .checks = options.checks};
  if (share.owner_of.empty())
    share.owner_of = owners_in_blocks(mesh.devices(), share.group->count());
  return device_pool(mesh, std::move(share), options.threads, std::move(options.stop));
}
template <Mesh M>
[[nodiscard]] device_pool distributed_pool(const M& mesh, pool_options options = {}) {
  return distributed_pool(mesh.desc(), std::move(options));
}

}  // namespace shardwise
