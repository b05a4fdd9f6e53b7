// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/error.hpp"
#include "shardwise/core/function_view.hpp"
#include "shardwise/mesh/mesh.hpp"
#include "shardwise/plan/ledger.hpp"
#include "shardwise/pool/worker_team.hpp"
#include "shardwise/runtime/owner_link.hpp"
#include "shardwise/runtime/pending_list.hpp"
#include "shardwise/tensor/arena.hpp"
#include "shardwise/tensor/device_memory.hpp"
#include "shardwise/tensor/placement.hpp"

#include <algorithm>
#include <exception>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace shardwise {

/// What a device threw, with the device's name before the words: `device 3: ...`.
///
/// The original is kept: `rethrow_nested()` throws it again.
class device_error : public std::runtime_error, public std::nested_exception {
 public:
  /// Made inside the handler of the original exception.
  device_error(index_t device, const char* words);

  [[nodiscard]] index_t device() const noexcept { return device_; }

 private:
  index_t device_;
};

/// What a device pool consists of: the mesh, the threads, the memory, and who holds how much of it.
///
/// The pool and every tensor in it share one machine, so tensors that outlive their pool can still
/// be computed and read. A call on a machine needs an owner that lives until the call returns.
class machine {
 public:
  /// A machine with the devices of `mesh`; 0 threads stand for `min(devices, cores)`.
  explicit machine(const mesh_desc& mesh, unsigned threads = 0, std::stop_token stop = {});
  /// The machine of one owner among several of the mesh; the carrier says which. With one owner it
  /// is the machine above.
  machine(const mesh_desc& mesh, owner_share share, unsigned threads = 0,
          std::stop_token stop = {});

  machine(const machine&) = delete;
  machine& operator=(const machine&) = delete;
  ~machine();

  [[nodiscard]] const mesh_desc& mesh() const noexcept { return mesh_; }
  [[nodiscard]] index_t devices() const noexcept { return devices_; }
  /// The devices that this process owns, ascending.
  [[nodiscard]] const std::vector<index_t>& own_devices() const noexcept { return own_devices_; }
  /// The way to the other owners of the mesh; null where this process owns all of it.
  [[nodiscard]] owner_link* link() const noexcept { return link_.get(); }
  /// Where the shards of a tensor are on this machine.
  [[nodiscard]] placement_ptr place(const tensor_desc& tensor) const;
  /// The threads that work for the devices, for work that is not one task a device.
  [[nodiscard]] worker_team& team() noexcept { return team_; }
  [[nodiscard]] const worker_team& team() const noexcept { return team_; }
  /// Where the shards' memory comes from.
  [[nodiscard]] arena& storage() const noexcept { return *arena_; }
  /// What each device holds.
  [[nodiscard]] device_memory& memory() noexcept { return memory_; }
  [[nodiscard]] const device_memory& memory() const noexcept { return memory_; }

  /// Calls `body(device)` for each own device, as `worker_team::run` does its tasks.
  ///
  /// An exception arrives as `device_error`, that of the lowest device that failed; a stop request
  /// as `pool_stopped`.
  void for_each_device(function_view<void(index_t)> body, index_t work = large_work);

  /// Calls `body(shard)` once for each distinct shard of a tensor that is here, on behalf of the
  /// first own device that holds it; otherwise as `for_each_device`.
  void run_shards(const placement& where, function_view<void(index_t)> body,
                  index_t work = large_work);

  /// Held by the thread whose program runs: one at a time on one machine.
  [[nodiscard]] std::mutex& turn() noexcept { return turn_; }
  /// What the programs that ran have cost one device; for the holder of the turn.
  [[nodiscard]] ledger& counted() noexcept { return counted_; }
  /// What has been asked for and not been computed.
  [[nodiscard]] pending_list& pending() noexcept { return pending_; }

 private:
  void run_named(index_t count, function_view<index_t(index_t)> device_of,
                 function_view<void(index_t)> body, index_t work);

  machine(const mesh_desc& mesh, std::unique_ptr<owner_link> link, unsigned threads,
          std::stop_token stop);

  [[nodiscard]] static std::vector<index_t> devices_of(const owner_link* link, index_t devices);
  [[nodiscard]] static std::unique_ptr<owner_link> link_of(const mesh_desc& mesh,
                                                           owner_share share);
  [[nodiscard]] static const mesh_desc& checked(const mesh_desc& mesh);
  [[nodiscard]] static std::vector<index_t> copy_of(device_numbers numbers);
  [[nodiscard]] static unsigned default_threads(const std::vector<index_t>& devices) noexcept;

