// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/batched_call.hpp"
#include "shardwise/kernel/scratch_memory.hpp"
#include "shardwise/runtime/computation.hpp"
#include "shardwise/runtime/read_part.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace shardwise {

/// The shards of the results of an operation after the first, by result.
using further_shards = std::vector<std::vector<shard_buffer<std::byte>>>;

namespace detail {

/// Allocates memory for the results after the first, which have its layout.
[[nodiscard]] inline further_shards allocate_further(const tensor_node& result,
                                                     const further_elements& further) {
  further_shards all;
  for (const element_kernels* kernels : further) {
    std::vector<shard_buffer<std::byte>> shards;
    for (index_t s = 0; s < result.where().count(); ++s)
      if (result.where().is_here(s))
        shards.emplace_back(result.home()->storage(),
                            result.where().size_of_shard(s) * size_of(kernels->type));
      else
        shards.emplace_back();
    all.push_back(std::move(shards));
  }
  return all;
}

/// Returns the part of operand `k` that a device reads, as determined by the factors of the rule.
[[nodiscard]] inline held_box part_of(const mesh_desc& mesh, const coordinates& at,
                                      const factor_rule& rule, const propagation& split,
                                      std::size_t k) noexcept {
  held_box part;
  for (std::uint8_t f : rule.operands[k])
    part.push_back(f == repeated
                       ? held_range{{0, 1}, {}, 0}
                       : held_of(mesh, split.axes[f], split.grains[f], split.sizes[f], at));
  return part;
}

/// Applies an operation that is not elementwise to the device of a shard of `result`: each operand
/// is read as determined by the factors of the rule. `view_of(k, device, part, gathered)` returns
/// the part of operand `k`; `memory` is that of the results after the first, if there are any.
template <class ViewOf>
void run_whole(tensor_node& result, index_t shard, const attributes& how, const factor_rule& rule,
               const propagation& split, structured_kernel kernel, const further_elements& further,
               further_shards* memory, const ViewOf& view_of) {
  const mesh_desc& mesh = result.where().mesh();
  const index_t device = result.where().device_of(shard);
  const coordinates at = mesh.at(device);
  const std::size_t count = rule.operands.size();
  const_any_block blocks[max_operands];
  held_box parts[max_operands];
  scratch_vector<std::byte> gathered[max_operands];
  for (std::size_t k = 0; k < count; ++k) {
    parts[k] = part_of(mesh, at, rule, split, k);
    blocks[k] = view_of(k, device, parts[k], gathered[k]);
  }
  any_block out[max_results]{result.writable_block(shard)};
  for (std::size_t k = 0; k < further.size(); ++k)
    out[1 + k] = {(*memory)[k][static_cast<std::size_t>(shard)].writable(), further[k]->type,
                  out[0].extents, out[0].strides};
  call_batched(kernel, {how,
                        rule,
                        {blocks, count},
                        {parts, count},
                        {out, 1 + further.size()},
                        split.sizes,
                        result.where().held_by(device)});
}

}  // namespace detail

/// A pending node of one operation that is not elementwise, whose rule and split are known.
class whole_node : public pending_node {
 public:
  whole_node(std::shared_ptr<pool_state> home, shard_table_ptr where,
             const element_kernels& elements, const applied_operation& does,
             structured_kernel kernel, const factor_rule& rule, const propagation& split,
             const operation_cost& cost, further_elements further = {},
             void (*enter_gradient)() = nullptr)
      : pending_node(std::move(home), std::move(where), elements, next_sequence()),
        does_(does),
        kernel_(kernel),
        rule_(rule),
        split_(split),
        cost_(cost),
        further_(further),
        enter_gradient_(enter_gradient) {}

  [[nodiscard]] value_id describe(described_program& to,
                                  std::span<const value_id> read) const override {
    value_ids all;
    for (value_id o : read) all.push_back(o);
    return to.computed_by(to.code().append(*does_.what, does_.how, all, tensor()),
                          {.whole = kernel_,
                           .elements = &elements(),
                           .further = further_,
                           .enter_gradient = enter_gradient_});
  }
  [[nodiscard]] std::int32_t instructions() const noexcept override { return 1; }
  [[nodiscard]] bool reuses_first() const noexcept override {
    return !operands().empty() &&
           may_reuse_first(*does_.what, where().mesh(), operands()[0]->tensor(), tensor());
  }
  [[nodiscard]] operation_cost cost() const noexcept override { return cost_; }

  /// Returns the memory of the results after the first, which `prepare` allocates.
  [[nodiscard]] further_shards& further() noexcept { return further_shards_; }
  void prepare() override {
    pending_node::prepare();
    further_shards_ = detail::allocate_further(*this, further_);
  }

  void run_shard(index_t shard) override {
    detail::run_whole(*this, shard, does_.how, rule_, split_, kernel_, further_, &further_shards_,
                      [&](std::size_t k, index_t device, const held_box& part,
                          scratch_vector<std::byte>& gathered) {
                        return detail::read_part(*operands()[k], device, part, gathered).view;
                      });
  }

 private:
  applied_operation does_;
  structured_kernel kernel_;
  factor_rule rule_;
  propagation split_;
  operation_cost cost_;
  further_elements further_;
  void (*enter_gradient_)();
  further_shards further_shards_;
};

}  // namespace shardwise
