// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/error.hpp"
#include "shardwise/core/philox.hpp"

#include <array>
#include <charconv>
#include <concepts>
#include <map>
#include <string>
#include <system_error>

namespace shardwise {

/// A number that the metadata of a file can hold as text: an integer, a floating-point number, or a
/// random key.
template <class T>
concept MetadataNumber = std::same_as<T, random_key> ||
    requires(T number, char* to, const char* from) {
  std::to_chars(to, to, number);
  std::from_chars(from, from, number);
};

/// Returns the shortest text that `metadata_number` reads as the same number, to the last bit:
/// also infinities, `-0` and integers that no `double` holds. A NaN remains one.
///
///     save_safetensors("state.safetensors", model, {{"step", metadata_text(step)}});
template <MetadataNumber T>
[[nodiscard]] std::string metadata_text(T number) {
  if constexpr (std::same_as<T, random_key>) {
    return metadata_text(number.value);
  } else {
    std::array<char, 32> words{};  // a long double has at most 29 characters
    const auto written = std::to_chars(words.data(), words.data() + words.size(), number);
    return {words.data(), written.ptr};
  }
}

/// Returns the number that metadata have under a name. Throws `text_is_malformed` with the name if
/// it is absent, not a number, or out of the range of `T`.
///
///     const auto step = metadata_number<index_t>(file.header().metadata, "step");
template <MetadataNumber T>
[[nodiscard]] T metadata_number(const std::map<std::string, std::string>& metadata,
                                const std::string& name) {
  if constexpr (std::same_as<T, random_key>) {
    return {metadata_number<decltype(T::value)>(metadata, name)};
  } else {
    const auto found = metadata.find(name);
    if (found == metadata.end())
      fail({.rule = violation::text_is_malformed}, "the metadata has no '" + name + "'");
    const std::string& words = found->second;
    const char* const end = words.data() + words.size();
    T number{};
    const auto [read_to, problem] = std::from_chars(words.data(), end, number);
    if (problem != std::errc() || read_to != end)
      fail({.rule = violation::text_is_malformed},
           "the metadata has '" + words + "' as '" + name + "', not a number in range");
    return number;
  }
}

}  // namespace shardwise
