// SPDX-License-Identifier: BSL-1.0
// From a request to the text of its answer.
#pragma once

#include "draw.hpp"
#include "files.hpp"
#include "hybrid.hpp"
#include "infer.hpp"
#include "inspect_words.hpp"
#include "operations.hpp"

#include <new>

namespace tool {

/// How an answer is written.
enum class form { text, json };

/// What a request is answered with; throws `refusal`.
[[nodiscard]] inline std::string answer(const request& asked, workspace& memory, form as,
                                        bool on_terminal = false) {
  const auto written = [&](const auto& value) {
    if (as == form::text) return to_text(value);
    json_writer out;
    write_json(out, value);
    return std::move(out).line();
  };
  switch (asked.what) {
    case inspect_command:
      return written(inspect(asked, memory));
    case hybrid_command:
      return written(lay_out(asked));
    case draw_command:
      return written(draw(asked, memory, on_terminal));
    case infer_command:
      return written(infer(asked, memory));
    case operations_command:
      return written(list_operations(asked, memory));
    case files_command:
      return written(list_files(asked));
    default:
      throw refusal("command_is_missing", "a command is needed: " + std::string(all_commands));
  }
}

/// Answers a line of JSON by a line of JSON, whatever the line is.
[[nodiscard]] inline std::string answer_line(std::string_view line, workspace& memory,
                                             command otherwise = no_command) {
  try {
    return answer(read_request(line, otherwise), memory, form::json);
  } catch (const refusal& refused) {
    return to_json(refused);
  } catch (const std::bad_alloc&) {
    return to_json(refusal("out_of_memory", "there is not enough memory for the answer"));
  }
}

}  // namespace tool
