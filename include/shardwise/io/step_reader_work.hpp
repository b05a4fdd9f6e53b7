// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/io/program_checks_work.hpp"
#include "shardwise/notation/jax_type.hpp"
#include "shardwise/operation/attention_gradient.hpp"

#include <nlohmann/json.hpp>

#include <bit>
#include <charconv>
#include <deque>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace shardwise::internal {

/// What is wrong first in the text of a program.
struct program_fault {
  std::string where{};
  std::string reason{};

  /// Notes what is wrong, and returns false.
  bool at(std::string place, std::string why) {
    if (reason.empty()) where = std::move(place), reason = std::move(why);
    return false;
  }
  bool at(std::string place, const diagnosis& verdict) {
    return at(std::move(place), std::string(describe(verdict)));
  }
  [[nodiscard]] bool ok() const noexcept { return reason.empty(); }
};

/// Reads the members of an object of JSON. Those that nothing asked for are refused at the end.
class member_reader {
 public:
  using json = nlohmann::json;

  /// `where` is the place of the object, which begins the places of its members.
  member_reader(const json& from, std::string where, program_fault& fault)
      : from_(from), where_(std::move(where)), fault_(fault) {
    if (!from.is_object()) fault.at(where_, "an object, {...}, stands here");
  }

  [[nodiscard]] std::string place(std::string_view key) const {
    return where_.empty() ? std::string(key) : where_ + '.' + std::string(key);
  }
  bool refuse(std::string_view key, std::string why) {
    return fault_.at(place(key), std::move(why));
  }
  bool refuse(std::string_view key, const diagnosis& verdict) {
    return fault_.at(place(key), verdict);
  }
  [[nodiscard]] const json* find(std::string_view key) {
    if (!from_.is_object()) return nullptr;
    const auto found = from_.find(std::string(key));
    if (found == from_.end()) return nullptr;
    used_.insert(std::string(key));
    return &*found;
  }
  [[nodiscard]] const json* need(std::string_view key) {
    const json* const found = find(key);
    if (found == nullptr) refuse(key, "it is missing");
    return found;
  }
  /// Returns a text; empty if it is missing.
  [[nodiscard]] std::string text(std::string_view key, bool is_needed = true) {
    const json* const found = is_needed ? need(key) : find(key);
    if (found != nullptr && found->is_string()) return found->get_ref<const std::string&>();
    if (found != nullptr) refuse(key, "it is a text");
    return {};
  }
  [[nodiscard]] std::optional<bool> flag(std::string_view key) {
    const json* const found = find(key);
    if (found == nullptr) return std::nullopt;
    if (!found->is_boolean()) refuse(key, "it is true or false");
    return found->is_boolean() && found->get<bool>();
  }
  [[nodiscard]] index_t integer(std::string_view key, index_t least, index_t most,
                                std::optional<index_t> otherwise = std::nullopt) {
    const json* const found = otherwise ? find(key) : need(key);
    if (found == nullptr) return otherwise.value_or(0);
    const auto number = whole(*found);
    if (number && *number >= least && *number <= most) return *number;
    refuse(key,
           "it is a whole number from " + std::to_string(least) + " to " + std::to_string(most));
    return least;
  }
  /// Returns a list, of no more than `most` elements; empty if it is missing.
  [[nodiscard]] const json& list(std::string_view key, std::size_t most, bool is_needed = true) {
    static const json empty = json::array();
    const json* const found = is_needed ? need(key) : find(key);
    if (found == nullptr) return empty;
    if (!found->is_array()) return refuse(key, "it is a list"), empty;
    if (found->size() <= most) return *found;
    refuse(key, "it has at most " + std::to_string(most) + " elements");
    return empty;
  }
  /// Refuses members that nothing has asked for.
  void finish(std::string_view of) {
    if (!from_.is_object()) return;
    for (const auto& [key, value] : from_.items())
      if (!used_.contains(key))
        refuse(json(key).dump(-1, ' ', false, json::error_handler_t::replace),
               std::string(of) + " has no such member");
  }
  [[nodiscard]] const json& all() const noexcept { return from_; }
  [[nodiscard]] program_fault& fault() const noexcept { return fault_; }

  [[nodiscard]] static std::optional<index_t> whole(const json& from) {
    if (from.is_number_unsigned() &&
        from.get<std::uint64_t>() > std::uint64_t{std::numeric_limits<index_t>::max()})
      return std::nullopt;
    if (!from.is_number_integer()) return std::nullopt;
    return from.get<index_t>();
  }
  /// Returns a number, also infinities and NaN, which are texts.
  [[nodiscard]] static std::optional<double> number(const json& from) {
    if (from.is_number()) return from.get<double>();
    if (!from.is_string()) return std::nullopt;
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const std::string& words = from.get_ref<const std::string&>();
    if (words == "inf") return infinity;
    if (words == "-inf") return -infinity;
    if (words == "nan") return std::numeric_limits<double>::quiet_NaN();
    std::uint64_t bits = 0;
    const char* const end = words.data() + words.size();
    if (!words.starts_with("nan:")) return std::nullopt;
    const auto read = std::from_chars(words.data() + 4, end, bits, 16);
    const double value = std::bit_cast<double>(bits);
    if (read.ec != std::errc{} || read.ptr != end || value == value) return std::nullopt;
    return value;
  }

