// SPDX-License-Identifier: BSL-1.0
// What is asked for: a command and its options, from the shell or from a line of JSON.
#pragma once

#include "json.hpp"
#include "sizes.hpp"
#include <shardwise/operation/parameter.hpp>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace tool {

/// The commands, a bit each.
enum command : unsigned {
  no_command = 0,
  inspect_command = 1,
  hybrid_command = 2,
  draw_command = 4,
  infer_command = 8,
  operations_command = 16,
  files_command = 32
};

struct command_name {
  command which;
  std::string_view label;
};
inline constexpr command_name commands[] = {
    {inspect_command, "inspect"}, {hybrid_command, "hybrid"},         {draw_command, "draw"},
    {infer_command, "infer"},     {operations_command, "operations"}, {files_command, "files"}};
inline constexpr std::string_view all_commands =
    "inspect, hybrid, draw, infer, operations or files";
/// The commands whose arguments are not all options: types of operands, and files.
inline constexpr unsigned with_operands = infer_command | files_command;

/// One option: the commands that accept it, an example of its value (empty for a flag), and its
/// purpose.
struct option {
  std::string_view label;
  unsigned of;
  std::string_view value;
  std::string_view purpose;

  [[nodiscard]] constexpr bool is_flag() const noexcept { return value.empty(); }
};

inline constexpr unsigned of_shardings = inspect_command | draw_command;
inline constexpr unsigned of_all = inspect_command | hybrid_command | draw_command | infer_command |
                                   operations_command | files_command;

inline constexpr option own_options[] = {
    {"mesh", of_shardings | infer_command, "data=2,model=4",
     "the mesh, or 2x4 for one without names"},
    {"devices", of_shardings, "0,4,1,5", "the devices in the order of the mesh, if not 0, 1, 2"},
    {"spec", of_shardings, "data,-,x+y",
     "the axes of each dimension, - for none; x%32 is block-cyclic, x*2 strided over 2 chunks"},
    {"hlo", of_shardings, "STRING", "an HLO sharding in any form, with or without a mesh"},
    {"placements", of_shardings, "'S(0),R'", "one placement for each axis of the mesh"},
    {"shape", of_shardings, "8x16",
     "the extents of the tensor, to list the indices of each device"},
    {"to", draw_command, "-,model", "the spec after a reshard, drawn step by step"},
    {"collective", draw_command, "all_gather",
     "a diagram of a collective, with --svg; needs no sharding"},
    {"svg", draw_command, "FILE", "an image instead of text"},
    {"dark", draw_command, "", "a dark image, whatever the viewer prefers"},
    {"color", draw_command, "auto", "colours in the terminal: auto, always or never"},
    {"width", draw_command, "100", "the maximum length of a line"},
    {"physical", hybrid_command, "2x2x1", "the chips of one slice: x, y, z, cores of a chip"},
    {"ordinals", hybrid_command, "2,0,1,3",
     "the devices, row-major over x, y, z, slice by slice; by default counted, x fastest"},
    {"ici", hybrid_command, "2x2", "the mesh inside a slice"},
    {"dcn", hybrid_command, "2x1", "the mesh of slices, with one entry for each entry of ici"},
    {"names", hybrid_command, "data,tensor", "the axes of the mesh"},
    {"algorithm", hybrid_command, "xla", "xla, or jax, which may split physical axes"},
    {"kind", hybrid_command, "tpu_v5e", "the kind of chip; some have special rings"},
    {"contiguous", hybrid_command, "", "require that the devices of each host are contiguous"},
    {"op", infer_command, "einsum", "the operation; `shardwise operations` lists them"},
    {"out", infer_command, "'f32[8@data,32@model]'",
     "the requested type of the result; several types are separated by ;"},
    {"markdown", operations_command, "", "the page of all operations"},
    {"json", of_all, "", "print one JSON object"},
};

/// The options of all commands: those above, and the parameters of operations.
inline const std::vector<option> options = [] {
  std::vector<option> all(std::begin(own_options), std::end(own_options));
  for (const parameter_desc& one : parameters) {
    const auto known = std::find_if(
        all.begin(), all.end(), [&](const option& other) { return other.label == view(one.name); });
    if (known != all.end())
      known->of |= infer_command;
    else
      all.push_back({view(one.name), infer_command, view(one.example), view(one.purpose)});
  }
  return all;
}();

/// A command and the values of its options.
class request {
 public:
  command what = no_command;
  /// The types of the operands of an operation, or files.
  std::vector<std::string> operands{};

  [[nodiscard]] const std::optional<std::string>& get(std::string_view label) const {
    return values_[find(label)];
  }
  [[nodiscard]] bool has(std::string_view label) const { return get(label).has_value(); }
  /// The value of an option that the command needs.
  [[nodiscard]] const std::string& need(std::string_view label) const {
    const auto& value = get(label);
    if (!value) throw refusal("option_is_missing", "this needs --" + std::string(label));
    return *value;
  }

