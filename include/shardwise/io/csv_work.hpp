// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/io/csv.hpp"

#include <algorithm>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <system_error>
#include <utility>

namespace shardwise {

namespace detail {

/// Reads all of a text as a number; returns false if it is none, or out of range.
template <class T>
[[nodiscard]] bool read_number(std::string_view text, T& to) noexcept {
  if constexpr (std::same_as<T, bool>) {
    to = text == "1" || text == "true" || text == "True";
    return to || text == "0" || text == "false" || text == "False";
  } else if constexpr (rounds_once<T>) {
    float number = 0;
    if (!read_number(text, number)) return false;
    to = T(number);
    return true;
  } else {
    const char* const end = text.data() + text.size();
    const auto [last, problem] = std::from_chars(text.data(), end, to);
    return problem == std::errc{} && last == end && !text.empty();
  }
}

/// The same for an element type as a value.
[[nodiscard]] inline bool read_number(element type, std::string_view text, std::byte* to) noexcept {
  bool is_read = false;
  for_each_index<std::size_t{element_types}>([&]<std::size_t I>() {
    if (static_cast<std::size_t>(type) != I) return;
    type_of_element<static_cast<element>(I)> number{};
    is_read = read_number(text, number);
    std::memcpy(to, &number, sizeof number);
  });
  return is_read;
}

}  // namespace detail

SHARDWISE_INLINE_FILES std::string_view csv_row::text(int column) const {
  if (column < 0 || column >= columns())
    fail({.rule = violation::index_is_out_of_range, .have = column, .want = columns()});
  return fields_[static_cast<std::size_t>(column)];
}

namespace detail {
/// Makes one quote of two.
inline void append_single_quotes(std::vector<char>& to, std::string_view text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    to.push_back(text[at]);
    if (text[at] == '"') ++at;
  }
}
}  // namespace detail

SHARDWISE_INLINE_FILES void csv_file::refuse(std::string_view text, std::size_t place, int column,
                                             const std::string& reason) const {
  const std::string_view before = text.substr(0, place);
  std::string at = "line " + std::to_string(1 + std::count(before.begin(), before.end(), '\n'));
  if (column >= 0) {
    at += ", column " + std::to_string(column + 1);
    if (column < std::ssize(names_)) at += " ('" + names_[static_cast<std::size_t>(column)] + "')";
  }
  bytes_.refuse(at + ": " + reason);
}

SHARDWISE_INLINE_FILES std::size_t csv_file::split(std::string_view text, std::size_t place,
                                                   csv_row& to) const {
  to.fields_.clear();
  to.doubled_.clear();
  for (std::size_t at = place;; ++at) {
    const int column = to.columns();
    const std::size_t first = at;
    if (at < text.size() && text[at] == '"') {
      for (at = text.find('"', at + 1); at < text.size(); at = text.find('"', at + 2)) {
        if (text.substr(at, 2) != "\"\"") break;
        if (to.doubled_.empty() || to.doubled_.back() != column) to.doubled_.push_back(column);
      }
      if (at >= text.size()) refuse(text, first, column, "a field in quotes has no end");
      to.fields_.push_back(text.substr(first + 1, at - first - 1));
      ++at;
    } else {
      while (at < text.size() && text[at] != options_.separator && text[at] != '\n' &&
             text[at] != '\r' && text[at] != '"')
        ++at;
      to.fields_.push_back(text.substr(first, at - first));
    }
    if (at == text.size()) return at;
    if (text[at] == options_.separator) continue;
    if (text[at] == '\n') return at + 1;
    if (text[at] == '\r' && at + 1 == text.size()) return at + 1;
    if (text[at] == '\r' && text[at + 1] == '\n') return at + 2;
    if (text[at] == '\r') refuse(text, at, column, "a carriage return has no newline after it");
    if (text[first] == '"')
      refuse(text, at, column, "a field in quotes goes on after its last quote");
    refuse(text, at, column, "a quote is in a field without quotes: it is written twice in quotes");
  }
}

