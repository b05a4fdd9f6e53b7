// SPDX-License-Identifier: BSL-1.0
// The demo's input: reads text, and refuses what is no text.
#pragma once

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace demo {

/// Input that cannot be used; the words are one sentence for the person who gave it.
struct bad_input : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline constexpr std::size_t longest_text = std::size_t{16} << 20U;
inline constexpr std::size_t shortest_text = 64;

/// The bytes of a file, at most the first `longest_text` of them.
[[nodiscard]] inline std::string read_file(const std::filesystem::path& path) {
  const auto refuse = [&](std::string_view why) {
    throw bad_input("cannot read '" + path.string() + "': " + std::string(why));
  };
  std::error_code problem;
  const std::filesystem::file_status status = std::filesystem::status(path, problem);
  if (!std::filesystem::exists(status)) refuse(problem ? problem.message() : "no such file");
  if (std::filesystem::is_directory(status)) refuse("it is a directory");
  if (std::filesystem::is_fifo(status))
    std::cerr << "demo: reading the pipe '" << path.string()
              << "', which ends when its writer does\n";
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) refuse(errno != 0 ? std::strerror(errno) : "it cannot be opened");
  std::string content;
  std::array<char, 65536> block{};
  while (content.size() < longest_text &&
         (file.read(block.data(), block.size()) || file.gcount() > 0))
    content.append(block.data(), static_cast<std::size_t>(file.gcount()));
  if (file.bad()) refuse("reading stopped early");
  content.resize(std::min(content.size(), longest_text));
  return content;
}

/// Refuses a file that cannot be written, before anything is computed for it; leaves it as it is.
inline void require_writable(const std::string& path) {
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(path, ignored);
  const bool was_there = std::filesystem::exists(status);
  if (was_there && !std::filesystem::is_regular_file(status))
    throw bad_input("cannot write '" + path + "': it is no regular file");
  errno = 0;
  if (!std::ofstream(path, std::ios::binary | std::ios::app))
    throw bad_input("cannot write '" + path +
                    "': " + (errno != 0 ? std::strerror(errno) : "it cannot be opened"));
  if (!was_there) std::filesystem::remove(path, ignored);
}

/// Refuses a path that is no folder, and none that is absent.
inline void require_folder(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_regular_file(path, ignored))
    throw bad_input("--state '" + path +
                    "' is a file, and checkpoints are saved in a folder; to "
                    "go on from the file: --resume '" +
                    path + "'");
  if (std::filesystem::exists(path, ignored) && !std::filesystem::is_directory(path, ignored))
    throw bad_input("cannot write '" + path + "': it is no folder");
}

/// How many bytes at the beginning of `rest` are one character of UTF-8 text; 0 if none are.
[[nodiscard]] inline std::size_t character_size(std::string_view rest) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(rest[i]); };
  if (byte(0) < 0x80) {
    constexpr std::string_view layout_bytes = "\t\n\v\f\r\b\x1b";
    const bool is_text = byte(0) >= 0x20 && byte(0) != 0x7f;
    return is_text || layout_bytes.find(rest[0]) != layout_bytes.npos ? 1 : 0;
  }
  const std::size_t size = byte(0) >= 0xc2 && byte(0) < 0xe0   ? 2
                           : byte(0) >= 0xe0 && byte(0) < 0xf0 ? 3
                           : byte(0) >= 0xf0 && byte(0) < 0xf5 ? 4
                                                               : 0;
  if (size > rest.size()) return 0;
  for (std::size_t i = 1; i < size; ++i)
    if ((byte(i) & 0xc0U) != 0x80) return 0;
  return size;
}

/// The text as one line that any terminal shows: blanks for line ends, `?` for what is no text.
[[nodiscard]] inline std::string printable(std::string_view text) {
  std::string line;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t size = character_size(text.substr(i, 4));
    if (size == 0)
      line += '?';
    else if (size == 1 && text[i] < ' ')
      line += ' ';
    else
      line += text.substr(i, size);
    i += std::max<std::size_t>(size, 1);
  }
  return line;
}

/// Refuses what is empty, too short, or not text; `name` is what the person called it.
inline void require_text(std::string_view text, const std::string& name,
                         std::size_t shortest = shortest_text) {
  if (text.empty()) throw bad_input(name + " is empty");
  if (text.find('\0') != text.npos) throw bad_input(name + " is binary: it has zero bytes");
  std::size_t strange = 0;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t size = character_size(text.substr(i, 4));
    strange += size == 0 ? 1U : 0U;
    i += std::max<std::size_t>(size, 1);
  }
  // Texts of Latin letters in old 8-bit encodings stay below this.
  if (strange * 4 > text.size())
    throw bad_input(name + " is binary, or not in UTF-8: " + std::to_string(strange) + " of " +
                    std::to_string(text.size()) + " bytes are no text");
  if (text.size() < shortest)
    throw bad_input(name + " is too short: " + std::to_string(text.size()) + " bytes, at least " +
                    std::to_string(shortest) + " are needed");
}

/// The project's own text: README.md, docs/**/*.md and include/**/*.hpp under `root`, in the order
/// of their names, so that it is the same on every machine.
[[nodiscard]] inline std::string read_project(const std::filesystem::path& root) {
  namespace fs = std::filesystem;
  std::vector<fs::path> files;
  std::error_code ignored;
  if (!fs::is_directory(root, ignored))
    throw bad_input("cannot read '" + root.string() + "': no such directory");
  if (fs::exists(root / "README.md", ignored)) files.push_back(root / "README.md");
  const auto collect = [&](const fs::path& folder, const char* extension) {
    fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied,
                                        ignored);
    for (; at != fs::recursive_directory_iterator(); at.increment(ignored))
      if (at->path().extension() == extension && at->is_regular_file(ignored))
        files.push_back(at->path());
  };
  collect(root / "docs", ".md");
  collect(root / "include", ".hpp");
  std::sort(files.begin(), files.end());
  std::string text;
  for (const fs::path& file : files) text += read_file(file);
  if (files.empty())
    throw bad_input("'" + root.string() +
                    "' has no README.md, docs/*.md or include/*.hpp; give a FILE");
  text.resize(std::min(text.size(), longest_text));
  return text;
}

}  // namespace demo
