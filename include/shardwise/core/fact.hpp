// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/diagnosis.hpp"

#include <cstddef>
#include <type_traits>

namespace shardwise {

/// Labels for the numbers in a compile-time error, each a type:
///
///     operand_at{1}, dimension_at{0}
struct operand_at {
  int number;
};
struct dimension_at {
  int number;
};
struct argument_at {
  int number;
};
struct device_number {
  index_t number;
};
struct at_character {
  index_t position;
};
/// Sizes: the actual one and the required one.
struct size_met {
  index_t size;
};
struct size_needed {
  index_t size;
};
struct size_from {
  index_t least;
};
struct size_below {
  index_t limit;
};
struct actual_extent {
  index_t size;
};
struct equal_parts {
  index_t count;
};
struct multiple_of {
  index_t unit;
};
/// The two nearest legal sizes.
struct nearest_sizes {
  index_t below;
  index_t above;
};
/// The axis, dimension or function in question: `called<6>{"model"}`. Its size is that of the text
/// and the terminating zero, as in `fixed_string`.
template <std::size_t Size>
struct called {
  char characters[Size];
  constexpr called(const fixed_string<Size>& words) noexcept {
    for (std::size_t i = 0; i < Size; ++i) characters[i] = words.characters[i];
  }
};
/// The call that fixes the error: `suggested<25>{"reshard<P<x>>(operand 1)"}`.
template <std::size_t Size>
struct suggested {
  char characters[Size];
  constexpr suggested(const fixed_string<Size>& words) noexcept {
    for (std::size_t i = 0; i < Size; ++i) characters[i] = words.characters[i];
  }
};
/// The axes of the `across` that fixes the error too: `or_across<12>{"data, model"}`.
template <std::size_t Size>
struct or_across {
  char characters[Size];
  constexpr or_across(const fixed_string<Size>& words) noexcept {
    for (std::size_t i = 0; i < Size; ++i) characters[i] = words.characters[i];
  }
};
/// In the notation of the library: the type of a tensor, and that of the value assigned to it.
template <std::size_t Size>
struct own_type {
  char characters[Size];
  constexpr own_type(const fixed_string<Size>& words) noexcept {
    for (std::size_t i = 0; i < Size; ++i) characters[i] = words.characters[i];
  }
};
template <std::size_t Size>
struct given_type {
  char characters[Size];
  constexpr given_type(const fixed_string<Size>& words) noexcept {
    for (std::size_t i = 0; i < Size; ++i) characters[i] = words.characters[i];
  }
};
/// The subject of an error that concerns several types, or none.
template <class... Type>
struct of_types;
/// A tensor, a layout or a mesh in the notation of the library.
template <fixed_string Notation>
struct as_written;
/// The operation that changes the layout of an operand.
template <class Spec>
struct reshard_to;

namespace internal {

/// The default of a template argument that was not written. The type of its value is accepted by no
/// rule, so that the rule says what the argument must be.
struct missing {
  static constexpr decltype(nullptr) value{};
};

/// A list of facts.
template <auto... Fact>
struct facts {};
template <auto... A, auto... B>
[[nodiscard]] constexpr facts<A..., B...> operator+(facts<A...>, facts<B...>) noexcept {
  return {};
}

/// The facts of a diagnosis in the order of `describe`: the position, if it has one, the names, and
/// the sizes.
template <class Place, int At>
[[nodiscard]] constexpr auto place_shown() noexcept {
  return std::conditional_t<At >= 0, facts<Place{At}>, facts<>>{};
}
/// A text with its label. Sizes are deduced: clang would print one that is written as `6UL`.
template <template <std::size_t> class Label, std::size_t Size>
[[nodiscard]] constexpr auto fact_of(const fixed_string<Size>& text) noexcept {
  if constexpr (std::is_same_v<Label<Size>, called<Size>>)
    return called(text);
  else if constexpr (std::is_same_v<Label<Size>, or_across<Size>>)
    return or_across(text);
  else
    return suggested(text);
}
/// The text that `words()`, a stateless function, returns; none if it is empty.
template <template <std::size_t> class Label, class Words>
[[nodiscard]] constexpr auto text_shown(Words words) noexcept {
  constexpr auto text = words();
  if constexpr (text.size() == 0)
    return facts<>{};
  else
    return facts<fact_of<Label>(to_fixed_string<text.size()>(text))>{};
}
template <index_t Have, index_t Unit>
[[nodiscard]] constexpr auto sizes_near() noexcept {
  return facts<nearest_sizes{Have / Unit * Unit, (Have / Unit + 1) * Unit}>{};
}
template <sizes_told Told, index_t Have, index_t Want>
[[nodiscard]] constexpr auto sizes_of() noexcept {
  if constexpr (Told == sizes_told::device)
    return facts<device_number{Have}>{};
  else if constexpr (Told == sizes_told::rank)
    return facts<size_met{Have}, size_from{-Want}, size_below{Want}>{};
  else if constexpr (Have == 0 && Want == 0)
    return facts<>{};
  else if constexpr (Told == sizes_told::needed || Told == sizes_told::devices)
    return facts<size_met{Have}, size_needed{Want}>{};
  else if constexpr (Told == sizes_told::characters)
    return facts<at_character{Have}>{};
  else if constexpr (Told == sizes_told::below)
    return facts<size_met{Have}, size_below{Want}>{};
  else if constexpr (Told == sizes_told::parts)
    return facts<actual_extent{Have}, equal_parts{Want}>{} + sizes_near<Have, Want>();
  else
    return facts<actual_extent{Have}, multiple_of{Want}>{} + sizes_near<Have, Want>();
}

}  // namespace internal

}  // namespace shardwise
