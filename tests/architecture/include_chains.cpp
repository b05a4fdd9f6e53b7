// SPDX-License-Identifier: BSL-1.0
// include_chains ROOT
//
// Prints the headers of include/shardwise in chains, a line each, so that each header includes the
// one before it, directly or not. A program that includes the headers of a chain in their order
// compiles only if each of them compiles alone: what was read before a header is what the header
// includes itself. The chains are as few as can be (Dilworth's theorem, by a largest matching of
// headers with their successors), a quarter of the headers.
#include "source_tree.hpp"

#include <algorithm>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace {

/// What a header includes, directly or not.
using reached = std::set<std::size_t>;

void reach(const std::vector<reached>& direct, std::size_t from, reached& all) {
  for (const std::size_t next : direct[from])
    if (all.insert(next).second) reach(direct, next, all);
}

std::vector<reached> all_reached(const std::vector<header>& headers) {
  constexpr std::string_view own = "shardwise/";
  std::map<std::string, std::size_t> number;
  for (const header& h : headers) number.emplace(h.path, number.size());
  std::vector<reached> direct(headers.size()), all(headers.size());
  for (std::size_t h = 0; h < headers.size(); ++h)
    for (const include_line& include : headers[h].includes)
      if (include.target.compare(0, own.size(), own) == 0)
        if (const auto found = number.find(include.target.substr(own.size()));
            found != number.end())
          direct[h].insert(found->second);
  for (std::size_t h = 0; h < headers.size(); ++h) reach(direct, h, all[h]);
  return all;
}

/// Matches each header with at most one that it includes, and as many as can be.
class matching {
 public:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  explicit matching(const std::vector<reached>& includes)
      : includes_(includes), successor_(includes.size(), none) {
    for (std::size_t h = 0; h < includes.size(); ++h) {
      std::vector<bool> tried(includes.size(), false);
      find_predecessor(h, tried);
    }
  }
  /// The header that follows this one in its chain, or none.
  [[nodiscard]] std::size_t successor(std::size_t header) const { return successor_[header]; }

 private:
  bool find_predecessor(std::size_t header, std::vector<bool>& tried) {
    for (const std::size_t included : includes_[header]) {
      if (tried[included] || includes_[included].count(header)) continue;
      tried[included] = true;
      if (successor_[included] == none || find_predecessor(successor_[included], tried)) {
        successor_[included] = header;
        return true;
      }
    }
    return false;
  }

  const std::vector<reached>& includes_;
  std::vector<std::size_t> successor_;
};

}  // namespace

int main(int count, char* arguments[]) {
  if (count != 2) {
    std::cerr << "usage: include_chains ROOT\n";
    return 2;
  }
  std::vector<header> headers = read_tree(arguments[1]).headers;
  // Headers that only the compiled library includes are compiled with it.
  headers.erase(std::remove_if(headers.begin(), headers.end(),
                               [](const header& h) { return h.folder == "compiled"; }),
                headers.end());
  const std::vector<reached> includes = all_reached(headers);
  const matching chains(includes);
  std::vector<bool> follows(headers.size(), false);
  for (std::size_t h = 0; h < headers.size(); ++h)
    if (chains.successor(h) != matching::none) follows[chains.successor(h)] = true;
  for (std::size_t h = 0; h < headers.size(); ++h) {
    if (follows[h]) continue;
    for (std::size_t next = h; next != matching::none; next = chains.successor(next))
      std::cout << (next == h ? "" : " ") << "include/shardwise/" << headers[next].path;
    std::cout << '\n';
  }
  return headers.empty() ? 2 : 0;
}
