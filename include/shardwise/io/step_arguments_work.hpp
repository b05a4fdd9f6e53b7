// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/io/json_text_work.hpp"
#include "shardwise/io/named_operations_work.hpp"
#include "shardwise/operation/infer_operation.hpp"

#include <deque>
#include <string>
#include <utility>

namespace shardwise::internal {

/// The arguments of a step as members of its JSON, and as the catalogue reads them.
class step_arguments {
 public:
  /// Sets a parameter of whole numbers, of which a choice has one: the number of its word.
  void set(text_view name, const operation_arguments::integer_list& numbers) {
    const parameter_desc& what = *find_parameter(name);
    std::string text;
    switch (what.form) {
      case parameter_form::flag:
        if (numbers.empty() || numbers[0] == 0) return;
        append_member(name, "true");
        break;
      case parameter_form::choice:
        text = word_at(what.example, numbers[0]);
        append_member(name, '"' + text + '"');
        break;
      default: {
        const bool is_list = what.form != parameter_form::integer;
        std::string json;
        for (const index_t number : numbers) {
          if (!text.empty()) json += ", ", text += what.form == parameter_form::extents ? 'x' : ',';
          json += std::to_string(number);
          text += std::to_string(number);
        }
        append_member(name, is_list ? '[' + json + ']' : json);
        break;
      }
    }
    texts_.push_back(std::move(text));
    is_read_ = given_.set(name, texts_.back()).ok() && is_read_;
  }
  /// Returns true if the catalogue makes these attributes of the arguments.
  [[nodiscard]] bool give(const catalogued_operation& entry, const attributes& how,
                          const tensor_descs& operands) const {
    const argument_fault fault = check_arguments(entry, given_);
    if (!is_read_ || !fault.missing.empty() || !fault.too_long.empty() || fault.has_unknown)
      return false;
    const int rank = operands[0].rank();
    const operation_arguments from_front = arguments_from_front(entry, given_, rank);
    if (given_.has("dims") && !entry.names.of_result &&
        !over(from_front.integers("dims")).judge(rank).ok())
      return false;
    return attributes_of(entry, from_front, operands) == how;
  }
  [[nodiscard]] const std::string& members() const noexcept { return members_; }

 private:
  void append_member(text_view name, const std::string& value) {
    members_ += ", \"" + std::string(name) + "\": " + value;
  }
  /// Returns a word of a list separated by bars; empty if there are fewer.
  [[nodiscard]] static std::string word_at(std::string_view all, index_t place) {
    for (; place > 0 && !all.empty(); --place) {
      const std::size_t bar = all.find('|');
      all = bar == all.npos ? std::string_view() : all.substr(bar + 1);
    }
    return std::string(place == 0 ? all.substr(0, all.find('|')) : std::string_view());
  }

