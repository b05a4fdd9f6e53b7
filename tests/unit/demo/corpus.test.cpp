// SPDX-License-Identifier: BSL-1.0
#include "examples/demo/corpus.hpp"

#include "support/catch.hpp"

#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace {

/// The bytes that batches read, including the targets.
std::set<shardwise::index_t> bytes_read(const demo::corpus& text, bool is_held_out) {
  std::mt19937_64 random(3);
  std::set<shardwise::index_t> read;
  for (int i = 0; i < 2000; ++i)
    for (const shardwise::index_t from : text.draw(random, is_held_out))
      for (shardwise::index_t p = 0; p <= demo::positions; ++p) read.insert(from + p);
  return read;
}

}  // namespace

TEST_CASE("no byte that is held out is trained on") {
  for (const std::size_t size : {demo::corpus::shortest, std::size_t{5000}, std::size_t{40000}}) {
    const demo::corpus text(std::string(size, 'a'));
    const auto trained = bytes_read(text, false), held_out = bytes_read(text, true);
    CAPTURE(size);
    REQUIRE(*trained.begin() < 64);
    REQUIRE(*trained.rbegin() < text.size());
    REQUIRE(*held_out.rbegin() < text.size());
    REQUIRE(held_out.size() > static_cast<std::size_t>(demo::positions));
    REQUIRE(trained.size() > 10 * held_out.size());
    for (const shardwise::index_t at : held_out) REQUIRE(trained.count(at) == 0);
  }
}

TEST_CASE("words that the text has are counted among those of some lines") {
  const demo::corpus text("who holds what: a tensor is split; " + std::string(2000, '.'));
  const std::vector<std::string> lines{"what holds", "a tensorr is split2", ""};
  CHECK(demo::count_words(text, lines) == std::pair(3L, 4L));
}
