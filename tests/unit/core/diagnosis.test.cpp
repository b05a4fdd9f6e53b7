// SPDX-License-Identifier: BSL-1.0
// Every rule is said once, and everywhere alike: the enumerators, the table of sentences, the
// static_asserts of the type layer, and the page of the manual.
#include "support/catch.hpp"
#include <shardwise/core.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

using namespace shardwise;

namespace {

std::filesystem::path source_dir() {
#if defined(SHARDWISE_SOURCE_DIR)
  return SHARDWISE_SOURCE_DIR;
#else
  return std::filesystem::path(__FILE__).parent_path() / "../../..";
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

/// The text of adjacent string literals.
std::string joined(const std::string& literals) {
  static const std::regex literal("\"((?:[^\"\\\\]|\\\\.)*)\"");
  std::string words;
  for (std::sregex_iterator it(literals.begin(), literals.end(), literal), end; it != end; ++it)
    words += std::regex_replace((*it)[1].str(), std::regex(R"(\\(.))"), "$1");
  return words;
}

/// The enumerators of an enumeration, as its header has them.
std::vector<std::string> enumerators(const std::filesystem::path& header, const std::string& name) {
  const std::string source = read_file(header);
  const std::size_t begin = source.find("enum class " + name);
  std::istringstream body(source.substr(begin, source.find("};", begin) - begin));
  std::vector<std::string> found;
  for (std::string line; std::getline(body, line);) {
    std::smatch match;
    if (std::regex_match(line, match, std::regex("  (\\w+),"))) found.push_back(match[1]);
  }
  return found;
}

}  // namespace

TEST_CASE("the table of rules has the order of the enumerators") {
  const std::vector<std::string> rules =
      enumerators("include/shardwise/core/rules.hpp", "violation");
  REQUIRE(rules.size() == std::size(rule_texts));
  for (std::size_t i = 0; i < rules.size(); ++i) {
    CHECK(to_string(rule_texts[i].name) == rules[i]);
    CHECK(&text_of(static_cast<violation>(i)) == &rule_texts[i]);
  }
}

TEST_CASE("the compiler, the run and the manual say the same sentence") {
  static const std::regex assertion(
      R"re(static_assert\(\s*satisfied<rule<(\w+)>, About, Facts\.\.\.>,\s*)re"
      R"re(((?:"(?:[^"\\]|\\.)*"\s*)+)\))re");
  const std::string page = read_file("docs/reference/diagnostics.md");
  const auto entry_of = [](const std::string& name, const std::string& demand) {
    return "### `" + name + "`\n\n**" + demand + "**\n";
  };
  std::map<std::string, std::string> demands;
  std::vector<std::string> order;
  std::size_t at = 0;
  for (const rule_text& text : rule_texts) {
    const std::string name = to_string(text.name);
    order.push_back(name);
    demands[name] = to_string(text.demand);
    if (&text == rule_texts) continue;
    CAPTURE(name);
    const std::size_t next = page.find(entry_of(name, demands[name]), at);
    CHECK(next != std::string::npos);  // in the order of the table
    if (next != std::string::npos) at = next;
  }
  // What only the compiler can see is not in the table; each of it is asserted.
  const std::string header = "include/shardwise/core/broken_rule.hpp";
  const std::vector<std::string> misuses = enumerators(header, "misuse");
  order.insert(order.end(), misuses.begin(), misuses.end());
  std::set<std::string> missing(misuses.begin(), misuses.end());
  const std::string source = read_file(header);
  std::size_t found = 0;
  auto place = order.begin();
  for (std::sregex_iterator it(source.begin(), source.end(), assertion), end; it != end;
       ++it, ++found) {
    const std::string name = (*it)[1];
    const std::string demand = joined((*it)[2]);
    CAPTURE(name);
    place = std::find(place, order.end(), name);
    REQUIRE(place != order.end());  // in the order of the enumerators, and once
    ++place;
    CHECK(demands.try_emplace(name, demand).first->second == demand);
    CHECK(page.find(entry_of(name, demand)) != std::string::npos);
    missing.erase(name);
  }
  CHECK(missing.empty());
  CHECK(found >= 60);
  // There is no other way to break a rule.
  std::size_t asked = 0;
  const std::string question = "satisfied<rule<";
  for (const auto& file :
       std::filesystem::recursive_directory_iterator(source_dir() / "include/shardwise")) {
    if (file.path().extension() != ".hpp") continue;
    const std::string text = read_file(file.path());
    for (at = text.find(question); at != std::string::npos; at = text.find(question, at + 1))
      ++asked;
  }
  CHECK(found == asked);
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
             contains(" (2 where less than 2 is needed)"));
  CHECK_THAT(facts(violation::pool_size_differs, 4, 8),
             contains(" (4 devices where 8 are needed)"));
  CHECK_THROWS_AS(fail(verdict), error);
  CHECK_THROWS_AS(require(verdict), std::exception);
  CHECK_NOTHROW(require({}));
}

TEST_CASE("every rule has a sentence of its own that fits any message") {
  for (std::size_t i = 0; i < std::size(rule_texts); ++i) {
    const auto rule = static_cast<violation>(i);
    const sentence words = describe({.rule = rule,
                                     .operand = 3,
                                     .dim = 7,
                                     .axis = "abcdefghijklmnopqrstuvw",
                                     .have = -9223372036854775807,
                                     .want = 9223372036854775807});
    CHECK_THAT(words.c_str(), contains(to_string(text_of(rule).name) + ": " +
                                       to_string(text_of(rule).demand) + " ("));
    CHECK(words.size() < 300);
    for (std::size_t j = 0; j < i; ++j) {
      CHECK_FALSE(text_of(rule).name == rule_texts[j].name);
      CHECK_FALSE(text_of(rule).demand == rule_texts[j].demand);
    }
  }
}

TEST_CASE("the failure handler can be exchanged and put back") {
  const failure_handler mine = [](const error&) {};
  const failure_handler before = set_failure_handler(mine);
  CHECK(set_failure_handler(before) == mine);
}
