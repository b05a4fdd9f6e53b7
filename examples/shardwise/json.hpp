// SPDX-License-Identifier: BSL-1.0
// JSON, written and read: answers of any size in one pass, requests as flat objects.
#pragma once

#include "refusal.hpp"

#include <nlohmann/json.hpp>

namespace tool {

/// Writes JSON from the left, with a blank after commas and colons.
class json_writer {
 public:
  void open(char bracket) {
    begin_value();
    out_ += bracket;
    first_ = true;
  }
  void close(char bracket) {
    out_ += bracket;
    first_ = false;
  }
  void key(std::string_view label) {
    value(label);
    out_ += ": ";
    first_ = true;
  }
  void value(std::string_view words) {
    begin_value();
    using nlohmann::json;
    out_ += json(words).dump(-1, ' ', false, json::error_handler_t::replace);
  }
  void value(index_t number) {
    begin_value();
    out_ += std::to_string(number);
  }
  void null() {
    begin_value();
    out_ += "null";
  }
  void words(const std::vector<std::string>& list) {
    open('[');
    for (const std::string& item : list) value(std::string_view(item));
    close(']');
  }
  void boolean(bool is_true) {
    begin_value();
    out_ += is_true ? "true" : "false";
  }
  template <class List>
  void numbers(const List& list) {
    open('[');
    for (const auto number : list) value(static_cast<index_t>(number));
    close(']');
  }

  /// What was written, as a line.
  [[nodiscard]] std::string line() && { return std::move(out_) + "\n"; }

 private:
  void begin_value() {
    if (!first_) out_ += ", ";
    first_ = false;
  }

  std::string out_;
  bool first_ = true;
};

/// Writes the members of a refusal.
inline void write_members(json_writer& out, const refusal& refused) {
  out.key("error");
  out.value(std::string_view(refused.code));
  out.key("message");
  out.value(std::string_view(refused.sentence));
  if (refused.reshards) {
    out.key("reshards");
    out.words(*refused.reshards);
  }
  if (!refused.across.empty()) {
    out.key("across");
    out.words(refused.across);
  }
  if (refused.option.empty()) return;
  out.key("option");
  out.value(std::string_view(refused.option));
  if (refused.operand >= 0) {
    out.key("operand");
    out.value(index_t{refused.operand});
  }
  if (!refused.at) return;
  out.key("at");
  out.value(static_cast<index_t>(*refused.at));
  out.key("length");
  out.value(static_cast<index_t>(refused.length));
}

/// A refusal as a line of JSON.
[[nodiscard]] inline std::string to_json(const refusal& refused) {
  json_writer out;
  out.open('{');
  write_members(out, refused);
  out.close('}');
  return std::move(out).line();
}

namespace detail {

/// Takes a flat object apart, pair by pair; refuses everything else as soon as it is met. Numbers,
/// and lists of numbers and texts, are values of keys that `each` takes them for.
template <class Each>
class flat_object {
 public:
  using number_integer_t = nlohmann::json::number_integer_t;
  using number_unsigned_t = nlohmann::json::number_unsigned_t;
  using number_float_t = nlohmann::json::number_float_t;

  explicit flat_object(Each& each) : each_(each) {}

  bool null() { return refuse_value(); }
  bool boolean(bool value) { return take(value ? "true" : "false", true); }
  bool number_integer(number_integer_t value) { return take_number(std::to_string(value)); }
  bool number_unsigned(number_unsigned_t value) { return take_number(std::to_string(value)); }
  bool number_float(number_float_t, const std::string&) {
    if (inside_ && each_.takes_numbers(key_))
      return refuse({"number_is_malformed",
                     "the numbers of \"" + key_ + "\" are whole, and fit into 64 bits"});
    return refuse_value();
  }
  bool string(std::string& value) {
    if (!in_list_) return take(value, false);
    list_.push_back(value);
    return true;
  }
  bool binary(nlohmann::json::binary_t&) { return refuse_value(); }
  bool start_object(std::size_t) { return inside_ ? refuse_value() : (inside_ = true); }
  bool key(std::string& label) {
    key_ = label;
    return true;
  }
  bool end_object() { return true; }
  bool start_array(std::size_t) {
    if (!inside_ || in_list_ || !each_.takes_lists(key_)) return refuse_value();
    list_.clear();
    return in_list_ = true;
  }
  bool end_array() {
    in_list_ = false;
    return accept(each_(key_, list_));
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception&) {
    return refuse({"json_is_malformed",
                   "a request is one JSON object on one line; it ends to make sense at character " +
                       std::to_string(position)});
  }

  /// Why the text is refused, if it is.
  [[nodiscard]] const objection& why() const noexcept { return why_; }

 private:
  bool take_number(const std::string& value) {
    if (in_list_) return list_.push_back(value), true;
    if (!inside_ || !each_.takes_lists(key_)) return refuse_value();
    return accept(each_(key_, value, false));
  }
  bool take(const std::string& value, bool is_bool) {
    if (!inside_ || in_list_) return refuse_value();
    return accept(each_(key_, value, is_bool));
  }
  bool refuse_value() {
    if (!inside_) return refuse({"json_is_malformed", "a request is one JSON object"});
    return refuse({"value_is_not_a_string", "the value of \"" + key_.substr(0, 60) +
                                                "\" is a string, the same words as in the shell"});
  }
  bool accept(objection no) {
    if (!no) return true;
    return refuse(*std::move(no));
  }
  /// Ends the reading.
  bool refuse(refusal why) {
    why_ = std::move(why);
    return false;
  }

  Each& each_;
  std::string key_;
  std::vector<std::string> list_{};
  objection why_{};
  bool inside_ = false;
  bool in_list_ = false;
};

}  // namespace detail

/// Reads a JSON object of texts and truth values: calls `each(key, value, is_bool)` for every pair,
/// and `each(key, list)` for a list where `each.takes_lists(key)`, until one of them objects; of
/// keys that `takes_numbers`, a fraction is refused as such.
template <class Each>
[[nodiscard]] objection read_json_object(std::string_view words, Each& each) {
  detail::flat_object<Each> reader(each);
  nlohmann::json::sax_parse(words.begin(), words.end(), &reader);
  return reader.why();
}

}  // namespace tool
