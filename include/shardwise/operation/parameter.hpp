// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/notation/reader.hpp"
#include "shardwise/rule/operation.hpp"

namespace shardwise {

/// The syntax of a parameter's value: `1`; `0,1`; `8x4x2`; free text; one of several words; or
/// nothing, for a flag, which is set by its name alone.
enum class parameter_form : std::uint8_t { integer, integers, extents, words, choice, flag };

/// Describes a named parameter, which operations take in addition to their operands.
struct parameter_desc {
  text_view name;
  parameter_form form;
  /// An example of a value, or the permitted words.
  text_view example;
  text_view purpose;
};

/// The parameters of all operations. A name has the same meaning in every operation.
inline constexpr parameter_desc parameters[] = {
    {"equation", parameter_form::words, "bi,io->bo", "the contraction, in the syntax of einsum"},
    {"semiring", parameter_form::choice, "plus_times|min_plus|max_plus|max_times|or_and",
     "the semiring that replaces the sum and the product"},
    {"dim", parameter_form::integer, "1",
     "the dimension to operate along, from 0; negative numbers count from the end"},
    {"dims", parameter_form::integers, "0,1",
     "the dimensions to operate along; if optional, the default is all of them"},
    {"keep_dims", parameter_form::flag, "", "keep the reduced dimensions, with size 1"},
    {"correction", parameter_form::integer, "1",
     "what is subtracted from the number of observations"},
    {"shape", parameter_form::extents, "8x4x2", "the extents of the result"},
    {"order", parameter_form::integers, "1,0",
     "the operand's dimensions, in the order of the result"},
    {"axes", parameter_form::words, "x,y", "the mesh axes to operate over, major to minor"},
    {"reduction", parameter_form::choice, "sum|product|max|min", "the reduction over devices"},
    {"split", parameter_form::integer, "1", "the dimension to split into parts"},
    {"concat", parameter_form::integer, "0", "the dimension along which to concatenate the parts"},
    {"sends", parameter_form::integers, "0,1,1,0", "pairs of source and target positions"},
    {"edge", parameter_form::choice, "wraps|zeros", "what is shifted in at the end of the axis"},
    {"begin", parameter_form::integer, "1", "the first index; negative ones count from the end"},
    {"end", parameter_form::integer, "3", "one past the last index"},
    {"step", parameter_form::integer, "2", "the distance between indices"},
    {"index", parameter_form::integer, "0", "the index to select"},
    {"ends", parameter_form::integers, "1,3", "the end of each part except the last"},
    {"places", parameter_form::integer, "1", "the number of positions to move by"},
    {"amounts", parameter_form::integers, "0,0,1,2",
     "the number of elements before and after, for each dimension"},
    {"mode", parameter_form::choice, "constant|edge|reflect", "the values to pad with"},
    {"counts", parameter_form::integers, "2,1",
     "the number of copies along each dimension, or of each element"},
    {"count", parameter_form::integer, "4", "the number of copies, segments or elements"},
    {"size", parameter_form::integer, "2", "the number of elements to take"},
    {"length", parameter_form::integer, "9",
     "the length of the result along a halved dimension; even by default"},
    {"classes", parameter_form::integer, "10", "the number of classes"},
    {"type", parameter_form::choice, "f32|f64|i32|i64|bool|i8|u8|bf16|f16",
     "the element type of the result"},
    {"window", parameter_form::integers, "2,2", "the size of the window in each dimension"},
    {"stride", parameter_form::integers, "2,2", "the distance between windows; 1 by default"},
    {"padding", parameter_form::integers, "1,1",
     "the padding on both sides of each dimension, or before and after each; 0 by default"},
    {"dilation", parameter_form::integers, "2,2", "the distance between elements of a window"},
    {"output_padding", parameter_form::integers, "1,1",
     "the number of further positions behind each dimension of the result; 0 by default"},
    {"groups", parameter_form::integer, "2", "the number of groups of channels"},
    {"sizes", parameter_form::integers, "16,16", "the sizes of the last dimensions of the result"},
    {"method", parameter_form::choice, "nearest|nearest_exact|linear|cubic",
     "how elements between those of the operand are computed"},
    {"align_corners", parameter_form::flag, "",
     "the first and the last elements keep their positions"},
    {"flow", parameter_form::choice, "nowhere|forward|backward|both",
     "the direction in which layouts are propagated"},
    {"factor", parameter_form::integer, "2", "how many times as many rows and columns there are"},
    {"exponent", parameter_form::integer, "3",
     "the power of the matrices; that of inverses if < 0"},
    {"diagonal", parameter_form::integer, "0", "the diagonal that bounds the triangle"},
    {"descending", parameter_form::flag, "", "sort in descending order"},
    {"upper", parameter_form::flag, "", "read the upper triangles of the matrices"},
    {"transposed", parameter_form::flag, "", "solve with the transposed matrices"},
    {"attends", parameter_form::choice, "to_all|to_earlier", "the keys that a query attends to"},
    {"pairs", parameter_form::choice, "halves|neighbours",
     "the elements that are rotated in pairs"},
    {"out_of_range", parameter_form::choice, "error|clamp|fill",
     "how to treat an index that is out of range"},
    {"across", parameter_form::words, "data,model",
     "the mesh axes over which the operation may communicate"}};

/// The parameter of this name, or null.
[[nodiscard]] constexpr const parameter_desc* find_parameter(text_view name) noexcept {
  for (const parameter_desc& known : parameters)
    if (known.name == name) return &known;
  return nullptr;
}

/// The arguments of one application of an operation, read from text. The text must outlive it.
///
///     operation_arguments given;
///     given.set("dims", "0,1");
///     given.integers("dims");                               // 0 and 1
class operation_arguments {
 public:
  using integer_list = inplace_vector<index_t, 2 * max_rank>;

