// SPDX-License-Identifier: BSL-1.0
// Requests from the shell and from lines of JSON.
#pragma once

#include "request.hpp"

namespace tool {

namespace detail {

/// Takes the pairs of a JSON object into a request.
struct request_reader {
  request asked{};
  bool is_named = false;
  bool has_operands = false;

  /// Numbers and lists are values of the parameters of operations; operands are a list, and types
  /// of several results may be one.
  [[nodiscard]] static bool takes_lists(const std::string& key) {
    return key == "operands" || key == "out" || takes_numbers(key);
  }
  [[nodiscard]] static bool takes_numbers(const std::string& key) {
    return find_parameter(text_view(key)) != nullptr;
  }
  objection operator()(const std::string& key, const std::vector<std::string>& list) {
    if (key == "operands") {
      if (std::exchange(has_operands, true))
        return refusal("option_is_repeated", "\"operands\" is given once");
      asked.operands = list;
      return std::nullopt;
    }
    const parameter_desc* const what = find_parameter(text_view(key));
    const char between = what == nullptr ? ';' : what->form == parameter_form::extents ? 'x' : ',';
    std::string words;
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (i > 0) words += between;
      words += list[i];
    }
    return asked.set(key, words);
  }
  objection operator()(const std::string& key, const std::string& value, bool is_bool) {
    if (key == "operands")
      return refusal("value_is_not_a_list", "the value of \"operands\" is a list of types");
    if (key == "cmd") {
      if (is_bool) return refusal("value_is_not_a_string", "the value of \"cmd\" is a string");
      if (is_named) return refusal("option_is_repeated", "\"cmd\" is given once");
      is_named = true;
      return asked.set_command(value);
    }
    const option* const which = find_option(key);
    if (which == nullptr) return request::no_option(key);
    if (which->is_flag()) {
      if (!is_bool && value != "true" && value != "false")
        return refusal("flag_is_malformed", "the value of \"" + key + "\" is true or false");
      return value == "true" ? asked.set(key, "") : std::nullopt;
    }
    if (is_bool)
      return refusal("value_is_not_a_string",
                     "the value of \"" + key + "\" is a string, the same words as in the shell");
    return asked.set(key, value);
  }
};

}  // namespace detail

/// Reads a request from a line of JSON: the command under `cmd` and options by their names. A flag
/// is `true`; `otherwise` is the command where there is no `cmd`.
[[nodiscard]] inline outcome<request> read_request(std::string_view line,
                                                   command otherwise = no_command) {
  detail::request_reader in;
  in.asked.what = otherwise;
  if (auto no = read_json_object(line, in)) return *no;
  return in.asked;
}

/// What a call of the program asks for.
struct invocation {
  request asked{};
  bool batch = false;
  bool help = false;
  bool version = false;
};

/// Reads the arguments of the program: a command and options in any order, `--option value` or
/// `--option=value`.
[[nodiscard]] inline outcome<invocation> read_arguments(
    const std::vector<std::string_view>& arguments) {
  invocation call;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    std::string_view word = arguments[i];
    if (word == "--help" || word == "-h" || word == "help") {
      call.help = true;
    } else if (word == "--version") {
      call.version = true;
    } else if (word == "--batch") {
      call.batch = true;
    } else if (word.substr(0, 2) != "--") {
      if (call.asked.what == no_command) {
        if (auto no = call.asked.set_command(word)) return *no;
      } else if ((call.asked.what & with_operands) != 0) {
        call.asked.operands.emplace_back(word);
      } else {
        return refusal("argument_is_unexpected", in_quotes(word) + " follows no option");
      }
    } else {
      word.remove_prefix(2);
      const std::size_t equals = word.find('=');
      const std::string_view label = word.substr(0, equals);
      const option* const which = find_option(label);
      if (which == nullptr) return request::no_option(label);
      std::string value;
      if (which->is_flag()) {
        if (equals != word.npos)
          return refusal("flag_is_malformed", "--" + std::string(label) + " has no value");
      } else if (equals != word.npos) {
        value = word.substr(equals + 1);
      } else {
        if (i + 1 == arguments.size() || arguments[i + 1].substr(0, 2) == "--")
          return refusal(
              "value_is_missing",
              "--" + std::string(label) + " is followed by a value: " + std::string(which->value));
        value = arguments[++i];
      }
      if (auto no = call.asked.set(label, std::move(value))) return *no;
    }
  }
  return call;
}

}  // namespace tool
