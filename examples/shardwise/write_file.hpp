// SPDX-License-Identifier: BSL-1.0
// Files that are written whole or not at all.
#pragma once

#include "sizes.hpp"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace tool {

/// Puts a file where it belongs in one step: readers see all of it or what was there before. What
/// is no regular file, such as /dev/stdout, is written to.
[[nodiscard]] inline objection write_file(const std::string& path, const std::string& words) {
  std::error_code unknown;
  const std::filesystem::file_status status = std::filesystem::status(path, unknown);
  const bool stays = std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
  const std::string beside = stays ? path : path + ".part";
  std::ofstream out(beside, std::ios::binary | std::ios::trunc);
  out << words;
  out.close();
  std::error_code failure;
  if (out && !stays) std::filesystem::rename(beside, path, failure);
  if (out && !failure) return std::nullopt;
  if (!stays) std::remove(beside.c_str());
  return refusal("file_is_not_writable", "cannot write " + in_quotes(path)).of("svg");
}

}  // namespace tool
