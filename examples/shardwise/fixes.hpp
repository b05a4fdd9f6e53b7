// SPDX-License-Identifier: BSL-1.0
// Requests that hold, like one that does not.
#pragma once

#include "fix_texts.hpp"
#include "request.hpp"
#include <shardwise/operation/catalogue.hpp>

namespace tool {

namespace detail {

/// Requests that may hold instead of a refused one, the most likely first.
class fix_candidates {
 public:
  fix_candidates(const request& asked, const refusal& why) : asked_(asked), why_(why) {
    answer_operation();
    if (const std::string* const text = wrong_text()) {
      if (text->empty()) add_text("{replicated}");
      replace_word(*text);
      change_dimension(*text);
      change_count(*text);
      respell(*text);
      if (why.at)
        for (std::string& one : repaired(*text, *why.at)) add_text(std::move(one));
    }
    change_shape();
    supply_missing();
    for (const std::string_view label :
         {std::string_view(why.option), std::string_view("mesh"), std::string_view("devices"),
          std::string_view("shape"), std::string_view("dcn"), std::string_view("names"),
          std::string_view("ordinals")})
      if (find_option(label) != nullptr && asked.has(label) && may_lack(label))
        add(label, std::nullopt);
    if (why.option == "operands" && (asked.what & with_operands) == 0) {
      all_.push_back(asked);
      all_.back().operands.clear();
    }
  }

  [[nodiscard]] const std::vector<request>& all() const noexcept { return all_; }

 private:
  void add(std::string_view label, std::optional<std::string> value) {
    request one = asked_;
    one.replace(label, std::move(value));
    all_.push_back(std::move(one));
  }
  /// False for the one option that says what the sharding is.
  [[nodiscard]] bool may_lack(std::string_view label) const {
    const bool is_sharding =
        label == "sharding" || label == "spec" || label == "hlo" || label == "placements";
    return !is_sharding || why_.code == "options_exclude_each_other" ||
           why_.code == "option_is_unknown";
  }
  /// The text of the option that is wrong, or null.
  [[nodiscard]] const std::string* wrong_text() const {
    const auto operand = static_cast<std::size_t>(why_.operand);
    if (why_.option == "operands")
      return why_.operand >= 0 && operand < asked_.operands.size() ? &asked_.operands[operand]
                                                                   : nullptr;
    if (find_option(why_.option) == nullptr || !asked_.has(why_.option)) return nullptr;
    return &*asked_.get(why_.option);
  }
  /// Another text in the place of the wrong one.
  void add_text(std::string text) {
    if (why_.option != "operands") return add(why_.option, std::move(text));
    request one = asked_;
    one.operands[static_cast<std::size_t>(why_.operand)] = std::move(text);
    all_.push_back(std::move(one));
  }

