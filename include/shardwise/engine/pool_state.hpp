// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/error.hpp"
#include "shardwise/core/function_view.hpp"
#include "shardwise/core/growable.hpp"
#include "shardwise/engine/owner_work.hpp"
#include "shardwise/engine/pending_list.hpp"
#include "shardwise/engine/turn.hpp"
#include "shardwise/mesh/mesh.hpp"
#include "shardwise/plan/ledger.hpp"
#include "shardwise/pool/worker_team.hpp"
#include "shardwise/process/owner_link.hpp"
#include "shardwise/tensor/arena.hpp"
#include "shardwise/tensor/device_memory.hpp"
#include "shardwise/tensor/shard_table.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

namespace shardwise {

namespace internal {
class program_cache;
}  // namespace internal

/// The parts of a device pool: the mesh, the threads, the memory, and how much of it each device
/// holds.
///
/// The pool and every tensor in it share one machine, so tensors that outlive their pool can still
/// be computed and read. The caller of a machine's functions must own it until they return.
class pool_state {
 public:
  /// Creates a machine with the devices of `mesh`; 0 threads means `min(devices, cores)`.
  explicit pool_state(const mesh_desc& mesh, index_t threads = 0, std::stop_token stop = {});
  /// Creates the machine of one of several owners of the mesh; the carrier of `share` knows which.
  /// With one owner it is the same as above.
  pool_state(const mesh_desc& mesh, owner_share share, index_t threads = 0,
             std::stop_token stop = {});

  pool_state(const pool_state&) = delete;
  pool_state& operator=(const pool_state&) = delete;
  ~pool_state();

  [[nodiscard]] const mesh_desc& mesh() const noexcept { return mesh_; }
  [[nodiscard]] index_t devices() const noexcept { return devices_; }
  /// Returns the devices that this process owns, in ascending order.
  [[nodiscard]] const internal::growable<index_t>& own_devices() const noexcept {
    return own_devices_;
  }
  /// Returns the link to the other owners of the mesh; null if this process owns all devices.
  [[nodiscard]] owner_link* link() const noexcept { return links_.link.get(); }
  /// Returns what is done with them; only if there is a link.
  [[nodiscard]] const internal::owner_work& with_owners() const noexcept { return *links_.work; }
  /// Returns the next number of a tensor that is made of data; 0 on threads other than the one that
  /// made the pool, whose order owners do not share.
  [[nodiscard]] std::uint64_t next_origin() noexcept {
    return std::this_thread::get_id() == maker_ ? ++made_ : 0;
  }
  /// Returns the table of a tensor's shards on this machine.
  /// Tables that were made last are kept, for the tensors of the next calls.
  [[nodiscard]] shard_table_ptr place(const tensor_desc& tensor) const;
  /// Returns the threads that work for the devices, for work that is not one task per device.
  [[nodiscard]] worker_team& team() noexcept { return team_; }
  [[nodiscard]] const worker_team& team() const noexcept { return team_; }
  /// Returns the arena that allocates the shards' memory.
  [[nodiscard]] memory_arena& storage() const noexcept { return *arena_; }
  /// Returns what each device holds.
  [[nodiscard]] device_memory& memory() noexcept { return memory_; }
  [[nodiscard]] const device_memory& memory() const noexcept { return memory_; }

  /// Calls `body(device)` for each device of this process, as `worker_team::run` runs tasks.
  ///
  /// An exception becomes a `device_error`, that of the lowest device that failed; a stop request
  /// becomes `pool_stopped`.
  void for_each_device(function_view<void(index_t)> body, index_t work = large_work);

  /// Calls `body(shard)` once for each distinct local shard of a tensor, on behalf of the first
  /// local device that holds it; otherwise like `for_each_device`.
  void run_shards(const shard_table& where, function_view<void(index_t)> body,
                  index_t work = large_work);
  /// Calls `body(shard, part)` for each of several parts of each such shard.
  void run_parts(const shard_table& where, index_t parts,
                 function_view<void(index_t, index_t)> body, index_t work = large_work);

  /// Held by the thread whose program is running: only one runs at a time on a machine.
  [[nodiscard]] machine_turn& turn() noexcept { return turn_; }
  /// Returns the cost for one device of the programs that have run; for the holder of the turn.
  [[nodiscard]] cost_ledger& counted() noexcept { return counted_; }
  /// Returns the list of what has been requested and is not computed yet.
  [[nodiscard]] pending_list& pending() noexcept { return pending_; }
  /// Returns the programs that are remembered, in the compiled library; for the holder of the turn.
  [[nodiscard]] internal::program_cache& programs();

 private:
  void run_named(index_t count, function_view<index_t(index_t)> device_of,
                 function_view<void(index_t)> body, index_t work);

  /// The link to the other owners of the mesh, and what is done with them; null without others.
  struct links {
    std::shared_ptr<owner_link> link{};
    const internal::owner_work* work = nullptr;
  };
  pool_state(const mesh_desc& mesh, links others, index_t threads, std::stop_token stop);

  [[nodiscard]] static internal::growable<index_t> devices_of(const owner_link* link,
                                                              index_t devices);
  [[nodiscard]] static links link_of(const mesh_desc& mesh, owner_share share);
  [[nodiscard]] static const mesh_desc& checked(const mesh_desc& mesh);
  [[nodiscard]] static internal::growable<index_t> copy_of(device_numbers numbers);
  [[nodiscard]] unsigned default_threads() const;

  // The order of the mesh, copied because the list may not outlive the caller.
  internal::growable<index_t> devices_by_position_;
  internal::growable<index_t> positions_by_device_;
  mesh_desc mesh_;
  index_t devices_;
  device_memory memory_;
  std::shared_ptr<memory_arena> arena_;
  machine_turn turn_;
  cost_ledger counted_{mesh_};
  pending_list pending_;
  std::shared_ptr<internal::program_cache> programs_;
  links links_;
  internal::growable<index_t> own_devices_;
  worker_team team_;
  mutable std::mutex placing_;
  /// The tables that were made last: some places for each remainder of a hash.
  static constexpr std::size_t places = 4;
  mutable std::array<shard_table_ptr, 32 * places> tables_;
  mutable std::size_t next_place_ = 0;
  std::thread::id maker_ = std::this_thread::get_id();
  std::uint64_t made_ = 0;
};

}  // namespace shardwise