  std::string members_{};
  std::deque<std::string> texts_{};
  operation_arguments given_{};
  bool is_read_ = true;
};

/// Returns the arguments whose integers, in the order of the parameters, are the attributes: a list
/// has those that are left, and further parameters that are 0 are left out.
[[nodiscard]] inline step_arguments arguments_in_order(const catalogued_operation& entry,
                                                       const attributes& how) {
  inplace_vector<const parameter_desc*, 8> all;
  inplace_vector<bool, 8> may_lack;
  int single = 0;
  text_reader in(entry.parameters);
  for (text_view name = in.word(); !name.empty() && !all.full(); name = in.word()) {
    const parameter_desc* const what = find_parameter(name);
    const bool optional = in.accept('?');
    if (what->form == parameter_form::words) continue;
    all.push_back(what);
    may_lack.push_back(optional);
    single += what->form != parameter_form::integers && what->form != parameter_form::extents;
  }
  step_arguments out;
  int next = 0;
  int left = how.integers.ssize() - single;
  for (int i = 0; i < all.ssize(); ++i) {
    const bool is_list =
        all[i]->form == parameter_form::integers || all[i]->form == parameter_form::extents;
    operation_arguments::integer_list numbers;
    for (int k = 0; k < (is_list ? left : 1) && next < how.integers.ssize(); ++k)
      numbers.push_back(how.integers[next++]);
    if (is_list) left = 0;
    if (numbers.empty() || (may_lack[i] && !is_list && numbers[0] == 0)) continue;
    out.set(all[i]->name, numbers);
  }
  return out;
}
[[nodiscard]] inline step_arguments arguments_of_reduction(const catalogued_operation&,
                                                           const attributes& how) {
  step_arguments out;
  operation_arguments::integer_list dims;
  for (int d = 0; d < max_rank; ++d)
    if ((reduction_operation::reduced(how) >> d & 1U) != 0) dims.push_back(d);
  out.set("dims", dims);
  out.set("keep_dims", {how.integers[1]});
  return out;
}
[[nodiscard]] inline step_arguments arguments_of_slice(const catalogued_operation& entry,
                                                       const attributes& how) {
  step_arguments out;
  out.set("dim", {how.integers[0]});
  if (takes_parameter(entry, "index")) {
    out.set("index", {how.integers[1]});
    return out;
  }
  if (how.integers[1] != open_end) out.set("begin", {how.integers[1]});
  if (how.integers[2] != open_end) out.set("end", {how.integers[2]});
  if (how.integers[3] != 1) out.set("step", {how.integers[3]});
  return out;
}
[[nodiscard]] inline step_arguments arguments_of_scatter(const catalogued_operation&,
                                                         const attributes& how) {
  step_arguments out;
  out.set("dim", {how.integers[0]});
  if (how.integers.size() > 2 && how.integers[2] != 0) out.set("out_of_range", {how.integers[2]});
  return out;
}
[[nodiscard]] inline step_arguments arguments_of_padding(const catalogued_operation&,
                                                         const attributes& how) {
  step_arguments out;
  out.set("amounts", how.integers);
  if (how.number > 0 && how.number < 3) out.set("mode", {static_cast<index_t>(how.number)});
  return out;
}
/// Returns the lists of numbers that windows were given.
[[nodiscard]] inline step_arguments arguments_of_windows(const catalogued_operation& entry,
                                                         const attributes& how) {
  step_arguments out;
  if (!(how.number >= 0 && how.number < 16384)) return out;
  const bool has_window = takes_parameter(entry, "window");
  const index_t most = window_numbers::most_dimensions;
  operation_arguments::integer_list strides, paddings, extents;
  for (index_t i = 0; i < window_attributes::strides_given(how) && i < most; ++i)
    strides.push_back(how.integers[5 * i]);
  for (index_t i = 0; i < window_attributes::paddings_given(how) && i < 2 * most; ++i)
    paddings.push_back(how.integers[5 * (i / 2) + 1 + i % 2]);
  for (index_t i = 0; i < window_attributes::extents_given(how) && i < most; ++i)
    extents.push_back(how.integers[5 * i + 3]);
  if (!strides.empty()) out.set("stride", strides);
  if (!paddings.empty()) out.set("padding", paddings);
  if (!extents.empty()) out.set(has_window ? "window" : "dilation", extents);
  if (!has_window && how.integers.back() != 1) out.set("groups", {how.integers.back()});
  return out;
}

/// Returns the operation of a step and its arguments, `"op": "sum", "operands": [...], "dims":
/// [1]`, as two texts, from an entry of the catalogue that makes the same attributes; two empty
/// ones if none does.
[[nodiscard]] inline std::pair<std::string, std::string> catalogued_form(
    const operation& what, const attributes& how, const tensor_descs& operands) {
  constexpr step_arguments (*ways[])(const catalogued_operation&, const attributes&) = {
      &arguments_in_order,   &arguments_of_reduction, &arguments_of_slice,
      &arguments_of_scatter, &arguments_of_padding,   &arguments_of_windows};
  if (!how.integers.empty() || how.empty())
    for (const catalogued_operation& entry : catalogue) {
      if (entry.what == nullptr || entry.what->id != what.id || operands.ssize() > entry.most)
        continue;
      for (const auto way : ways)
        if (const step_arguments given = way(entry, how); given.give(entry, how, operands))
          return {std::string(entry.name), given.members()};
    }
  for (const element type :
       {element::f32, element::f64, element::i32, element::i64, element::boolean, element::i8,
        element::u8, element::bf16, element::f16})
    if (how.empty() && what.id == cast_to(type).id)
      return {"cast", ", \"type\": \"" + std::string(to_text(type)) + '"'};
  if (how == einsum_operation::how(how.words))
    for (int k = 0; k < static_cast<int>(std::size(detail::contractions)); ++k)
      if (detail::contractions[k].what->id == what.id) {
        step_arguments given;
        if (k > 0) given.set("semiring", {k});
        std::string equation = ", \"equation\": ";
        if (append_json_string(equation, how.words)) return {"einsum", equation + given.members()};
      }
  return {};
}

}  // namespace shardwise::internal
