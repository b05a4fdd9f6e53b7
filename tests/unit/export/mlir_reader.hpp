// SPDX-License-Identifier: BSL-1.0
// Reads the generic form of MLIR: functions of operations with operands, attributes and regions.
#pragma once

#include <cctype>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hlo_text {

/// What is wrong with a text, or with an operation in it.
struct malformed : std::runtime_error {
  using std::runtime_error::runtime_error;
};
inline void demand(bool holds, const std::string& what) {
  if (!holds) throw malformed(what);
}

/// The type of a tensor: the name of its elements, and its extents.
struct tensor_type {
  std::string element;
  std::vector<std::int64_t> extents;

  friend bool operator==(const tensor_type&, const tensor_type&) = default;
};

struct block;

/// An operation. Its attributes are texts, as they stand.
struct operation_text {
  std::string name;
  std::vector<std::string> results;  // the name of each
  std::vector<std::string> operands;
  std::map<std::string, std::string> attributes;
  std::vector<block> regions;
  std::vector<tensor_type> operand_types, result_types;
};
struct block {
  std::vector<std::pair<std::string, tensor_type>> arguments;
  std::vector<operation_text> operations;
};

class mlir_reader {
 public:
  explicit mlir_reader(std::string_view text) : text_(text) {}

  /// Reads one operation, which is the whole text.
  operation_text read_all() {
    operation_text out = read_operation();
    skip();
    demand(at_ == text_.size(), where("the text goes on behind its module"));
    return out;
  }

 private:
  [[nodiscard]] std::string where(const std::string& what) const {
    return what + ", at \"" + std::string(text_.substr(at_, 60)) + '"';
  }
  void skip() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }
  [[nodiscard]] bool sees(std::string_view words) {
    skip();
    return text_.substr(at_).starts_with(words);
  }
  bool accept(std::string_view words) {
    if (!sees(words)) return false;
    at_ += words.size();
    return true;
  }
  void expect(std::string_view words) {
    demand(accept(words), where("\"" + std::string(words) + "\" is missing"));
  }
  std::string quoted() {
    expect("\"");
    const std::size_t end = text_.find('"', at_);
    demand(end != text_.npos, "a text does not end");
    const std::string out(text_.substr(at_, end - at_));
    at_ = end + 1;
    return out;
  }
  std::string word() {
    skip();
    const std::size_t begin = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_' ||
            text_[at_] == '.' || text_[at_] == '%' || text_[at_] == '#'))
      ++at_;
    demand(at_ > begin, where("a name is missing"));
    return std::string(text_.substr(begin, at_ - begin));
  }
  std::int64_t number() { return std::stoll(word()); }

  /// Reads a text up to one of these characters outside of brackets, which is left.
  std::string balanced(std::string_view ends) {
    skip();
    const std::size_t begin = at_;
    int depth = 0;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (depth == 0 && ends.find(c) != ends.npos) break;
      if (c == '"') {
        at_ = text_.find('"', at_ + 1);
        demand(at_ != text_.npos, "a text does not end");
      } else if (c == '-' && text_.substr(at_ + 1, 1) == ">") {
        ++at_;
      } else if (std::string_view("([{<").find(c) != std::string_view::npos) {
        ++depth;
      } else if (std::string_view(")]}>").find(c) != std::string_view::npos) {
        --depth;
      }
    }
    demand(at_ < text_.size(), "a bracket is not closed");
    std::string out(text_.substr(begin, at_ - begin));
    while (!out.empty() && std::isspace(static_cast<unsigned char>(out.back())) != 0)
      out.pop_back();
    return out;
  }

  tensor_type read_type() {
    expect("tensor<");
    tensor_type out;
    while (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])) != 0) {
      std::int64_t extent = 0;
      while (std::isdigit(static_cast<unsigned char>(text_[at_])) != 0)
        extent = 10 * extent + (text_[at_++] - '0');
      out.extents.push_back(extent);
      expect("x");
    }
    out.element = balanced(">");
    expect(">");
    return out;
  }
  std::vector<tensor_type> read_types() {
    std::vector<tensor_type> out;
    if (!accept("(")) return {read_type()};
    while (!accept(")")) {
      if (!out.empty()) expect(",");
      out.push_back(read_type());
    }
    return out;
  }
  std::map<std::string, std::string> read_attributes() {
    std::map<std::string, std::string> out;
    while (!accept("}")) {
      if (!out.empty()) expect(",");
      const std::string name = word();
      std::string value = accept("=") ? balanced(",}") : "unit";
      demand(out.emplace(name, std::move(value)).second, "attribute " + name + " is there twice");
    }
    return out;
  }
  block read_block() {
    block out;
    if (accept("^bb0(")) {
      while (!accept(")")) {
        if (!out.arguments.empty()) expect(",");
        std::string name = word();
        expect(":");
        out.arguments.emplace_back(std::move(name), read_type());
      }
      expect(":");
    }
    while (!accept("}")) out.operations.push_back(read_operation());
    return out;
  }
  operation_text read_operation() {
    operation_text out;
    if (sees("%")) {
      const std::string name = word();
      const std::int64_t count = accept(":") ? number() : 1;
      for (std::int64_t r = 0; r < count; ++r)
        out.results.push_back(count == 1 ? name : name + '#' + std::to_string(r));
      expect("=");
    }
    out.name = quoted();
    expect("(");
    while (!accept(")")) {
      if (!out.operands.empty()) expect(",");
      out.operands.push_back(word());
    }
    if (accept("(")) {
      do {
        expect("{");
        out.regions.push_back(read_block());
      } while (accept(","));
      expect(")");
    }
    if (accept("{")) out.attributes = read_attributes();
    expect(":");
    out.operand_types = read_types();
    expect("->");
    out.result_types = read_types();
    demand(out.operand_types.size() == out.operands.size() &&
               out.result_types.size() == out.results.size(),
           out.name + " has other numbers of values and of types");
    return out;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

/// The whole numbers in the text of an attribute, without those of its type.
inline std::vector<std::int64_t> numbers_in(std::string_view text) {
  if (const std::size_t type = text.rfind(" : "); type != text.npos) text = text.substr(0, type);
  if (text.starts_with("array<i64")) text.remove_prefix(9);
  std::vector<std::int64_t> out;
  for (std::size_t i = 0; i < text.size();) {
    const bool is_negative = text[i] == '-' && i + 1 < text.size() && text[i + 1] != '>';
    if (std::isdigit(static_cast<unsigned char>(text[i])) == 0 && !is_negative) {
      ++i;
      continue;
    }
    std::size_t length = 0;
    out.push_back(std::stoll(std::string(text.substr(i)), &length));
    i += length;
  }
  return out;
}

}  // namespace hlo_text
