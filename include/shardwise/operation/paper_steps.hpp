// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/reduce.hpp"
#include "shardwise/rule/manual_collective.hpp"
#include "shardwise/rule/permission.hpp"

namespace shardwise {

/// A reshard of an abstract tensor to a layout, or a collective on manual axes if it has axes.
struct paper_reshard {
  tensor_desc from{};
  layout_desc to{};
  manual_collective called{};
};
using paper_reshards = inplace_vector<paper_reshard, 2 * max_operands>;

/// The results of an operation that may have several.
using tensor_results = inplace_vector<tensor_desc, 2 * max_rank + 1>;

/// Applies the operations of a composition to abstract tensors, one after another, and adds up
/// their costs. After the first error no further operation is applied. The permitted axes, a bit
/// mask, are those over which devices may communicate; if `gathers`, every operation first gathers
/// its operands over them where necessary.
class paper_steps {
 public:
  constexpr explicit paper_steps(const mesh_desc& mesh, unsigned permitted = 0,
                                 bool gathers = false) noexcept
      : mesh_(mesh), permitted_(permitted), gathers_(gathers) {}

  /// Returns the result of an operation on operands.
  constexpr tensor_desc apply(const operation& what, const attributes& how,
                              const tensor_descs& given) {
    if (!verdict_.ok()) return given[0];
    const tensor_descs operands = gathers_ ? gathered(what.rule(how, given), given) : given;
    const propagation made = infer(mesh_, what, how, operands);
    verdict_ = made.verdict;
    // A result that no program could have is an error, whatever the rule returns.
    if (verdict_.ok()) verdict_ = check_known(mesh_, made.result.layout, made.result.extents);
    if (!verdict_.ok()) return operands[0];
    flops_ += cost_of(mesh_, what, how, operands, made.result);
    return made.result;
  }
  template <class Class, class... Operands>
  constexpr tensor_desc apply(const attributes& how, const Operands&... operands) {
    return apply(operation_of<Class>, how, tensor_descs{operands...});
  }
  /// Applies an elementwise function.
  template <class Function, class... Operands>
  constexpr tensor_desc each(const Operands&... operands) {
    return apply<pointwise<Function>>({}, operands...);
  }
  constexpr tensor_desc reduce(reduction kind, const tensor_desc& x, unsigned dims, bool keep) {
    return apply<reduction_operation>(reduction_operation::how(kind, dims, keep), x);
  }
  /// Returns the operands of an operation, gathered over permitted axes where its rule needs it.
  constexpr tensor_descs gathered(const factor_rule& rule, const tensor_descs& operands) noexcept {
    const tensor_descs out = fetched(mesh_, rule, operands, permitted_);
    for (int o = 0; o < out.ssize(); ++o)
      if (!(out[o] == operands[o])) (void)resharded(operands[o], out[o].layout);
    return out;
  }
  /// Returns a scale or shift as it is read beside a tensor, gathered over permitted axes where its
  /// splits contradict those of the tensor.
  constexpr tensor_desc beside(const tensor_desc& x, const tensor_desc& scale) noexcept {
    const layout_desc layout = fetched_beside(mesh_, x, scale, permitted_);
    return layout == scale.layout ? scale : resharded(scale, layout);
  }
  /// Returns the same operands of a composition, which its rule checks before the first step.
  constexpr tensor_descs checked(const factor_rule& rule, const tensor_descs& operands) noexcept {
    const tensor_descs out = gathered(rule, operands);
    if (verdict_.ok()) verdict_ = propagate(mesh_, rule, out).verdict;
    return out;
  }
  /// Returns the tensor with another layout, after a reshard.
  constexpr tensor_desc resharded(const tensor_desc& x, const layout_desc& to) noexcept {
    if (verdict_.ok() && !reshards_.full()) reshards_.push_back({x, to, {}});
    return {x.type, x.extents, to};
  }
  /// Returns the result of a collective on manual axes.
  constexpr tensor_desc called(const manual_collective& what, const tensor_desc& x) noexcept {
    if (!verdict_.ok()) return x;
    const manual_result made = what.apply(mesh_, x);
    verdict_ = made.verdict;
    if (!reshards_.full()) reshards_.push_back({x, made.tensor.layout, what});
    return made.tensor;
  }
  /// Returns the tensor without its pending reductions, if all of them are over permitted axes: a
  /// small reduction in the middle of an operation.
  constexpr tensor_desc finished(const tensor_desc& x) noexcept {
    if (x.layout.pending == 0 || (x.layout.pending & ~permitted_) != 0) return x;
    layout_desc layout = x.layout;
    layout.pending = 0;
    layout.kind = reduction::sum;
    return resharded(x, layout);
  }
  /// Returns the tensor of a number among operands: of rank 0 and replicated.
  [[nodiscard]] static constexpr tensor_desc number(const tensor_desc& beside) noexcept {
    return {beside.type, {}, {}};
  }
  [[nodiscard]] constexpr const mesh_desc& mesh() const noexcept { return mesh_; }
  [[nodiscard]] constexpr unsigned permitted() const noexcept { return permitted_; }
  [[nodiscard]] constexpr index_t flops() const noexcept { return flops_; }
  [[nodiscard]] constexpr const diagnosis& verdict() const noexcept { return verdict_; }
  [[nodiscard]] constexpr const paper_reshards& reshards() const noexcept { return reshards_; }

  /// Returns the floating-point operations of the device with the largest shard.
  [[nodiscard]] static constexpr index_t cost_of(const mesh_desc& mesh, const operation& what,
                                                 const attributes& how,
                                                 const tensor_descs& operands,
                                                 const tensor_desc& result) {
    if (what.cost == nullptr) return 0;
    const index_t flops = what.cost(mesh, how, operands, result).flops;
    return what.is_elementwise ? flops * largest_shard_size(mesh, result.layout, result.extents)
                               : flops;
  }

 private:
  const mesh_desc& mesh_;
  unsigned permitted_ = 0;
  bool gathers_ = false;
  index_t flops_ = 0;
  paper_reshards reshards_{};
  diagnosis verdict_{};
};

}  // namespace shardwise
