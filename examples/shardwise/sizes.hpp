// SPDX-License-Identifier: BSL-1.0
// Numbers, shapes, lists of devices and specs as they are written in the shell.
#pragma once

#include "refusal.hpp"
#include <shardwise/layout/layout_rules.hpp>

#include <algorithm>
#include <charconv>
#include <vector>

namespace tool {

/// The most devices that are listed; a test that wants small answers lowers it.
inline index_t most_devices = index_t{1} << 20;
/// The largest extent of a tensor: products of an extent and a few devices then fit.
inline constexpr index_t most_extent = index_t{1} << 40;

/// Words without the blanks around them.
[[nodiscard]] inline std::string_view trimmed(std::string_view words) {
  const std::size_t first = words.find_first_not_of(' ');
  if (first == words.npos) return {};
  return words.substr(first, words.find_last_not_of(' ') - first + 1);
}

/// The words between separators, without blanks around them; none of an empty text.
[[nodiscard]] inline std::vector<std::string_view> split(std::string_view words, char separator) {
  std::vector<std::string_view> parts;
  while (!words.empty()) {
    const std::size_t end = words.find(separator);
    parts.push_back(trimmed(words.substr(0, end)));
    if (end == std::string_view::npos) break;
    words.remove_prefix(end + 1);
    if (words.empty()) parts.push_back(words);  // a separator is followed by something
  }
  return parts;
}

/// Where a separator is followed or preceded by nothing.
[[nodiscard]] inline std::size_t place_of_nothing(std::string_view words, char separator) {
  bool is_empty = true;
  for (std::size_t at = 0; at < words.size(); ++at) {
    if (words[at] == separator && is_empty) return at;
    if (words[at] != ' ') is_empty = words[at] == separator;
  }
  return words.size();
}

/// Some words in quotes for a sentence, cut where they are long.
[[nodiscard]] inline std::string in_quotes(std::string_view words) {
  const bool is_long = words.size() > 60;
  return "'" + std::string(words.substr(0, 60)) + (is_long ? "...'" : "'");
}

/// Reads a whole number with an optional sign whose size is at most `most`; `option` is where it
/// stands.
[[nodiscard]] inline outcome<index_t> read_number(std::string_view words, index_t most,
                                                  std::string_view option) {
  index_t value = 0;
  const char* const end = words.data() + words.size();
  const auto [stop, failure] = std::from_chars(words.data(), end, value);
  if (failure == std::errc::invalid_argument || stop != end)
    return refusal("number_is_malformed",
                   in_quotes(words) + " in --" + std::string(option) + " is no whole number")
        .about(words);
  if (failure != std::errc{} || value > most || value < -most)
    return refusal("number_is_too_large", in_quotes(words) + " in --" + std::string(option) +
                                              " is above " + std::to_string(most))
        .about(words);
  return value;
}

/// Reads sizes, `8x16`, at most as many as the sequence has room for; `code` and `limit` say what
/// is wrong with more. No text is no sizes.
template <class Sizes>
[[nodiscard]] outcome<Sizes> read_sizes(std::string_view words, index_t most,
                                        std::string_view option, std::string_view code,
                                        std::string_view limit) {
  Sizes sizes;
  for (const std::string_view part : split(words, 'x')) {
    if (sizes.full()) return refusal(std::string(code), std::string(limit));
    const auto size = read_number(part, most, option);
    if (!size) {
      refusal why = size.why();
      why.at = part.empty() ? place_of_nothing(words, 'x')
                            : static_cast<std::size_t>(part.data() - words.data());
      why.length = part.size();
      return why;
    }
    sizes.push_back(*size);
  }
  return sizes;
}

/// Reads the extents of a tensor: `8x16`; an empty text is a scalar.
[[nodiscard]] inline outcome<extents_desc> read_shape(std::string_view words) {
  const auto read = read_sizes<extents_desc>(words, most_extent, "shape", "rank_is_too_high",
                                             "a tensor has at most 8 dimensions");
  if (!read) return read.why();
  const extents_desc& extents = *read;
  for (int d = 0; d < extents.ssize(); ++d)
    if (extents[d] < 0)
      return *judge(
          {.rule = violation::extent_is_negative, .dim = d, .have = extents[d], .want = 0});
  if (auto no = judge(validate(extents))) return *no;
  return extents;
}

/// Reads a list of numbers, `0,4,1,5`, none of them negative and each only once.
[[nodiscard]] inline outcome<std::vector<index_t>> read_devices(std::string_view words,
                                                                std::string_view option) {
  std::vector<index_t> devices;
  if (words.empty())
    return refusal("number_is_malformed", "--" + std::string(option) + " lists numbers: 0,4,1,5");
  while (true) {
    const std::size_t end = words.find(',');
    const auto device = read_number(trimmed(words.substr(0, end)), index_t{1} << 40, option);
    if (!device) return device.why();
    devices.push_back(*device);
    if (*device < 0)
      return refusal("device_is_out_of_range",
                     "a device is named by a number from 0 on, not " + str(words.substr(0, end)));
    if (end == std::string_view::npos) break;
    words.remove_prefix(end + 1);
  }
  std::vector<index_t> sorted = devices;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end())
    return refusal("device_is_repeated",
                   "the devices of a mesh are unique, and " + std::to_string(*twice) + " is twice");
  return devices;
}

/// Reads a partition spec, `data,-,x+y`: one entry a dimension, axes by name or number, and a grain
/// behind them, `x%32` or `x*2`.
[[nodiscard]] inline outcome<layout_desc> read_spec(std::string_view words, const mesh_desc& mesh) {
  const auto parts = split(words, ',');
  if (parts.size() > std::size_t{max_rank})
    return refusal("rank_is_too_high", "a tensor has at most 8 dimensions");
  std::vector<std::string> entries;
  for (const std::string_view part : parts) {
    std::string& entry = entries.emplace_back();
    const int dim = static_cast<int>(entries.size()) - 1;
    const std::size_t mark = std::min(part.find_first_of("%*"), part.size());
    const std::string_view names = trimmed(part.substr(0, mark));
    auto axes = names == "-" ? std::vector<std::string_view>{} : split(names, '+');
    if (names.empty()) axes.emplace_back();
    for (const std::string_view axis : axes) {
      const bool number = !axis.empty() && axis.find_first_not_of("0123456789") == axis.npos;
      if (!number && !is_axis_name(axis))
        return refusal("spec_is_malformed",
                       in_quotes(axis) + " in dimension " + std::to_string(dim) +
                           " is not supported in partition spec: an entry is - for none, an axis, "
                           "or axes joined by +, each by its name or number")
            .about(axis);
      if (!entry.empty()) entry += ',';
      if (number) {
        const bool known = axis.size() == 1 && axis[0] - '0' < mesh.rank();
        if (!known)
          return *judge({.rule = violation::axis_is_not_in_mesh,
                         .dim = dim,
                         .axis = short_name(text_view(axis))});
        entry += view(mesh.axes[axis[0] - '0'].label);
      } else {
        entry += axis;
      }
    }
    if (mark == part.size()) continue;
    entry += part[mark];
    entry += trimmed(part.substr(mark + 1));
  }
  spec_desc spec;
  for (const std::string& entry : entries) spec.dims.push_back(text_view(entry));
  const resolved_layout read = resolve(mesh, spec, {}, uneven{});
  if (auto no = judge(read.verdict)) return *no;
  return read.layout;
}

}  // namespace tool
