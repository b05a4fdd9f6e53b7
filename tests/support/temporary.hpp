// SPDX-License-Identifier: BSL-1.0
// Files of tests in the folder for temporary files.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <unistd.h>
#include <vector>

namespace support {

/// Returns a path in the folder for temporary files that only this process uses: test cases run at
/// the same time.
inline std::string temporary_path(const std::string& name) {
  const std::string own = "shardwise-" + std::to_string(::getpid()) + "-" + name;
  return (std::filesystem::temp_directory_path() / own).string();
}

/// A path in the folder for temporary files, which is removed at the end.
class temporary {
 public:
  explicit temporary(const std::string& name) : path_(temporary_path(name)) {
    std::filesystem::remove(path_);
  }
  temporary(const temporary&) = delete;
  ~temporary() { std::filesystem::remove(path_); }
  [[nodiscard]] const std::string& path() const { return path_; }
  void write(const std::string& bytes) const { std::ofstream(path_, std::ios::binary) << bytes; }
  [[nodiscard]] std::string read() const {
    std::ifstream in(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

 private:
  std::string path_;
};

/// A folder in the folder for temporary files, which is removed at the end.
class temporary_folder {
 public:
  explicit temporary_folder(const std::string& name) : path_(temporary_path(name)) {
    std::filesystem::remove_all(path_);
  }
  temporary_folder(const temporary_folder&) = delete;
  ~temporary_folder() { std::filesystem::remove_all(path_); }
  [[nodiscard]] const std::string& path() const { return path_; }
  void write(const std::string& name, const std::string& bytes) const {
    std::filesystem::create_directory(path_);
    std::ofstream(path_ + "/" + name, std::ios::binary) << bytes;
  }
  [[nodiscard]] std::string read(const std::string& name) const {
    std::ifstream in(path_ + "/" + name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& file : std::filesystem::directory_iterator(path_))
      found.push_back(file.path().filename().string());
    std::sort(found.begin(), found.end());
    return found;
  }

 private:
  std::string path_;
};

/// A safetensors file with a header and data.
inline std::string file_of(const std::string& header, const std::string& data) {
  std::string out;
  for (unsigned b = 0; b < 8; ++b) out += static_cast<char>(header.size() >> (8 * b) & 0xffU);
  return out + header + data;
}

/// The files whose names are that of `path` and a dot and more.
inline std::vector<std::string> names_beside(const std::string& path) {
  std::vector<std::string> found;
  const std::filesystem::path target(path);
  for (const auto& file : std::filesystem::directory_iterator(target.parent_path()))
    if (file.path().string().compare(0, path.size() + 1, path + ".") == 0)
      found.push_back(file.path().string());
  return found;
}

}  // namespace support
