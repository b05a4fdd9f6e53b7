// SPDX-License-Identifier: BSL-1.0
// What an operation gives of a split tensor, with types and without, against the whole of it.
#pragma once

#include "support/catch.hpp"
#include <shardwise/shardwise.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace split_and_whole {

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
template <class T, index_t Columns, class Spec, class Policy = exact>
using matrix = sharded_tensor<T, extents<4, Columns>, layout<pod, Spec, partial<>, Policy>>;

/// Numbers with equal ones, and NaN in several parts of the first row.
template <class X>
X numbers(const device_pool& pool) {
  return generate<X>(pool, [](const global_index& at) {
    using T = typename X::value_type;
    if constexpr (!std::is_integral_v<T>)
      if (at[0] == 0 && (at[1] == 3 || at[1] == 6))
        return static_cast<T>(std::numeric_limits<float>::quiet_NaN());
    return static_cast<T>(static_cast<float>((at[0] * 3 + at[1] * 5) % 7));
  });
}

/// Whether a function is called with types too. Where its types have been tried on one layout,
/// other layouts are values, for which the compiler makes nothing new.
enum class tried { with_types, as_values };

/// Compares what `f` gives of a split tensor, typed and not, with what it gives of the whole.
/// Results differ by at most `allowed` of numbers above 1.
template <class X, tried How = tried::with_types, class F>
void check(const F& f, double allowed = 0) {
  const device_pool pool(pod{}, 2);
  const X x = numbers<X>(pool);
  const any_tensor<typename X::value_type> any = x, whole = reshard<P<none, none>>(x);
  const auto same = [allowed](const auto& a, const auto& b) {
    const auto left = to_host(a), right = to_host(b);
    REQUIRE(left.extents() == right.extents());
    for (std::size_t i = 0; i < left.elements().size(); ++i) {
      const auto l = left.elements()[i], r = right.elements()[i];
      const auto far = [&] {
        const auto size = std::max(1.0, std::abs(static_cast<double>(r)));
        return std::abs(static_cast<double>(l) - static_cast<double>(r)) > allowed * size;
      };
      REQUIRE((l == r || (l != l && r != r) || !far()));
    }
  };
  const auto compare = [&](const auto& have, const auto& want) {
    if constexpr (requires { have.first; }) {
      same(have.first, want.first);
      same(have.second, want.second);
    } else {
      same(have, want);
    }
  };
  compare(f(any), f(whole));
  if constexpr (How == tried::with_types) {
    compare(f(x), f(whole));
    // What types and values say is one program.
    const auto cost_of = [&](const auto& operand) {
      pool.reset_counters();
      const auto made = f(operand);
      if constexpr (requires { made.first; })
        sync(made.first, made.second);
      else
        sync(made);
      return pool.counters();
    };
    const cost_ledger paper = trace(f, abstract<X>());
    for (const cost_ledger& run : {cost_of(x), cost_of(any)}) {
      REQUIRE(run.flops() == paper.flops());
      REQUIRE(run.collectives() == paper.collectives());
      REQUIRE(run.bytes_moved() == paper.bytes_moved());
    }
  }
}

}  // namespace split_and_whole
