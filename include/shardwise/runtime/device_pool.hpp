// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/error.hpp"
#include "shardwise/core/function_view.hpp"
#include "shardwise/core/growable.hpp"
#include "shardwise/mesh/mesh.hpp"
#include "shardwise/plan/ledger.hpp"
#include "shardwise/pool/worker_team.hpp"
#include "shardwise/process/owner_link.hpp"
#include "shardwise/runtime/owner_work.hpp"
#include "shardwise/runtime/pending_list.hpp"
#include "shardwise/runtime/turn.hpp"
#include "shardwise/tensor/arena.hpp"
#include "shardwise/tensor/device_memory.hpp"
#include "shardwise/tensor/shard_table.hpp"

#include <algorithm>
#include <exception>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <utility>

namespace shardwise {

/// The exception of a device, whose message begins with the device: `device 3: ...`.
///
/// `rethrow_nested()` throws the original exception.
class device_error : public std::runtime_error, public std::nested_exception {
 public:
  /// Must be constructed inside the handler of the original exception.
  device_error(index_t device, const char* words);

  /// Returns the device whose function threw.
  [[nodiscard]] index_t device() const noexcept { return device_; }

 private:
  index_t device_;
};

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
  links links_;
  internal::growable<index_t> own_devices_;
  worker_team team_;
  std::thread::id maker_ = std::this_thread::get_id();
  std::uint64_t made_ = 0;
};

/// A set of logical devices, one for each device of a mesh, on the cores of this machine.
///
///     device_pool pool{pod{}};                         // 8 devices on min(8, cores) threads
///     pool.for_each_device([&](index_t device) { ... });
///
/// The pool may be used by several threads at once, and may be destroyed while tensors in it are
/// still pending: they keep what they need. A device function called by a program of the pool may
/// read the pool's counters and computed tensors, and compute in other pools; computing in a pool
/// whose program waits for it throws `pool_waits_for_itself`.
class device_pool {
 public:
  /// Creates `devices` devices on one axis named "devices"; 0 threads means `min(devices, cores)`,
  /// and a negative number is refused with `amount_is_out_of_range`, by all constructors.
  explicit device_pool(index_t devices, index_t threads = 0, std::stop_token stop = {})
      : device_pool(line(devices), threads, std::move(stop)) {}
  /// Creates the devices of a run-time mesh whose sizes are all known.
  explicit device_pool(const mesh_desc& mesh, index_t threads = 0, std::stop_token stop = {});
  /// Creates the devices of a mesh.
  template <Mesh M>
  explicit device_pool(const M& mesh, index_t threads = 0, std::stop_token stop = {})
      : device_pool(mesh.desc(), threads, std::move(stop)) {}

  /// Creates the part of a mesh that one process owns, if several processes run the same program:
  /// this one stores and computes the shards of its devices. With one owner it is an ordinary pool.
  template <Mesh M>
  device_pool(const M& mesh, owner_share share, index_t threads = 0, std::stop_token stop = {})
      : device_pool(mesh.desc(), std::move(share), threads, std::move(stop)) {}
  device_pool(const mesh_desc& mesh, owner_share share, index_t threads = 0,
              std::stop_token stop = {});

  /// A pool needs devices, and cannot be created from a type that only refers to a mesh, such as a
  /// layout.
  device_pool() = delete;  // device_pool pool{pod{}}: a pool has the devices of a mesh
  template <class M>
    requires(!Mesh<M> && !std::is_convertible_v<const M&, mesh_desc> && !std::is_arithmetic_v<M>)
  explicit device_pool(const M&) = delete;  // device_pool pool{pod{}}: a pool is made of a mesh

  device_pool(const device_pool&) = delete;
  device_pool& operator=(const device_pool&) = delete;

  /// Returns the mesh that the pool was created for.
  [[nodiscard]] const mesh_desc& mesh() const noexcept { return state_->mesh(); }
  /// Returns the number of logical devices.
  [[nodiscard]] index_t devices() const noexcept { return state_->devices(); }
  /// Returns the number of threads that the devices share.
  [[nodiscard]] unsigned threads() const noexcept { return state_->team().threads(); }

  /// Calls `body(device)` for each device and returns when all have returned.
  ///
  /// `work` estimates the work of the whole phase (see `small_work`). An exception becomes a
  /// `device_error`, that of the lowest device that failed; a stop request becomes `pool_stopped`.
  template <class Body>
  void for_each_device(Body&& body, index_t work = large_work) const {
    const std::shared_ptr<pool_state> keep = state_;
    keep->for_each_device([&](index_t device) { body(device); }, work);
  }

  /// Lets running device functions finish and starts no more: current and later calls throw
  /// `pool_stopped`.
  void request_stop() const noexcept { state_->team().request_stop(); }
  [[nodiscard]] bool stop_requested() const noexcept { return state_->team().stop_requested(); }

  /// Returns the cost for one device of the programs that have run in this pool since the last
  /// reset, which equals the result of `trace` for these programs.
  [[nodiscard]] cost_ledger counters() const;
  /// Resets the counters; the peak starts at the memory that is held now.
  void reset_counters() const;
  /// Returns the bytes that crossed between owners since the last reset; none if one process owns
  /// all devices.
  [[nodiscard]] owner_traffic traffic() const;

  /// Returns the state that tensors share with the pool, and keep alive.
  [[nodiscard]] std::shared_ptr<pool_state> state() const noexcept { return state_; }

 private:
  [[nodiscard]] static mesh_desc line(index_t devices);

  std::shared_ptr<pool_state> state_;
};

}  // namespace shardwise

#if !defined(SHARDWISE_COMPILED)
#include "shardwise/runtime/device_pool_work.hpp"
#endif