  /// Sets an option, once.
  void set(const option& which, std::string value) {
    auto& place = values_[static_cast<std::size_t>(&which - options.data())];
    if (place)
      throw refusal("option_is_repeated", "--" + std::string(which.label) + " is given once");
    place = std::move(value);
  }
  void set_command(std::string_view label) {
    for (const command_name& known : commands)
      if (known.label == label) {
        what = known.which;
        return;
      }
    throw refusal("command_is_unknown",
                  in_quotes(label) + " is no command; one is " + std::string(all_commands));
  }
  /// True if an option has a value.
  [[nodiscard]] bool has_any() const {
    return !operands.empty() || std::any_of(values_.begin(), values_.end(),
                                            [](const auto& one) { return one.has_value(); });
  }
  /// Refuses a request without a command, and options that the command does not take.
  void check() const {
    if (what == no_command)
      throw refusal("command_is_missing", "a command is needed: " + std::string(all_commands));
    if (!operands.empty() && (what & with_operands) == 0)
      throw refusal("option_is_unknown", "operands are those of another command");
    for (const option& known : options)
      if (has(known.label) && (known.of & what) == 0)
        throw refusal("option_is_unknown",
                      "--" + std::string(known.label) + " is an option of another command");
  }

  [[nodiscard]] static const option& option_named(std::string_view label) {
    for (const option& known : options)
      if (known.label == label) return known;
    throw refusal("option_is_unknown", in_quotes(label) + " is no option");
  }

 private:
  static std::size_t find(std::string_view label) {
    return static_cast<std::size_t>(&option_named(label) - options.data());
  }

  std::vector<std::optional<std::string>> values_{options.size()};
};

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
  void operator()(const std::string& key, const std::vector<std::string>& list) {
    if (key == "operands") {
      if (std::exchange(has_operands, true))
        throw refusal("option_is_repeated", "\"operands\" is given once");
      asked.operands = list;
      return;
    }
    const parameter_desc* const what = find_parameter(text_view(key));
    const char between = what == nullptr ? ';' : what->form == parameter_form::extents ? 'x' : ',';
    std::string words;
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (i > 0) words += between;
      words += list[i];
    }
    asked.set(request::option_named(key), words);
  }
  void operator()(const std::string& key, const std::string& value, bool is_bool) {
    if (key == "operands")
      throw refusal("value_is_not_a_list", "the value of \"operands\" is a list of types");
    if (key == "cmd") {
      if (is_bool) throw refusal("value_is_not_a_string", "the value of \"cmd\" is a string");
      if (is_named) throw refusal("option_is_repeated", "\"cmd\" is given once");
      is_named = true;
      asked.set_command(value);
      return;
    }
    const option& which = request::option_named(key);
    if (which.is_flag()) {
      if (!is_bool && value != "true" && value != "false")
        throw refusal("flag_is_malformed", "the value of \"" + key + "\" is true or false");
      if (value == "true") asked.set(which, "");
    } else {
      if (is_bool)
        throw refusal("value_is_not_a_string",
                      "the value of \"" + key + "\" is a string, the same words as in the shell");
      asked.set(which, value);
    }
  }
};

}  // namespace detail

/// Reads a request from a line of JSON: the command under `cmd` and options by their names. A flag
/// is `true`; `otherwise` is the command where there is no `cmd`.
[[nodiscard]] inline request read_request(std::string_view line, command otherwise = no_command) {
  detail::request_reader in;
  in.asked.what = otherwise;
  read_json_object(line, in);
  in.asked.check();
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
[[nodiscard]] inline invocation read_arguments(const std::vector<std::string_view>& arguments) {
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
      if (call.asked.what == no_command)
        call.asked.set_command(word);
      else if ((call.asked.what & with_operands) != 0)
        call.asked.operands.emplace_back(word);
      else
        throw refusal("argument_is_unexpected", in_quotes(word) + " follows no option");
    } else {
      word.remove_prefix(2);
      const std::size_t equals = word.find('=');
      const option& which = request::option_named(word.substr(0, equals));
      if (which.is_flag()) {
        if (equals != word.npos)
          throw refusal("flag_is_malformed", "--" + std::string(which.label) + " has no value");
        call.asked.set(which, "");
      } else if (equals != word.npos) {
        call.asked.set(which, std::string(word.substr(equals + 1)));
      } else {
        if (i + 1 == arguments.size() || arguments[i + 1].substr(0, 2) == "--")
          throw refusal("value_is_missing",
                        "--" + std::string(which.label) +
                            " is followed by a value: " + std::string(which.value));
        call.asked.set(which, std::string(arguments[++i]));
      }
    }
  }
  return call;
}

}  // namespace tool
