// SPDX-License-Identifier: BSL-1.0
// Answers for people: lines with aligned columns.
#pragma once

#include "refusal.hpp"

#include <algorithm>
#include <vector>

namespace tool {

/// Rows of words; columns are as wide as their longest words and two blanks apart.
class text_table {
 public:
  void row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

  [[nodiscard]] std::string words() const {
    std::vector<std::size_t> widths;
    for (const auto& cells : rows_)
      for (std::size_t c = 0; c + 1 < cells.size(); ++c) {
        if (widths.size() <= c) widths.push_back(0);
        widths[c] = std::max(widths[c], cells[c].size());
      }
    std::string out;
    for (const auto& cells : rows_) {
      for (std::size_t c = 0; c < cells.size(); ++c) {
        out += cells[c];
        if (c + 1 < cells.size()) out.append(widths[c] + 2 - cells[c].size(), ' ');
      }
      while (!out.empty() && out.back() == ' ') out.pop_back();
      out += '\n';
    }
    return out;
  }

 private:
  std::vector<std::vector<std::string>> rows_;
};

/// Numbers with words between them.
template <class List>
[[nodiscard]] std::string joined(const List& list, std::string_view between) {
  std::string out;
  bool first = true;
  for (const auto item : list) {
    if (!first) out += between;
    out += std::to_string(item);
    first = false;
  }
  return out;
}

/// Numbers with blanks between them, and only the first of many.
[[nodiscard]] inline std::string shortened(const std::vector<index_t>& list) {
  constexpr std::size_t most = 32;
  if (list.size() <= most) return joined(list, " ");
  const std::vector<index_t> begin(list.begin(), list.begin() + most / 2);
  return joined(begin, " ") + " ... " + std::to_string(list.back()) + " (" +
         std::to_string(list.size()) + ")";
}

}  // namespace tool
