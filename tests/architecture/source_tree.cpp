// SPDX-License-Identifier: BSL-1.0
#include "source_tree.hpp"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <sstream>

namespace {

bool is_word_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// Blanks comments and literals; line ends stay, so that positions keep their lines.
std::string without_comments_and_literals(const std::string& text) {
  std::string code = text;
  const auto blank = [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < std::min(to, code.size()); ++i)
      if (code[i] != '\n') code[i] = ' ';
  };
  const auto end_of = [&](const std::string& mark, std::size_t from) {
    const std::size_t found = text.find(mark, from);
    return found == std::string::npos ? text.size() : found + mark.size();
  };
  std::size_t i = 0;
  while (i < text.size()) {
    std::size_t next = i + 1;
    if (text.compare(i, 2, "//") == 0) {
      next = std::min(text.find('\n', i), text.size());
      blank(i, next);
    } else if (text.compare(i, 2, "/*") == 0) {
      next = end_of("*/", i + 2);
      blank(i, next);
    } else if (text.compare(i, 2, "R\"") == 0 && (i == 0 || !is_word_character(text[i - 1]))) {
      const std::size_t open = text.find('(', i);
      next = end_of(")" + text.substr(i + 2, open - i - 2) + "\"", open);
      blank(i, next);
    } else if (text[i] == '"' || (text[i] == '\'' && (i == 0 || !is_word_character(text[i - 1])))) {
      while (next < text.size() && text[next] != text[i] && text[next] != '\n')
        next += text[next] == '\\' ? 2 : 1;
      ++next;
      blank(i + 1, next - 1);
    }
    i = next;
  }
  return code;
}

std::vector<include_line> includes_of(const std::string& text) {
  std::vector<include_line> includes;
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    std::istringstream words(line);
    std::string hash, rest;
    words >> hash;
    if (hash == "#") words >> rest;
    if (hash != "#include" && !(hash == "#" && rest == "include")) continue;
    const std::size_t open = line.find_first_of("<\"");
    if (open == std::string::npos) continue;
    const std::size_t close = line.find_first_of(">\"", open + 1);
    includes.push_back({number, line.substr(open + 1, close - open - 1)});
  }
  return includes;
}

}  // namespace

int header::lines() const { return static_cast<int>(std::count(text.begin(), text.end(), '\n')); }

int header::line_of(std::size_t position) const {
  const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(position, text.size()));
  return 1 + static_cast<int>(std::count(text.begin(), end, '\n'));
}

std::string read_file(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

source_tree read_tree(const std::filesystem::path& root) {
  source_tree tree{root, {}, {}};
  const std::filesystem::path base = root / "include" / "shardwise";
  if (!std::filesystem::is_directory(base)) return tree;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(base)) {
    const bool is_list = entry.path().extension() == ".inc";
    if (!entry.is_regular_file() || (entry.path().extension() != ".hpp" && !is_list)) continue;
    header h;
    h.path = entry.path().lexically_relative(base).generic_string();
    const std::size_t slash = h.path.find('/');
    h.folder = slash == std::string::npos ? "" : h.path.substr(0, slash);
    h.text = read_file(entry.path());
    h.code = without_comments_and_literals(h.text);
    h.includes = includes_of(h.text);
    (is_list ? tree.lists : tree.headers).push_back(std::move(h));
  }
  for (std::vector<header>* files : {&tree.headers, &tree.lists})
    std::sort(files->begin(), files->end(),
              [](const header& a, const header& b) { return a.path < b.path; });
  return tree;
}

std::vector<word> words_of(const std::string& code) {
  std::vector<word> words;
  for (std::size_t i = 0; i < code.size(); ++i) {
    if (!is_word_character(code[i])) continue;
    std::size_t end = i;
    while (end < code.size() && is_word_character(code[end])) ++end;
    words.push_back({i, code.substr(i, end - i)});
    i = end;
  }
  return words;
}

bool mentions(const std::string& text, const std::string& name) {
  for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if ((at == 0 || !is_word_character(text[at - 1])) &&
        (end >= text.size() || !is_word_character(text[end])))
      return true;
  }
  return false;
}

std::size_t after_angle(const std::string& code, std::size_t open) {
  int angles = 0;
  int rounds = 0;
  for (std::size_t i = open; i < code.size(); ++i) {
    if (code[i] == '(') ++rounds;
    if (code[i] == ')') --rounds;
    if (rounds != 0) continue;
    if (code[i] == '<') ++angles;
    if (code[i] == '>' && --angles == 0) return i + 1;
  }
  return std::string::npos;
}
