// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/layout/layout_rules.hpp"
#include "shardwise/rule/reshape_factors.hpp"

namespace shardwise {

namespace detail {

/// Returns the product of the known extents, or one more than the highest number of elements of a
/// tensor.
[[nodiscard]] constexpr index_t known_elements(const extents_desc& extents) noexcept {
  for (index_t n : extents)
    if (n == 0) return 0;
  index_t product = 1;
  for (index_t n : extents) {
    if (n == dyn) continue;
    if (n < 0 || n > max_elements / product) return max_elements + 1;
    product *= n;
  }
  return product;
}

/// Returns the number of unknown extents.
[[nodiscard]] constexpr int unknown_extents(const extents_desc& extents) noexcept {
  int count = 0;
  for (index_t n : extents) count += n == dyn ? 1 : 0;
  return count;
}

}  // namespace detail

/// Checks a reshape: the target has as many elements as the operand, and at most one extent is left
/// to be inferred. Sizes of the operand that are `dyn` are not checked yet.
[[nodiscard]] constexpr diagnosis check_reshape(const extents_desc& from,
                                                const extents_desc& to) noexcept {
  const index_t wanted = detail::known_elements(from);
  const index_t given = detail::known_elements(to);
  const bool from_is_open = detail::unknown_extents(from) > 0;
  const bool to_is_open = detail::unknown_extents(to) > 0;
  const auto divides = [](index_t n, index_t of) { return n > 0 ? of % n == 0 : of == 0; };
  const bool agrees = from_is_open && to_is_open ? true
                      : from_is_open             ? divides(wanted, given)
                      : to_is_open               ? given > 0 && divides(given, wanted)
                                                 : given == wanted;
  if (detail::unknown_extents(to) <= 1 && given <= max_elements && agrees) return {};
  return {.rule = violation::element_count_differs, .operand = 0, .have = given, .want = wanted};
}

/// Returns the extents of the result of a reshape. The extent that the target leaves open is
/// inferred from the number of elements of the operand, and is `dyn` as long as that is not known.
///
///     // f32[4, 6] to extents<dyn, 8>: 3 x 8
[[nodiscard]] constexpr extents_desc reshaped(const extents_desc& from, extents_desc to) noexcept {
  if (detail::unknown_extents(from) > 0) return to;
  const index_t given = detail::known_elements(to);
  for (index_t& n : to)
    if (n == dyn && given > 0) n = detail::known_elements(from) / given;
  return to;
}

/// Returns the rule of a reshape. Dimensions are products of the factors that both sides share;
/// factors that only one side has may not be split.
///
/// A rule has room for `max_factors`. If a reshape needs more, only unchanged dimensions keep their
/// split.
///
///     // f32[6, 4] to extents<2, 12>: ([(i,j),k]) -> ([i,(j,k)])
[[nodiscard]] constexpr factor_rule reshape_rule(const extents_desc& from,
                                                 const extents_desc& to) noexcept {
  const extents_desc result = reshaped(from, to);
  const extents_desc operand = detail::unknown_extents(from) == 1 ? reshaped(result, from) : from;
  const detail::reshape_factors factors(operand, result, false);
  return factors.fit() ? factors.rule() : detail::reshape_factors(operand, result, true).rule();
}

}  // namespace shardwise
