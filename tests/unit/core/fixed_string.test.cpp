// SPDX-License-Identifier: BSL-1.0
#include "support/catch.hpp"
#include <shardwise/core.hpp>

#include <sstream>

using namespace shardwise;

TEST_CASE("names are written to streams of every kind, and literals beside them") {
  std::ostringstream out;
  out << "axis " << short_name("model") << ", " << text_view("rule");
  CHECK(out.str() == "axis model, rule");
}
