// SPDX-License-Identifier: BSL-1.0
// What is asked for: a command and the values of its options.
#pragma once

#include "json.hpp"
#include "options.hpp"
#include "sizes.hpp"

#include <optional>
#include <utility>
#include <vector>

namespace tool {

/// A command and the values of its options.
class request {
 public:
  command what = no_command;
  /// The types of the operands of an operation, or files.
  std::vector<std::string> operands{};

  /// The value of a known option.
  [[nodiscard]] const std::optional<std::string>& get(std::string_view label) const {
    return values_[place_of(*find_option(label))];
  }
  [[nodiscard]] bool has(std::string_view label) const { return get(label).has_value(); }
  /// The value of an option that the command needs.
  [[nodiscard]] outcome<std::string> need(std::string_view label) const {
    if (const auto& value = get(label)) return *value;
    return refusal("option_is_missing", "this needs --" + std::string(label)).of(label);
  }

  /// Sets an option, once.
  [[nodiscard]] objection set(std::string_view label, std::string value) {
    const option* const which = find_option(label);
    if (which == nullptr) return no_option(label);
    auto& place = values_[place_of(*which)];
    if (place)
      return refusal("option_is_repeated", "--" + std::string(label) + " is given once").of(label);
    place = std::move(value);
    return std::nullopt;
  }
  /// Replaces the value of a known option; nothing removes it.
  void replace(std::string_view label, std::optional<std::string> value) {
    values_[place_of(*find_option(label))] = std::move(value);
  }
  [[nodiscard]] objection set_command(std::string_view label) {
    for (const command_name& known : commands)
      if (known.label == label) {
        what = known.which;
        return std::nullopt;
      }
    return refusal("command_is_unknown",
                   in_quotes(label) + " is no command; one is " + std::string(all_commands));
  }
  /// True if an option has a value.
  [[nodiscard]] bool has_any() const {
    return !operands.empty() || std::any_of(values_.begin(), values_.end(),
                                            [](const auto& one) { return one.has_value(); });
  }
  /// Refuses a request without a command, and options that the command does not take.
  [[nodiscard]] objection check() const {
    if (what == no_command)
      return refusal("command_is_missing", "a command is needed: " + std::string(all_commands));
    if (!operands.empty() && (what & with_operands) == 0)
      return refusal("option_is_unknown", "operands are those of another command").of("operands");
    for (const option& known : options)
      if (has(known.label) && (known.of & what) == 0)
        return refusal("option_is_unknown",
                       "--" + std::string(known.label) + " is an option of another command")
            .of(known.label);
    return std::nullopt;
  }

  [[nodiscard]] static refusal no_option(std::string_view label) {
    return {"option_is_unknown", in_quotes(label) + " is no option"};
  }

  friend bool operator==(const request&, const request&) = default;

 private:
  static std::size_t place_of(const option& which) {
    return static_cast<std::size_t>(&which - options.data());
  }

  std::vector<std::optional<std::string>> values_{options.size()};
};

/// Writes a request as it is read from a line of a batch, which is answered by JSON in any case.
inline void write_json(json_writer& out, const request& asked) {
  out.open('{');
  out.key("cmd");
  for (const command_name& known : commands)
    if (known.which == asked.what) out.value(known.label);
  for (const option& one : options) {
    const auto& value = asked.get(one.label);
    if (!value || one.label == "json") continue;
    out.key(one.label);
    if (one.is_flag())
      out.boolean(true);
    else
      out.value(std::string_view(*value));
  }
  if (!asked.operands.empty()) {
    out.key("operands");
    out.words(asked.operands);
  }
  out.close('}');
}

}  // namespace tool
