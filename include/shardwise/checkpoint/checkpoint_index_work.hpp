// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/checkpoint/checkpoint_index.hpp"
#include "shardwise/core/config.hpp"
// clang-format off
#include "shardwise/io/safetensors_header.hpp"  // before its own parts
#include "shardwise/io/header_parser_work.hpp"
// clang-format on
#include "shardwise/io/json_text_work.hpp"
#include "shardwise/io/metadata.hpp"
#include "shardwise/io/safetensors_index_work.hpp"
#include "shardwise/io/stored_count_work.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

// g++ 12 warns about its own AVX-512 intrinsics here too, as kernel/eigen.hpp explains.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
// clang-format off
#define XXH_INLINE_ALL 1  // its functions are the program's own
#include <xxhash.h>
#undef XXH_INLINE_ALL
// clang-format on
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

namespace shardwise {

SHARDWISE_INLINE_FILES std::uint64_t checksum_of(const void* bytes, std::size_t count) noexcept {
  return XXH3_64bits(bytes, count);
}

namespace detail {

/// The text of a checksum: 16 hexadecimal digits.
[[nodiscard]] inline std::string checksum_text(std::uint64_t sum) {
  std::string text(16, '0');
  for (std::size_t d = text.size(); d-- > 0; sum >>= 4U) text[d] = "0123456789abcdef"[sum & 15U];
  return text;
}

/// Reads the values of a JSON document, and remembers what is wrong first.
class json_reader {
 public:
  using json = nlohmann::json;

  std::string reason{};

