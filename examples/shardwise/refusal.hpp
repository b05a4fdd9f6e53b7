// SPDX-License-Identifier: BSL-1.0
// Why a request is not answered, as a value.
#pragma once

#include <shardwise/core/diagnosis.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tool {

using namespace shardwise;

/// Words of the library as those of the standard library.
[[nodiscard]] inline std::string_view view(text_view words) noexcept {
  return {words.data(), words.size()};
}
[[nodiscard]] inline std::string str(text_view words) { return std::string(view(words)); }

/// A request that is not answered: a code in words that stays the same, a sentence for people, and
/// what is known of the place and of better words.
struct refusal {
  refusal(std::string what, std::string why) : code(std::move(what)), sentence(std::move(why)) {}

  std::string code;
  std::string sentence;
  /// The operands that an operation takes instead of those that it refuses.
  std::optional<std::vector<std::string>> reshards{};
  /// The axes over which the operation takes the operands, if it may communicate over them.
  std::vector<std::string> across{};
  /// The option that is wrong; among operands, which one.
  std::string option{};
  int operand = -1;
  /// Where in the text of the option it is wrong, and for how many characters.
  std::optional<std::size_t> at{};
  std::size_t length = 0;
  /// The word that is wrong, and in which dimension, until its place is known.
  std::string word{};
  int dim = -1;
  /// What may stand in its place.
  std::vector<std::string> choices{};
  /// The rank that a tensor should have.
  std::optional<int> rank{};

  [[nodiscard]] refusal about(std::string_view wrong, std::vector<std::string> others = {}) && {
    word = std::string(wrong);
    choices = std::move(others);
    return std::move(*this);
  }
  [[nodiscard]] refusal of(std::string_view label) && {
    option = std::string(label);
    return std::move(*this);
  }
};

/// Why not, or nothing if all is well.
using objection = std::optional<refusal>;

/// A value, or why there is none.
template <class T>
class [[nodiscard]] outcome {
 public:
  outcome(T value) : value_(std::move(value)) {}
  outcome(refusal why) : why_(std::move(why)) {}

  explicit operator bool() const noexcept { return value_.has_value(); }
  T& operator*() noexcept { return *value_; }
  const T& operator*() const noexcept { return *value_; }
  T* operator->() noexcept { return &*value_; }
  const T* operator->() const noexcept { return &*value_; }
  /// Why there is no value; only where there is none.
  [[nodiscard]] const refusal& why() const noexcept { return *why_; }

 private:
  std::optional<T> value_{};
  objection why_{};
};

/// Refuses what breaks a rule of the library; the code is the name of the rule.
[[nodiscard]] inline objection judge(const diagnosis& verdict) {
  if (verdict.ok()) return std::nullopt;
  const std::string code = str(name_of(verdict.rule));
  const message_text words = describe(verdict);  // the name of the rule, a colon, the sentence
  refusal why(code, str(words).substr(code.size() + 2));
  why.word = str(text_view(verdict.axis));
  why.dim = verdict.dim;
  why.operand = verdict.operand;
  return why;
}

}  // namespace tool
