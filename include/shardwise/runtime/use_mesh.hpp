// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/engine/device_pool.hpp"

#include <memory>

namespace shardwise {

/// The pool of a scope: until the guard is destroyed, tensors that this thread creates without a
/// pool are created in it. Guards can be nested, and each thread has its own.
///
///     use_mesh here(pod{});                     // or an existing pool: use_mesh here(pool);
///     auto x = uniform<X>(random_key{1});
///     auto y = distribute<Y>(host);
class use_mesh {
 public:
  /// The pool must outlive the guard.
  explicit use_mesh(const device_pool& pool) noexcept : outer_(current_) { current_ = &pool; }
  explicit use_mesh(const device_pool&&) = delete;  // it would not outlive this statement
  /// Creates a pool with the devices of a mesh, which lives as long as the guard.
  template <Mesh M>
  explicit use_mesh(const M& mesh)
      : own_(std::make_unique<const device_pool>(mesh)), outer_(current_) {
    current_ = own_.get();
  }
  /// A number or a layout is not a pool.
  template <class M>
    requires(!Mesh<M>)
  explicit use_mesh(const M&) = delete;  // use_mesh here(pod{}): a mesh, or a device_pool
  use_mesh(const use_mesh&) = delete;
  use_mesh& operator=(const use_mesh&) = delete;
  ~use_mesh() { current_ = outer_; }

  /// Returns the pool of the innermost guard of this thread, or null.
  [[nodiscard]] static const device_pool* current() noexcept { return current_; }
  /// Returns the same pool; it is an error if there is no guard.
  [[nodiscard]] static const device_pool& pool() {
    if (current_ == nullptr) fail({.rule = violation::pool_is_not_in_use});
    return *current_;
  }

 private:
  inline static thread_local const device_pool* current_ = nullptr;

  std::unique_ptr<const device_pool> own_;
  const device_pool* outer_;
};

}  // namespace shardwise
