// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/io/safetensors_header.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

namespace shardwise {

namespace detail {

/// The names of element types in the format, in the order of `element`.
inline constexpr std::string_view stored_names[element_types] = {
    "F32", "F64", "I32", "I64", "BOOL", "I8", "U8", "BF16", "F16"};

/// Returns the name of the elements of a tensor in the format.
[[nodiscard]] inline std::string stored_name_of_elements(const stored_tensor& one) {
  if (!one.other_type.empty()) return one.other_type;
  return std::string(stored_names[static_cast<unsigned>(one.type)]);
}

/// Returns a nonnegative integer, or nothing.
[[nodiscard]] inline std::optional<index_t> natural(const nlohmann::json& value) {
  if (!value.is_number_unsigned()) return std::nullopt;
  const auto number = value.get<std::uint64_t>();
  if (number > static_cast<std::uint64_t>(INT64_MAX)) return std::nullopt;
  return static_cast<index_t>(number);
}

/// Returns the number of elements of a shape of any rank, or nothing if it is above 2^56.
[[nodiscard]] inline std::optional<index_t> stored_count(const std::vector<index_t>& sizes) {
  index_t all = 1;
  bool empty = false;
  for (const index_t n : sizes) {
    if (n > max_elements / all) return std::nullopt;
    if (n > 0) all *= n;
    empty = empty || n == 0;
  }
  return empty ? 0 : all;
}

/// Reads one entry of a header; returns the reason if it is invalid.
[[nodiscard]] inline std::string read_entry(const nlohmann::json& value, stored_tensor& out) {
  if (!value.is_object() || value.size() != 3 || !value.contains("dtype") ||
      !value.contains("shape") || !value.contains("data_offsets"))
    return "it has dtype, shape and data_offsets";
  const nlohmann::json& dtype = value["dtype"];
  const nlohmann::json& shape = value["shape"];
  const nlohmann::json& offsets = value["data_offsets"];
  if (!dtype.is_string()) return "its dtype is a string";
  const auto* const name = std::find(std::begin(stored_names), std::end(stored_names),
                                     dtype.get_ref<const std::string&>());
  if (name != std::end(stored_names))
    out.type = static_cast<element>(name - std::begin(stored_names));
  else if (dtype.get_ref<const std::string&>().empty())
    return "its dtype has a name";
  else
    out.other_type = dtype.get<std::string>();
  if (!shape.is_array()) return "its shape is a list";
  std::vector<index_t> sizes;
  for (const nlohmann::json& size : shape) {
    const std::optional<index_t> extent = natural(size);
    if (!extent) return "its shape has whole numbers";
    sizes.push_back(*extent);
  }
  const std::optional<index_t> elements = stored_count(sizes);
  if (!elements) return "a tensor has at most 2^56 elements";
  if (sizes.size() > std::size_t{max_rank})
    out.other_shape = std::move(sizes);
  else
    for (const index_t n : sizes) out.extents.push_back(n);
  if (!offsets.is_array() || offsets.size() != 2 || !natural(offsets[0]) || !natural(offsets[1]))
    return "its data_offsets are two whole numbers";
  out.begin = *natural(offsets[0]);
  if (*natural(offsets[1]) < out.begin) return "its data_offsets ascend";
  // The size of elements with another name is not known.
  if (!out.other_type.empty())
    out.other_bytes = *natural(offsets[1]) - out.begin;
  else if (!out.other_shape.empty())
    out.other_bytes = *elements * size_of(out.type);
  if (*natural(offsets[1]) - out.begin != out.bytes())
    return "its data_offsets hold " + std::to_string(out.bytes()) + " bytes";
  return {};
}

}  // namespace detail

SHARDWISE_INLINE_FILES read_header parse_safetensors_header(std::string_view text) {
  using nlohmann::json;
  read_header out;
  const auto refuse = [](std::string reason) { return read_header{{}, std::move(reason)}; };
  // A parser would silently accept duplicate names, and the depth has to be bounded here.
  bool twice = false, deep = false;
  std::vector<std::set<std::string>> names;
  const json all = json::parse(
      text.begin(), text.end(),
      [&](int depth, json::parse_event_t event, json& parsed) {
        deep = deep || depth > 4;
        if (event == json::parse_event_t::object_start) names.emplace_back();
        if (event == json::parse_event_t::object_end) names.pop_back();
        if (event == json::parse_event_t::key && !names.empty())
          twice = twice || !names.back().insert(parsed.get<std::string>()).second;
        return !deep;
      },
      false);
  if (deep) return refuse("it has lists in lists");
  if (all.is_discarded() || !all.is_object()) return refuse("its header is no JSON object");
  if (twice) return refuse("a name occurs twice in its header");
  for (const auto& [name, value] : all.items()) {
    if (name == "__metadata__") {
      if (!value.is_object()) return refuse("__metadata__ has words");
      for (const auto& [key, words] : value.items()) {
        if (!words.is_string()) return refuse("__metadata__ has words alone, not " + key);
        out.header.metadata[key] = words.get<std::string>();
      }
      continue;
    }
    stored_tensor& one = out.header.tensors.emplace_back();
    one.name = name;
    if (std::string reason = detail::read_entry(value, one); !reason.empty())
      return refuse(("tensor '" + name + "': ").append(reason));
  }
  std::stable_sort(out.header.tensors.begin(), out.header.tensors.end(),
                   [](const stored_tensor& a, const stored_tensor& b) {
                     return a.begin != b.begin ? a.begin < b.begin : a.bytes() < b.bytes();
                   });
  index_t end = 0;
  for (const stored_tensor& one : out.header.tensors) {
    if (one.begin != end)
      return refuse("tensor '" + one.name + "': it begins at " + std::to_string(one.begin) +
                    ", and what is before it ends at " + std::to_string(end));
    end += one.bytes();
  }
  return out;
}

SHARDWISE_INLINE_FILES std::string write_safetensors_header(const safetensors_header& header) {
  using nlohmann::json;
  json all = json::object();
  if (!header.metadata.empty()) all["__metadata__"] = header.metadata;
  for (const stored_tensor& one : header.tensors) {
    std::vector<index_t> shape = one.other_shape;
    if (shape.empty()) shape.assign(one.extents.begin(), one.extents.end());
    all[one.name] = {{"dtype", detail::stored_name_of_elements(one)},
                     {"shape", shape},
                     {"data_offsets", {one.begin, one.begin + one.bytes()}}};
  }
  std::string words = all.dump(-1, ' ', false, json::error_handler_t::replace);
  // The two texts differ if an invalid sequence was replaced.
  if (words != all.dump(-1, ' ', false, json::error_handler_t::ignore)) return {};
  words.resize((words.size() + 7) / 8 * 8, ' ');
  std::string out;
  for (unsigned b = 0; b < 8; ++b)
    out += static_cast<char>(static_cast<std::uint64_t>(words.size()) >> (8 * b) & 0xffU);
  return out + words;
}

}  // namespace shardwise
