// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/error.hpp"
#include "shardwise/operation/reduce.hpp"
#include "shardwise/operation/squeeze.hpp"
#include "shardwise/rule/batch.hpp"

namespace shardwise {

/// An operation that is applied to one element of a batch after another, on each device: the form
/// that `vmap` uses for operations without a batched form. Its attributes are those of the
/// operation, with `each` and `batches`.
struct vmap_operation {
  static constexpr text_view name = "vmap";

  /// Returns the attributes of an operation with one more batch, outside of those that it has.
  [[nodiscard]] static constexpr attributes how(const operation& what, const attributes& of,
                                                unsigned mapped) noexcept {
    attributes out = of;
    if (out.each == nullptr) out.each = &what;
    out.batches = {static_cast<std::uint8_t>(mapped)};
    for (std::uint8_t inner : of.batches) out.batches.push_back(inner);
    return out;
  }
  /// Returns the attributes without the outermost batch.
  [[nodiscard]] static constexpr attributes inner(const attributes& how) noexcept {
    attributes out = how;
    out.batches.clear();
    for (int b = 1; b < how.batches.ssize(); ++b) out.batches.push_back(how.batches[b]);
    if (out.batches.empty()) out.each = nullptr;
    return out;
  }
  /// Returns the operation to which the attributes belong.
  [[nodiscard]] static constexpr const operation& within(const attributes& how,
                                                         const operation& batched) noexcept {
    return how.batches.size() > 1 ? batched : *how.each;
  }
  /// Returns the operands of one element of the outermost batch.
  [[nodiscard]] static constexpr tensor_descs operands_of_each(
      const attributes& how, const tensor_descs& operands) noexcept {
    tensor_descs out;
    for (int k = 0; k < operands.ssize(); ++k)
      out.push_back((how.batches[0] >> k & 1U) != 0 ? without_dim(operands[k], 0) : operands[k]);
    return out;
  }

  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) {
    const tensor_descs each = operands_of_each(how, operands);
    const attributes of = inner(how);
    const factor_rule one = of.each != nullptr ? rule(of, each) : how.each->rule(of, each);
    // The mapped dimension is one more.
    if (one.factors.full() || one.result.full())
      fail({.rule = violation::rank_is_too_high, .have = max_rank + 1, .want = max_rank});
    return batched_rule(one, how.batches[0]);
  }
  [[nodiscard]] static constexpr element result_type(const attributes& how,
                                                     const tensor_descs& operands) {
    if (how.each->result_type == nullptr) return operands[0].type;
    attributes of = how;
    tensor_descs each = operands;
    for (; !of.batches.empty(); of = inner(of)) each = operands_of_each(of, each);
    return how.each->result_type(of, each);
  }
  /// The cost for one element, times the number of elements in the largest shard of the batch.
  [[nodiscard]] static constexpr operation_cost cost(const mesh_desc& mesh, const attributes& how,
                                                     const tensor_descs& operands,
                                                     const tensor_desc& result) {
    const tensor_descs each = operands_of_each(how, operands);
    const attributes of = inner(how);
    const tensor_desc made = without_dim(result, 0);
    operation_cost out;
    if (of.each != nullptr)
      out = cost(mesh, of, each, made);
    else if (how.each->cost != nullptr)
      out = how.each->cost(mesh, of, each, made);
    out.flops *=
        largest_part(mesh, result.layout.dims[0], result.layout.grains[0], result.extents[0]);
    return out;
  }
  [[nodiscard]] static constexpr bounded_text<47> label(const attributes& how) {
    bounded_text<47> words;
    for (int b = 0; b < how.batches.ssize(); ++b) words << name << ' ';
    attributes of = how;
    of.each = nullptr;
    of.batches.clear();
    words << text_view(label_of(*how.each, of));
    return words;
  }
  /// Applies the gradient of the operation to each element.
  static constexpr void gradient(gradient_step& at);
};

/// A value inside a mapped function: the value in the program that computes the whole batch, and
/// whether its first dimension is the batch.
struct batched_value {
  value_id id = -1;
  bool is_mapped = false;
};