  /// What the rules of an operation propose.
  void answer_operation() {
    if (why_.reshards && !why_.reshards->empty()) {
      request one = asked_;
      one.operands = *why_.reshards;
      all_.push_back(std::move(one));
    }
    std::string axes;
    for (const std::string& axis : why_.across) axes += (axes.empty() ? "" : ",") + axis;
    if (!axes.empty()) add("across", axes);
  }
  /// Other words in the place of the wrong one, or none.
  void replace_word(const std::string& text) {
    if (!why_.at) return;
    const text_part word{text, *why_.at, *why_.at + why_.length};
    for (const std::string& choice : most_alike(why_.choices, word.words()))
      add_text(word.with(choice));
    if (word.words().empty()) return;
    for (std::string& one : without(word)) add_text(std::move(one));
    // A second axis of the same name gets a name of its own.
    add_text(word.with(std::string(word.words()) + "_2"));
  }
  /// More or fewer entries, where a sharding has another number of them than a tensor or a mesh.
  void change_count(const std::string& text) {
    if (why_.at || why_.option == "mesh" || why_.option == "shape") return;
    const bool is_placed = text.find('R') != text.npos || text.find("S(") != text.npos;
    std::string longer = text;
    for (int more = 0; more < 3; ++more) add_text(longer += is_placed ? " R" : ",-");
    for (std::size_t end = text.find_last_of(" ,"); end != text.npos && end > 0;
         end = text.find_last_of(" ,", end - 1))
      add_text(text.substr(0, end));
  }
  /// A dimension that the tensor has, where placements name another one.
  void change_dimension(const std::string& text) {
    const auto& shape = asked_.get("shape");
    if (why_.code != "placements_do_not_fit" || !shape) return;
    const std::size_t rank = split(*shape, 'x').size();
    for (std::size_t at = text.find('('); at != text.npos && at + 1 < text.size();
         at = text.find('(', at + 1))
      for (std::size_t d = rank; d-- > 0;)
        add_text(text_part{text, at + 1, at + 2}.with(std::to_string(d)));
  }
  /// The same words with the signs that belong between them.
  void respell(const std::string& text) {
    const bool is_mesh = why_.option == "mesh";
    const bool is_sizes = why_.option == "shape" || why_.option == "physical" ||
                          why_.option == "ici" || why_.option == "dcn";
    if (!is_mesh && !is_sizes) return;
    const std::vector<std::string> words = words_of(text, is_sizes);
    std::string sizes, named;
    for (std::size_t i = 0; i < words.size(); ++i) {
      sizes += (i > 0 ? "x" : "") + words[i];
      named += (i == 0 ? "" : i % 2 == 1 ? "=" : ",") + words[i];
    }
    if (is_mesh && words.size() % 2 == 0) add_text(named);
    add_text(sizes);
  }
  /// A tensor of the rank that the sharding has, or of some other rank.
  void change_shape() {
    const auto& shape = asked_.get("shape");
    const bool is_missing = why_.option == "shape" && !shape;
    if (!is_missing && !(shape && (why_.rank || why_.code == "placements_do_not_fit"))) return;
    const auto sizes = split(shape ? std::string_view(*shape) : std::string_view("16"), 'x');
    if (sizes.empty()) return;
    const std::size_t least = why_.rank ? static_cast<std::size_t>(*why_.rank) : 1;
    const std::size_t most = why_.rank ? least : sizes.size() + 1;
    for (std::size_t rank = least; rank <= most; ++rank) {
      std::string words;
      for (std::size_t d = 0; d < rank; ++d)
        words += (d > 0 ? "x" : "") + std::string(sizes[std::min(d, sizes.size() - 1)]);
      add("shape", words);
    }
  }
  /// Values for options that are needed, or that allow more.
  void supply_missing() {
    if (asked_.what == hybrid_command && !asked_.has("algorithm")) add("algorithm", "jax");
    if (why_.option == "svg" && !asked_.has("svg")) add("svg", "-");
    if (why_.option == "sharding" && !asked_.has("sharding")) add("sharding", "{replicated}");
    if (why_.option == "mesh" && !asked_.has("mesh")) supply_mesh();
    if (why_.option == "op" && !asked_.has("op")) add("op", "negate");
    if (why_.code != "option_is_missing" || !asked_.has("op")) return;
    const catalogued_operation* const entry = find_operation(text_view(*asked_.get("op")));
    if (entry == nullptr || find_option(why_.word) == nullptr) return;
    for (const std::string_view words : split(view(entry->arguments), ' '))
      if (words.substr(0, words.find('=')) == why_.word)
        add(why_.word, std::string(words.substr(words.find('=') + 1)));
  }
  /// A mesh with an axis of 2 devices for each name, or as many axes as there are placements.
  void supply_mesh() {
    for (const std::string_view option : {"sharding", "spec", "placements", "to"}) {
      if (!asked_.has(option)) continue;
      std::string named, sizes;
      std::vector<std::string> known;
      for (const std::string& word : words_of(*asked_.get(option))) {
        const bool is_number = word.find_first_not_of("0123456789") == word.npos;
        const bool is_sign = word == "P" || word == "S" || word == "R" || word == "SS" ||
                             word == "None" || word == "sdy" || word == "sharding" ||
                             word == "mesh" || word == "f32" || word == "partial" || word == "sum";
        if (!is_number) sizes += sizes.empty() ? "2" : "x2";
        if (is_number || is_sign || std::find(known.begin(), known.end(), word) != known.end())
          continue;
        named += (named.empty() ? "" : ",") + word + "=2";
        known.push_back(word);
      }
      if (!named.empty()) add("mesh", named);
      if (!sizes.empty()) add("mesh", sizes);
    }
    add("mesh", "x=2,y=2");
  }

  const request& asked_;
  const refusal& why_;
  std::vector<request> all_;
};

}  // namespace detail

/// The first requests like a refused one to which `check` has no objection. Each differs from it in
/// one option; where there are none, in two.
template <class Check>
[[nodiscard]] std::vector<request> fixes_of(const request& asked, const refusal& why, Check&& check,
                                            int more_faults = 1) {
  constexpr std::size_t most = 4;
  std::vector<request> fixes;
  std::vector<std::pair<request, refusal>> better;
  const detail::fix_candidates candidates(asked, why);
  for (const request& one : candidates.all()) {
    if (one == asked || std::find(fixes.begin(), fixes.end(), one) != fixes.end()) continue;
    objection no = check(one);
    if (!no) fixes.push_back(one);
    if (fixes.size() == most) break;
    if (no && no->option != why.option && better.size() < most)
      better.emplace_back(one, *std::move(no));
  }
  if (more_faults == 0) return fixes;
  for (auto one = better.begin(); fixes.empty() && one != better.end(); ++one)
    fixes = fixes_of(one->first, one->second, check, more_faults - 1);
  return fixes;
}

}  // namespace tool
