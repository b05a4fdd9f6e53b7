// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/runtime/distribute.hpp"
#include "shardwise/runtime/step.hpp"

#include <concepts>
#include <memory>
#include <utility>

namespace shardwise {

/// The pool of a scope: until the guard dies, what this thread makes without naming a pool is made
/// there. Guards nest, and each thread has its own.
///
///     use_mesh here(pod{});                     // or an existing pool: use_mesh here(pool);
///     auto x = uniform<X>(key{1});
///     auto y = distribute<Y>(host);
class use_mesh {
 public:
  /// The pool must outlive the guard.
  explicit use_mesh(const device_pool& pool) noexcept : outer_(current_) { current_ = &pool; }
  /// Makes a pool with the devices of a mesh, for as long as the guard lives.
  template <Mesh M>
  explicit use_mesh(const M& mesh)
      : own_(std::make_unique<const device_pool>(mesh)), outer_(current_) {
    current_ = own_.get();
  }
  /// Not of a number or a layout.
  template <class M>
    requires(!Mesh<M>)
  explicit use_mesh(const M&) = delete;  // use_mesh here(pod{}): a mesh, or a device_pool
  use_mesh(const use_mesh&) = delete;
  use_mesh& operator=(const use_mesh&) = delete;
  ~use_mesh() { current_ = outer_; }

  /// The pool of the innermost guard of this thread, or null.
  [[nodiscard]] static const device_pool* current() noexcept { return current_; }
  /// The same; without a guard an error.
  [[nodiscard]] static const device_pool& pool() {
    if (current_ == nullptr) fail({.rule = broken::pool_is_not_in_use});
    return *current_;
  }

 private:
  inline static thread_local const device_pool* current_ = nullptr;

  std::unique_ptr<const device_pool> own_;
  const device_pool* outer_;
};

namespace detail {
template <class... Arguments>
inline constexpr bool names_pool = false;
template <class... Rest>
inline constexpr bool names_pool<device_pool, Rest...> = true;
}  // namespace detail

/// `full`, `zeros`, `ones`, `iota`, `uniform`, `normal`, `generate` and `distribute` without a pool
/// are the same in the pool of the scope.
template <ShardedTensor X, class... Arguments>
  requires(!detail::names_pool<Arguments...>)
[[nodiscard]] X full(const Arguments&... arguments) {
  return full<X>(use_mesh::pool(), arguments...);
}
template <ShardedTensor X, class... Arguments>
  requires(!detail::names_pool<Arguments...>)
[[nodiscard]] X zeros(const Arguments&... arguments) {
  return zeros<X>(use_mesh::pool(), arguments...);
}
template <ShardedTensor X, class... Arguments>
  requires(!detail::names_pool<Arguments...>)
[[nodiscard]] X ones(const Arguments&... arguments) {
  return ones<X>(use_mesh::pool(), arguments...);
}
template <ShardedTensor X, class... Arguments>
  requires(!detail::names_pool<Arguments...>)
[[nodiscard]] X iota(const Arguments&... arguments) {
  return iota<X>(use_mesh::pool(), arguments...);
}
template <ShardedTensor X, class... Arguments>
  requires(!detail::names_pool<Arguments...>)
[[nodiscard]] X uniform(const Arguments&... arguments) {
  return uniform<X>(use_mesh::pool(), arguments...);
}
template <ShardedTensor X, class... Arguments>
  requires(!detail::names_pool<Arguments...>)
[[nodiscard]] X normal(const Arguments&... arguments) {
  return normal<X>(use_mesh::pool(), arguments...);
}
template <ShardedTensor X, class... Arguments>
  requires(!detail::names_pool<Arguments...>)
[[nodiscard]] X generate(const Arguments&... arguments) {
  return generate<X>(use_mesh::pool(), arguments...);
}
template <ShardedTensor X, class... Arguments>
  requires(!detail::names_pool<Arguments...>)
[[nodiscard]] X distribute(const Arguments&... arguments) {
  return distribute<X>(use_mesh::pool(), arguments...);
}

/// `sync(pool)` and `step(pool, body)` in the pool of the scope. Under `using namespace shardwise`
/// the bare call `sync()` is ambiguous wherever POSIX declares its own, so say `shardwise::sync()`.
inline void sync() { sync(use_mesh::pool()); }
template <class Body>
  requires(!std::same_as<std::remove_cvref_t<Body>, device_pool>)
auto step(Body&& body) { return step(use_mesh::pool(), std::forward<Body>(body)); }

}  // namespace shardwise
