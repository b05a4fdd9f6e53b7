// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/mesh/mesh_desc.hpp"

namespace shardwise::internal {

/// Writes one axis of the text of a mesh: `data=2`, or `data=?` for a dyn size. A label that is not
/// a legal name is put in `< >`, which names cannot contain, so illegal axes never read as legal
/// ones.
template <std::size_t Capacity>
constexpr void write_axis(bounded_text<Capacity>& out, text_view label, index_t size) noexcept {
  if (!out.empty()) out << ", ";
  if (is_axis_name(label))
    out << label << '=';
  else
    out << '<' << label << ">=";
  if (size == dyn)
    out << '?';
  else
    out << size;
}

/// The text of an axis. A type that is not an axis has a label that is not a legal name.
template <class A>
struct axis_or_none {
  static constexpr text_view label = "(no axis)";
  static constexpr index_t size = 0;
};
template <class A>
  requires requires { A::label, A::size; }
struct axis_or_none<A> : A {};

/// The text of the axes of a mesh, major to minor: `data=2, model=4`.
template <class... Axes>
[[nodiscard]] consteval auto mesh_text() noexcept {
  constexpr auto words = [] {
    // A label, its delimiters, and the 20 characters of the longest number.
    bounded_text<(std::size_t{1} + ... + (axis_or_none<Axes>::label.size() + 25))> out;
    (write_axis(out, axis_or_none<Axes>::label, axis_or_none<Axes>::size), ...);
    return out;
  }();
  return to_fixed_string<words.size()>(words);
}

/// The axes read from a text, or the rule that it breaks and where. For malformed text the reason
/// is given in words.
struct parsed_axes {
  mesh_desc value{};
  diagnosis verdict{};
  text_view reason{};
  /// The first character that was not read, or the illegal one.
  std::size_t position = 0;
};

/// Returns true if `c` is one of these characters.
[[nodiscard]] constexpr bool is_one_of(char c, text_view characters) noexcept {
  for (const char one : characters)
    if (one == c) return true;
  return false;
}

/// Reads axes, with optional blanks, from a position up to the first character that cannot continue
/// a list of axes. It reads both the texts that name types and those that people write
/// (`parse_mesh`).
[[nodiscard]] constexpr parsed_axes parse_axes(text_view words, std::size_t at = 0) noexcept {
  constexpr text_view no_size = "an axis has a size: data=2, or data=?";
  mesh_desc mesh;
  const auto refuse = [](std::size_t where, const diagnosis& verdict, text_view reason = {}) {
    return parsed_axes{{}, verdict, reason, where};
  };
  constexpr diagnosis malformed{.rule = violation::text_is_malformed};
  // Returns the next character that is not blank, or zero at the end.
  const auto next = [&] {
    while (at < words.size() && is_one_of(words[at], " \t\r\n")) ++at;
    return at < words.size() ? words[at] : '\0';
  };
  const auto accept = [&](char c) {
    const bool comes = c == next();
    at += comes ? 1 : 0;
    return comes;
  };
  if (next() == '\0' || next() == ')') return {.position = at};
  do {
    const bool is_name = next() != '<';
    const std::size_t begin = at += is_name ? 0 : 1;
    const text_view end = is_name ? " \t\r\n=,()[]" : ">";
    while (at < words.size() && !is_one_of(words[at], end)) ++at;
    const text_view label = words.substr(begin, at - begin);
    if (is_name && label.empty()) return refuse(at, malformed, "an axis begins with its name");
    if (!is_name || !is_axis_name(label)) {
      const bool is_long = label.size() > short_name::capacity;
      return refuse(begin, {.rule = violation::axis_name_is_malformed,
                            .axis = label,
                            .have = is_long ? static_cast<index_t>(label.size()) : 0,
                            .want = is_long ? index_t{short_name::capacity} : 0});
    }
    if (!accept('=')) return refuse(at, malformed, no_size);
    index_t size = dyn;
    if (!accept('?')) {
      const bool negative = accept('-');
      std::uint64_t number = 0;
      (void)next();
      const std::size_t digits = at;
      for (; at < words.size() && words[at] >= '0' && words[at] <= '9'; ++at) {
        const auto digit = static_cast<std::uint64_t>(words[at] - '0');
        constexpr std::uint64_t most = std::uint64_t{1} << 63;
        if (number > (most - digit - (negative ? 0 : 1)) / 10)
          return refuse(digits, malformed, "a size is below 2^63");
        number = number * 10 + digit;
      }
      if (at == digits) return refuse(at, malformed, no_size);
      size = static_cast<index_t>(negative ? 0 - number : number);
      if (size < 1)
        return refuse(
            digits,
            {.rule = violation::axis_size_is_not_positive, .axis = label, .have = size, .want = 1});
    }
    if (mesh.find(label) >= 0)
      return refuse(begin, {.rule = violation::axis_is_repeated_in_mesh, .axis = label});
    if (mesh.axes.full()) {
      index_t count = max_axes + 1;
      for (const char c : words.substr(at, words.size())) count += c == ',' ? 1 : 0;
      return refuse(begin,
                    {.rule = violation::mesh_has_too_many_axes, .have = count, .want = max_axes});
    }
    mesh.axes.push_back({label, size});
  } while (accept(','));
  if (const diagnosis verdict = validate(mesh); !verdict.ok()) return refuse(at, verdict);
  return {mesh, {}, {}, at};
}

}  // namespace shardwise::internal
