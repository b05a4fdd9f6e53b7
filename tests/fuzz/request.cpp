// SPDX-License-Identifier: BSL-1.0
// Requests of the shell tool: any line is answered by one line of JSON, what is proposed instead of
// a refused request is answered, and an inspection's HLO text inspects to itself.
#include "../../examples/shardwise/answer.hpp"

#include <cstdint>
#include <cstdlib>

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tool::most_devices = 1024;
  static tool::workspace memory;
  const std::string_view line(reinterpret_cast<const char*>(data), size);
  const std::string answer = tool::answer_line(line, memory);
  require(!answer.empty() && answer.find('\n') == answer.size() - 1);
  const nlohmann::json read = nlohmann::json::parse(answer);
  if (!read.is_object()) return 0;  // the operations are a list
  if (read.contains("error")) {
    require(!read["error"].get<std::string>().empty());
    for (const nlohmann::json& fix : read.value("fixes", nlohmann::json::array()))
      require(!nlohmann::json::parse(tool::answer_line(fix.dump(), memory)).contains("error"));
    return 0;
  }
  if (!read.contains("hlo") || !read["hlo"].is_string()) return 0;
  for (const char* form : {"hlo", "hlo_v2", "hlo_v3"}) {
    if (!read.contains(form) || !read[form].is_string()) continue;
    const nlohmann::json again{{"cmd", "inspect"}, {"hlo", read[form]}};
    const auto second = nlohmann::json::parse(tool::answer_line(again.dump(), memory));
    require(second.contains("hlo") && second["hlo"] == read["hlo"]);
  }
  if (read.contains("shards") && read["shards"].is_array())
    require(read["shards"].size() == read["devices"].size());
  return 0;
}
