// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/rule/collective.hpp"
#include "shardwise/rule/propagate.hpp"
#include "shardwise/rule/strided_elements.hpp"

#include <bit>
#include <concepts>

namespace shardwise {

class gradient_step;
struct operation;
struct attributes;
struct batched_form;

/// The parameters of an operation besides its operands, as values: the dimensions of a reduction,
/// the equation of an einsum, a number. Applications of an operation with equal attributes compute
/// the same function of their operands.
struct attributes {
  inplace_vector<index_t, 2 * max_rank> integers{};
  double number = 0;
  reduction kind = reduction::sum;
  bounded_text<47> words{};
  /// The operation that is applied to each element of a batch, with the attributes above; null for
  /// all operations but `vmap_operation`.
  const operation* each = nullptr;
  /// The batches of that, the outermost first: a bit for each operand whose first dimension is the
  /// batch.
  inplace_vector<std::uint8_t, max_rank> batches{};

  /// Returns true if there are no attributes.
  [[nodiscard]] constexpr bool empty() const noexcept {
    return integers.empty() && words.empty() && kind == reduction::sum && batches.empty() &&
           std::bit_cast<std::uint64_t>(number) == 0;
  }

  /// Numbers are compared by their bits: 0 and -0 differ, and NaN is NaN.
  friend constexpr bool operator==(const attributes& a, const attributes& b) noexcept;
};

/// Attributes that consist of integers only.
template <std::convertible_to<index_t>... Integers>
[[nodiscard]] constexpr attributes integer_attributes(Integers... integers) noexcept {
  attributes out;
  (out.integers.push_back(static_cast<index_t>(integers)), ...);
  return out;
}

/// Which integers of an operation's attributes are dimensions that a program names, and so may be
/// negative: its class declares them as `names`. In an instruction, they count from the first.
struct dims_among {
  /// The number of these integers, which are the first; 0 for all but the `others`.
  int count = 0;
  int others = 0;
  /// True if they are dimensions of the result, which has them in addition to those of the first
  /// operand.
  bool of_result = false;
  /// The number of dimensions at the end of the first operand that are not counted.
  int beyond = 0;
  /// True if a negative one counts from the end of each operand, whatever its rank: it stays
  /// negative, and the operation reads it.
  bool of_each = false;

