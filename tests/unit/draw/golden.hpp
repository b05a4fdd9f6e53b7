// SPDX-License-Identifier: BSL-1.0
// Pictures compared with files, byte for byte.
//
// `SHARDWISE_REGENERATE=1 ./run test` writes the files anew instead; look at them, then commit
// them.
#pragma once

#include "support/catch.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace golden {

/// The folder of this file, and the pictures that the documentation shows.
inline std::filesystem::path here() { return "tests/unit/draw"; }
inline std::filesystem::path pictures() {
  return here().parent_path().parent_path().parent_path() / "docs" / "pictures";
}

/// Fails unless the file holds exactly these bytes.
inline void compare(const std::filesystem::path& file, const std::string& made) {
  if (const char* wish = std::getenv("SHARDWISE_REGENERATE"); wish != nullptr && *wish == '1') {
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << made;
  }
  std::ifstream stored(file, std::ios::binary);
  INFO(file.string() << ": SHARDWISE_REGENERATE=1 writes it anew");
  REQUIRE(stored.is_open());
  const std::string bytes{std::istreambuf_iterator<char>(stored), {}};
  REQUIRE(bytes == made);
}

}  // namespace golden
