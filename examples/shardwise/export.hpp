// SPDX-License-Identifier: BSL-1.0
// Programs in files of JSON, as StableHLO or Shardy.

#include "answer.hpp"
#include <shardwise/export.hpp>
#include <shardwise/io/file_bytes.hpp>
#include <shardwise/io/program_json.hpp>

namespace tool {

/// The program in a file, as the text that a request asks for.
[[nodiscard]] inline outcome<std::string> read_and_export(const request& asked) {
  if (asked.operands.size() != 1)
    return refusal("argument_is_unexpected", "a program is in one file").of("operands");
  const std::string& path = asked.operands[0];
  export_options how;
  if (asked.has("shardy")) how.shardings = sharding_form::sdy;
  if (const auto& form = asked.get("form")) {
    if (*form != "global" && *form != "per_device")
      return refusal("form_is_unknown", in_quotes(*form) + " is neither global nor per_device")
          .of("form");
    if (*form == "per_device") how.form = export_form::per_device;
  }
  try {
    const file_bytes bytes(path);
    const read_program read = parse_program(bytes.text());
    if (!read.ok())
      return refusal("program_is_malformed",
                     path + ": " + read.where + (read.where.empty() ? "" : ": ") + read.reason)
          .of("operands");
    const exported_text made = export_stablehlo(read.made.view(), how);
    if (made.ok()) return made.text;
    refusal why = *judge(made.verdict);
    why.sentence += ": " + made.advice;
    return why;
  } catch (const error& failure) {
    const std::string code = str(name_of(failure.code()));
    return refusal(code, std::string(failure.what()).substr(code.size() + 2)).of("operands");
  }
}

/// Answers `export`.
[[nodiscard]] inline outcome<std::string> export_program(const request& asked, form as) {
  auto text = read_and_export(asked);
  if (!text || as == form::text) return text;
  json_writer out;
  out.open('{');
  out.key("file");
  out.value(std::string_view(asked.operands[0]));
  out.key("text");
  out.value(std::string_view(*text));
  out.close('}');
  return std::move(out).line();
}

}  // namespace tool
