// SPDX-License-Identifier: BSL-1.0
#include "support/catch.hpp"
#include "unit/plan/propagate_layouts_facts.hpp"

#include <string>
#include <vector>

TEST_CASE("layouts are propagated through programs as the facts say") {
  for (const propagated::propagated_fact& fact : propagated::facts) {
    CAPTURE(std::string_view(fact.label.data(), fact.label.size()));
    CHECK(holds(fact));
  }
}

TEST_CASE("known layouts may be those of a vector") {
  using namespace propagated;
  const auto program =
      trace_program<8>([](const auto& x) { return -x; }, on<propagated::square, 8>);
  const std::vector<known_layout> known{{input, 0, R"([{"a"}])"}};
  const auto found = propagate_layouts(program, known);
  CHECK(text_view(to_text(program.mesh, found.result())) == R"([{"a", ?}])");
}

TEST_CASE("known layouts that a program cannot have are refused") {
  using namespace propagated;
  const auto program = trace_program<8>(propagated::product, on<propagated::square, 8, 4>,
                                        on<propagated::square, 4, 6>);
  const auto refusal = [&](const known_layout& known) {
    try {
      (void)propagate_layouts(program, {known});
    } catch (const error& refused) {
      return std::string(refused.what());
    }
    return std::string();
  };
  const auto says = [](const std::string& words, const char* part) {
    CAPTURE(words);
    return words.find(part) != std::string::npos;
  };
  CHECK(says(refusal({input, 0, R"([{"a", {}])"}), R"(in "[{"a", {}]" at)"));
  CHECK(says(refusal({input, 0, R"([{"z"}, {}])"}), "axes are those of the mesh"));
  CHECK(says(refusal({input, 2, R"([{"a"}, {}])"}), "the program has no input 2"));
  CHECK(says(refusal({result, -1, R"([{"a"}, {}])"}), "the program has no result -1"));
  CHECK(says(refusal({value, 3, R"([{"a"}, {}])"}), "the program has no value 3"));
  CHECK(says(refusal({input, 1, R"([{"a"}])"}), "1 where 2 is needed"));
}
