// SPDX-License-Identifier: BSL-1.0
#include "support/catch.hpp"
#include "support/watched.hpp"
#include <shardwise/kernel/reduce_terms.hpp>
#include <shardwise/rule/collective.hpp>
#include <shardwise/shardwise.hpp>

#include <cstring>
#include <vector>

using namespace shardwise;

namespace {

/// The tree that `terms_on_the_left` describes, one element at a time.
template <class T, class Reduce>
T reduced(const std::vector<T>& terms, index_t first, index_t count, const Reduce& reduce) {
  if (count == 1) return terms[static_cast<std::size_t>(first)];
  const index_t left = terms_on_the_left(count);
  return reduce(reduced(terms, first, left, reduce),
                reduced(terms, first + left, count - left, reduce));
}

template <class T>
T apply(reduction kind, T left, T right) {
  using C = compute_type<T>;
  const C a = static_cast<C>(left), b = static_cast<C>(right);
  if constexpr (std::same_as<T, bool>)
    return kind == reduction::max ? a || b : a && b;
  else
    switch (kind) {
      case reduction::sum:
        return static_cast<T>(a + b);
      case reduction::product:
        return static_cast<T>(a * b);
      case reduction::max:
        return static_cast<T>(a > b ? a : b);
      default:
        return static_cast<T>(a < b ? a : b);
    }
}

/// Terms of `rows` x `columns` elements, `gap` elements between their rows; one that lies apart.
template <class T>
void check(reduction kind, index_t count, index_t rows, index_t columns, index_t gap) {
  const index_t pitch = columns + gap;
  std::vector<std::unique_ptr<T[]>> terms;
  for (index_t i = 0; i < count; ++i) {
    terms.push_back(std::make_unique<T[]>(static_cast<std::size_t>(rows * pitch)));
    for (index_t e = 0; e < rows * pitch; ++e)
      terms.back()[static_cast<std::size_t>(e)] =
          static_cast<T>(static_cast<float>((i * 7 + e * 5) % 11 - 4) / 3 + 0.4F);
  }
  const auto made = std::make_unique<T[]>(static_cast<std::size_t>(rows * columns));
  reduce_terms(
      element_kernels_of<T>, kind, count,
      [&](index_t i) -> const_any_block {
        return {
            terms[static_cast<std::size_t>(i)].get(), element_of<T>, {rows, columns}, {pitch, 1}};
      },
      {made.get(), element_of<T>, {rows, columns}, {columns, 1}});
  index_t wrong = 0;
  for (index_t r = 0; r < rows; ++r)
    for (index_t c = 0; c < columns; ++c) {
      // Not `std::vector<bool>`, whose members are not objects.
      std::vector<std::conditional_t<std::same_as<T, bool>, char, T>> at;
      for (const auto& term : terms) at.push_back(term[static_cast<std::size_t>(r * pitch + c)]);
      const T want =
          static_cast<T>(reduced(at, 0, count, [kind](auto a, auto b) -> std::decay_t<decltype(a)> {
            return apply<T>(kind, static_cast<T>(a), static_cast<T>(b));
          }));
      wrong += std::memcmp(&want, &made[static_cast<std::size_t>(r * columns + c)], sizeof(T)) != 0;
    }
  CAPTURE(to_text(element_of<T>), to_text(kind), count, rows, columns, gap);
  REQUIRE(wrong == 0);
}

}  // namespace

TEMPLATE_TEST_CASE("any number of terms is reduced in pairs, whatever lies between their rows", "",
                   float, double, std::int32_t, std::int64_t, bool, std::int8_t, std::uint8_t,
                   bfloat16, float16) {
  for (const reduction kind :
       {reduction::sum, reduction::product, reduction::max, reduction::min}) {
    if (std::same_as<TestType, bool> && (kind == reduction::sum || kind == reduction::product))
      continue;  // truth values have neither
    for (index_t count = 1; count <= 36; count += support::is_watched && count > 9 ? 4 : 1) {
      check<TestType>(kind, count, 3, 5, 0);
      check<TestType>(kind, count, 2, 37, 0);
      check<TestType>(kind, count, 3, 5, 2);
      check<TestType>(kind, count, 1, 0, 0);
    }
    // More than one block.
    if (support::is_watched && kind != reduction::max) continue;
    check<TestType>(kind, 21, 300, 450, 0);
    check<TestType>(kind, 9, 300, 450, 3);
  }
}
