// SPDX-License-Identifier: BSL-1.0
#include "examples/demo/text.hpp"

#include "support/catch.hpp"

#include <string>

namespace {

/// The error of a text; empty if it is accepted.
std::string refusal(std::string_view text) {
  try {
    demo::require_text(text, "it");
    return {};
  } catch (const demo::bad_input& problem) {
    return problem.what();
  }
}

std::string repeat(std::string_view words, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += words;
  return all;
}

}  // namespace

TEST_CASE("the demo accepts text in any language") {
  CHECK(refusal(repeat("Plain words.\n\t", 10)).empty());
  CHECK(refusal(repeat("Gr\xc3\xb6\xc3\x9f"
                       "e \xe4\xb8\xad\xe6\x96\x87 \xf0\x9f\x98\x80\r\n",
                       10))
            .empty());
  // An 8-bit encoding is not UTF-8, but most of it is.
  CHECK(refusal(repeat("Gr\xf6\xdf"
                       "e und M\xfchen\n",
                       10))
            .empty());
}

TEST_CASE("the demo refuses what is no text") {
  CHECK(refusal("") == "it is empty");
  CHECK(refusal("Hello.") == "it is too short: 6 bytes, at least 64 are needed");
  CHECK(refusal(std::string(100, '\0')) == "it is binary: it has zero bytes");
  CHECK(refusal(std::string(100, '\xff')) ==
        "it is binary, or not in UTF-8: 100 of 100 bytes are no text");
  // Surrogates, overlong encodings and truncated characters.
  CHECK(demo::character_size("\xc0\x80") == 0);
  CHECK(demo::character_size("\xe4\xb8") == 0);
  CHECK(demo::character_size("\xf5\x80\x80\x80") == 0);
  CHECK(demo::character_size("\x7f") == 0);
  CHECK(demo::printable("a\nb\xff\xc3\xb6") == "a b?\xc3\xb6");
}

TEST_CASE("the demo says why it cannot read") {
  CHECK_THROWS_WITH(demo::read_file("/no/such/file"),
                    "cannot read '/no/such/file': No such file or directory");
  CHECK_THROWS_WITH(demo::read_file("/"), "cannot read '/': it is a directory");
  CHECK_THROWS_WITH(demo::read_project("/no/such"), "cannot read '/no/such': no such directory");
}
