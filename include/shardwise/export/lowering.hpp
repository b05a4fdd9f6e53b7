// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/export/stablehlo_ops.hpp"
#include "shardwise/plan/program.hpp"

#include <string>
#include <string_view>

namespace shardwise::internal {

/// One instruction of a program that is written as operations of StableHLO: what it applies, to
/// which values, and the types of its results.
class lowering : public stablehlo_ops {
 public:
  lowering(mlir_builder& to, const operation& what, const attributes& how,
           const tensor_descs& operands, mlir_values values, std::vector<mlir_type> results)
      : stablehlo_ops(to),
        what_(what),
        how_(how),
        operands_(operands),
        values_(std::move(values)),
        results_(std::move(results)) {}

  [[nodiscard]] const operation& what() const noexcept { return what_; }
  [[nodiscard]] const attributes& how() const noexcept { return how_; }
  /// The types of the operands as the program describes them.
  [[nodiscard]] const tensor_descs& operands() const noexcept { return operands_; }
  [[nodiscard]] int count() const noexcept { return static_cast<int>(values_.size()); }
  [[nodiscard]] const mlir_value& in(int k = 0) const noexcept {
    return values_[static_cast<std::size_t>(k)];
  }
  [[nodiscard]] const mlir_values& all() const noexcept { return values_; }
  /// The type of a result.
  [[nodiscard]] const mlir_type& result(int r = 0) const noexcept {
    return results_[static_cast<std::size_t>(r)];
  }
  [[nodiscard]] int result_count() const noexcept { return static_cast<int>(results_.size()); }
  [[nodiscard]] const std::vector<mlir_type>& results() const noexcept { return results_; }
  /// One of the integers of the attributes.
  [[nodiscard]] index_t integer_at(int i) const noexcept { return how_.integers[i]; }
  [[nodiscard]] int dim() const noexcept { return static_cast<int>(how_.integers[0]); }

  /// In the form for one device: the first index of what it holds of dimension `d` of the first
  /// operand, a scalar of 64 bits; without a name if that is 0 on every device.
  [[nodiscard]] const mlir_value& start_of(int d) const noexcept {
    static const mlir_value none;
    return d < static_cast<int>(starts_.size()) ? starts_[static_cast<std::size_t>(d)] : none;
  }
  void start_at(mlir_values starts) { starts_ = std::move(starts); }
  /// Appends the global indices along a dimension, of 64 bits.
  mlir_value indices(const mlir_type& like, int d) {
    mlir_value own = iota(like.of("i64"), d);
    if (start_of(d).name.empty()) return own;
    return add(own, spread(start_of(d), own.type.extents));
  }

  /// Sets a refusal: why the instruction has no counterpart here.
  mlir_values refuse(std::string_view why) {
    refusal_ = why;
    mlir_values out;
    for (const mlir_type& type : results_) out.push_back({"%refused", type});
    return out;
  }
  [[nodiscard]] const std::string& refusal() const noexcept { return refusal_; }

 private:
  const operation& what_;
  const attributes& how_;
  const tensor_descs& operands_;
  mlir_values values_;
  std::vector<mlir_type> results_;
  mlir_values starts_;
  std::string refusal_;
};

/// What an operation becomes: its name, the counterpart in words, and the function that appends it
/// and returns its results. Without a function it is one operation of StableHLO.
struct lowering_row {
  std::string_view name{};
  std::string_view becomes{};
  mlir_values (*lower)(lowering&) = nullptr;
};

}  // namespace shardwise::internal
