// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/rule/operation.hpp"

#include <concepts>

namespace shardwise {

/// A value of a program in the code of a gradient: the operators of arithmetic,
/// `elementwise<Function>` and `emit<Class>` append to the program.
struct gradient_value {
  gradient_step* step = nullptr;
  value_id id = -1;

  /// Its description: element type, extents and layout.
  [[nodiscard]] constexpr tensor_desc tensor() const;
};

/// Arithmetic on values and numbers; the operations that it appends are in
/// `operation/arithmetic.hpp`.
[[nodiscard]] constexpr gradient_value operator+(const gradient_value& a, const gradient_value& b);
[[nodiscard]] constexpr gradient_value operator-(const gradient_value& a, const gradient_value& b);
[[nodiscard]] constexpr gradient_value operator*(const gradient_value& a, const gradient_value& b);
[[nodiscard]] constexpr gradient_value operator/(const gradient_value& a, const gradient_value& b);
[[nodiscard]] constexpr gradient_value operator-(const gradient_value& a);
[[nodiscard]] constexpr gradient_value operator+(const gradient_value& a, double b);
[[nodiscard]] constexpr gradient_value operator-(double a, const gradient_value& b);
[[nodiscard]] constexpr gradient_value operator*(const gradient_value& a, double b);
/// Returns the value where a condition is true, and 0 elsewhere.
[[nodiscard]] constexpr gradient_value masked(const gradient_value& a,
                                              const gradient_value& condition);

/// One application of an operation as seen by its gradient: the operands, the results, the
/// cotangents of the results, and where the cotangents of the operands are accumulated.
///
/// All of these are values of one program, as is what a gradient computes from them. A gradient
/// need not care about layouts: where an operation needs another one, a reshard is inserted, and
/// the ledger shows it.
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
  /// Returns a result of the operation, by its number.
  [[nodiscard]] virtual constexpr gradient_value result(int number = 0) = 0;
  /// Returns the cotangent of a result, zeros if nothing depends on it. The cotangent of an
  /// elementwise operation may be smaller than the result and is then broadcast.
  [[nodiscard]] virtual constexpr gradient_value cotangent(int number = 0) = 0;
  /// Returns true if an operand has a cotangent: it is floating-point and not constant.
  [[nodiscard]] virtual constexpr bool wants(int k) const = 0;
  /// Returns the axes, a bit each, over which the cotangent of an operand must stay pending: those
  /// that the caller passed as `left_pending`, if the operand is an argument of the differentiated
  /// function or made from one by elementwise operations of one operand. Otherwise there are none.
  [[nodiscard]] virtual constexpr unsigned left_pending(int k) const = 0;
  /// Adds to the cotangent of an operand. A value is summed over the dimensions along which the
  /// operand was broadcast, and broadcast if it is smaller than the operand.
  virtual constexpr void give(int k, const gradient_value& cotangent) = 0;

  /// Returns a number as an element of the type of `like`.
  [[nodiscard]] virtual constexpr gradient_value number(double value,
                                                        const gradient_value& like) = 0;
  /// Appends an operation.
  [[nodiscard]] virtual constexpr gradient_value emit(const operation& what, const attributes& how,
                                                      const value_ids& operands) = 0;
  /// Appends an operation of one operand whose result type is known.
  [[nodiscard]] virtual constexpr gradient_value emit(const operation& what, const attributes& how,
                                                      const gradient_value& operand,
                                                      const tensor_desc& result) = 0;
  /// Returns a value rounded to its elements, as memory has it, where a fused pass could have it
  /// with more digits: what is compared with a result must be rounded as the result was.
  [[nodiscard]] virtual constexpr gradient_value rounded(const gradient_value& value) = 0;
  /// Returns a value under another layout, which may be manual over other axes.
  [[nodiscard]] virtual constexpr gradient_value laid_out(const gradient_value& value,
                                                          const layout_desc& layout) = 0;
  /// Returns a further result of an operation that was appended.
  [[nodiscard]] virtual constexpr gradient_value further(const gradient_value& made, int number,
                                                         element type) = 0;
  [[nodiscard]] virtual constexpr tensor_desc tensor_of(value_id value) const = 0;

 protected:
  ~gradient_step() = default;
};

/// The operations that a gradient appends, besides arithmetic, comparisons, reductions and the
/// operation itself. They are the member `emits` of the class of the operation, so that a program
/// that uses the operation has their kernels too.
///
///     using emits = emitted_operations<flip_operation>;
template <class... Class>
struct emitted_operations {};

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
