// SPDX-License-Identifier: BSL-1.0
#include "examples/next_character/vocabulary.hpp"

#include "support/catch.hpp"

#include <cstdint>
#include <vector>

TEST_CASE("characters are numbered by their frequency") {
  const next_character::vocabulary known("bbbaac", 3);
  CHECK(known.known() == 2);
  CHECK(known.code('b') == 0);
  CHECK(known.code('a') == 1);
  CHECK(known.code('c') == 2);
  CHECK(known.code('z') == 2);
  CHECK(known.byte(0) == 'b');
  CHECK(known.codes("abz") == std::vector<std::uint8_t>{1, 0, 2});
  CHECK(next_character::vocabulary("bbbaac", 96).known() == 3);
}
