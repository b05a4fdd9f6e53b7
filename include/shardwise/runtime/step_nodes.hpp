// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/fused.hpp"
#include "shardwise/plan/step.hpp"
#include "shardwise/runtime/computation.hpp"
#include "shardwise/runtime/contract_kernel.hpp"
#include "shardwise/runtime/copy_kernel.hpp"
#include "shardwise/runtime/pointwise_kernel.hpp"
#include "shardwise/runtime/reduce_kernel.hpp"

#include <cstddef>
#include <memory>
#include <utility>

namespace shardwise {

namespace detail {

/// The part of an elementwise operand that meets the part `want` of a result: the same indices from
/// the last dimension backwards, index 0 where the operand has one element.
[[nodiscard]] inline box part_of_operand(const extents_desc& operand, const extents_desc& result,
                                         const box& want) noexcept {
  box part;
  for (int d = 0; d < operand.ssize(); ++d) {
    const int r = result.ssize() - operand.ssize() + d;
    part.push_back(operand[d] == 1 && result[r] != 1 ? index_range{0, 1} : want[r]);
  }
  return part;
}

/// A view of an elementwise operand with the extents of the result's part: broadcasts have stride
/// 0.
template <class T>
[[nodiscard]] strided<const T> broadcast_view(const node<T>& operand, index_t device,
                                              const extents_desc& result,
                                              const box& want) noexcept {
  const extents_desc& extents = operand.tensor().extents;
  const strided<const T> own = operand.view(device, part_of_operand(extents, result, want));
  strided<const T> view{own.data, extents_of(want), {}};
  for (int r = 0; r < result.ssize(); ++r) {
    const int d = extents.ssize() - (result.ssize() - r);
    const bool repeats = d < 0 || (extents[d] == 1 && result[r] != 1);
    view.strides.push_back(repeats ? 0 : own.strides[d]);
  }
  return view;
}

}  // namespace detail

/// A fused elementwise pass over `N` tensors.
template <class T, class Tree, std::size_t N>
class pointwise_node : public pending_node<T> {
 public:
  pointwise_node(std::shared_ptr<machine> home, const placement& where, const step_desc& step,
                 std::uint64_t sequence, Tree tree)
      : pending_node<T>(std::move(home), where, step, sequence), tree_(tree) {}

  void run_shard(index_t shard) override {
    const index_t device = this->where().device_of(shard);
    const box part = this->where().box_of(device);
    const strided<T> out = this->block_of(shard, part);
    strided<const T> operands[N];
    for (std::size_t k = 0; k < N; ++k) {
      const node<T>& operand = this->operand_at(k);
      // Most operands are laid out as the result is, and small tensors feel every look-up.
      if (operand.tensor().extents == this->tensor().extents &&
          operand.where().numbers_like(this->where()))
        operands[k] = {operand.shard(shard).data(), out.extents, out.strides};
      else
        operands[k] = detail::broadcast_view(operand, device, this->tensor().extents, part);
    }
    run_pointwise(tree_, operands, out);
  }

 private:
  Tree tree_;
};

/// Dimensions folded away, with a fused pass over `N` tensors as the prologue.
template <class T, class Tree, std::size_t N>
class fold_node : public pending_node<T> {
 public:
  /// `folded` describes what is folded: the result of the prologue.
  fold_node(std::shared_ptr<machine> home, const placement& where, const step_desc& step,
            std::uint64_t sequence, Tree tree, const tensor_desc& folded, reduction kind,
            unsigned reduced)
      : pending_node<T>(std::move(home), where, step, sequence),
        tree_(tree),
        folded_(folded),
        kind_(kind),
        reduced_(static_cast<std::uint8_t>(reduced)) {}

  void run_shard(index_t shard) override {
    const index_t device = this->where().device_of(shard);
    const box part = shard_box(this->where().mesh(), folded_.layout, folded_.extents, device);
    strided<const T> operands[N];
    for (std::size_t k = 0; k < N; ++k)
      operands[k] = detail::broadcast_view(this->operand_at(k), device, folded_.extents, part);
    const strided<T> kept = this->block_of(shard, this->where().box_of(device));
    strided<T> out{kept.data, extents_of(part), {}};
    const bool keeps = kept.rank() == part.ssize();
    int next = 0;
    for (int d = 0; d < part.ssize(); ++d) {
      const bool folds = (reduced_ >> d & 1U) != 0;
      out.strides.push_back(folds ? index_t{0} : kept.strides[next]);
      if (keeps || !folds) ++next;
    }
    run_reduce(kind_, tree_, operands, out, reduced_);
  }

 private:
  Tree tree_;
  tensor_desc folded_;
  reduction kind_;
  std::uint8_t reduced_;
};

/// An einsum of one or two tensors.
template <class T>
class einsum_node : public pending_node<T> {
 public:
  einsum_node(std::shared_ptr<machine> home, const placement& where, const step_desc& step,
              const factor_rule& rule, const propagation& split)
      : pending_node<T>(std::move(home), where, step), rule_(rule), split_(split) {}

  void run_shard(index_t shard) override {
    const index_t device = this->where().device_of(shard);
    const coordinates at = this->where().mesh().at(device);
    const auto part_of_factors = [&](const factor_map& map) {
      box part;
      for (std::uint8_t f : map)
        part.push_back(split_range(this->where().mesh(), split_.axes[f], split_.sizes[f], at));
      return part;
    };
    const strided<T> out = this->block_of(shard, part_of_factors(rule_.result));
    const strided<const T> a = this->operand_at(0).view(device, part_of_factors(rule_.operands[0]));
    if (rule_.operands.size() == 1)
      contract<T>({rule_.operands[0], {}, rule_.result}, a, out);
    else
      contract<T>({rule_.operands[0], rule_.operands[1], rule_.result}, a,
                  this->operand_at(1).view(device, part_of_factors(rule_.operands[1])), out);
  }

 private:
  factor_rule rule_;
  propagation split_;
};

/// One collective: the devices of a group read what they need from each other's shards.
///
/// In one address space every collective is a copy, or a fold in the order of the group, from the
/// shards before it to each distinct shard after it.
template <class T>
class reshard_node : public pending_node<T> {
 public:
  using pending_node<T>::pending_node;

  void run_shard(index_t shard) override {
    const step_desc& step = this->step();
    const placement& source = this->operand_at(0).where();
    const device_groups groups(source.mesh(), step.axes);
    const index_t device = this->where().device_of(shard);
    const index_t group = groups.group_of(device);
    const box part = this->where().box_of(device);
    const strided<T> block = this->block_of(shard, part);
    const bool folds =
        step.moved == collective::all_reduce || step.moved == collective::reduce_scatter;
    if (step.moved == collective::slice) {
      // A tensor that becomes manual, or ceases to be, has other indices and the same elements.
      const bool same = source.tensor().layout.manual == this->tensor().layout.manual;
      copy_block(this->operand_at(0).view(device, same ? part : source.box_of(device)), block);
      return;
    }
    for (index_t position = 0; position < groups.size(); ++position) {
      const index_t peer = groups.member(group, position);
      const box common = intersect(part, source.box_of(peer));
      if (volume(common) == 0) continue;
      const strided<const T> from = this->operand_at(0).view(peer, common);
      const strided<T> to = part_of(block.data, part, common);
      if (folds && position > 0)
        fold_block(step.fold, from, to);
      else
        copy_block(from, to);
    }
  }
};

}  // namespace shardwise
