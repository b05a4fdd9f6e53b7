// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/fused.hpp"
#include "shardwise/kernel/contract_kernel.hpp"
#include "shardwise/kernel/copy_kernel.hpp"
#include "shardwise/kernel/pointwise_kernel.hpp"
#include "shardwise/kernel/reduce_kernel.hpp"
#include "shardwise/operation/fold.hpp"
#include "shardwise/plan/fused_program.hpp"
#include "shardwise/rule/einsum.hpp"
#include "shardwise/runtime/computation.hpp"
#include "shardwise/tensor/shared_blocks.hpp"

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace shardwise {

namespace detail {

/// The part of an elementwise operand that meets the part `want` of a result: the same indices from
/// the last dimension backwards, index 0 where the operand has one element.
[[nodiscard]] inline held_box part_of_operand(const extents_desc& operand,
                                              const extents_desc& result,
                                              const held_box& want) noexcept {
  held_box part;
  for (int d = 0; d < operand.ssize(); ++d) {
    const int r = result.ssize() - operand.ssize() + d;
    part.push_back(operand[d] == 1 && result[r] != 1 ? held_range{{0, 1}, {}, 0} : want[r]);
  }
  return part;
}

/// The part `want` of a tensor as a device holds it: a view of its shard, or of a copy in
/// `gathered` where the device has a whole dimension of which the operation takes what a grain
/// deals out.
template <class T>
[[nodiscard]] strided<const T> read_part(const node<T>& operand, index_t device,
                                         const held_box& want, std::vector<T>& gathered) {
  const held_box own = operand.where().held_by(device);
  box part;
  bool in_place = true;
  for (int d = 0; d < want.ssize(); ++d) {
    const grained_split& theirs = want[d].split;
    part.push_back(want[d].range);
    in_place = in_place && (theirs.parts == 1 ||
                            (theirs.how == own[d].split.how && theirs.parts == own[d].split.parts));
  }
  if (in_place) return operand.view(device, part);
  const extents_desc extents = extents_of(part);
  gathered.resize(static_cast<std::size_t>(volume(part)));
  const strided<T> copy{gathered.data(), extents, row_major(extents)};
  for_each_shared_block(
      own, operand.block(device, own), want, copy,
      [](const strided<const T>& from, const strided<T>& to) { copy_block(from, to); });
  return {copy.data, copy.extents, copy.strides};
}

/// A view of an elementwise operand with the extents of the result's part: broadcasts have stride
/// 0.
template <class T>
[[nodiscard]] strided<const T> broadcast_view(const node<T>& operand, index_t device,
                                              const extents_desc& result, const held_box& want,
                                              std::vector<T>& gathered) {
  const extents_desc& extents = operand.tensor().extents;
  const strided<const T> own =
      read_part(operand, device, part_of_operand(extents, result, want), gathered);
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
  pointwise_node(std::shared_ptr<machine> home, placement_ptr where, std::uint64_t sequence,
                 Tree tree)
      : pending_node<T>(std::move(home), std::move(where), sequence), tree_(tree) {}

  [[nodiscard]] value_id describe(program_builder& code,
                                  std::span<const value_id> read) const override {
    return fused::append(code, read.template first<N>(), tree_);
  }
  [[nodiscard]] std::int32_t instructions() const noexcept override { return Tree::calls; }
  [[nodiscard]] operation_cost cost() const noexcept override {
    return {.flops = pass_flops(Tree::flops, this->where().largest_shard_size())};
  }

  void run_shard(index_t shard) override {
    const placement& where = this->where();
    const strided<T> out = this->block_of(shard);
    strided<const T> operands[N];
    std::vector<T> gathered[N];
    for (std::size_t k = 0; k < N; ++k) {
      const node<T>& operand = this->operand_at(k);
      // Most operands are laid out as the result is, and small tensors feel every look-up.
      if (operand.tensor().extents == where.tensor().extents &&
          operand.where().numbers_like(where)) {
        operands[k] = {operand.shard(shard).data(), out.extents, out.strides};
      } else {
        const index_t device = where.device_of(shard);
        operands[k] = detail::broadcast_view(operand, device, where.tensor().extents,
                                             where.held_by(device), gathered[k]);
      }
    }
    run_pointwise(tree_, operands, out);
  }

 private:
  Tree tree_;
};

/// Dimensions folded away, with a fused pass over `N` tensors as the prologue.
template <class T, class Tree, std::size_t N>
class fold_node : public operation_node<T> {
 public:
  /// `folded` describes what is folded: the result of the prologue.
  fold_node(std::shared_ptr<machine> home, placement_ptr where, const applied_operation& does,
            const operation_cost& cost, Tree tree, const tensor_desc& folded)
      : operation_node<T>(std::move(home), std::move(where), does, cost),
        tree_(tree),
        folded_(folded) {}

  [[nodiscard]] value_id describe(program_builder& code,
                                  std::span<const value_id> read) const override {
    const value_id prologue = fused::append(code, read.template first<N>(), tree_);
    return operation_node<T>::describe(code, {&prologue, 1});
  }
  [[nodiscard]] std::int32_t instructions() const noexcept override { return 1 + Tree::calls; }

  void run_shard(index_t shard) override {
    const index_t device = this->where().device_of(shard);
    const held_box part = held_of(this->where().mesh(), folded_.layout, folded_.extents, device);
    strided<const T> operands[N];
    std::vector<T> gathered[N];
    for (std::size_t k = 0; k < N; ++k)
      operands[k] =
          detail::broadcast_view(this->operand_at(k), device, folded_.extents, part, gathered[k]);
    const strided<T> kept = this->block_of(shard);
    strided<T> out{kept.data, extents_of(part), {}};
    const bool keeps = kept.rank() == part.ssize();
    const attributes& how = this->does().how;
    const unsigned reduced = fold_operation::reduced(how);
    int next = 0;
    for (int d = 0; d < part.ssize(); ++d) {
      const bool folds = (reduced >> d & 1U) != 0;
      out.strides.push_back(folds ? index_t{0} : kept.strides[next]);
      if (keeps || !folds) ++next;
    }
    run_reduce(how.kind, tree_, operands, out, static_cast<std::uint8_t>(reduced));
  }

 private:
  Tree tree_;
  tensor_desc folded_;
};

/// An einsum of one or two tensors.
template <class T>
class einsum_node : public operation_node<T> {
 public:
  einsum_node(std::shared_ptr<machine> home, placement_ptr where, const applied_operation& does,
              const operation_cost& cost, const factor_rule& rule, const propagation& split)
      : operation_node<T>(std::move(home), std::move(where), does, cost),
        rule_(rule),
        split_(split) {}

  void run_shard(index_t shard) override {
    const index_t device = this->where().device_of(shard);
    const coordinates at = this->where().mesh().at(device);
    const auto part_of_factors = [&](const factor_map& map) {
      held_box part;
      for (std::uint8_t f : map)
        part.push_back(
            held_of(this->where().mesh(), split_.axes[f], split_.grains[f], split_.sizes[f], at));
      return part;
    };
    std::vector<T> gathered[2];
    const auto read = [&](std::size_t k) {
      return detail::read_part(this->operand_at(k), device, part_of_factors(rule_.operands[k]),
                               gathered[k]);
    };
    const strided<T> out = this->block_of(shard);
    const strided<const T> a = read(0);
    if (rule_.operands.size() == 1)
      contract<T>({rule_.operands[0], {}, rule_.result}, a, out);
    else
      contract<T>({rule_.operands[0], rule_.operands[1], rule_.result}, a, read(1), out);
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
class collective_node : public operation_node<T> {
 public:
  using operation_node<T>::operation_node;

  void run_shard(index_t shard) override {
    const transfer step = moved();
    const placement& source = this->operand_at(0).where();
    const device_groups groups(source.mesh(), step.axes);
    const index_t device = this->where().device_of(shard);
    const index_t group = groups.group_of(device);
    const held_box part = this->where().held_by(device);
    const strided<T> block = this->block_of(shard);
    const auto pull = [&](index_t peer, bool folds) {
      const held_box theirs = source.held_by(peer);
      for_each_shared_block(theirs, this->operand_at(0).block(peer, theirs), part, block,
                            [&](const strided<const T>& from, const strided<T>& to) {
                              if (folds)
                                fold_block(this->does().how.kind, from, to);
                              else
                                copy_block(from, to);
                            });
    };
    // A tensor that becomes manual, or ceases to be, has other indices and the same elements.
    if (this->does().what->id == operation_of<manual_operation>.id)
      return copy_block(this->operand_at(0).block(device, source.held_by(device)), block);
    if (step.kind == collective::slice) return pull(device, false);
    const bool reduces =
        step.kind == collective::all_reduce || step.kind == collective::reduce_scatter;
    for (index_t position = 0; position < groups.size(); ++position)
      pull(groups.member(group, position), reduces && position > 0);
  }

 private:
  [[nodiscard]] transfer moved() const noexcept {
    if (this->does().what->id == operation_of<manual_operation>.id) return {};
    return collective_operation::moved(this->does().how, this->tensor().layout);
  }
};

}  // namespace shardwise
