// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/scratch_memory.hpp"
#include "shardwise/runtime/each_node.hpp"
#include "shardwise/runtime/lower.hpp"
#include "shardwise/runtime/noted_views.hpp"
#include "shardwise/runtime/shard_rows.hpp"
#include "shardwise/runtime/value_slots.hpp"
#include "shardwise/runtime/whole_node.hpp"

#include <cstddef>
#include <memory>
#include <vector>

namespace shardwise::detail {

/// A step of a lowered program that differs from the computation of its node: a pass that contains
/// parts of several nodes, or an operation that includes the pass before it. It runs block
/// functions.
class interpreted_step {
 public:
  /// `read` are the nodes of the step's operands, in order; `slots` are those of the program.
  interpreted_step(const lowered_program& program, std::size_t step, std::vector<node_ptr> read,
                   node_ptr result, value_slots& slots)
      : read_(std::move(read)), result_(std::move(result)) {
    const program_view code = program.view();
    const step_desc& here = program.steps[step];
    const value_id root = here.root;
    if (code.what(root).is_elementwise) {
      form_pass(program, code, root, root, slots);
      pass_.write(result_->elements());
      return;
    }
    const value_id prologue = code.code[root].operands[0];
    if (program.notes[static_cast<std::size_t>(prologue)].root == root) {
      form_pass(program, code, prologue, root, slots);
      inner_ = code.values[prologue];
      pass_.write(*program.kernels[static_cast<std::size_t>(prologue)].elements);
      has_prologue_ = true;
    } else {
      for (value_id o : code.code[root].operands)
        if (!is_constant(code.what(o))) read_next(program, code, o);
    }
    whole_ = program.kernels[static_cast<std::size_t>(root)].whole;
    further_ = program.kernels[static_cast<std::size_t>(root)].further;
    how_ = code.how(root);
    rule_ = code.what(root).rule(how_, code.operands(root));
    split_ = propagate(*code.mesh, rule_, code.operands(root));
  }

  /// Sets the memory of the results after the first, which is allocated before the step runs.
  void write_to(further_shards& memory) noexcept { memory_ = &memory; }
  /// Allocates this memory.
  void prepare(further_shards& memory) {
    memory = allocate_further(*result_, further_);
    write_to(memory);
  }

  /// Caches what each shard reads, from the next run on, for runs in which only the addresses of
  /// the operands differ: of those that are not `fixed`, in order.
  void note_shards(std::vector<bool> fixed) {
    fixed_ = std::move(fixed);
    if (result_->where().count() <= most_noted)
      shards_.resize(static_cast<std::size_t>(result_->where().count()));
  }

  /// Returns true for a pass over a tensor that has rows: the rows of a shard may be computed
  /// apart.
  [[nodiscard]] bool is_divisible() const noexcept {
    return !whole_ && result_->tensor().rank() > 0;
  }
  /// Computes some rows of a shard of the result. Several may run at the same time.
  void run_rows(index_t shard, const shard_rows& rows) const {
    const any_block whole = result_->writable_block(shard);
    const any_block out = rows.in(whole);
    if (out.size() == 0) return;
    run_pass(out, [&](const viewed_operand& operand, scratch_vector<std::byte>& gathered) {
      return rows.in(operand_view(operand, result_->where(), shard, whole.extents, gathered).view);
    });
  }

  /// Computes one distinct shard of the result. Several may run at the same time.
  void run_shard(index_t shard) {
    if (shards_.empty()) return run_anew(shard);
    noted_shard& noted = shards_[static_cast<std::size_t>(shard)];
    if (!noted.is_known) {
      noted.is_known = true;
      noted.is_in_place = note(shard, noted);
    }
    if (!noted.is_in_place) return run_anew(shard);
    noted.results[0].data = result_->writable_data<std::byte>(shard);
    if (!whole_) return pass_.run(noted.pass.now(), noted.results[0]);
    const std::span<const_any_block> blocks = noted.whole.now();
    scratch_array<std::byte> made;
    if (has_prologue_) {
      const_any_block& inner = blocks[0];
      made = make_scratch<std::byte>(static_cast<std::size_t>(inner.size() * size_of(inner.type)));
      inner.data = made.get();
      pass_.run(noted.pass.now(), {made.get(), inner.type, inner.extents, inner.strides});
    }
    for (std::size_t k = 0; k < further_.size(); ++k)
      noted.results[1 + k].data = (*memory_)[k][static_cast<std::size_t>(shard)].writable();
    const std::span<const held_box> parts(noted.parts);
    call_batched(whole_, {how_, rule_, blocks, parts.first(parts.size() - 1), noted.results,
                          split_.sizes, parts.back()});
  }

 private:
  /// The cached reads and writes of one shard. Caching more shards would use more memory than it
  /// saves time.
  struct noted_shard {
    bool is_known = false;
    /// False if the shard reads copies of what devices hold.
    bool is_in_place = false;
    noted_views pass;
    noted_views whole;
    /// The parts of the operands, and last those of the results.
    std::vector<held_box> parts;
    std::vector<any_block> results;
  };
  static constexpr index_t most_noted = 8;

