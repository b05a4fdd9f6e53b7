// SPDX-License-Identifier: BSL-1.0
#include "support/catch.hpp"
#include <shardwise/shardwise.hpp>

#include <iomanip>
#include <sstream>
#include <string>
#include <vector>

using namespace shardwise;

namespace {

template <class T>
std::string printed(const extents_desc& extents, std::vector<T> elements) {
  std::ostringstream out;
  out << host_tensor<T>(extents, std::move(elements));
  return out.str();
}

/// A tensor that counts its elements.
host_tensor<std::int32_t> counted(const extents_desc& extents) {
  std::vector<std::int32_t> elements;
  for (index_t i = 0; i < element_count(extents); ++i)
    elements.push_back(static_cast<std::int32_t>(i));
  return {extents, elements};
}

std::string printed_count(const extents_desc& extents) {
  std::ostringstream out;
  out << counted(extents);
  return out.str();
}

}  // namespace

TEST_CASE("a host tensor prints as a number, a row, or rows and columns") {
  CHECK(printed<float>({}, {2.5F}) == "2.5");
  CHECK(printed<float>({3}, {1.0F, -0.25F, 3.0F}) == "    1 -0.25     3");
  CHECK(printed<double>({2, 2}, {1e-9, 0.1, 2.0, 1e20}) == "1e-09   0.1\n    2 1e+20");
  CHECK(printed<std::int32_t>({3, 2}, {1, 2, 3, 4, 5, -60}) == "  1   2\n  3   4\n  5 -60");
  CHECK(printed<std::int64_t>({1, 1}, {-5'000'000'000}) == "-5000000000");
}

TEST_CASE("above rank 2 a host tensor prints page after page") {
  CHECK(printed_count({2, 2, 2}) == "[0, :, :]\n0 1\n2 3\n\n[1, :, :]\n4 5\n6 7");
  CHECK(printed_count({1, 2, 1, 2}) == "[0, 0, :, :]\n0 1\n\n[0, 1, :, :]\n2 3");
}

TEST_CASE("a host tensor without elements prints its extents") {
  CHECK(printed<float>({0}, {}) == "no elements: [0]");
  CHECK(printed<float>({4, 0}, {}) == "no elements: [4, 0]");
}

TEST_CASE("of more than a thousand elements each dimension prints both ends") {
  const std::string whole = printed_count({1000});
  CHECK(whole.find("...") == std::string::npos);
  CHECK(whole.size() == 1000 * 4 - 1);
  CHECK(printed_count({1001}) == "   0    1    2 ...  998  999 1000");
  CHECK(printed_count({300, 4}) ==
        "   0    1    2    3\n"
        "   4    5    6    7\n"
        "   8    9   10   11\n"
        "...\n"
        "1188 1189 1190 1191\n"
        "1192 1193 1194 1195\n"
        "1196 1197 1198 1199");
  CHECK(printed_count({2, 600}) ==
        "   0    1    2 ...  597  598  599\n"
        " 600  601  602 ... 1197 1198 1199");
  // Six elements are printed in full, seven are shortened.
  CHECK(printed_count({6, 200}).find("\n...") == std::string::npos);
  CHECK(printed_count({7, 200}).find("\n...\n") != std::string::npos);
  const std::string pages = printed_count({8, 2, 100});
  CHECK(pages.find("[2, :, :]\n") != std::string::npos);
  CHECK(pages.find("\n\n...\n\n[5, :, :]\n") != std::string::npos);
  CHECK(pages.find("[3, :, :]") == std::string::npos);
}

TEST_CASE("the stream says how a number looks, and is left as it was") {
  std::ostringstream out;
  out << std::fixed << std::setprecision(2) << std::setw(6)
      << host_tensor<double>({2}, {1.0 / 3.0, 10.0}) << '|' << 0.125;
  CHECK(out.str() == "  0.33  10.00|0.12");
}

TEST_CASE("what to_host gives prints") {
  struct pod : mesh<axis<"data", 2>> {};
  const device_pool pool{pod{}};
  std::ostringstream out;
  out << to_host(iota<sharded_tensor<float, extents<2, 3>, layout<pod, P<"data", none>>>>(pool) *
                 10.0F);
  CHECK(out.str() == " 0 10 20\n30 40 50");
}
