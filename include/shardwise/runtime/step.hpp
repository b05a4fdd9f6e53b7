// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/index.hpp"
#include "shardwise/engine/run_program.hpp"
#include "shardwise/runtime/sync.hpp"
#include "shardwise/runtime/use_mesh.hpp"

#include <concepts>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

namespace shardwise {

/// Computes all pending tensors of a pool as one program: common operands are computed once, and
/// tensors that no variable refers to are not computed.
///
/// Expressions that have been read by name count as tensors. Values that depend on the arguments of
/// a function that is being recorded, by this or another thread, are skipped. The first exception
/// of a device is thrown once; tensors that do not depend on it stay pending, for a reader or for
/// the next `sync`.
///
///     sync(pool);
inline void sync(const device_pool& pool) {
  const std::shared_ptr<pool_state> home = pool.state();
  run_pending(*home);
}

/// Returns the cost of what is pending in a pool, for one device: the ledger of the program that
/// `sync(pool)` would run, which the counters of the pool then show. Computes nothing.
///
///     const auto loss = train(model, state, x, y);       // pending
///     const cost_ledger cost = ledger_of(pool);
///     sync(pool);                                        // adds it to pool.counters()
[[nodiscard]] inline cost_ledger ledger_of(const device_pool& pool) {
  const std::shared_ptr<pool_state> home = pool.state();
  return ledger_of_pending(*home);
}

namespace detail {

/// Names the expressions among the results of a step, so that it computes them: one as a tensor,
/// those in a tuple in place.
template <class Result>
[[nodiscard]] auto name_results(Result&& result) {
  using plain = std::remove_cvref_t<Result>;
  if constexpr (lazy_arguments<plain> != 0) {
    return sharded_tensor(std::forward<Result>(result));
  } else {
    if constexpr (requires { std::tuple_size<plain>::value; })
      for_each_index<std::tuple_size<plain>::value>([&]<std::size_t I>() {
        if constexpr (Readable<std::tuple_element_t<I, plain>>) (void)std::get<I>(result).share();
      });
    return plain(std::forward<Result>(result));
  }
}

}  // namespace detail

/// Runs one step of a program: calls `body`, computes everything that is then pending in the pool,
/// and returns what the body returned.
///
/// Everything pending before is computed first, so a step is a separate program. Expressions that
/// the body returns, alone or in a tuple, are returned computed. Steps may be nested: the end of an
/// inner step has the same effect as that of any other. If the body throws, nothing is computed,
/// and the values that it created stay pending.
///
///     for (int i = 0; i < 100; ++i)
///       loss = step(pool, [&] { return train(model, batch(i)); });
template <class Body>
  requires std::is_invocable_v<Body>
auto step(const device_pool& pool, Body&& body) {
  sync(pool);
  if constexpr (std::is_void_v<std::invoke_result_t<Body>>) {
    std::forward<Body>(body)();
    sync(pool);
  } else {
    auto result = detail::name_results(std::forward<Body>(body)());
    sync(pool);
    return result;
  }
}
/// Needs a pool instead of a mesh, and a body that can be called without arguments.
template <class Pool, class Body>
  requires(std::same_as<Pool, device_pool> || (Mesh<Pool> && std::invocable<Body>))
void step(const Pool&, Body&&) = delete;  // step(pool, [&] { ... }) in a device_pool

/// `sync(pool)` and `step(pool, body)` in the pool of the scope. With `using namespace shardwise`,
/// the unqualified call `sync()` is ambiguous if POSIX declares its own, so write
/// `shardwise::sync()`.
inline void sync() { sync(use_mesh::pool()); }
template <class Body>
  requires(!std::same_as<std::remove_cvref_t<Body>, device_pool> && std::invocable<Body>)
auto step(Body&& body) { return step(use_mesh::pool(), std::forward<Body>(body)); }

}  // namespace shardwise
