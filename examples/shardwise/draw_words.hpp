// SPDX-License-Identifier: BSL-1.0
// What `shardwise draw` says, as JSON and for people.
#pragma once

#include "draw.hpp"

namespace tool {

/// Writes a drawing as an object: the picture or the image, or the name of the file that has the
/// image, and the steps of a reshard.
inline void write_json(json_writer& out, const drawing& answer, const std::string& file) {
  out.open('{');
  if (answer.image.empty()) {
    out.key("picture");
    out.value(std::string_view(answer.picture));
  } else if (file.empty()) {
    out.key("image");
    out.value(std::string_view(answer.image));
  } else {
    out.key("svg");
    out.value(std::string_view(file));
  }
  if (answer.is_reshard) {
    index_t bytes = 0;
    out.key("steps");
    out.open('[');
    for (const drawn_step& step : answer.steps) {
      bytes += step.bytes;
      out.open('{');
      out.key("kind");
      out.value(std::string_view(step.kind));
      out.key("axes");
      out.words(step.axes);
      out.key("bytes");
      out.value(step.bytes);
      out.key("says");
      out.value(std::string_view(step.says));
      out.key("before");
      out.value(std::string_view(step.before));
      out.key("after");
      out.value(std::string_view(step.after));
      if (file.empty() && !step.image.empty()) {
        out.key("image");
        out.value(std::string_view(step.image));
      }
      out.close('}');
    }
    out.close(']');
    out.key("bytes");
    out.value(bytes);
  }
  out.close('}');
}

/// The picture for people; nothing where it is in a file.
[[nodiscard]] inline std::string to_text(const drawing& answer, const std::string& file) {
  return file.empty() ? answer.picture + answer.image : answer.picture;
}

}  // namespace tool
