// SPDX-License-Identifier: BSL-1.0
#include "support/catch.hpp"
#include "unit/layout/grain_facts.hpp"

#include <vector>

using namespace shardwise;

namespace {

/// The position of every element, one at a time, by definition.
std::vector<index_t> owners_of_indices(grain how, index_t size, index_t parts) {
  std::vector<index_t> owners;
  if (how.is_cyclic()) {
    while (static_cast<index_t>(owners.size()) < size) {
      const auto i = static_cast<index_t>(owners.size());
      owners.push_back(i / how.number() % parts);
    }
    return owners;
  }
  // torch.chunk twice: into chunks, and each of them into pieces.
  const index_t chunk = size == 0 ? 1 : (size + how.number() - 1) / how.number();
  for (index_t begin = 0; begin < size; begin += chunk) {
    const index_t length = size - begin < chunk ? size - begin : chunk;
    const index_t piece = (length + parts - 1) / parts;
    for (index_t i = 0; i < length; ++i) owners.push_back(i / piece);
  }
  return owners;
}

/// The number of elements of a process, as ScaLAPACK's NUMROC counts them, source process 0.
index_t numroc(index_t n, index_t nb, index_t process, index_t processes) {
  const index_t blocks = n / nb;
  index_t count = blocks / processes * nb;
  const index_t extra = blocks % processes;
  if (process < extra)
    count += nb;
  else if (process == extra)
    count += n % nb;
  return count;
}

std::vector<grain> grains() {
  std::vector<grain> all;
  for (index_t b = 1; b <= 5; ++b) all.push_back(grain::cyclic(b));
  for (index_t f = 2; f <= 5; ++f) all.push_back(grain::strided(f));
  return all;
}

}  // namespace

TEST_CASE("known elements are where ScaLAPACK, Elemental and DTensor have them") {
  for (const grain_fact& fact : grain_facts) {
    CAPTURE(fact.how.code, fact.size, fact.parts, fact.position);
    REQUIRE(holds(fact));
  }
}

TEST_CASE("every element has one owner, and local and global indices are inverse") {
  for (grain how : grains())
    for (index_t size = 0; size <= 30; ++size)
      for (index_t parts = 1; parts <= 5; ++parts) {
        CAPTURE(how.code, size, parts);
        const grained_split split{how, size, parts};
        const std::vector<index_t> owners = owners_of_indices(how, size, parts);
        std::vector<index_t> counts(static_cast<std::size_t>(parts), 0);
        for (index_t i = 0; i < size; ++i) {
          const index_t p = owners[static_cast<std::size_t>(i)];
          const index_t local = counts[static_cast<std::size_t>(p)]++;
          REQUIRE(split.find(i) == grained_split::place{p, local});
          REQUIRE(split.global(p, local) == i);
        }
        index_t before = 0;
        for (index_t p = 0; p < parts; ++p) {
          REQUIRE(split.offset(p) == before);
          REQUIRE(split.count(p) == counts[static_cast<std::size_t>(p)]);
          REQUIRE(split.count(p) <= split.count(0));
          if (how.is_cyclic()) REQUIRE(split.count(p) == numroc(size, how.number(), p, parts));
          if (size % how.unit(parts) == 0) REQUIRE(split.count(p) * parts == size);
          before += split.count(p);
          // Runs of consecutive elements, up to the end of a block.
          for (index_t x = 0; x < split.count(p);) {
            const index_t run = split.run(p, x);
            REQUIRE(run > 0);
            REQUIRE(x + run <= split.count(p));
            for (index_t i = 1; i < run; ++i)
              REQUIRE(split.global(p, x + i) == split.global(p, x) + i);
            x += run;
          }
        }
        REQUIRE(before == size);
        index_t at = 0;
        for (index_t piece = 0; piece < split.pieces(); ++piece) {
          const auto [position, range] = split.piece_at(piece);
          REQUIRE(range.begin == at);
          REQUIRE(!range.empty());
          for (index_t i = range.begin; i < range.end; ++i)
            REQUIRE(owners[static_cast<std::size_t>(i)] == position);
          at = range.end;
        }
        REQUIRE(at == size);
      }
}

TEST_CASE("sizes far beyond any machine stay exact") {
  const index_t n = (index_t{1} << 60) + 12345;
  for (grain how : {grain::cyclic(1), grain::cyclic(grain::largest), grain::strided(2),
                    grain::strided(grain::largest)}) {
    const grained_split split{how, n, 512};
    CAPTURE(how.code);
    REQUIRE(split.offset(512) == n);
    for (index_t p : {index_t{0}, index_t{7}, index_t{511}})
      for (index_t x : {index_t{0}, split.count(p) / 3, split.count(p) - 1})
        REQUIRE(split.find(split.global(p, x)) == grained_split::place{p, x});
  }
}