  // The order of the mesh, whose lists its owner need not keep.
  std::vector<index_t> devices_by_position_;
  std::vector<index_t> positions_by_device_;
  mesh_desc mesh_;
  index_t devices_;
  device_memory memory_;
  std::shared_ptr<arena> arena_;
  std::mutex turn_;
  ledger counted_{mesh_};
  pending_list pending_;
  std::unique_ptr<owner_link> link_;
  std::vector<index_t> own_devices_;
  worker_team team_;
};

/// As many logical devices as a mesh has, on the cores of this machine.
///
///     device_pool pool{pod{}};                         // 8 devices on min(8, cores) threads
///     pool.for_each_device([&](index_t device) { ... });
///
/// The pool may be used by several threads at once, inside its own devices' work, and destroyed
/// while tensors in it are still pending: they keep what they need.
class device_pool {
 public:
  /// `devices` devices on one axis named "devices"; 0 threads stand for `min(devices, cores)`.
  explicit device_pool(index_t devices, unsigned threads = 0, std::stop_token stop = {})
      : device_pool(line(devices), threads, std::move(stop)) {}
  /// The devices of a mesh value whose sizes are all known.
  explicit device_pool(const mesh_desc& mesh, unsigned threads = 0, std::stop_token stop = {});
  /// The devices of a mesh.
  template <Mesh M>
  explicit device_pool(const M& mesh, unsigned threads = 0, std::stop_token stop = {})
      : device_pool(mesh.desc(), threads, std::move(stop)) {}

  /// The part of a mesh that one process owns, of several that run the same program: this one
  /// stores and computes the shards of its devices. With one owner it is a pool like any other.
  template <Mesh M>
  device_pool(const M& mesh, owner_share share, unsigned threads = 0, std::stop_token stop = {})
      : device_pool(mesh.desc(), std::move(share), threads, std::move(stop)) {}
  device_pool(const mesh_desc& mesh, owner_share share, unsigned threads = 0,
              std::stop_token stop = {});

  /// A pool is not made without devices, nor of what only has a mesh, such as a layout.
  device_pool() = delete;  // device_pool pool{pod{}}: a pool has the devices of a mesh
  template <class M>
    requires(!Mesh<M> && !std::is_convertible_v<const M&, mesh_desc> && !std::is_arithmetic_v<M>)
  explicit device_pool(const M&) = delete;  // device_pool pool{pod{}}: a pool is made of a mesh

  device_pool(const device_pool&) = delete;
  device_pool& operator=(const device_pool&) = delete;

  [[nodiscard]] const mesh_desc& mesh() const noexcept { return state_->mesh(); }
  [[nodiscard]] index_t devices() const noexcept { return state_->devices(); }
  [[nodiscard]] unsigned threads() const noexcept { return state_->team().threads(); }

  /// Calls `body(device)` for each device and returns when all have returned.
  ///
  /// `work` estimates the whole phase (see `small_work`). An exception arrives as `device_error`,
  /// that of the lowest device that failed; a stop request as `pool_stopped`.
  template <class Body>
  void for_each_device(Body&& body, index_t work = large_work) const {
    const std::shared_ptr<machine> keep = state_;
    keep->for_each_device([&](index_t device) { body(device); }, work);
  }

  /// Lets running devices finish and starts no other: calls in progress and later ones throw
  /// `pool_stopped`.
  void request_stop() const noexcept { state_->team().request_stop(); }
  [[nodiscard]] bool stop_requested() const noexcept { return state_->team().stop_requested(); }

  /// What the programs that ran in this pool have cost one device since the last reset: what
  /// `trace` says of the same programs on paper.
  [[nodiscard]] ledger counters() const;
  /// Begins a new count; the peak begins at what is held now.
  void reset_counters() const;
  /// The bytes that crossed owners since the last reset; none where one process owns all devices.
  [[nodiscard]] owner_traffic traffic() const;

  /// What tensors share with the pool, and keep.
  [[nodiscard]] std::shared_ptr<machine> state() const noexcept { return state_; }

 private:
  [[nodiscard]] static mesh_desc line(index_t devices);

  std::shared_ptr<machine> state_;
};

}  // namespace shardwise

#if !defined(SHARDWISE_COMPILED)
#include "shardwise/runtime/device_pool_work.hpp"
#endif