namespace internal {

/// Appends dimensions of size 1 between the batch and those that a batched value of the sink `to`
/// has, until each element has `rank` dimensions: broadcasting aligns the last ones. Unlike a
/// reshape, this keeps the axes that split dimensions of size 1.
template <class Sink>
[[nodiscard]] constexpr value_id with_rank_of_each(Sink& to, value_id i, int rank) {
  attributes added;
  for (int have = to.tensor_of(i).rank() - 1; have < rank; ++have)
    added.integers.push_back(added.integers.ssize() + 1);
  return added.integers.empty() ? i : to.emit(operation_of<unsqueeze_operation>, added, {i});
}

/// Appends an operation, applied to each element of a batch, to the sink `to`, which has
/// `tensor_of(value)` and `emit(operation, attributes, values)`. Operations with a batched form are
/// appended with other attributes, all others as `vmap_operation`. The result for one element has
/// `rank` dimensions or more: that of an elementwise operation on a number, such as the cotangent
/// of a sum, may have more than any of its operands.
template <class Sink, class Values>
constexpr batched_value emit_batched(Sink& to, index_t size, const operation& what,
                                     const attributes& how, const Values& operands, int rank = 0) {
  unsigned mapped = 0;
  tensor_descs each;
  value_ids read;
  for (int k = 0; k < operands.ssize(); ++k) {
    if (operands[k].is_mapped) mapped |= 1U << k;
    each.push_back(tensor_of_each(to.tensor_of(operands[k].id), operands[k].is_mapped));
    read.push_back(operands[k].id);
  }
  if (mapped == 0) return {to.emit(what, how, read), false};

  batched_form form{how};
  if (what.is_elementwise) {
    form.rank = rank;
    for (const tensor_desc& operand : each)
      form.rank = operand.rank() > form.rank ? operand.rank() : form.rank;
  } else if (what.batched != nullptr) {
    form = what.batched(how, each, mapped, size);
  } else {
    form.is_known = false;
  }
  if (!form.is_known)
    return {to.emit(operation_of<vmap_operation>, vmap_operation::how(what, how, mapped), read),
            true};
  for (int k = 0; k < operands.ssize(); ++k)
    if (operands[k].is_mapped) read[k] = with_rank_of_each(to, read[k], form.rank);
  return {to.emit(what, form.how, read), true};
}

}  // namespace internal

namespace detail {

/// The gradient step of an operation inside `vmap`: whatever the operation's gradient appends is
/// appended for the whole batch.
class gradient_of_each final : public gradient_step {
 public:
  constexpr gradient_of_each(gradient_step& whole, const attributes& how)
      : whole_(whole), mapped_(whole.how().batches[0]), how_(how) {
    size_ = whole.result().tensor().extents[0];
  }

