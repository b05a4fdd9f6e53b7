// SPDX-License-Identifier: BSL-1.0
// The characters of a text as numbers.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

namespace next_character {

/// The bytes of a text, numbered by their frequency: 0 is the most frequent one. The last number
/// stands for all bytes without a number of their own.
class vocabulary {
 public:
  vocabulary(std::string_view text, std::size_t size) {
    std::array<std::size_t, 256> counts{};
    for (const char c : text) ++counts[static_cast<unsigned char>(c)];
    std::array<unsigned char, 256> order{};
    std::iota(order.begin(), order.end(), static_cast<unsigned char>(0));
    std::stable_sort(order.begin(), order.end(),
                     [&](unsigned char a, unsigned char b) { return counts[a] > counts[b]; });
    codes_.fill(static_cast<std::uint8_t>(size - 1));
    for (std::size_t i = 0; i + 1 < size && counts[order[i]] > 0; ++i) {
      codes_[order[i]] = static_cast<std::uint8_t>(i);
      characters_.push_back(static_cast<char>(order[i]));
    }
  }

  /// Returns the number of bytes with a number of their own.
  [[nodiscard]] std::size_t known() const noexcept { return characters_.size(); }
  [[nodiscard]] std::uint8_t code(char c) const noexcept {
    return codes_[static_cast<unsigned char>(c)];
  }
  [[nodiscard]] std::vector<std::uint8_t> codes(std::string_view text) const {
    std::vector<std::uint8_t> all;
    all.reserve(text.size());
    for (const char c : text) all.push_back(code(c));
    return all;
  }
  /// Returns the byte with a number.
  [[nodiscard]] char byte(std::size_t code) const noexcept {
    return code < characters_.size() ? characters_[code] : '?';
  }

 private:
  std::array<std::uint8_t, 256> codes_{};
  std::string characters_;
};

}  // namespace next_character
