// SPDX-License-Identifier: BSL-1.0
// From a request to the text of its answer. Nothing here knows files, terminals or the environment:
// whoever asks brings them along.
#pragma once

#include "draw_words.hpp"
#include "fixes.hpp"
#include "hybrid.hpp"
#include "infer.hpp"
#include "inspect_words.hpp"
#include "operations.hpp"
#include "read_request.hpp"

namespace tool {

/// How an answer is written.
enum class form { text, json };

/// What is around the tool. Where there are no files, none is written or read.
struct surroundings {
  /// True if the answer is read where colours can be shown.
  bool has_colors = false;
  objection (*write_file)(const std::string& path, const std::string& words) = nullptr;
  outcome<std::string> (*list_files)(const request& asked, form as) = nullptr;
  outcome<std::string> (*export_program)(const request& asked, form as) = nullptr;
};

namespace detail {

[[nodiscard]] inline outcome<std::string> words_of_drawing(const request& asked, workspace& memory,
                                                           form as, const surroundings& around) {
  const auto drawn = draw(asked, memory, around.has_colors, as == form::json);
  if (!drawn) return drawn.why();
  std::string file;
  if (const auto& svg = asked.get("svg"); svg && *svg != "-") {
    file = *svg;
    if (around.write_file == nullptr)
      return refusal("file_is_not_writable",
                     "there are no files here; \"-\" puts an image into "
                     "the answer")
          .of("svg");
    if (auto no = around.write_file(file, drawn->image)) return *std::move(no);
  }
  if (as == form::text) return to_text(*drawn, file);
  json_writer out;
  write_json(out, *drawn, file);
  return std::move(out).line();
}

[[nodiscard]] inline outcome<std::string> words_of_files(
    const request& asked, form as, outcome<std::string> (*read)(const request&, form)) {
  if (asked.operands.empty())
    return refusal("argument_is_missing", "this needs the names of files");
  if (read == nullptr)
    return refusal("file_is_not_readable", "there are no files here").of("operands");
  return read(asked, as);
}

[[nodiscard]] inline outcome<std::string> words_of_inspection(const request& asked,
                                                              workspace& memory, form as) {
  const auto found = inspect(asked, memory);
  if (!found) return found.why();
  if (as == form::text && asked.has("cpp")) {
    if (found->cpp) return *found->cpp;
    return refusal("sharding_is_no_type", "there is no type: " + found->cpp.why_not);
  }
  if (as == form::text) return to_text(*found);
  json_writer out;
  if (auto no = write_json(out, *found)) return *std::move(no);
  return std::move(out).line();
}

}  // namespace detail

/// What a request is answered with.
[[nodiscard]] inline outcome<std::string> answer(const request& asked, workspace& memory, form as,
                                                 const surroundings& around = {}) {
  const auto written = [&](const auto& value) -> outcome<std::string> {
    if (!value) return value.why();
    if (as == form::text) return to_text(*value);
    json_writer out;
    write_json(out, *value);
    return std::move(out).line();
  };
  if (auto no = asked.check()) return *std::move(no);
  switch (asked.what) {
    case inspect_command:
      return detail::words_of_inspection(asked, memory, as);
    case hybrid_command:
      return written(lay_out(asked));
    case draw_command:
      return detail::words_of_drawing(asked, memory, as, around);
    case infer_command:
      return written(infer(asked, memory));
    case operations_command:
      return written(list_operations(asked, memory));
    case files_command:
      return detail::words_of_files(asked, as, around.list_files);
    case export_command:
      return detail::words_of_files(asked, as, around.export_program);
    default:
      return refusal("command_is_missing", "a command is needed: " + std::string(all_commands));
  }
}

/// A refusal as a line of JSON, with requests like the refused one that are answered. They are on
/// meshes of at most 4096 devices, and neither write nor read files.
[[nodiscard]] inline std::string to_json(const refusal& refused, const request& asked,
                                         workspace& memory) {
  const index_t most = most_devices;
  most_devices = std::min(most, index_t{4096});
  const std::vector<request> fixes = fixes_of(asked, refused, [&](const request& one) {
    const auto words = answer(one, memory, form::json);
    return words ? objection() : objection(words.why());
  });
  most_devices = most;
  json_writer out;
  out.open('{');
  write_members(out, refused);
  out.key("fixes");
  out.open('[');
  for (const request& one : fixes) write_json(out, one);
  out.close(']');
  out.close('}');
  return std::move(out).line();
}

/// Answers a line of JSON by a line of JSON, whatever the line is.
[[nodiscard]] inline std::string answer_line(std::string_view line, workspace& memory,
                                             command otherwise = no_command,
                                             const surroundings& around = {}) {
  const auto asked = read_request(line, otherwise);
  if (!asked) return to_json(asked.why());
  auto words = answer(*asked, memory, form::json, around);
  if (!words) return to_json(words.why(), *asked, memory);
  return *std::move(words);
}

}  // namespace tool
