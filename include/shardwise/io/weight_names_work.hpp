// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/io/safetensors_work.hpp"
#include "shardwise/io/tensor_source_work.hpp"
#include "shardwise/io/weight_names.hpp"

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>

namespace shardwise {

namespace detail {

/// Matches a name against a pattern; `parts` are what its stars match, in order.
[[nodiscard]] inline bool match_stars(std::string_view name, std::string_view pattern,
                                      std::vector<std::string_view>& parts) {
  const std::size_t star = pattern.find('*');
  if (star == pattern.npos) return name == pattern;
  if (name.substr(0, star) != pattern.substr(0, star)) return false;
  name.remove_prefix(star);
  pattern.remove_prefix(star + 1);
  for (std::size_t n = 1; n <= name.size() && name[n - 1] != '.'; ++n) {
    parts.push_back(name.substr(0, n));
    if (match_stars(name.substr(n), pattern, parts)) return true;
    parts.pop_back();
  }
  return false;
}

[[nodiscard]] inline std::ptrdiff_t stars_in(std::string_view pattern) noexcept {
  return std::count(pattern.begin(), pattern.end(), '*');
}

}  // namespace detail

SHARDWISE_INLINE_FILES std::optional<std::string> translated_name(std::string_view name,
                                                                  std::string_view pattern,
                                                                  std::string_view target) {
  std::vector<std::string_view> parts;
  if (!detail::match_stars(name, pattern, parts)) return std::nullopt;
  std::string out;
  std::size_t next = 0;
  for (const char c : target)
    if (c != '*')
      out += c;
    else if (next < parts.size())
      out += parts[next++];
  return out;
}

namespace detail {

/// Fails for a table with a row whose patterns have different numbers of stars.
inline void require_stars(const weight_table& table) {
  for (const weight_name& row : table)
    if (!row.name.empty() && stars_in(row.name) != stars_in(row.stored))
      fail({.rule = violation::state_names_differ},
           "the patterns of a row have as many * each, not '" + row.stored + "' and '" + row.name +
               "'");
}

/// A tensor of a state, and where its weights are.
struct found_weight {
  std::string stored{};  ///< empty if no row is for it
  stored_form form = stored_form::same;
};
[[nodiscard]] inline found_weight find_weight(const weight_table& table, const std::string& name) {
  found_weight found;
  const weight_name* first = nullptr;
  for (const weight_name& row : table) {
    if (row.name.empty()) continue;
    std::optional<std::string> stored = translated_name(name, row.name, row.stored);
    if (!stored) continue;
    if (first != nullptr)
      fail({.rule = violation::state_names_differ}, "several rows are for '" + name +
                                                        "': those of '" + first->stored +
                                                        "' and '" + row.stored + "'");
    first = &row;
    found = {std::move(*stored), row.form};
  }
  return found;
}

/// Returns the view of the weights of a tensor. Throws `stored_tensor_differs`.
[[nodiscard]] inline stored_view view_weight(const tensor_source& source, const found_weight& found,
                                             const state_entry& into, stored_elements elements) {
  const tensor_desc& tensor = into.tensor();
  const stored_tensor& stored = source.find(found.stored, tensor.type, elements);
  const std::optional<stored_view> view = view_stored(stored, tensor.extents, found.form);
  if (!view)
    internal::fail_file(violation::stored_tensor_differs, source.path(),
                        "'" + stored.name + "' is [" + internal::stored_words(stored.extents) +
                            "]" + (found.form == stored_form::transposed ? ", transposed" : "") +
                            ", and its dimensions are not split into those of '" + into.name() +
                            "', [" + internal::stored_words(tensor.extents) + "]");
  return *view;
}

SHARDWISE_INLINE_FILES state_difference load_weights(const tensor_source& source,
                                                     const state_view& state, bool whole,
                                                     const weight_table& table, state_names names,
                                                     stored_elements elements) {
  require_stars(table);
  state_difference apart, said;
  std::set<std::string_view> needed;
  std::vector<std::pair<const state_entry*, stored_view>> loads;
  const auto need = [&](const std::string& name) {
    found_weight found = find_weight(table, name);
    const stored_tensor* const stored = source.find(found.stored);
    if (stored != nullptr) needed.insert(stored->name);
    return std::pair{std::move(found), stored};
  };
  for (const state_entry& each : state) {
    const std::string name = internal::stored_name(each.name());
    const auto [found, stored] = need(name);
    if (stored != nullptr) {
      loads.emplace_back(&each, view_weight(source, found, each, elements));
      continue;
    }
    apart.missing.push_back(name);
    said.missing.push_back(name + (found.stored.empty() ? ": no row is for it"
                                                        : ": there is no '" + found.stored + "'"));
  }
  for (const std::string& each : state.left_out()) (void)need(internal::stored_name(each));
  for (const stored_tensor& each : source.header().tensors) {
    const auto leaves_out = [&](const weight_name& row) {
      return row.name.empty() && translated_name(each.name, row.stored, {});
    };
    if (whole && needed.count(each.name) == 0 &&
        std::none_of(table.begin(), table.end(), leaves_out))
      apart.unexpected.push_back(each.name);
  }
  said.unexpected = apart.unexpected;
  if (names == state_names::all && !apart.empty())
    fail({.rule = violation::state_names_differ}, words_of(said));
  for (const auto& [entry, view] : loads)
    entry->replace(entry->filled([&, view = &view](const held_box& part, const any_block& block) {
      read_part(source, *view, part, block);
    }));
  return apart;
}

}  // namespace detail

}  // namespace shardwise