  /// Caches what a shard reads and writes. Returns false if it reads copies.
  [[nodiscard]] bool note(index_t shard, noted_shard& to) const {
    const shard_table& where = result_->where();
    const index_t device = where.device_of(shard);
    bool is_in_place = true;
    scratch_vector<std::byte> copy;
    const auto add = [&](noted_views& views, std::size_t k, const operand_part& part) {
      is_in_place = is_in_place && !part.is_copied;
      if (is_in_place) views.add(operands_[k].read(), device, part.view, fixed_[k]);
    };
    to.results.push_back(result_->writable_block(shard));
    if (!whole_) {
      for (const std::size_t k : inputs_)
        add(to.pass, k, operand_view(operands_[k], where, shard, to.results[0].extents, copy));
      return is_in_place;
    }
    for (const element_kernels* each : further_) {
      to.results.push_back(any_block(to.results[0]));
      to.results.back().type = each->type;
    }
    const coordinates at = where.mesh().at(device);
    for (std::size_t k = 0; k < rule_.operands.size(); ++k) {
      to.parts.push_back(part_of(where.mesh(), at, rule_, split_, k));
      if (!has_prologue_) add(to.whole, k, read_part(operands_[k], device, to.parts[k], copy));
    }
    to.parts.push_back(where.held_by(device));
    if (!has_prologue_) return is_in_place;
    const extents_desc extents = extents_of(to.parts[0]);
    to.whole.add({nullptr, inner_.type, extents, row_major(extents)});
    for (const std::size_t k : inputs_)
      add(to.pass, k, broadcast_view(operands_[k], device, inner_.extents, to.parts[0], copy));
    return is_in_place;
  }

  /// The same without cached views.
  void run_anew(index_t shard) const {
    if (!whole_) {
      const any_block out = result_->writable_block(shard);
      return run_pass(out, [&](const viewed_operand& operand, scratch_vector<std::byte>& gathered) {
        return operand_view(operand, result_->where(), shard, out.extents, gathered).view;
      });
    }
    run_whole(*result_, shard, how_, rule_, split_, whole_, further_, memory_,
              [&](std::size_t k, index_t device, const held_box& part,
                  scratch_vector<std::byte>& memory) {
                return has_prologue_ ? compute_prologue(device, part, memory)
                                     : read_part(operands_[k], device, part, memory).view;
              });
  }

  /// Returns the part of the result of the operation's prologue that a device needs.
  [[nodiscard]] const_any_block compute_prologue(index_t device, const held_box& part,
                                                 scratch_vector<std::byte>& memory) const {
    const extents_desc extents = extents_of(part);
    memory.resize(static_cast<std::size_t>(element_count(extents) * size_of(inner_.type)));
    const any_block out{memory.data(), inner_.type, extents, row_major(extents)};
    run_pass(out, [&](const viewed_operand& operand, scratch_vector<std::byte>& gathered) {
      return broadcast_view(operand, device, inner_.extents, part, gathered).view;
    });
    return {out.data, out.type, out.extents, out.strides};
  }

  template <class ViewOf>
  void run_pass(const any_block& out, const ViewOf& view_of) const {
    const_any_block views[max_fused_operands];
    scratch_vector<std::byte> gathered[max_fused_operands];
    for (std::size_t k = 0; k < inputs_.size(); ++k)
      views[k] = view_of(operands_[inputs_[k]], gathered[k]);
    pass_.run({views, inputs_.size()}, out);
  }

  /// Forms the pass that ends with value `last` and belongs to the step of `root`: its members, the
  /// numbers, and the tensors, each of which is read once however often it is an operand.
  void form_pass(const lowered_program& program, const program_view& code, value_id last,
                 value_id root, value_slots& slots) {
    slots.begin_pass();
    const auto enter = [&](value_id i, value_id) {
      if (is_constant(code.what(i))) {
        slots.set_slot(i, number_slot(pass_, code.how(i), code.values[i].type));
        return false;
      }
      const bool is_input = program.notes[static_cast<std::size_t>(i)].root != root;
      const std::size_t next = operands_.size();
      if (is_input) read_next(program, code, i);
      if (slots.slot(i) >= 0) return false;
      if (!is_input) return true;
      inputs_.push_back(next);
      slots.set_slot(i, pass_.read(operands_[next].elements()));
      return false;
    };
    const auto leave = [&](value_id i) {
      int read[max_operands];
      std::size_t count = 0;
      for (value_id o : code.code[i].operands) read[count++] = slots.slot(o);
      slots.set_slot(i, pass_.apply(program.kernels[static_cast<std::size_t>(i)].each,
                                    {read, count}, code.values[i].type));
    };
    const auto state_of = [&](value_id i) -> visit_state& { return slots.visit(i); };
    post_order(code, last, state_of, enter, leave);
  }

  /// Adds the next operand of the step.
  void read_next(const lowered_program& program, const program_view& code, value_id i) {
    operands_.emplace_back(code, program.notes.data(), i, std::move(read_[operands_.size()]));
  }

  /// The nodes of the operands, until they are added.
  std::vector<node_ptr> read_;
  std::vector<viewed_operand> operands_;
  node_ptr result_;
  pass_program pass_;
  /// Which operands the pass reads: each value once.
  inplace_vector<std::size_t, max_fused_operands> inputs_;
  // The kernel of an operation after the pass.
  structured_kernel whole_{};
  further_elements further_{};
  further_shards* memory_ = nullptr;
  attributes how_{};
  factor_rule rule_{};
  propagation split_{};
  bool has_prologue_ = false;
  tensor_desc inner_{};
  /// By shard; empty if nothing is cached.
  std::vector<noted_shard> shards_;
  /// By operand, true if its memory does not change.
  std::vector<bool> fixed_;
};

}  // namespace shardwise::detail
