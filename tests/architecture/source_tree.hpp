// SPDX-License-Identifier: BSL-1.0
// The files of the project, for the rules.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

/// One `#include` line.
struct include_line {
  int line = 0;
  std::string target;  // shardwise/mesh/axis.hpp, vector, Eigen/Core, ...
};

/// One header of include/shardwise.
struct header {
  std::string path;    // mesh/axis.hpp, mesh.hpp
  std::string folder;  // mesh; empty for the headers beside the folders
  std::string text;
  std::string code;  // the text with comments, string and character literals blanked
  std::vector<include_line> includes;

  /// Lines in the file.
  int lines() const;
  /// The line of a position in `text` or `code`.
  int line_of(std::size_t position) const;
};

/// Where the project lies, its headers, and the lists that headers include (`.inc`), sorted by
/// path.
struct source_tree {
  std::filesystem::path root;
  std::vector<header> headers;
  std::vector<header> lists;
};

source_tree read_tree(const std::filesystem::path& root);
std::string read_file(const std::filesystem::path& file);

/// An identifier or number of a text, and where it begins.
struct word {
  std::size_t position = 0;
  std::string text;
};
std::vector<word> words_of(const std::string& code);

/// True if `text` contains `name` as a whole word.
bool mentions(const std::string& text, const std::string& name);

/// The position after the `>` that closes the `<` at `open`, or npos.
std::size_t after_angle(const std::string& code, std::size_t open);
