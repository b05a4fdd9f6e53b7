// SPDX-License-Identifier: BSL-1.0
// One expression in the three ways in which it runs: compiled, interpreted, replayed.
#pragma once

#include "support/catch.hpp"
#include <shardwise/shardwise.hpp>

#include <cstring>
#include <string>

namespace passes {

using namespace shardwise;

struct pod : mesh<axis<"x", 2>> {};
template <class T>
using V = sharded_tensor<T, extents<dyn>, layout<pod, P<"x">, partial<>, uneven>>;
template <class T>
using M = sharded_tensor<T, extents<dyn, 5>, layout<pod, P<"x", none>, partial<>, uneven>>;
template <class T>
using C = sharded_tensor<T, extents<dyn, 1>, layout<pod, P<"x", none>, partial<>, uneven>>;
template <class T>
using R = sharded_tensor<T, extents<5>, layout<pod, P<none>>>;
template <class T>
using S = sharded_tensor<T, extents<5, 5>, layout<pod, P<none, none>>>;

/// The bytes of every device's elements.
template <class X>
std::string bytes(const X& x) {
  std::string all;
  for (const auto& shard : shards(x)) {
    const auto elements = shard.elements();
    const std::size_t old = all.size();
    all.resize(old + elements.size_bytes());
    if (!elements.empty()) std::memcpy(all.data() + old, elements.data(), elements.size_bytes());
  }
  return all;
}

/// `f` of tensors has the same bits compiled, interpreted, and replayed from its recorded program.
template <class T, class F, class... X>
void same_everywhere(const char* what, const F& f, index_t size, const X&... x) {
  INFO(what << " of " << to_text(element_of<T>) << " " << size);
  const sharded_tensor compiled = f(x...);
  const any_tensor<T> interpreted = f(any_tensor<T>(x)...);
  const auto abstract_of = [&]<class Y>(std::type_identity<Y>) {
    if constexpr (Y::extents_type::dynamic_rank > 0)
      return abstract<Y>(size);
    else
      return abstract<Y>();
  };
  const prepared_program ready =
      prepare<T>(trace_program(f, abstract_of(std::type_identity<X>{})...));
  const any_tensor<T> replayed = run<T>(ready, x...);
  REQUIRE(interpreted.tensor() == desc_of(compiled));
  REQUIRE(replayed.tensor() == desc_of(compiled));
  const std::string expected = bytes(compiled);
  const bool interpreted_alike = bytes(interpreted) == expected;
  const bool replayed_alike = bytes(replayed) == expected;
  REQUIRE(interpreted_alike);
  REQUIRE(replayed_alike);
}

/// Numbers of both signs, broken where they may be.
template <class X>
X drawn(const device_pool& pool, index_t size, int salt) {
  using T = typename X::value_type;
  const auto f = [=](const global_index& at) {
    index_t place = salt;
    for (index_t i : at) place = place * 31 + i;
    const index_t whole = (place * 7919 + 13) % 201 - 100;
    return has_fractions(element_of<T>) ? static_cast<T>(whole) / T{16} : static_cast<T>(whole);
  };
  if constexpr (X::extents_type::dynamic_rank > 0)
    return generate<X>(pool, f, size);
  else
    return generate<X>(pool, f);
}

}  // namespace passes
