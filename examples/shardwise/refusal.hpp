// SPDX-License-Identifier: BSL-1.0
// Why a request is not answered.
#pragma once

#include <shardwise/core/diagnosis.hpp>

#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tool {

using namespace shardwise;

/// A request that is not answered: a code in words that stays the same, and a sentence for people.
class refusal : public std::exception {
 public:
  refusal(std::string code, std::string sentence,
          std::optional<std::vector<std::string>> reshards = std::nullopt,
          std::vector<std::string> across = {})
      : code_(std::move(code)),
        sentence_(std::move(sentence)),
        reshards_(std::move(reshards)),
        across_(std::move(across)) {}

  [[nodiscard]] const std::string& code() const noexcept { return code_; }
  [[nodiscard]] const char* what() const noexcept override { return sentence_.c_str(); }
  /// The operands that an operation takes instead of those that it refuses.
  [[nodiscard]] const std::optional<std::vector<std::string>>& reshards() const noexcept {
    return reshards_;
  }
  /// The axes over which the operation takes the operands, if it may communicate over them.
  [[nodiscard]] const std::vector<std::string>& across() const noexcept { return across_; }

 private:
  std::string code_;
  std::string sentence_;
  std::optional<std::vector<std::string>> reshards_;
  std::vector<std::string> across_;
};

/// Words of the library as those of the standard library.
[[nodiscard]] inline std::string_view view(text_view words) noexcept {
  return {words.data(), words.size()};
}
[[nodiscard]] inline std::string str(text_view words) { return std::string(view(words)); }

/// Refuses what breaks a rule of the library; the code is the name of the rule.
inline void judge(const diagnosis& verdict) {
  if (verdict.ok()) return;
  const std::string code = str(name_of(verdict.rule));
  const message_text words = describe(verdict);  // the name of the rule, a colon, the sentence
  throw refusal(code, str(words).substr(code.size() + 2));
}

}  // namespace tool
