// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/engine/pool_state.hpp"

#include <exception>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <type_traits>
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
#include "shardwise/engine/definitions.hpp"
#endif
