// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/io/json_text_work.hpp"
#include "shardwise/io/safetensors_index.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace shardwise {

namespace internal {

/// Returns true for the name of a file in a folder, not a path that may lead out of it.
[[nodiscard]] constexpr bool is_plain_file_name(std::string_view name) noexcept {
  return !name.empty() && name != "." && name != ".." && name.find('/') == name.npos &&
         name.find('\\') == name.npos && name.find('\0') == name.npos;
}

}  // namespace internal

namespace detail {

/// Collects an index from the events of a JSON parser, value by value.
class index_parser {
 public:
  safetensors_index index{};
  std::string reason{};  ///< what is wrong first, beside the syntax
  bool has_map = false;

  bool null() { return value(nullptr); }
  bool boolean(bool is) {
    std::string words = is ? "true" : "false";
    return value(&words, false);
  }
  bool number_integer(std::int64_t number) {
    std::string words = std::to_string(number);
    return value(&words, false);
  }
  bool number_unsigned(std::uint64_t number) {
    std::string words = std::to_string(number);
    return value(&words, false);
  }
  bool number_float(double, const std::string& text) {
    std::string words = text;
    return value(&words, false);
  }
  bool binary(nlohmann::json::binary_t&) { return value(nullptr); }
  bool string(std::string& words) { return value(&words); }
  bool start_object(std::size_t) {
    if (depth_ == 1 && member_ == member::map) has_map = true;
    if (depth_ > 1) (void)value(nullptr);
    return enter();
  }
  bool end_object() { return leave(); }
  bool start_array(std::size_t) {
    (void)value(nullptr);
    return enter();
  }
  bool end_array() { return leave(); }
  bool key(std::string& name) {
    if (depth_ == 1) {
      member_ = name == "weight_map" ? member::map
                : name == "metadata" ? member::metadata
                                     : member::other;
      bool* const seen = member_ == member::map        ? &seen_map_
                         : member_ == member::metadata ? &seen_metadata_
                                                       : nullptr;
      if (seen != nullptr && std::exchange(*seen, true)) note(name + " occurs twice");
    } else if (depth_ == 2) {
      name_ = std::move(name);
    }
    return true;
  }
  template <class Error>
  bool parse_error(std::size_t, const std::string&, const Error&) {
    return false;
  }

 private:
  enum class member : std::uint8_t { other, metadata, map };

  bool enter() noexcept {
    ++depth_;
    return true;
  }
  bool leave() noexcept {
    --depth_;
    return true;
  }
  void note(std::string words) {
    if (reason.empty()) reason = std::move(words);
  }
  /// A value that is no object of its own: its text, or null if it is not read.
  bool value(std::string* words, bool is_string = true) {
    if (depth_ == 1 && member_ != member::other)
      note(member_ == member::map ? "its weight_map is an object" : "its metadata are an object");
    if (depth_ != 2 || member_ == member::other) return true;
    if (member_ == member::metadata) {
      if (words == nullptr) return true;
      if (!index.metadata.try_emplace(std::move(name_), std::move(*words)).second)
        note("a name occurs twice in its metadata");
      return true;
    }
    if (words == nullptr || !is_string) {
      note("tensor '" + name_ + "': its file is a text");
    } else if (!internal::is_plain_file_name(*words)) {
      note("tensor '" + name_ + "': '" + *words +
           "' is no file beside the index; a name without / is, that is not ..");
    } else if (const auto [at, is_new] =
                   index.weight_map.try_emplace(std::move(name_), std::move(*words));
               !is_new) {
      note("tensor '" + at->first + "' occurs twice");
    }
    return true;
  }

  int depth_ = 0;
  member member_ = member::other;
  bool seen_map_ = false, seen_metadata_ = false;
  std::string name_{};  ///< of the value in a member
};

/// Returns true for a whole number as JSON writes it, of at most 18 digits.
[[nodiscard]] constexpr bool is_json_number(std::string_view text) noexcept {
  return !text.empty() && text.size() <= 18 && text.find_first_not_of("0123456789") == text.npos &&
         (text == "0" || text[0] != '0');
}

}  // namespace detail

SHARDWISE_INLINE_FILES read_index parse_safetensors_index(std::string_view text) {
  const auto refuse = [](std::string reason) { return read_index{{}, std::move(reason)}; };
  detail::index_parser found;
  const std::size_t first = std::min(text.find_first_not_of(" \t\r\n"), text.size());
  // The parser would stop at a zero.
  if (text.substr(first, 1) != "{" || text.find('\0') != text.npos ||
      !nlohmann::json::sax_parse(text.begin(), text.end(), &found))
    return refuse("it is no JSON object");
  if (!found.reason.empty()) return refuse(std::move(found.reason));
  if (!found.has_map) return refuse("it has no weight_map");
  return {std::move(found.index), {}};
}

SHARDWISE_INLINE_FILES std::string write_safetensors_index(const safetensors_index& index) {
  std::string out = "{\n  \"metadata\": {";
  bool is_utf8 = true;
  const char* before = "\n    ";
  const auto append = [&](const std::string& name, const std::string& words, bool as_number) {
    out += std::exchange(before, ",\n    ");
    is_utf8 = is_utf8 && internal::append_json_string(out, name);
    out += ": ";
    if (as_number)
      out += words;
    else
      is_utf8 = is_utf8 && internal::append_json_string(out, words);
  };
  for (const auto& [name, words] : index.metadata)
    append(name, words, name == "total_size" && detail::is_json_number(words));
  out += "\n  },\n  \"weight_map\": {";
  before = "\n    ";
  for (const auto& [name, file] : index.weight_map) append(name, file, false);
  out += "\n  }\n}\n";
  if (!is_utf8) return {};
  return out;
}

}  // namespace shardwise
