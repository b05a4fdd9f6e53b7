// SPDX-License-Identifier: BSL-1.0
// Every rule has a unique name and sentence, which the documentation repeats.
#include "support/catch.hpp"
#include <shardwise/core.hpp>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>

using namespace shardwise;

namespace {

std::filesystem::path source_dir() {
#if defined(SHARDWISE_SOURCE_DIR)
  return SHARDWISE_SOURCE_DIR;
#else
  return ".";
#endif
}

std::string read_file(const std::filesystem::path& file) {
  std::ifstream in(source_dir() / file);
  std::ostringstream text;
  text << in.rdbuf();
  REQUIRE(!text.str().empty());
  return text.str();
}

std::string to_string(text_view words) { return {words.data(), words.size()}; }

/// The rules that only the compiler can check, with their sentences.
std::map<misuse, text_view> misuses() {
  using enum misuse;
  constexpr bool satisfied = true;
  std::map<misuse, text_view> found;
  const auto add = [&](misuse rule, text_view demand) { found[rule] = demand; };
#define SHARDWISE_RULE ); add(
#define SHARDWISE_SAYS ,
#include "shardwise/core/misuses.inc"
#undef SHARDWISE_RULE
#undef SHARDWISE_SAYS
  return found;
}
constexpr auto misuse_count = static_cast<std::size_t>(misuse::reduced_elements_differ) + 1;

text_view name_of(misuse rule) {
  return detail::name_in(detail::spelled<misuse>(std::make_index_sequence<misuse_count>{}),
                         static_cast<std::size_t>(rule));
}

}  // namespace

TEST_CASE("the name of a rule is that of its enumerator") {
  CHECK(shardwise::name_of(violation::nothing) == "nothing");
  CHECK(shardwise::name_of(violation::axis_is_repeated_in_mesh) == "axis_is_repeated_in_mesh");
  CHECK(shardwise::name_of(violation::planned_layout_is_fixed) == "planned_layout_is_fixed");
}

TEST_CASE("the manual has every rule, in order and with its sentence") {
  const std::string page = read_file("docs/reference/diagnostics.md");
  const auto has_entry = [&](text_view name, text_view demand, std::size_t from) {
    const std::string entry = "### `" + to_string(name) + "`\n\n**" + to_string(demand) + "**\n";
    CAPTURE(entry);
    const std::size_t at = page.find(entry, from);
    CHECK(at != std::string::npos);
    return at == std::string::npos ? from : at;
  };
  std::size_t at = 0;
  for (std::size_t i = 1; i < detail::rule_count; ++i) {
    const auto rule = static_cast<violation>(i);
    at = has_entry(shardwise::name_of(rule), text_of(rule).demand, at);
  }
  for (const auto& [rule, demand] : misuses()) has_entry(name_of(rule), demand, 0);
}

TEST_CASE("an error says its rule and its facts") {
  const diagnosis verdict{
      .rule = violation::operand_sizes_differ, .operand = 1, .dim = 0, .have = 6, .want = 4};
  const error plain(verdict);
  CHECK(plain.code() == violation::operand_sizes_differ);
  CHECK(plain.verdict() == verdict);
  CHECK(plain.what() ==
        std::string("operand_sizes_differ: corresponding dimensions of operands have the same size "
                    "(operand 1, dimension 0, 6 where 4 is needed)"));
  CHECK_THAT(error(verdict, "and more").what(), contains("is needed); and more"));
  const auto facts = [](violation rule, index_t have, index_t want) {
    return std::string(describe({.rule = rule, .have = have, .want = want}).c_str());
  };
  CHECK_THAT(facts(violation::extent_is_not_divisible, 4, 3), contains(" (4 into 3 equal parts)"));
  CHECK_THAT(facts(violation::einsum_is_malformed, 5, 8), contains(" (5 of 8 characters)"));
  CHECK_THAT(facts(violation::device_is_out_of_range, 6, 6),
             contains(" (6 where less than 6 is needed)"));
  CHECK_THAT(facts(violation::dimension_is_out_of_range, 2, 2),
             contains(" (2 where at least -2 and less than 2 is needed)"));
  CHECK_THAT(facts(violation::pool_size_differs, 4, 8),
             contains(" (4 devices where 8 are needed)"));
  CHECK_THROWS_AS(fail(verdict), error);
  CHECK_THROWS_AS(require(verdict), std::exception);
  CHECK_NOTHROW(require({}));
}

TEST_CASE("every rule has a sentence of its own that fits any message") {
  std::set<std::string> demands;
  for (const auto& [rule, demand] : misuses()) demands.insert(to_string(demand));
  for (std::size_t i = 0; i < detail::rule_count; ++i) {
    const auto rule = static_cast<violation>(i);
    const std::string demand = to_string(text_of(rule).demand);
    demands.insert(demand);
    const message_text words = describe({.rule = rule,
                                         .operand = 3,
                                         .dim = 7,
                                         .axis = "abcdefghijklmnopqrstuvw",
                                         .have = -9223372036854775807,
                                         .want = 9223372036854775807});
    CHECK_THAT(words.c_str(), contains(to_string(shardwise::name_of(rule)) + ": " + demand + " ("));
    CHECK(words.size() < 300);
  }
  CHECK(demands.size() == detail::rule_count + misuse_count);
  CHECK(demands.count("") == 0);
}

TEST_CASE("the failure handler can be exchanged and put back") {
  const failure_handler mine = [](const error&) {};
  const failure_handler before = set_failure_handler(mine);
  CHECK(set_failure_handler(before) == mine);
}

TEST_CASE("an error shows zeros in its words, and what follows them") {
  const char name[] = "a\0b";
  const error failure({.rule = violation::file_is_malformed}, text_view(name, 3));
  CHECK_THAT(failure.what(), contains("; a\\0b"));
  CHECK_THROWS_WITH(internal::require_whole_path(violation::file_is_not_readable, {name, 3}),
                    contains("file_is_not_readable") &&
                        contains("a\\0b: a path ends at its first zero, and this one goes on"));
  CHECK_NOTHROW(internal::require_whole_path(violation::file_is_not_readable, "a path"));
}
