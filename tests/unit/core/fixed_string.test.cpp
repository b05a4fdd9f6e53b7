// SPDX-License-Identifier: BSL-1.0
#include "support/catch.hpp"
#include <shardwise/core.hpp>
#include <shardwise/mesh.hpp>

#include <sstream>
#include <string>
#include <string_view>

using namespace shardwise;

TEST_CASE("names are written to streams of every kind, and literals beside them") {
  std::ostringstream out;
  out << "axis " << short_name("model") << ", " << text_view("rule");
  CHECK(out.str() == "axis model, rule");
}

TEST_CASE("descriptions take names from any string") {
  const std::string data = "data";
  const std::string_view model = "model";
  const char* const stage = "stage";
  mesh_desc mesh{{axis_desc{data, 2}, axis_desc{model, 4}}};
  mesh.axes.push_back({stage, 2});
  CHECK((mesh.find("data") == 0 && mesh.find("model") == 1 && mesh.find("stage") == 2));
}
