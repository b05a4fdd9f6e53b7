// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/error.hpp"
#include "shardwise/mesh/mesh.hpp"
#include "shardwise/plan/ledger.hpp"
#include "shardwise/pool/worker_team.hpp"
#include "shardwise/runtime/owner_link.hpp"
#include "shardwise/runtime/pending_list.hpp"
#include "shardwise/runtime/turn.hpp"
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
  device_error(index_t device, const char* words)
      : std::runtime_error("device " + std::to_string(device) + ": " + words), device_(device) {}

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
  explicit machine(const mesh_desc& mesh, unsigned threads = 0, std::stop_token stop = {})
      : machine(mesh, std::unique_ptr<owner_link>(), threads, std::move(stop)) {}
  /// The machine of one owner among several of the mesh; the carrier says which. With one owner it
  /// is the machine above.
  machine(const mesh_desc& mesh, owner_share share, unsigned threads = 0, std::stop_token stop = {})
      : machine(mesh, link_of(checked(mesh), std::move(share)), threads, std::move(stop)) {}

  [[nodiscard]] const mesh_desc& mesh() const noexcept { return mesh_; }
  [[nodiscard]] index_t devices() const noexcept { return devices_; }
  /// The devices that this process owns, ascending.
  [[nodiscard]] const std::vector<index_t>& own_devices() const noexcept { return own_devices_; }
  /// The way to the other owners of the mesh; null where this process owns all of it.
  [[nodiscard]] owner_link* link() const noexcept { return link_.get(); }
  /// Where the shards of a tensor are on this machine.
  [[nodiscard]] placement_ptr place(const tensor_desc& tensor) const {
    if (link_ == nullptr) return std::make_shared<const placement>(mesh_, tensor);
    return std::make_shared<const placement>(mesh_, tensor, link_->owners(), link_->self());
  }
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
  template <class Body>
  void for_each_device(Body&& body, index_t work = large_work) {
    const auto device_of = [this](index_t i) { return own_devices_[static_cast<std::size_t>(i)]; };
    run_named(
        static_cast<index_t>(own_devices_.size()), device_of,
        [&](index_t i) { body(device_of(i)); }, work);
  }

  /// Calls `body(shard)` once for each distinct shard of a tensor that is here, on behalf of the
  /// first own device that holds it; otherwise as `for_each_device`.
  template <class Body>
  void run_shards(const placement& where, Body&& body, index_t work = large_work) {
    run_named(
        where.count_here(), [&](index_t i) { return where.device_of(where.shard_here(i)); },
        [&](index_t i) { body(where.shard_here(i)); }, work);
  }

  /// Held by the thread whose program runs: one at a time on one machine.
  [[nodiscard]] machine_turn& turn() noexcept { return turn_; }
  /// What the programs that ran have cost one device; for the holder of the turn.
  [[nodiscard]] cost_ledger& counted() noexcept { return counted_; }
  /// What has been asked for and not been computed.
  [[nodiscard]] pending_list& pending() noexcept { return pending_; }

 private:
  template <class DeviceOf, class Body>
  void run_named(index_t count, const DeviceOf& device_of, Body&& body, index_t work) {
    const machine_turn* const turn = machine_turn::current();
    const auto named = [&](index_t task) {
      const machine_turn::worker working(turn);
#if defined(__cpp_exceptions)
      try {
        body(task);
      } catch (const pool_stopped&) {
        throw;
      } catch (const std::exception& original) {
        throw device_error(device_of(task), original.what());
      } catch (...) {
        throw device_error(device_of(task), "an exception that is not a std::exception");
      }
#else
      (void)device_of;
      body(task);
#endif
    };
    detail::run_for_owners(link_.get(), [&] { team_.run(count, named, work); });
  }

  machine(const mesh_desc& mesh, std::unique_ptr<owner_link> link, unsigned threads,
          std::stop_token stop)
      : devices_by_position_(copy_of(checked(mesh).order.devices())),
        positions_by_device_(copy_of(mesh.order.positions())),
        mesh_{mesh.axes, device_order(devices_by_position_, positions_by_device_)},
        devices_(mesh.devices()),
        memory_(devices_),
        arena_(arena::create()),
        link_(std::move(link)),
        own_devices_(devices_of(link_.get(), devices_)),
        team_(threads > 0 ? threads : default_threads(own_devices_), std::move(stop)) {}

  [[nodiscard]] static std::vector<index_t> devices_of(const owner_link* link, index_t devices) {
    std::vector<index_t> own;
    for (index_t d = 0; d < devices; ++d)
      if (link == nullptr || link->owners().owner_of(d) == link->self()) own.push_back(d);
    return own;
  }
  [[nodiscard]] static std::unique_ptr<owner_link> link_of(const mesh_desc& mesh,
                                                           owner_share share) {
    const index_t owners = share.carrier != nullptr ? share.carrier->owners() : 1;
    if (static_cast<index_t>(share.owner_of.size()) != mesh.devices())
      fail({.rule = broken::device_count_differs,
            .have = static_cast<index_t>(share.owner_of.size()),
            .want = mesh.devices()});
    for (index_t d = 0; d < mesh.devices(); ++d)
      if (const index_t owner = share.owner_of[static_cast<std::size_t>(d)];
          owner < 0 || owner >= owners)
        fail({.rule = broken::owner_is_out_of_range,
              .operand = static_cast<int>(d),
              .have = owner,
              .want = owners});
    return owners > 1 ? std::make_unique<owner_link>(std::move(share)) : nullptr;
  }
  [[nodiscard]] static const mesh_desc& checked(const mesh_desc& mesh) {
    require(validate(mesh));
    for (const axis_desc& axis : mesh.axes)
      if (axis.size == dyn) fail({.rule = broken::mesh_size_is_unknown, .axis = axis.label});
    return mesh;
  }
  [[nodiscard]] static std::vector<index_t> copy_of(device_numbers numbers) {
    return {numbers.begin(), numbers.end()};
  }
  [[nodiscard]] static unsigned default_threads(const std::vector<index_t>& devices) noexcept {
    return static_cast<unsigned>(
        std::min(static_cast<index_t>(devices.size()), index_t{core_set::available().size()}));
  }

  // The order of the mesh, whose lists its owner need not keep.
  std::vector<index_t> devices_by_position_;
  std::vector<index_t> positions_by_device_;
  mesh_desc mesh_;
  index_t devices_;
  device_memory memory_;
  std::shared_ptr<arena> arena_;
  machine_turn turn_;
  cost_ledger counted_{mesh_};
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
/// The pool may be used by several threads at once, and destroyed while tensors in it are still
/// pending: they keep what they need. A device function that a program of the pool calls may read
/// the pool's counters and tensors that are there, and compute in other pools; what would compute
/// in a pool whose program waits for it throws `pool_waits_for_itself`.
class device_pool {
 public:
  /// `devices` devices on one axis named "devices"; 0 threads stand for `min(devices, cores)`.
  explicit device_pool(index_t devices, unsigned threads = 0, std::stop_token stop = {})
      : device_pool(line(devices), threads, std::move(stop)) {}
  /// The devices of a mesh value whose sizes are all known.
  explicit device_pool(const mesh_desc& mesh, unsigned threads = 0, std::stop_token stop = {})
      : state_(std::make_shared<machine>(mesh, threads, std::move(stop))) {}
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
              std::stop_token stop = {})
      : state_(std::make_shared<machine>(mesh, std::move(share), threads, std::move(stop))) {}

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
    keep->for_each_device(body, work);
  }

  /// Lets running devices finish and starts no other: calls in progress and later ones throw
  /// `pool_stopped`.
  void request_stop() const noexcept { state_->team().request_stop(); }
  [[nodiscard]] bool stop_requested() const noexcept { return state_->team().stop_requested(); }

  /// What the programs that ran in this pool have cost one device since the last reset: what
  /// `trace` says of the same programs on paper.
  [[nodiscard]] cost_ledger counters() const {
    const machine_turn::look looking(state_->turn());
    cost_ledger now = state_->counted();
    now.note_live(state_->memory().peak());
    return now;
  }
  /// Begins a new count; the peak begins at what is held now.
  void reset_counters() const {
    const machine_turn::look looking(state_->turn());
    state_->counted() = cost_ledger(mesh());
    state_->memory().reset_peaks();
    if (owner_link* const link = state_->link()) link->traffic() = {};
  }
  /// The bytes that crossed owners since the last reset; none where one process owns all devices.
  [[nodiscard]] owner_traffic traffic() const {
    const machine_turn::look looking(state_->turn());
    return state_->link() != nullptr ? state_->link()->traffic() : owner_traffic{};
  }

  /// What tensors share with the pool, and keep.
  [[nodiscard]] std::shared_ptr<machine> state() const noexcept { return state_; }

 private:
  [[nodiscard]] static mesh_desc line(index_t devices) {
    if (devices < 1)
      fail({.rule = broken::axis_size_is_not_positive,
            .axis = "devices",
            .have = devices,
            .want = 1});
    return mesh_desc{{axis_desc{"devices", devices}}};
  }

  std::shared_ptr<machine> state_;
};

}  // namespace shardwise
