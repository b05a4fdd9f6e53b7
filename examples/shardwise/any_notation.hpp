// SPDX-License-Identifier: BSL-1.0
// A sharding in any notation, which the readers of the library recognise.
#pragma once

#include "place.hpp"
#include "take_sharding.hpp"
#include <shardwise/notation/hlo_tuple.hpp>
#include <shardwise/notation/jax_type.hpp>
#include <shardwise/notation/sdy_text.hpp>

namespace tool {

namespace detail {

/// A text in one notation, whose reader and rules accept it or not.
struct attempt {
  std::string notation;
  subject about;
  objection no{};
  /// True if the text is one in this notation, whatever rule it breaks.
  bool is_read = false;
};

inline constexpr std::string_view sharding_is_malformed = "sharding_is_malformed";

[[nodiscard]] inline refusal no_mesh() {
  return refusal("option_is_missing", "the names of a sharding are those of a mesh: give --mesh")
      .of("mesh");
}

/// The name of an HLO sharding's form.
[[nodiscard]] inline std::string form_of(std::string_view words) {
  text_reader in{text_view(words)};
  in.accept('{');
  const text_view word = in.word();
  if (word == "mesh" || word == "maximal_mesh") return "hlo_v3";
  return words.find("<=") == words.npos ? "hlo" : "hlo_v2";
}

[[nodiscard]] inline objection take_sdy(subject& about, std::string_view words,
                                        device_buffer& buffer) {
  named_mesh on;
  if (about.mesh) on = named_mesh{*about.mesh, about.devices};
  // The symbol of one device says which it is, as `inspect` writes it; others are of --mesh.
  constexpr std::string_view maximal = "@maximal_mesh_";
  if (const std::size_t symbol = words.find('@'); symbol != words.npos) {
    if (words.substr(symbol, maximal.size()) == maximal) {
      text_reader in{text_view(words.substr(symbol + maximal.size()))};
      on = {.device = in.number(INT32_MAX, "a device is a number")};
    } else if (!about.mesh) {
      return no_mesh();
    }
  }
  const named_result read = parse_sdy(text_view(words), on, {}, buffer);
  if (!read.verdict.ok()) return unread(sharding_is_malformed, read.verdict);
  return take_named(about, read.sharding, buffer);
}

[[nodiscard]] inline objection take_type(subject& about, std::string_view words,
                                         device_buffer& buffer) {
  if (!about.mesh) return no_mesh();
  const read_tensor read = parse_type(text_view(words), *about.mesh, uneven{});
  if (!read.verdict.ok()) return unread(sharding_is_malformed, read.verdict);
  about.type = read.tensor.type;
  if (!read.tensor.extents.contains(dyn)) {
    if (about.shape && *about.shape != read.tensor.extents)
      return refusal("shapes_differ", "the type has extents of its own, and --shape has others")
          .of("shape");
    if (auto no = judge(validate(read.tensor.extents))) return no;
    about.shape = read.tensor.extents;
  }
  return take_read_layout(about, read.tensor.layout, uneven{}, buffer);
}

/// Reads a text that begins like none of HLO, Shardy and a type in each notation that is left.
[[nodiscard]] inline std::vector<attempt> attempts_at(const subject& about, std::string_view words,
                                                      device_buffer& buffer) {
  std::vector<attempt> all;
  const mesh_desc& mesh = *about.mesh;
  const auto add = [&](std::string notation, const parse_verdict& verdict, auto take) {
    attempt& one = all.emplace_back(attempt{std::move(notation), about, {}, verdict.ok()});
    one.no = verdict.ok() ? take(one.about) : unread(sharding_is_malformed, verdict);
  };
  const text_view text(words);
  const read_layout spec =
      parse_partition_spec(text, mesh, about.shape ? about.shape->ssize() : -1);
  add("jax", spec.verdict,
      [&](subject& one) { return take_read_layout(one, spec.layout, single_cut{}, buffer); });
  const read_placements placed = parse_placements(text);
  add("placements", placed.verdict,
      [&](subject& one) { return take_placements(one, placed, buffer); });
  const read_layout shown = parse_shown_layout(text, mesh, uneven{});
  add("layout", shown.verdict,
      [&](subject& one) { return take_read_layout(one, shown.layout, uneven{}, buffer); });
  attempt& own = all.emplace_back(attempt{"spec", about, {}, false});
  if (const auto read = read_spec(words, mesh)) {
    own.is_read = true;
    own.no = take_read_layout(own.about, *read, single_cut{}, buffer);
  } else {
    own.no = read.why();
    own.is_read = own.no->code != "spec_is_malformed";
  }
  return all;
}

/// Why a text is in none of these notations: it breaks a rule of one, or the reader that got
/// furthest says why not.
[[nodiscard]] inline refusal best_refusal(std::vector<attempt>& all, std::string_view words) {
  for (attempt& one : all)
    if (one.is_read) return *std::move(one.no);
  const bool is_spec = words.find_first_of("()[]{}'\"") == words.npos;
  attempt* best = &all.back();
  if (!is_spec)
    for (attempt& one : all) {
      const std::size_t at = one.no->at.value_or(0);
      const std::size_t before = best->no->at.value_or(0);
      if (at > before || (at == before && best == &all.back())) best = &one;
    }
  return *std::move(best->no);
}

/// The sharding of an attempt in words that only one reader accepts: placements in brackets, or a
/// partition spec of quoted names.
[[nodiscard]] inline std::string clearly(const attempt& one) {
  if (one.notation == "placements") return "[" + to_words(one.about.cut->placements) + "]";
  string_sink quoted;
  write_partition_spec(quoted, *one.about.mesh, *one.about.layout);
  return quoted.words;
}

}  // namespace detail

/// Takes a text as a sharding: HLO in each form, Shardy, a type, a partition spec of JAX,
/// placements, or the notation of the library or of --spec. Where several readers accept it, the
/// first of them is right, and the others are named if they mean another sharding.
[[nodiscard]] inline objection take_any(subject& about, std::string_view words,
                                        device_buffer& buffer) {
  text_reader in{text_view(words)};
  const char first = in.peek();
  if (first == '\0')
    return refusal(std::string(detail::sharding_is_malformed), "the sharding is empty");
  if (first == '#' || first == '<') {
    about.notation = "sdy";
    return detail::take_sdy(about, words, buffer);
  }
  const text_view word = in.word();
  const bool is_whole = word == "devices" || word == "replicated" || word == "maximal" ||
                        word == "manual" || word == "unknown" || word == "unreduced";
  const bool is_axis = about.mesh && about.mesh->find(word) >= 0;
  if (first == '{' || (is_whole && !is_axis)) {
    about.notation = detail::form_of(words);
    auto no = take_any_hlo(about, words, buffer);
    if (no && no->code == "hlo_is_malformed") no->code = detail::sharding_is_malformed;
    return no;
  }
  if (!word.empty() && in.peek() == '[') {
    about.notation = "type";
    return detail::take_type(about, words, buffer);
  }
  if (!about.mesh) return detail::no_mesh();
  std::vector<detail::attempt> all = detail::attempts_at(about, words, buffer);
  detail::attempt* taken = nullptr;
  std::vector<reading> others;
  for (detail::attempt& one : all) {
    if (one.no) continue;
    if (taken == nullptr) {
      taken = &one;
      continue;
    }
    const auto& layout = one.about.layout;
    const auto& before = taken->about.layout;
    if (layout && before && *layout == *before) continue;
    others.push_back({one.notation, detail::clearly(one)});
  }
  if (taken == nullptr) return detail::best_refusal(all, words);
  about = std::move(taken->about);
  about.notation = std::move(taken->notation);
  about.others = std::move(others);
  return std::nullopt;
}

}  // namespace tool