  [[nodiscard]] constexpr const mesh_desc& mesh() const override { return whole_.mesh(); }
  [[nodiscard]] constexpr const attributes& how() const override { return how_; }
  [[nodiscard]] constexpr int operand_count() const override { return whole_.operand_count(); }
  [[nodiscard]] constexpr gradient_value operand(int k) override {
    return add({whole_.operand(k).id, is_mapped(k)});
  }
  [[nodiscard]] constexpr gradient_value result(int number = 0) override {
    return add({whole_.result(number).id, true});
  }
  [[nodiscard]] constexpr gradient_value cotangent(int number = 0) override {
    return add({whole_.cotangent(number).id, true});
  }
  [[nodiscard]] constexpr bool wants(int k) const override { return whole_.wants(k); }
  [[nodiscard]] constexpr unsigned left_pending(int k) const override {
    return whole_.left_pending(k);
  }
  /// The cotangent of an operand that all elements share is the sum over the batch.
  constexpr void give(int k, const gradient_value& cotangent) override {
    batched_value given = at(cotangent.id);
    if (given.is_mapped && is_mapped(k))
      given.id = meeting(given.id, whole_.operand(k).tensor().rank());
    else if (given.is_mapped)
      given.id = sum_of_dims(given.id, 1);
    whole_.give(k, {&whole_, given.id});
  }
  [[nodiscard]] constexpr gradient_value number(double value, const gradient_value& like) override {
    return add({whole_.number(value, {&whole_, at(like.id).id}).id, false});
  }
  [[nodiscard]] constexpr gradient_value emit(const operation& what, const attributes& how,
                                              const value_ids& operands) override {
    inplace_vector<batched_value, max_operands> read;
    for (value_id o : operands) read.push_back(at(o));
    sink to{whole_};
    return add(emit_batched(to, size_, what, how, read));
  }
  [[nodiscard]] constexpr gradient_value emit(const operation& what, const attributes& how,
                                              const gradient_value& operand,
                                              const tensor_desc& result) override {
    const batched_value read = at(operand.id);
    const gradient_value from{&whole_, read.id};
    return add({whole_.emit(what, how, from, read.is_mapped ? whole_of(result) : result).id,
                read.is_mapped});
  }
  [[nodiscard]] constexpr gradient_value rounded(const gradient_value& value) override {
    static_cast<void>(whole_.rounded({&whole_, at(value.id).id}));
    return value;
  }
  [[nodiscard]] constexpr gradient_value laid_out(const gradient_value& value,
                                                  const layout_desc& layout) override {
    const batched_value of = at(value.id);
    tensor_desc target = tensor_of(value.id);
    target.layout = layout;
    const layout_desc wanted = of.is_mapped ? whole_of(target).layout : layout;
    return add({whole_.laid_out({&whole_, of.id}, wanted).id, of.is_mapped});
  }
  [[nodiscard]] constexpr gradient_value further(const gradient_value& made, int number,
                                                 element type) override {
    const batched_value first = at(made.id);
    return add({whole_.further({&whole_, first.id}, number, type).id, first.is_mapped});
  }
  [[nodiscard]] constexpr tensor_desc tensor_of(value_id value) const override {
    const batched_value of = at(value);
    return tensor_of_each(whole_.tensor_of(of.id), of.is_mapped);
  }

 private:
  /// The sink of `emit_batched`.
  struct sink {
    gradient_step& whole;
    [[nodiscard]] constexpr tensor_desc tensor_of(value_id i) const { return whole.tensor_of(i); }
    [[nodiscard]] constexpr value_id emit(const operation& what, const attributes& how,
                                          const value_ids& operands) {
      return whole.emit(what, how, operands).id;
    }
  };

  [[nodiscard]] constexpr bool is_mapped(int k) const noexcept { return (mapped_ >> k & 1U) != 0; }
  [[nodiscard]] constexpr value_id sum_of_dims(value_id i, unsigned dims) {
    return whole_
        .emit(operation_of<reduction_operation>,
              reduction_operation::how(reduction::sum, dims, false), {i})
        .id;
  }
  /// Returns a cotangent with as many dimensions as its operand. Since broadcasting aligns the last
  /// dimensions, missing or additional dimensions come after the batch.
  [[nodiscard]] constexpr value_id meeting(value_id i, int rank) {
    const int more = whole_.tensor_of(i).rank() - rank;
    if (more > 0) return sum_of_dims(i, ((1U << more) - 1U) << 1U);
    sink to{whole_};
    return with_rank_of_each(to, i, rank - 1);
  }
  [[nodiscard]] constexpr const batched_value& at(value_id i) const noexcept { return values_[i]; }
  [[nodiscard]] constexpr gradient_value add(const batched_value& value) {
    if (values_.full())
      fail({.rule = violation::program_is_too_long,
            .have = values_.ssize() + 1,
            .want = values_.ssize()});
    values_.push_back(value);
    return {this, values_.ssize() - 1};
  }
  /// Returns the type of the tensor of the whole batch, split like the result.
  [[nodiscard]] constexpr tensor_desc whole_of(const tensor_desc& each) {
    return with_batch(batch_of(whole_.result().tensor(), 0), each);
  }

  gradient_step& whole_;
  unsigned mapped_;
  index_t size_ = 0;
  attributes how_;
  inplace_vector<batched_value, 160> values_{};
};

}  // namespace detail

constexpr void vmap_operation::gradient(gradient_step& at) {
  const attributes of = inner(at.how());
  const operation& what = within(at.how(), operation_of<vmap_operation>);
  if (what.stops_gradient) return;
  if (what.gradient == nullptr) fail({.rule = violation::operation_has_no_gradient}, what.name);
  detail::gradient_of_each each(at, of);
  what.gradient(each);
}

}  // namespace shardwise
