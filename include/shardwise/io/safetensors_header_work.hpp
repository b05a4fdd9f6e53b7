// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/io/header_parser_work.hpp"
#include "shardwise/io/json_text_work.hpp"
#include "shardwise/io/safetensors_header.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

namespace shardwise {

SHARDWISE_INLINE_FILES read_header parse_safetensors_header(std::string_view text) {
  const auto refuse = [](std::string reason) { return read_header{{}, std::move(reason)}; };
  // The JSON parser would skip blanks and a byte-order mark, and stop at a zero.
  if (text.empty() || text.front() != '{')
    return refuse("its header is no JSON object from its first character '{' on");
  detail::header_parser found;
  const bool is_json = text.find('\0') == std::string_view::npos &&
                       nlohmann::json::sax_parse(text.begin(), text.end(), &found);
  if (found.is_deep) return refuse("it has lists in lists");
  if (!is_json) return refuse("its header is no JSON object");

  std::stable_sort(found.tensors.begin(), found.tensors.end(),
                   [](const stored_tensor& a, const stored_tensor& b) {
                     return a.begin != b.begin ? a.begin < b.begin : a.bytes() < b.bytes();
                   });
  read_header out{{{}, std::move(found.metadata)}, {}};
  for (stored_tensor& one : found.tensors)
    if (!out.header.tensors.add(std::move(one))) found.is_twice = true;
  if (found.is_twice) return refuse("a name occurs twice in its header");
  if (!found.reason.empty()) return refuse(std::move(found.reason));
  index_t end = 0;
  for (const stored_tensor& one : out.header.tensors) {
    if (one.begin != end)
      return refuse("tensor '" + one.name + "': it begins at " + std::to_string(one.begin) +
                    ", and what is before it ends at " + std::to_string(end));
    end += one.bytes();
  }
  return out;
}

namespace detail {

/// Appends an entry `"name":{...}` of a header; returns false if a name is not UTF-8.
[[nodiscard]] inline bool append_entry(std::string& out, const stored_tensor& one) {
  if (!internal::append_json_string(out, one.name)) return false;
  out.append(R"(:{"data_offsets":[)").append(std::to_string(one.begin)).append(",");
  out.append(std::to_string(one.begin + one.bytes())).append(R"(],"dtype":)");
  const std::string_view type = one.other_type.empty()
                                    ? internal::stored_names[static_cast<unsigned>(one.type)]
                                    : std::string_view(one.other_type);
  if (!internal::append_json_string(out, type)) return false;
  out += R"(,"shape":[)";
  const auto append_sizes = [&](const auto& sizes) {
    for (const index_t size : sizes) {
      if (out.back() != '[') out += ',';
      out += std::to_string(size);
    }
  };
  if (one.other_shape.empty())
    append_sizes(one.extents);
  else
    append_sizes(one.other_shape);
  out += "]}";
  return true;
}

/// Appends the entry of the metadata; returns false if some are not UTF-8.
[[nodiscard]] inline bool append_entry(std::string& out,
                                       const std::map<std::string, std::string>& metadata) {
  bool is_utf8 = internal::append_json_string(out, metadata_name);
  out += ":{";
  for (const auto& [key, words] : metadata) {
    if (out.back() != '{') out += ',';
    is_utf8 = is_utf8 && internal::append_json_string(out, key);
    out += ':';
    is_utf8 = is_utf8 && internal::append_json_string(out, words);
  }
  out += '}';
  return is_utf8;
}

}  // namespace detail

SHARDWISE_INLINE_FILES std::string write_safetensors_header(const safetensors_header& header) {
  // The length comes first, when it is known.
  std::string out(8, '\0');
  out += '{';
  bool is_utf8 = true, has_metadata = header.metadata.empty();
  const auto append = [&](const auto& entry) {
    if (out.back() != '{') out += ',';
    is_utf8 = is_utf8 && detail::append_entry(out, entry);
  };
  for (const std::size_t place : header.tensors.by_name()) {
    const stored_tensor& one = header.tensors[place];
    if (!has_metadata && one.name > metadata_name) {
      has_metadata = true;
      append(header.metadata);
    }
    append(one);
  }
  if (!has_metadata) append(header.metadata);
  if (!is_utf8) return {};
  out += '}';
  out.resize((out.size() + 7) / 8 * 8, ' ');
  const std::uint64_t length = out.size() - 8;
  for (unsigned b = 0; b < 8; ++b) out[b] = static_cast<char>(length >> (8 * b) & 0xffU);
  return out;
}

}  // namespace shardwise
