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

/// `full`, `zeros`, `ones`, `iota`, `uniform`, `normal`, `generate` and `distribute` without a pool
/// are the same in the pool of the scope. What fits neither is refused by name.
template <class X = void, class... A>
  requires(!detail::makes_in<detail::made_from::value, X, A...>)
[[nodiscard]] auto full(const A&... arguments) {
  using judge = detail::made_judge<detail::made_from::value, X, A...>;
  if constexpr (judge::ok)
    return full<X>(use_mesh::pool(), arguments...);
  else
    return (void)sizeof(typename judge::type), detail::refused_tensor<X>();
}
template <class X = void, class... A>
  requires(!detail::makes_in<detail::made_from::sizes, X, A...>)
[[nodiscard]] auto zeros(const A&... arguments) {
  using judge = detail::made_judge<detail::made_from::sizes, X, A...>;
  if constexpr (judge::ok)
    return zeros<X>(use_mesh::pool(), arguments...);
  else
    return (void)sizeof(typename judge::type), detail::refused_tensor<X>();
}
template <class X = void, class... A>
  requires(!detail::makes_in<detail::made_from::sizes, X, A...>)
[[nodiscard]] auto ones(const A&... arguments) {
  using judge = detail::made_judge<detail::made_from::sizes, X, A...>;
  if constexpr (judge::ok)
    return ones<X>(use_mesh::pool(), arguments...);
  else
    return (void)sizeof(typename judge::type), detail::refused_tensor<X>();
}
template <class X = void, class... A>
  requires(!detail::makes_in<detail::made_from::sizes, X, A...>)
[[nodiscard]] auto iota(const A&... arguments) {
  using judge = detail::made_judge<detail::made_from::sizes, X, A...>;
  if constexpr (judge::ok)
    return iota<X>(use_mesh::pool(), arguments...);
  else
    return (void)sizeof(typename judge::type), detail::refused_tensor<X>();
}
template <class X = void, class... A>
  requires(!detail::makes_in<detail::made_from::key, X, A...>)
[[nodiscard]] auto uniform(const A&... arguments) {
  using judge = detail::made_judge<detail::made_from::key, X, A...>;
  if constexpr (judge::ok)
    return uniform<X>(use_mesh::pool(), arguments...);
  else
    return (void)sizeof(typename judge::type), detail::refused_tensor<X>();
}
template <class X = void, class... A>
  requires(!detail::makes_in<detail::made_from::key, X, A...>)
[[nodiscard]] auto normal(const A&... arguments) {
  using judge = detail::made_judge<detail::made_from::key, X, A...>;
  if constexpr (judge::ok)
    return normal<X>(use_mesh::pool(), arguments...);
  else
    return (void)sizeof(typename judge::type), detail::refused_tensor<X>();
}
template <class X = void, class... A>
  requires(!detail::makes_in<detail::made_from::function, X, A...>)
[[nodiscard]] auto generate(const A&... arguments) {
  using judge = detail::made_judge<detail::made_from::function, X, A...>;
  if constexpr (judge::ok)
    return generate<X>(use_mesh::pool(), arguments...);
  else
    return (void)sizeof(typename judge::type), detail::refused_tensor<X>();
}
/// (Four arguments and more make an `any_tensor`.)
template <class X = void, class... A>
  requires(!detail::makes_in<detail::made_from::data, X, A...> &&
           (ShardedTensor<X> || sizeof...(A) < 4))
[[nodiscard]] auto distribute(const A&... arguments) {
  using judge = detail::made_judge<detail::made_from::data, X, A...>;
  if constexpr (judge::ok)
    return distribute<X>(use_mesh::pool(), arguments...);
  else
    return (void)sizeof(typename judge::type), detail::refused_tensor<X>();
}
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
