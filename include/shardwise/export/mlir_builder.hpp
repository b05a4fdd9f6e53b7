// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/export/mlir_text.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace shardwise::internal {

/// A value of an MLIR function: its name, its type, and the line that computes it, or -1.
struct mlir_value {
  std::string name{};
  mlir_type type{};
  int line = -1;
};
using mlir_values = std::vector<mlir_value>;

/// Writes the operations of one function of MLIR in the generic form, one in a line. Attributes may
/// be added to an operation later.
class mlir_builder {
 public:
  /// Appends an operation with one result and returns that.
  mlir_value op(std::string_view name, const mlir_values& operands, const mlir_type& result,
                const std::string& attributes = {}) {
    return append(name, operands, {result}, attributes, {})[0];
  }
  /// Appends an operation with any number of results. `regions` are texts in parentheses.
  mlir_values append(std::string_view name, const mlir_values& operands,
                     const std::vector<mlir_type>& results, const std::string& attributes,
                     const std::string& regions) {
    mlir_values made;
    std::string head(indent_, ' ');
    if (!results.empty()) {
      const std::string number = new_name();
      head += number;
      if (results.size() > 1) head += ':' + std::to_string(results.size());
      head += " = ";
      for (std::size_t r = 0; r < results.size(); ++r)
        made.push_back({results.size() > 1 ? number + '#' + std::to_string(r) : number, results[r],
                        static_cast<int>(lines_.size())});
    }
    head.append("\"").append(name).append("\"(") += names_of(operands) + ')' + regions;
    std::string tail = " : (";
    for (std::size_t o = 0; o < operands.size(); ++o)
      tail += (o > 0 ? ", " : "") + to_text(operands[o].type);
    tail += ") -> ";
    const bool is_list = results.size() != 1;
    if (is_list) tail += '(';
    for (std::size_t r = 0; r < results.size(); ++r)
      tail += (r > 0 ? ", " : "") + to_text(results[r]);
    if (is_list) tail += ')';
    lines_.push_back({head, attributes, tail});
    return made;
  }
  /// Returns a region with arguments of these types: `write(arguments)` appends its operations and
  /// returns its results, which `end` returns.
  template <class F>
  [[nodiscard]] std::string region(const std::vector<mlir_type>& arguments, std::string_view end,
                                   const F& write) {
    mlir_values values;
    std::string out(indent_, ' ');
    out += "^bb0(";
    for (const mlir_type& type : arguments) {
      values.push_back({new_name(), type});
      out += (values.size() > 1 ? ", " : "") + values.back().name + ": " + to_text(type);
    }
    out += "):\n";
    const std::size_t first = lines_.size();
    indent_ += 2;
    const mlir_values results = write(values);
    append(end, results, {}, {}, {});
    indent_ -= 2;
    out += text_from(first);
    lines_.resize(first);
    return out + std::string(indent_, ' ');
  }

  /// Adds an attribute to the operation that computes a value.
  void add_attribute(const mlir_value& value, const std::string& attribute) {
    if (value.line < 0 || attribute.empty()) return;
    std::string& all = lines_[static_cast<std::size_t>(value.line)].attributes;
    all += (all.empty() ? "" : ", ") + attribute;
  }
  /// Returns true if the value is a result of the operation that was appended last.
  [[nodiscard]] bool is_last(const mlir_value& value) const noexcept {
    return value.line >= 0 && value.line + 1 == static_cast<int>(lines_.size());
  }
  /// Returns the number of operations, of which later ones are those appended from now on.
  [[nodiscard]] int size() const noexcept { return static_cast<int>(lines_.size()); }
  /// Returns the text of all operations.
  [[nodiscard]] std::string text() const { return text_from(0); }

 private:
  struct line {
    std::string head, attributes, tail;
  };
  [[nodiscard]] std::string new_name() { return '%' + std::to_string(next_++); }
  [[nodiscard]] static std::string names_of(const mlir_values& values) {
    std::string out;
    for (const mlir_value& value : values) out += (out.empty() ? "" : ", ") + value.name;
    return out;
  }
  [[nodiscard]] std::string text_from(std::size_t first) const {
    std::string out;
    for (std::size_t i = first; i < lines_.size(); ++i) {
      out += lines_[i].head;
      if (!lines_[i].attributes.empty()) out += " {" + lines_[i].attributes + '}';
      out += lines_[i].tail + '\n';
    }
    return out;
  }

  std::vector<line> lines_;
  std::size_t indent_ = 4;
  int next_ = 0;
};

}  // namespace shardwise::internal