  [[nodiscard]] constexpr int count_in(const attributes& how) const noexcept {
    if (of_each) return 0;
    return count > 0 ? count : how.integers.ssize() - others;
  }
  /// Returns true if one of them is negative.
  [[nodiscard]] constexpr bool are_from_end(const attributes& how) const noexcept {
    for (int i = 0; i < count_in(how); ++i)
      if (how.integers[i] < 0) return true;
    return false;
  }
  /// Returns the attributes for a first operand of this rank, with dimensions counted from the
  /// first.
  [[nodiscard]] constexpr attributes from_front(attributes how, int rank) const noexcept {
    const int named = count_in(how);
    rank += (of_result ? named : 0) - beyond;
    for (int i = 0; i < named; ++i) how.integers[i] = counted_from_front(how.integers[i], rank);
    return how;
  }
};

/// Returns the name of an operation and its integers as text: `transpose 1 0`. Integers that are
/// not known are written as `?`.
[[nodiscard]] constexpr bounded_text<47> words_of(text_view name, const attributes& how) noexcept {
  bounded_text<47> words;
  words << name;
  for (index_t n : how.integers) {
    words << ' ';
    if (n == dyn)
      words << '?';
    else
      words << n;
  }
  return words;
}

/// The cost of one application of an operation on one device; `moved` and `bytes` are those of a
/// collective, for each of `axes`.
struct operation_cost {
  index_t flops = 0;
  bool is_collective = false;
  collective moved = collective::slice;
  axis_list axes{};
  inplace_vector<index_t, max_axes> bytes{};
};

/// Requires operands of one type, from `first` on; accepts `bool` only if `truth_values` is set.
[[nodiscard]] constexpr diagnosis check_alike(const tensor_descs& operands, int first = 0,
                                              bool truth_values = false) noexcept {
  for (int o = first; o < operands.ssize(); ++o) {
    if (operands[o].type != operands[first].type)
      return {.rule = violation::operand_elements_differ, .operand = o};
    if (!truth_values && operands[o].type == element::boolean)
      return {.rule = violation::operand_is_no_number, .operand = o};
  }
  return {};
}
/// Requires `bool` for the operands before `end`.
[[nodiscard]] constexpr diagnosis check_truth_values(const tensor_descs& operands,
                                                     int end) noexcept {
  for (int o = 0; o < end; ++o)
    if (operands[o].type != element::boolean)
      return {.rule = violation::operand_is_no_truth_value, .operand = o};
  return {};
}

/// Requires integers, used as indices, for the operands from `first` up to `end`.
[[nodiscard]] constexpr diagnosis check_indices(const tensor_descs& operands, int first,
                                                int end) noexcept {
  for (int o = first; o < end; ++o)
    if (!is_whole_number(operands[o].type))
      return {.rule = violation::operand_is_no_index, .operand = o};
  return {};
}

/// The base of an operation that accepts elements of every type because it only moves them.
struct of_any_elements {
  [[nodiscard]] static constexpr diagnosis check_elements(const attributes&,
                                                          const tensor_descs&) noexcept {
    return {};
  }
};

/// The base of operations on any elements whose result is a view: the elements of the operand in
/// the order of the factors of the result.
struct of_reordered_elements : of_any_elements {
  static constexpr views_read reads = views_read::any;
  [[nodiscard]] static constexpr strided_elements view(const attributes&, const factor_rule& rule,
                                                       const strided_elements& from,
                                                       const extents_desc& made) noexcept {
    return by_factors(rule, from, made);
  }
};

/// Returns the identifier of an operation, the same in every program: a hash of its name.
[[nodiscard]] constexpr std::uint64_t operation_id(text_view name) noexcept {
  std::uint64_t hash = 14695981039346656037U;
  for (char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  return hash;
}

/// The highest number of values that an instruction reads. It exceeds `max_operands` because a call
/// reads what all operations of its body need.
inline constexpr int max_values_read = 16;

/// The numbers of the values that an instruction reads, in order. The number of a value is that of
/// the instruction that computes it.
using value_id = std::int32_t;
using value_ids = inplace_vector<value_id, max_values_read>;

/// An operation as a value, with everything that functions on programs need to know about it. Made
/// from the class of the operation by `operation_of`.
///
/// Only `id` is compared: addresses of inline objects are not constants on every compiler.
struct operation {
  text_view name{};
  std::uint64_t id = 0;
  /// True if it is elementwise, and so fuses with the operations whose results it reads.
  bool is_elementwise = false;
  /// True for a source of values: an input of the program, or a constant.
  bool is_leaf = false;
  /// True for a reduction that can compute the preceding elementwise pass in its own loop.
  bool takes_prologue = false;
  /// True if it may write its result over its first operand, because it reads each element of that
  /// operand only to write the same element.
  bool overwrites_first = false;
  /// True if each device holds the same elements in the same order before and after it, as in a
  /// reshape: the result is a view of the operand's memory if nothing else needs the operand.
  bool keeps_elements = false;
  /// For an operation that computes nothing: returns which elements of a device's block of the
  /// operand are those of its block of the result, whose extents are `made`. Steps may then read
  /// the operand instead of the result. Null for other operations.
  strided_elements (*view)(const attributes&, const factor_rule&, const strided_elements& from,
                           const extents_desc& made) = nullptr;
  /// Returns true if the rows of such a result, along its last dimension, are rows of the operand
  /// or parts of them; null if they always are.
  bool (*keeps_rows)(const attributes&) = nullptr;
  /// True for such an operation if the block of the operand must be contiguous.
  bool views_contiguous = false;
  /// False for such an operation if, along a split dimension that changes its size, the elements of
  /// a block depend on the position of the device. It is computed there.
  bool views_split = true;
  /// The views of its operands that the operation can read in place of copies.
  views_read reads = views_read::never;
  /// Returns the factor rule for these operands, which determines their legal layouts and the
  /// layout of the result; null if the operation has rules of its own.
  factor_rule (*rule)(const attributes&, const tensor_descs&) = nullptr;
  /// The element type of the result.
  element (*result_type)(const attributes&, const tensor_descs&) = nullptr;
  /// Returns the cost on one device; for an elementwise operation, `flops` is that of one element.
  operation_cost (*cost)(const mesh_desc&, const attributes&, const tensor_descs&,
                         const tensor_desc& result) = nullptr;
  /// The name of the operation in the steps of a program.
  bounded_text<47> (*label)(const attributes&) = nullptr;
  /// True if gradients treat its result as a constant.
  bool stops_gradient = false;
  /// Returns the cotangents of the operands, given those of the results; null if it has no
  /// gradient.
  void (*gradient)(gradient_step&) = nullptr;
  /// Returns the attributes with which the operation itself computes a batch of its applications,
  /// given the operands of one of them, a bit for each operand that has the batch as its first
  /// dimension, and the size of the batch; null if it is applied to one element after the other.
  batched_form (*batched)(const attributes&, const tensor_descs&, unsigned mapped,
                          index_t size) = nullptr;

  friend constexpr bool operator==(const operation& a, const operation& b) noexcept {
    return a.id == b.id;
  }
};

constexpr bool operator==(const attributes& a, const attributes& b) noexcept {
  return a.integers == b.integers && a.kind == b.kind && a.words == b.words &&
         std::bit_cast<std::uint64_t>(a.number) == std::bit_cast<std::uint64_t>(b.number) &&
         a.batches == b.batches && (a.each == b.each || (a.each && b.each && *a.each == *b.each));
}

/// How an operation computes a batch of its applications at once.
struct batched_form {
  attributes how{};
  /// The rank up to which the operands of one application get dimensions of size 1 in front, behind
  /// the batch: extents meet from the last dimension backwards.
  int rank = 0;
  /// False if these operands are computed one after the other all the same.
  bool is_known = true;
};

/// Returns true if an operation may use the memory of its first operand for its result.
[[nodiscard]] constexpr bool may_reuse_first(const operation& what, const mesh_desc& mesh,
                                             const tensor_desc& first,
                                             const tensor_desc& result) noexcept {
  return (what.overwrites_first && first == result) ||
         (what.keeps_elements && have_same_shards(mesh, first, result));
}

namespace detail {
template <class Class>
[[nodiscard]] constexpr operation describe_operation() noexcept {
  operation made;
  made.name = Class::name;
  made.id = operation_id(Class::name);
  if constexpr (requires { Class::is_elementwise; }) made.is_elementwise = Class::is_elementwise;
  if constexpr (requires { Class::is_leaf; }) made.is_leaf = Class::is_leaf;
  if constexpr (requires { Class::takes_prologue; }) made.takes_prologue = Class::takes_prologue;
  if constexpr (requires { Class::overwrites_first; })
    made.overwrites_first = Class::overwrites_first;
  if constexpr (requires { Class::keeps_elements; }) made.keeps_elements = Class::keeps_elements;
  if constexpr (requires {
                  {
                    Class::view(attributes{}, factor_rule{}, strided_elements{}, extents_desc{})
                    } -> std::same_as<strided_elements>;
                })
    made.view = &Class::view;
  if constexpr (requires { &Class::keeps_rows; }) made.keeps_rows = &Class::keeps_rows;
  if constexpr (requires { Class::views_contiguous; })
    made.views_contiguous = Class::views_contiguous;
  if constexpr (requires { Class::views_split; }) made.views_split = Class::views_split;
  if constexpr (requires { Class::reads; }) made.reads = Class::reads;
  if (made.is_elementwise || made.takes_prologue) made.reads = views_read::of_rows;
  if constexpr (requires { Class::rule(attributes{}, tensor_descs{}); }) made.rule = &Class::rule;
  if constexpr (requires { &Class::result_type; }) made.result_type = &Class::result_type;
  if constexpr (requires { &Class::cost; }) made.cost = &Class::cost;
  if constexpr (requires { &Class::label; }) made.label = &Class::label;
  if constexpr (requires { Class::stops_gradient; }) made.stops_gradient = Class::stops_gradient;
  if constexpr (requires(gradient_step & at) { Class::gradient(at); })
    made.gradient = &Class::gradient;
  if constexpr (requires { &Class::batched; }) made.batched = &Class::batched;
  return made;
}
}  // namespace detail

/// The value of an operation, given by a class with `name` and any of the members of `operation`.
///
///     static_assert(operation_of<pointwise<functions::relu>>.name == "relu");
template <class Class>
inline constexpr operation operation_of = detail::describe_operation<Class>();

/// Returns the operation whose kernel computes an instruction: of a batch that of its elements.
[[nodiscard]] constexpr const operation& kernel_operation(const operation& what,
                                                          const attributes& how) noexcept {
  return how.each != nullptr ? *how.each : what;
}

/// Returns the text of an operation in a program: its own wording, or its name.
[[nodiscard]] constexpr bounded_text<47> label_of(const operation& what,
                                                  const attributes& how) noexcept {
  if (what.label != nullptr) return what.label(how);
  bounded_text<47> words;
  words << what.name;
  return words;
}

/// The result of an operation on operands on a mesh, or the diagnosis that rejects them.
[[nodiscard]] constexpr propagation infer(const mesh_desc& mesh, const operation& what,
                                          const attributes& how, const tensor_descs& operands) {
  propagation out = propagate(mesh, what.rule(how, operands), operands);
  if (what.result_type != nullptr) out.result.type = what.result_type(how, operands);
  return out;
}

}  // namespace shardwise