  /// Reads the value of a parameter that has not been set yet.
  constexpr parse_verdict set(text_view name, text_view value) noexcept {
    const parameter_desc* const what = find_parameter(name);
    if (what == nullptr) return {0, "no operation has a parameter of this name"};
    if (given_.full() || has(name)) return {0, "a parameter is given once"};
    argument one{name, value, {}};
    text_reader in(value);
    switch (what->form) {
      case parameter_form::integer:
        one.integers.push_back(read_integer(in));
        break;
      case parameter_form::integers:
      case parameter_form::extents: {
        const char between = what->form == parameter_form::integers ? ',' : 'x';
        if (in.peek() != '\0') do {
            if (one.integers.full()) in.fail("there are at most 16 numbers");
            const index_t number = read_integer(in);
            if (in.ok()) one.integers.push_back(number);
          } while (in.ok() && in.accept(between));
        break;
      }
      case parameter_form::choice:
        one.integers.push_back(place_of(value, what->example));
        if (one.integers[0] < 0) return {0, "the value is none of the words that it may be"};
        given_.push_back(one);
        return {};
      case parameter_form::words:
      case parameter_form::flag:
        one.integers.push_back(1);
        given_.push_back(one);
        return {};
    }
    const parse_verdict verdict = in.finish();
    if (verdict.ok()) given_.push_back(one);
    return verdict;
  }

  [[nodiscard]] constexpr bool has(text_view name) const noexcept { return find(name) != nullptr; }
  /// Returns the value of an integer parameter, the index of a chosen word, or 1 for a flag.
  [[nodiscard]] constexpr index_t integer(text_view name, index_t otherwise = 0) const noexcept {
    const argument* const one = find(name);
    return one == nullptr ? otherwise : one->integers[0];
  }
  [[nodiscard]] constexpr integer_list integers(text_view name) const noexcept {
    const argument* const one = find(name);
    return one == nullptr ? integer_list{} : one->integers;
  }
  [[nodiscard]] constexpr text_view words(text_view name) const noexcept {
    const argument* const one = find(name);
    return one == nullptr ? text_view{} : one->words;
  }
  /// Replaces dimensions that are counted from the end, such as -1, by those of a tensor of `rank`.
  constexpr void count_from_front(text_view name, int rank) noexcept {
    for (argument& one : given_)
      if (one.name == name)
        for (index_t& n : one.integers) n = counted_from_front(n, rank);
  }
  /// Returns the number of arguments.
  [[nodiscard]] constexpr std::size_t size() const noexcept { return given_.size(); }

 private:
  struct argument {
    text_view name{};
    text_view words{};
    integer_list integers{};
  };

  static constexpr index_t read_integer(text_reader& in) noexcept {
    const bool is_negative = in.accept('-');
    const index_t number = in.number(INT64_MAX, "a number is written in digits");
    return is_negative ? -number : number;
  }
  /// Returns the index of a word in a list separated by bars, or -1.
  static constexpr index_t place_of(text_view word, text_view all) noexcept {
    index_t place = 0;
    for (std::size_t begin = 0; begin <= all.size(); ++place) {
      std::size_t end = begin;
      while (end < all.size() && all[end] != '|') ++end;
      if (all.substr(begin, end - begin) == word) return place;
      begin = end + 1;
    }
    return -1;
  }
  [[nodiscard]] constexpr const argument* find(text_view name) const noexcept {
    for (const argument& one : given_)
      if (one.name == name) return &one;
    return nullptr;
  }

  inplace_vector<argument, 8> given_{};
};

}  // namespace shardwise