SHARDWISE_INLINE_FILES csv_file::csv_file(file_bytes bytes, csv_options options)
    : bytes_(std::move(bytes)), options_(options) {
  const std::string_view text = bytes_.text();
  for (const std::string_view mark : {std::string_view("\xff\xfe"), std::string_view("\xfe\xff")})
    if (text.substr(0, 2) == mark)
      bytes_.refuse("it is UTF-16, which its first bytes say, and UTF-8 was expected");
  std::size_t place = text.substr(0, 3) == "\xef\xbb\xbf" ? 3 : 0;
  if (place == text.size()) {
    if (options_.has_header) bytes_.refuse("it has no first line with the names of the columns");
    return;
  }
  csv_row row;
  const std::size_t next = split(text, place, row);
  if (options_.has_header) {
    std::vector<std::string> names;
    for (int column = 0; column < row.columns(); ++column) {
      std::vector<char> name;
      const std::string_view field = row.fields_[static_cast<std::size_t>(column)];
      if (std::binary_search(row.doubled_.begin(), row.doubled_.end(), column))
        detail::append_single_quotes(name, field);
      else
        name.assign(field.begin(), field.end());
      names.emplace_back(name.begin(), name.end());
    }
    std::vector<std::string> sorted = names;
    std::sort(sorted.begin(), sorted.end());
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    if (twice != sorted.end()) bytes_.refuse("two of its columns are called '" + *twice + "'");
    names_ = std::move(names);
    place = next;
  } else {
    for (int column = 0; column < row.columns(); ++column) names_.push_back(std::to_string(column));
  }
  while (place < text.size()) {
    begins_.push_back(place);
    place = split(text, place, row);
    if (row.fields_.size() != names_.size())
      refuse(text, begins_.back(), -1,
             "it has " + std::to_string(row.columns()) + " fields, and there are " +
                 std::to_string(names_.size()) + " columns");
  }
}

SHARDWISE_INLINE_FILES int csv_file::column(std::string_view name) const {
  const auto found = std::find(names_.begin(), names_.end(), name);
  if (found != names_.end()) return static_cast<int>(found - names_.begin());
  std::string all;
  for (const std::string& each : names_) all += (all.empty() ? "'" : ", '") + each + "'";
  internal::fail_file(violation::tensor_is_not_in_file, bytes_.name(),
                      "column '" + std::string(name) + "'; it has " + (all.empty() ? "none" : all));
}
SHARDWISE_INLINE_FILES std::vector<int> csv_file::columns(
    const std::vector<std::string>& names) const {
  std::vector<int> out;
  out.reserve(names.size());
  for (const std::string& each : names) out.push_back(column(each));
  return out;
}

SHARDWISE_INLINE_FILES void csv_file::read(index_t row, csv_row& to) const {
  if (row < 0 || row >= rows())
    fail({.rule = violation::index_is_out_of_range, .have = row, .want = rows()}, bytes_.name());
  (void)split(bytes_.text(), begins_[static_cast<std::size_t>(row)], to);
  std::size_t length = 0;
  for (const int column : to.doubled_)
    length += to.fields_[static_cast<std::size_t>(column)].size();
  to.unquoted_.clear();
  to.unquoted_.reserve(length);  // so that it does not move below
  for (const int column : to.doubled_) {
    std::string_view& field = to.fields_[static_cast<std::size_t>(column)];
    const std::size_t first = to.unquoted_.size();
    detail::append_single_quotes(to.unquoted_, field);
    field = {to.unquoted_.data() + first, to.unquoted_.size() - first};
  }
}

SHARDWISE_INLINE_FILES void csv_file::read(index_t row, std::span<const int> columns, void* to,
                                           std::size_t count, element type) const {
  if (columns.size() != count)
    fail({.rule = violation::host_size_differs,
          .have = static_cast<index_t>(count),
          .want = std::ssize(columns)});
  csv_row fields;
  read(row, fields);
  auto* next = static_cast<std::byte*>(to);
  for (const int column : columns) {
    const std::string_view field = fields.text(column);
    if (!detail::read_number(type, field, next)) {
      constexpr std::size_t shown = 40;
      const text_view name = to_text(type);
      refuse(bytes_.text(), begins_[static_cast<std::size_t>(row)], column,
             "'" + std::string(field.substr(0, shown)) + "' is no " +
                 std::string(name.data(), name.size()));
    }
    next += size_of(type);
  }
}

}  // namespace shardwise