  void refuse(std::string words) {
    if (reason.empty()) reason = std::move(words);
  }
  /// Returns a member of an object, or null and a reason.
  [[nodiscard]] const json& member(const json& of, const char* name) {
    static const json none;
    if (of.is_object())
      if (const auto found = of.find(name); found != of.end()) return *found;
    refuse(std::string("it has no '") + name + "'");
    return none;
  }
  [[nodiscard]] index_t number(const json& from, const char* what) {
    if (from.is_number_unsigned() && from.get<std::uint64_t>() <= std::uint64_t{1} << 60U)
      return static_cast<index_t>(from.get<std::uint64_t>());
    refuse(std::string("'") + what + "' must be a whole number, at least 0");
    return 0;
  }
  [[nodiscard]] std::string text(const json& from, const char* what) {
    if (from.is_string()) return from.get<std::string>();
    refuse(std::string("'") + what + "' must be a string");
    return {};
  }
  [[nodiscard]] std::string file_name(const json& from, const char* what) {
    std::string name = text(from, what);
    if (!internal::is_plain_file_name(name))
      refuse(std::string("'") + what + "' must name a file in the same folder");
    return name;
  }
  [[nodiscard]] std::uint64_t checksum(const json& from) {
    const std::string digits = text(from, "checksum");
    std::uint64_t sum = 0;
    const char* const end = digits.data() + digits.size();
    const auto [at, problem] = std::from_chars(digits.data(), end, sum, 16);
    if (digits.size() != 16 || at != end || problem != std::errc() || checksum_text(sum) != digits)
      refuse("a checksum must have 16 digits, 0 to 9 and a to f");
    return sum;
  }
  /// Returns the items of a list, or none and a reason.
  [[nodiscard]] const json& list(const json& from, const char* what) {
    static const json none = json::array();
    if (from.is_array()) return from;
    refuse(std::string("'") + what + "' must be a list");
    return none;
  }
};

/// Reads a JSON object. One in which a name occurs twice is refused: one value would hide the
/// other.
[[nodiscard]] inline nlohmann::json parse_json(std::string_view text, json_reader& read) {
  using event = nlohmann::json::parse_event_t;
  constexpr int deepest = 16;
  bool is_deep = false;
  std::vector<std::set<std::string>> names;  // of the objects that are open
  const auto look = [&](int depth, event what, const nlohmann::json& value) {
    is_deep = is_deep || depth >= deepest;
    if (what == event::object_start) names.emplace_back();
    if (what == event::object_end && !names.empty()) names.pop_back();
    if (what == event::key && !names.empty() &&
        !names.back().insert(value.get<std::string>()).second)
      read.refuse("'" + value.get<std::string>() + "' occurs twice");
    return !is_deep;
  };
  if (text.empty() || text.front() != '{' || text.find('\0') != text.npos) {
    read.refuse("it is not a JSON object that begins with '{'");
    return {};
  }
  nlohmann::json found = nlohmann::json::parse(text.begin(), text.end(), look, false);
  if (is_deep) read.refuse("its values are nested too deeply");
  if (found.is_discarded() || !found.is_object()) read.refuse("it is not a JSON object");
  return found;
}

/// Reads the text of a number.
[[nodiscard]] inline double read_metric(json_reader& read, const std::string& text) {
  double metric = 0;
  const char* const end = text.data() + text.size();
  const auto [at, problem] = std::from_chars(text.data(), end, metric);
  if (problem != std::errc() || at != end) read.refuse("'metric' must be a number as a string");
  return metric;
}

/// Reads the indices of a dimension: `[begin, end]`, or `[grain, parts, position]` of blocks that
/// are dealt out in turn, or of chunks that are split each.
[[nodiscard]] inline held_range read_dimension(json_reader& read, const nlohmann::json& from,
                                               index_t size) {
  held_range held;
  const nlohmann::json& numbers = read.list(from, "indices");
  if (numbers.size() == 2) {
    held.range = {read.number(numbers[0], "indices"), read.number(numbers[1], "indices")};
    if (held.range.begin >= held.range.end || held.range.end > size)
      read.refuse("a range of indices must not be empty, and must be within the tensor");
    return held;
  }
  if (numbers.size() != 3 || !numbers[0].is_number_integer()) {
    read.refuse("indices must be [begin, end] or [grain, parts, position]");
    return held;
  }
  const auto code = numbers[0].get<std::int64_t>();
  held.split = {grain{static_cast<std::int32_t>(code)}, size, read.number(numbers[1], "indices")};
  held.position = read.number(numbers[2], "indices");
  const bool is_grain = code >= -grain::largest && code <= grain::largest &&
                        (held.split.how.is_cyclic() || held.split.how.is_strided());
  if (!is_grain || held.split.parts < 1 || held.split.parts > max_devices ||
      held.position >= held.split.parts) {
    read.refuse("indices must be [begin, end] or [grain, parts, position]");
    return held_range();
  }
  held.range = {held.split.offset(held.position), held.split.offset(held.position + 1)};
  if (held.size() == 0) read.refuse("a piece must not be empty");
  return held;
}

/// Reads a piece of a tensor.
[[nodiscard]] inline checkpoint_piece read_piece(json_reader& read, const nlohmann::json& from,
                                                 const checkpoint_tensor& of) {
  checkpoint_piece piece;
  const nlohmann::json& box = read.list(read.member(from, "indices"), "indices");
  if (static_cast<int>(box.size()) != of.extents.ssize()) {
    read.refuse("a piece must have indices for each dimension of its tensor");
    return piece;
  }
  for (int d = 0; const nlohmann::json& dimension : box) {
    if (!read.reason.empty()) return piece;
    piece.box.push_back(read_dimension(read, dimension, of.extents[d++]));
  }
  piece.begin = read.number(read.member(from, "begin"), "begin");
  for (const nlohmann::json& sum : read.list(read.member(from, "checksums"), "checksums"))
    piece.checksums.push_back(read.checksum(sum));
  if (!read.reason.empty()) return piece;
  const index_t bytes = size_of_piece(piece.box) * size_of(of.type);
  if (static_cast<index_t>(piece.checksums.size()) != ceil_div(bytes, checkpoint_chunk))
    read.refuse("a piece must have one checksum for each MiB");
  return piece;
}

[[nodiscard]] inline checkpoint_tensor read_tensor(json_reader& read, const nlohmann::json& from) {
  checkpoint_tensor tensor;
  const std::string type = read.text(read.member(from, "dtype"), "dtype");
  bool is_known = false;
  for (int t = 0; t < element_types; ++t)
    if (type == internal::stored_names[static_cast<std::size_t>(t)]) {
      tensor.type = static_cast<element>(t);
      is_known = true;
    }
  if (!is_known) read.refuse("its dtype '" + type + "' is not an element type");
  const nlohmann::json& shape = read.list(read.member(from, "shape"), "shape");
  if (shape.size() > max_rank) read.refuse("a tensor must have at most 8 dimensions");
  index_t count = 1;
  for (const nlohmann::json& size : shape) {
    if (!read.reason.empty()) return tensor;
    const index_t extent = read.number(size, "shape");
    if (extent > 0 && count > max_elements / extent) {
      read.refuse("its shape has too many elements");
      return tensor;
    }
    count *= std::max<index_t>(extent, 1);
    tensor.extents.push_back(extent);
  }
  tensor.layout = read.text(read.member(from, "layout"), "layout");
  for (const nlohmann::json& piece : read.list(read.member(from, "pieces"), "pieces")) {
    if (!read.reason.empty()) return tensor;
    tensor.pieces.push_back(read_piece(read, piece, tensor));
  }
  return tensor;
}

inline void append_box(std::string& out, const held_box& box) {
  out += '[';
  for (const held_range& each : box) {
    if (out.back() != '[') out += ',';
    const bool is_range = each.split.how.is_contiguous();
    const index_t first = is_range ? each.range.begin : index_t{each.split.how.code};
    out.append("[").append(std::to_string(first)).append(",");
    if (is_range)
      out.append(std::to_string(each.range.end));
    else
      out.append(std::to_string(each.split.parts))
          .append(",")
          .append(std::to_string(each.position));
    out += ']';
  }
  out += ']';
}

inline constexpr std::string_view checkpoint_format = "shardwise checkpoint 1";

/// Returns the end of an index, its last member: the checksum of all text before it.
[[nodiscard]] inline std::string end_of_index(std::string_view before) {
  return ",\n\"checksum\":\"" + checksum_text(checksum_of(before.data(), before.size())) + "\"}\n";
}

}  // namespace detail

SHARDWISE_INLINE_FILES read_json<checkpoint_part> parse_checkpoint_part(std::string_view text) {
  detail::json_reader read;
  const nlohmann::json found = detail::parse_json(text, read);
  checkpoint_part part;
  part.file = read.file_name(read.member(found, "file"), "file");
  const nlohmann::json& header = read.member(found, "header");
  part.header = read.number(read.member(header, "bytes"), "bytes");
  part.header_checksum = read.checksum(read.member(header, "checksum"));
  part.bytes = read.number(read.member(found, "bytes"), "bytes");
  const nlohmann::json& tensors = read.member(found, "tensors");
  if (!tensors.is_object()) read.refuse("'tensors' must be an object");
  if (read.reason.empty())
    for (const auto& [name, each] : tensors.items()) {
      checkpoint_tensor tensor = detail::read_tensor(read, each);
      for (const checkpoint_piece& piece : tensor.pieces)
        if (read.reason.empty() &&
            piece.begin > part.bytes - size_of_piece(piece.box) * size_of(tensor.type))
          read.refuse("a piece must end within its file");
      if (!read.reason.empty()) return {{}, "tensor '" + name + "': " + read.reason};
      part.tensors.emplace(name, std::move(tensor));
    }
  if (!read.reason.empty()) return {{}, std::move(read.reason)};
  return {std::move(part), {}};
}

SHARDWISE_INLINE_FILES read_json<checkpoint_index> parse_checkpoint_index(std::string_view text) {
  detail::json_reader read;
  const nlohmann::json found = detail::parse_json(text, read);
  if (read.text(read.member(found, "format"), "format") != detail::checkpoint_format)
    read.refuse("its format is not 'shardwise checkpoint 1'");
  const std::size_t end = detail::end_of_index({}).size();
  if (read.reason.empty() &&
      (text.size() < end ||
       text.substr(text.size() - end) != detail::end_of_index(text.substr(0, text.size() - end))))
    read.refuse("its text has another checksum than when it was written");
  checkpoint_index index;
  std::set<std::string> lists;
  for (const nlohmann::json& part : read.list(read.member(found, "parts"), "parts")) {
    index.parts.push_back({read.file_name(read.member(part, "list"), "list"),
                           read.checksum(read.member(part, "checksum"))});
    if (!lists.insert(index.parts.back().list).second)
      read.refuse("'" + index.parts.back().list + "' occurs twice");
  }
  const nlohmann::json& metadata = read.member(found, "metadata");
  if (!metadata.is_object()) read.refuse("'metadata' must be an object");
  if (read.reason.empty())
    for (const auto& [name, words] : metadata.items())
      index.metadata.emplace(name, read.text(words, "metadata"));
  if (const auto managed = found.find("managed"); read.reason.empty() && managed != found.end()) {
    index.managed.emplace();
    index.managed->step = read.number(read.member(*managed, "step"), "step");
    if (const auto metric = managed->find("metric"); metric != managed->end())
      index.managed->metric = detail::read_metric(read, read.text(*metric, "metric"));
  }
  if (!read.reason.empty()) return {{}, std::move(read.reason)};
  return {std::move(index), {}};
}

SHARDWISE_INLINE_FILES std::string write_checkpoint_part(const checkpoint_part& part) {
  std::string out = "{\"file\":";
  bool is_utf8 = internal::append_json_string(out, part.file);
  out.append(",\"header\":{\"bytes\":").append(std::to_string(part.header));
  out.append(",\"checksum\":\"").append(detail::checksum_text(part.header_checksum));
  out.append("\"},\"bytes\":").append(std::to_string(part.bytes)).append(",\"tensors\":{");
  for (const auto& [name, tensor] : part.tensors) {
    out += out.back() == '{' ? "\n" : ",\n";
    is_utf8 = internal::append_json_string(out, name) && is_utf8;
    out.append(":{\"dtype\":\"")
        .append(internal::stored_names[static_cast<std::size_t>(tensor.type)]);
    out += "\",\"shape\":[";
    for (const index_t extent : tensor.extents) {
      if (out.back() != '[') out += ',';
      out += std::to_string(extent);
    }
    out += "],\"layout\":";
    is_utf8 = internal::append_json_string(out, tensor.layout) && is_utf8;
    out += ",\"pieces\":[";
    for (const checkpoint_piece& piece : tensor.pieces) {
      if (out.back() != '[') out += ',';
      out += "{\"indices\":";
      detail::append_box(out, piece.box);
      out.append(",\"begin\":").append(std::to_string(piece.begin)).append(",\"checksums\":[");
      for (const std::uint64_t sum : piece.checksums) {
        if (out.back() != '[') out += ',';
        out.append("\"").append(detail::checksum_text(sum)).append("\"");
      }
      out += "]}";
    }
    out += "]}";
  }
  out += "\n}}\n";
  if (!is_utf8) return {};
  return out;
}

SHARDWISE_INLINE_FILES std::string write_checkpoint_index(const checkpoint_index& index) {
  std::string out = "{\"format\":\"";
  out.append(detail::checkpoint_format).append("\",\n\"parts\":[");
  bool is_utf8 = true;
  for (const checkpoint_index::part& part : index.parts) {
    if (out.back() != '[') out += ",\n";
    out += "{\"list\":";
    is_utf8 = internal::append_json_string(out, part.list) && is_utf8;
    out.append(",\"checksum\":\"").append(detail::checksum_text(part.checksum)).append("\"}");
  }
  out += "],\n\"metadata\":{";
  for (const auto& [name, words] : index.metadata) {
    if (out.back() != '{') out += ",\n";
    is_utf8 = internal::append_json_string(out, name) && is_utf8;
    out += ':';
    is_utf8 = internal::append_json_string(out, words) && is_utf8;
  }
  out += '}';
  if (index.managed) {
    out.append(",\n\"managed\":{\"step\":").append(std::to_string(index.managed->step));
    if (index.managed->metric)
      out.append(",\"metric\":\"").append(metadata_text(*index.managed->metric)).append("\"");
    out += '}';
  }
  out += detail::end_of_index(out);
  if (!is_utf8) return {};
  return out;
}

}  // namespace shardwise
