// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/runtime/made_from.hpp"
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
  /// A number or a layout is no pool.
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
/// Calls `make` with the pool of the scope, unless the call is refused.
template <made_from From, class X, class Make, class... A>
[[nodiscard]] made_here<From, X, A...> in_scope(const Make& make, const A&... arguments) {
  using outcome = made_outcome<From, X, A...>;
  if constexpr (outcome::is_refusal)
    return outcome::value();
  else
    return make(use_mesh::pool(), arguments...);
}
}  // namespace detail

/// `full`, `zeros`, `ones`, `iota`, `uniform`, `normal`, `generate` and `distribute` without a pool
/// are the same in the pool of the scope. What fits neither is refused by name.
template <class X = void, class... A>
[[nodiscard]] detail::made_here<detail::made_from::value, X, A...> full(const A&... a) {
  return detail::in_scope<detail::made_from::value, X>(
      [](const auto&... all) { return full<X>(all...); }, a...);
}
template <class X = void, class... A>
[[nodiscard]] detail::made_here<detail::made_from::sizes, X, A...> zeros(const A&... a) {
  return detail::in_scope<detail::made_from::sizes, X>(
      [](const auto&... all) { return zeros<X>(all...); }, a...);
}
template <class X = void, class... A>
[[nodiscard]] detail::made_here<detail::made_from::sizes, X, A...> ones(const A&... a) {
  return detail::in_scope<detail::made_from::sizes, X>(
      [](const auto&... all) { return ones<X>(all...); }, a...);
}
template <class X = void, class... A>
[[nodiscard]] detail::made_here<detail::made_from::sizes, X, A...> iota(const A&... a) {
  return detail::in_scope<detail::made_from::sizes, X>(
      [](const auto&... all) { return iota<X>(all...); }, a...);
}
template <class X = void, class... A>
[[nodiscard]] detail::made_here<detail::made_from::key, X, A...> uniform(const A&... a) {
  return detail::in_scope<detail::made_from::key, X>(
      [](const auto&... all) { return uniform<X>(all...); }, a...);
}
template <class X = void, class... A>
[[nodiscard]] detail::made_here<detail::made_from::key, X, A...> normal(const A&... a) {
  return detail::in_scope<detail::made_from::key, X>(
      [](const auto&... all) { return normal<X>(all...); }, a...);
}
template <class X = void, class... A>
[[nodiscard]] detail::made_here<detail::made_from::function, X, A...> generate(const A&... a) {
  return detail::in_scope<detail::made_from::function, X>(
      [](const auto&... all) { return generate<X>(all...); }, a...);
}
/// (Four arguments and more make an `any_tensor`.)
template <class X = void, class... A>
  requires(ShardedTensor<X> || sizeof...(A) < 4)
[[nodiscard]] detail::made_here<detail::made_from::data, X, A...> distribute(const A&... a) {
  return detail::in_scope<detail::made_from::data, X>(
      [](const auto&... all) { return distribute<X>(all...); }, a...);
}
/// Numbers in braces, one level a dimension: `distribute<X>({{1, 2}, {3, 4}})`.
template <ShardedTensor X>
  requires(X::extents_type::rank > 0)
[[nodiscard]] X distribute(detail::braces_for<X> host) {
  return distribute<X>(use_mesh::pool(), host);
}

/// `sync(pool)` and `step(pool, body)` in the pool of the scope. Under `using namespace shardwise`
/// the bare call `sync()` is ambiguous wherever POSIX declares its own, so say `shardwise::sync()`.
inline void sync() { sync(use_mesh::pool()); }
template <class Body>
  requires(!std::same_as<std::remove_cvref_t<Body>, device_pool>)
auto step(Body&& body) { return step(use_mesh::pool(), std::forward<Body>(body)); }

}  // namespace shardwise
