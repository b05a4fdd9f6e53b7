// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/notation/reader.hpp"
#include "shardwise/rule/operation.hpp"

namespace shardwise {

/// How the value of a parameter is written: `1`, `0,1`, `8x4x2`, words as they are, one of a few
/// words, or nothing, since its name alone asks for it.
enum class parameter_form : std::uint8_t { integer, integers, extents, words, choice, flag };

/// What operations are applied with besides their operands, by name.
struct parameter_desc {
  text_view name;
  parameter_form form;
  /// A value of it, or the words between which it chooses.
  text_view example;
  text_view purpose;
};

/// The parameters of all operations. One name means one thing wherever it is taken.
inline constexpr parameter_desc parameters[] = {
    {"equation", parameter_form::words, "bi,io->bo", "the contraction, as einsum has it"},
    {"semiring", parameter_form::choice, "plus_times|min_plus|max_plus|max_times|or_and",
     "how elements are multiplied and reduced"},
    {"dim", parameter_form::integer, "1",
     "the dimension that it works along, from 0; negative ones count from the end"},
    {"dims", parameter_form::integers, "0,1",
     "the dimensions that it works along; where they may be left out, all"},
    {"keep_dims", parameter_form::flag, "", "reduced dimensions stay, with one element each"},
    {"correction", parameter_form::integer, "1", "1 for the variance of a sample"},
    {"shape", parameter_form::extents, "8x4x2", "the extents of the result"},
    {"order", parameter_form::integers, "1,0", "the operand's dimensions in the result's order"},
    {"axes", parameter_form::words, "x,y", "the mesh axes that it works over, major to minor"},
    {"reduction", parameter_form::choice, "sum|product|max|min", "how devices' values are reduced"},
    {"split", parameter_form::integer, "1", "the dimension that is cut into parts"},
    {"concat", parameter_form::integer, "0", "the dimension along which parts are joined"},
    {"sends", parameter_form::integers, "0,1,1,0", "who gives and who gets, by positions"},
    {"edge", parameter_form::choice, "wraps|zeros", "what enters at the end of a line"},
    {"begin", parameter_form::integer, "1", "the first index; negative ones count from the end"},
    {"end", parameter_form::integer, "3", "the index behind the last one"},
    {"step", parameter_form::integer, "2", "how far apart the indices are"},
    {"index", parameter_form::integer, "0", "the one index that is taken"},
    {"ends", parameter_form::integers, "1,3", "where each part ends, but the last"},
    {"places", parameter_form::integer, "1", "by how many places elements move"},
    {"amounts", parameter_form::integers, "0,0,1,2",
     "how many elements before and behind, dimension by dimension"},
    {"mode", parameter_form::choice, "constant|edge|reflect", "what is added"},
    {"counts", parameter_form::integers, "2,1", "how often along each dimension"},
    {"count", parameter_form::integer, "4", "how many there are in the result"},
    {"size", parameter_form::integer, "2", "how many elements are taken"},
    {"classes", parameter_form::integer, "10", "the length of a row"},
    {"type", parameter_form::choice, "f32|f64|i32|i64|bool|i8|u8|bf16|f16",
     "the elements of the result"},
    {"window", parameter_form::integers, "2,2", "how large windows are, one number a dimension"},
    {"stride", parameter_form::integers, "2,2", "how far apart windows are; 1 if not given"},
    {"padding", parameter_form::integers, "1,1",
     "how many elements around each dimension, or before and behind each; 0 if not given"},
    {"dilation", parameter_form::integers, "2,2", "how far apart the elements of a window are"},
    {"groups", parameter_form::integer, "2", "into how many groups channels are divided"},
    {"diagonal", parameter_form::integer, "0", "the last diagonal that is kept"},
    {"descending", parameter_form::flag, "", "the greatest come first"},
    {"attends", parameter_form::choice, "to_all|to_earlier", "the keys that a query meets"},
    {"pairs", parameter_form::choice, "halves|neighbours", "which elements are turned together"},
    {"out_of_range", parameter_form::choice, "error|clamp|fill",
     "what an index does that the dimension has not"},
    {"across", parameter_form::words, "data,model",
     "the axes of the mesh over which it may exchange what its devices lack"}};

/// The parameter of this name, or null.
[[nodiscard]] constexpr const parameter_desc* find_parameter(text_view name) noexcept {
  for (const parameter_desc& known : parameters)
    if (known.name == name) return &known;
  return nullptr;
}

/// What one application of an operation is given, read from text. The text must outlive it.
///
///     operation_arguments given;
///     given.set("dims", "0,1");
///     given.integers("dims");                               // 0 and 1
class operation_arguments {
 public:
  using integer_list = inplace_vector<index_t, 2 * max_rank>;

  /// Reads the value of a parameter, which has none yet.
  constexpr parse_verdict set(text_view name, text_view value) noexcept {
    const parameter_desc* const what = find_parameter(name);
    if (what == nullptr) return {0, "no operation has a parameter of this name"};
    if (given_.full() || has(name)) return {0, "a parameter is given once"};
    argument one{name, value, {}};
    reader in(value);
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
  /// Its number, that of the word that was chosen, or 1 for a flag.
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
  /// Dimensions that are counted from the end, as -1, become those of a tensor of this rank.
  constexpr void count_from_front(text_view name, int rank) noexcept {
    for (argument& one : given_)
      if (one.name == name)
        for (index_t& n : one.integers)
          if (n < 0) n += rank;
  }
  /// How many are given.
  [[nodiscard]] constexpr std::size_t size() const noexcept { return given_.size(); }

 private:
  struct argument {
    text_view name{};
    text_view words{};
    integer_list integers{};
  };

  static constexpr index_t read_integer(reader& in) noexcept {
    const bool is_negative = in.accept('-');
    const index_t number = in.number(INT64_MAX, "a number is written in digits");
    return is_negative ? -number : number;
  }
  /// Which of the words between bars this one is, or -1.
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
