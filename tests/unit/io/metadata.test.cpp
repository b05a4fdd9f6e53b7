// SPDX-License-Identifier: BSL-1.0
// Numbers as texts of metadata.
#include "support/catch.hpp"
#include "support/refusal.hpp"
#include <shardwise/io.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <string>

using namespace shardwise;

namespace {

template <class T>
T again(T number) {
  return metadata_number<T>({{"number", metadata_text(number)}}, "number");
}
template <class T>
void check_limits() {
  using limits = std::numeric_limits<T>;
  for (const T number : {limits::lowest(), limits::min(), T{0}, limits::max()})
    CHECK(again(number) == number);
}

}  // namespace

TEST_CASE("numbers of metadata read back equal") {
  check_limits<std::int8_t>();
  check_limits<std::uint8_t>();
  check_limits<int>();
  check_limits<index_t>();
  check_limits<std::uint64_t>();
  check_limits<float>();
  check_limits<double>();
  // Integers that no double holds, and steps that six digits do not.
  CHECK(again((index_t{1} << 53) + 1) == 9'007'199'254'740'993);
  CHECK(metadata_text(162194619) == "162194619");
  CHECK(again(random_key{~0ULL}) == random_key{~0ULL});

  constexpr double infinite = std::numeric_limits<double>::infinity();
  for (const double number :
       {0.1, 1e-7, 1.0 / 3, std::numeric_limits<double>::denorm_min(),
        std::numeric_limits<double>::epsilon(), 162194619.0, infinite, -infinite})
    CHECK(again(number) == number);
  CHECK(metadata_text(0.1) == "0.1");
  CHECK(metadata_text(0.1F) == "0.1");
  CHECK(std::signbit(again(-0.0)));
  CHECK(std::isnan(again(std::numeric_limits<double>::quiet_NaN())));
  CHECK(std::isnan(again(std::numeric_limits<float>::quiet_NaN())));
}

TEST_CASE("a text of metadata that is no number is refused by its name") {
  const auto told = [](const std::string& words) -> std::string {
    try {
      return std::to_string(metadata_number<int>({{"step", words}}, "step"));
    } catch (const error& refused) {
      return refused.what();
    }
  };
  CHECK(told("12") == "12");
  for (const char* words : {"", "x", "1x", " 1", "1 ", "+1", "1.5", "null", "99999999999"})
    CHECK(told(words).find(std::string("the metadata has '") + words +
                           "' as 'step', not a number in range") != std::string::npos);
  const auto is_malformed = [](auto kind, const char* words) {
    return refusal([&] {
             (void)metadata_number<decltype(kind)>({{"n", words}}, "n");
           }) == violation::text_is_malformed;
  };
  CHECK(is_malformed(std::uint8_t{}, "256"));
  CHECK(is_malformed(std::uint64_t{}, "-1"));
  CHECK(is_malformed(double{}, "1e400"));
  CHECK(is_malformed(random_key{}, "0x1"));
  CHECK(refusal([] { (void)metadata_number<int>({}, "step"); }) == violation::text_is_malformed);
}
