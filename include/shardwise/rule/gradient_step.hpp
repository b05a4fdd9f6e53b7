// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/rule/operation.hpp"

#include <concepts>

namespace shardwise {

/// A value of a program as gradients see it: the operators of arithmetic, `elementwise<Function>`
/// and `emit<Class>` append to the program.
struct gradient_value {
  gradient_step* step = nullptr;
  value_id id = -1;

  /// What it is on paper.
  [[nodiscard]] constexpr tensor_desc tensor() const;
};

/// Arithmetic on values and numbers; what these append is in `operation/arithmetic.hpp`.
[[nodiscard]] constexpr gradient_value operator+(const gradient_value& a, const gradient_value& b);
[[nodiscard]] constexpr gradient_value operator-(const gradient_value& a, const gradient_value& b);
[[nodiscard]] constexpr gradient_value operator*(const gradient_value& a, const gradient_value& b);
[[nodiscard]] constexpr gradient_value operator/(const gradient_value& a, const gradient_value& b);
[[nodiscard]] constexpr gradient_value operator-(const gradient_value& a);
[[nodiscard]] constexpr gradient_value operator+(const gradient_value& a, double b);
[[nodiscard]] constexpr gradient_value operator-(double a, const gradient_value& b);
[[nodiscard]] constexpr gradient_value operator*(const gradient_value& a, double b);
/// The value where a condition is true, 0 elsewhere.
[[nodiscard]] constexpr gradient_value masked(const gradient_value& a,
                                              const gradient_value& condition);

/// One application of an operation as its gradient sees it: what was read and made, the cotangents
/// of the results, and a place to put those of the operands.
///
/// All of these are values of one program, and so is what a gradient makes of them. Layouts are no
/// matter of a gradient: an operation that lacks something gets it by a reshard, which the ledger
/// shows.
///
///     struct exp : fractional_function<"exp"> {
///       static constexpr void gradient(auto& at) { at.give(0, at.cotangent() * at.result()); }
///     };
class gradient_step {
 public:
  gradient_step() = default;
  gradient_step(const gradient_step&) = delete;
  gradient_step& operator=(const gradient_step&) = delete;

  [[nodiscard]] virtual constexpr const mesh_desc& mesh() const = 0;
  /// The attributes of the operation.
  [[nodiscard]] virtual constexpr const attributes& how() const = 0;
  [[nodiscard]] virtual constexpr int operand_count() const = 0;
  [[nodiscard]] virtual constexpr gradient_value operand(int k) = 0;
  /// What the operation made, by the number of the result.
  [[nodiscard]] virtual constexpr gradient_value result(int number = 0) = 0;
  /// The cotangent of a result, zeros if nothing depends on that. Of an elementwise operation it
  /// may be smaller than the result, and is repeated along the dimensions that it lacks.
  [[nodiscard]] virtual constexpr gradient_value cotangent(int number = 0) = 0;
  /// Returns true if an operand has a cotangent: it has fractions and is no constant.
  [[nodiscard]] virtual constexpr bool wants(int k) const = 0;
  /// Adds to the cotangent of an operand. Where the operand was repeated along dimensions it is
  /// summed over them; where it is smaller than the operand it is repeated.
  virtual constexpr void give(int k, const gradient_value& cotangent) = 0;

  /// A number as an element of the type of `like`.
  [[nodiscard]] virtual constexpr gradient_value number(double value,
                                                        const gradient_value& like) = 0;
  /// Appends an operation.
  [[nodiscard]] virtual constexpr gradient_value emit(const operation& what, const attributes& how,
                                                      const value_ids& operands) = 0;
  /// Appends an operation of one operand whose result is known.
  [[nodiscard]] virtual constexpr gradient_value emit(const operation& what, const attributes& how,
                                                      const gradient_value& operand,
                                                      const tensor_desc& result) = 0;
  /// A value under another layout, which may be manual over other axes.
  [[nodiscard]] virtual constexpr gradient_value laid_out(const gradient_value& value,
                                                          const layout_desc& layout) = 0;
  /// A further result of an operation that was appended.
  [[nodiscard]] virtual constexpr gradient_value further(const gradient_value& made, int number,
                                                         element type) = 0;
  [[nodiscard]] virtual constexpr tensor_desc tensor_of(value_id value) const = 0;

 protected:
  ~gradient_step() = default;
};

/// The operations that a gradient appends besides arithmetic, comparisons, reductions and the
/// operation itself, as the member `emits` of its class lists them: a program that names the
/// operation has the kernels of these too.
///
///     using emits = operations<flip_operation>;
template <class... Class>
struct operations {};

constexpr tensor_desc gradient_value::tensor() const { return step->tensor_of(id); }

/// Applies an operation to values of a program whose gradient is taken.
///
///     auto back = emit<transpose_operation>(integer_attributes(1, 0), at.cotangent());
template <class Class, std::same_as<gradient_value>... Rest>
[[nodiscard]] constexpr gradient_value emit(const attributes& how, const gradient_value& first,
                                            const Rest&... rest) {
  return first.step->emit(operation_of<Class>, how, {first.id, rest.id...});
}

}  // namespace shardwise