 private:
  const json& from_;
  std::string where_;
  program_fault& fault_;
  std::set<std::string> used_{};
};

/// Reads the type of a value, under `key`; returns nothing if it is missing and may be.
[[nodiscard]] inline std::optional<tensor_desc> read_value(const mesh_desc& mesh, member_reader& in,
                                                           std::string_view key, bool is_needed) {
  const bool is_uneven = in.flag("uneven").value_or(false);
  const std::string words = in.text(key, is_needed);
  if (words.empty()) return std::nullopt;
  policy_desc how = exact{};
  if (is_uneven) how = uneven{};
  const shardwise::read_tensor read = parse_type(words, mesh, how);
  if (!read.verdict.ok()) {
    in.refuse(key, std::string(read.verdict.reason) + ", at character " +
                       std::to_string(read.verdict.position));
    return std::nullopt;
  }
  if (const diagnosis verdict = check_value(mesh, read.tensor); !verdict.ok())
    return in.refuse(key, verdict), std::nullopt;
  return read.tensor;
}

/// Reads attributes as they are stored. `number` is bounded where an operation counts with it.
[[nodiscard]] inline attributes read_attributes(member_reader& in) {
  attributes out;
  const auto& integers = in.list("integers", out.integers.capacity(), false);
  for (std::size_t i = 0; i < integers.size(); ++i) {
    const auto number = member_reader::whole(integers[i]);
    if (!number) in.refuse("integers[" + std::to_string(i) + ']', "it is a whole number");
    out.integers.push_back(number.value_or(0));
  }
  if (const auto* const number = in.find("number")) {
    const auto value = member_reader::number(*number);
    if (!value || !(*value > -2147483648.0 && *value < 2147483648.0))
      in.refuse("number", "it is a number of a size below 2^31");
    else
      out.number = *value;
  }
  if (const std::string kind = in.text("kind", false); !kind.empty()) {
    bool is_known = false;
    for (const reduction one : {reduction::sum, reduction::product, reduction::max, reduction::min})
      if (text_view(kind) == to_text(one)) out.kind = one, is_known = true;
    if (!is_known) in.refuse("kind", "it is sum, product, max or min");
  }
  const std::string words = in.text("words", false);
  if (words.size() > 47) in.refuse("words", "it has at most 47 characters");
  if (words.size() <= 47) out.words = text_view(words);
  const auto& batches = in.list("batches", out.batches.capacity(), false);
  for (std::size_t i = 0; i < batches.size(); ++i) {
    const auto bits = member_reader::whole(batches[i]);
    if (!bits || *bits < 1 || *bits > 255)
      in.refuse("batches[" + std::to_string(i) + ']', "it is a whole number from 1 to 255");
    out.batches.push_back(static_cast<std::uint8_t>(bits.value_or(1)));
  }
  const std::string each = in.text("each", false);
  if (each.empty() != out.batches.empty()) in.refuse("each", "it stands beside batches");
  if (!each.empty()) {
    const catalogued_operation* const known = find_named_operation(each);
    if (known == nullptr)
      in.refuse("each", "no operation has this name");
    else
      out.each = known->what;
  }
  return out;
}

/// Reads the arguments of an operation of the catalogue; `texts` keeps what they refer to.
[[nodiscard]] inline operation_arguments read_arguments(const catalogued_operation& entry,
                                                        member_reader& in,
                                                        std::deque<std::string>& texts) {
  operation_arguments out;
  for (const parameter_desc& one : parameters) {
    if (!takes_parameter(entry, one.name)) continue;
    const std::string key(one.name);
    const auto* const value = in.find(key);
    if (value == nullptr || *value == false) continue;
    std::string& words = texts.emplace_back();
    const char between = one.form == parameter_form::extents ? 'x' : ',';
    const bool is_list = value->is_array();
    for (std::size_t i = 0; i < (is_list ? value->size() : 1); ++i) {
      const nlohmann::json& item = is_list ? (*value)[i] : *value;
      if (i > 0) words += between;
      if (const auto number = member_reader::whole(item))
        words += std::to_string(*number);
      else if (item.is_string())
        words += item.get_ref<const std::string&>();
      else if (!(item.is_boolean() && one.form == parameter_form::flag))
        in.refuse(key, "it is a whole number, a text, or a list of them");
    }
    if (const parse_verdict read = out.set(one.name, words); !read.ok())
      in.refuse(key, std::string(read.reason));
  }
  const argument_fault fault = check_arguments(entry, out);
  if (!fault.missing.empty()) in.refuse(std::string(fault.missing), "it is missing");
  if (!fault.too_long.empty()) in.refuse(std::string(fault.too_long), "it has too many numbers");
  return out;
}

}  // namespace shardwise::internal
