// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/growable.hpp"
#include "shardwise/engine/function_call.hpp"
#include "shardwise/engine/lower.hpp"
#include "shardwise/engine/noted_views.hpp"
#include "shardwise/engine/shard_rows.hpp"
#include "shardwise/engine/value_slots.hpp"
#include "shardwise/engine/whole_call.hpp"
#include "shardwise/kernel/scratch_memory.hpp"

#include <cstddef>
#include <optional>
#include <utility>

namespace shardwise::internal {

/// The work of one step that is not a collective: a pass, an operation, or an operation that
/// includes the pass before it, as block functions and kernels on the nodes in some slots. The
/// nodes may change between runs, but not their descriptions.
class block_step {
 public:
  /// The work of a step of a program; `nodes` are those of the program's steps. `slots` serve for
  /// all steps of the program.
  block_step(const lowered_program& program, std::size_t step, const growable<node_ptr>& nodes,
             value_slots& slots)
      : result_(&nodes[step]) {
    const program_view code = program.view();
    const value_id root = program.steps[step].root;
    const origin from{program, code, program.steps[step], nodes, slots};
    if (code.what(root).is_elementwise) {
      form_pass(from, root);
      pass_.write(result().elements());
      return;
    }
    const value_id prologue = code.code[root].operands[0];
    if (program.notes[static_cast<std::size_t>(prologue)].root == root) {
      form_pass(from, prologue);
      inner_ = code.values[prologue];
      pass_.write(*program.works[static_cast<std::size_t>(prologue)].kernel.elements);
      has_prologue_ = true;
    } else {
      for (value_id o : code.code[root].operands)
        if (!is_constant(code.what(o))) read_next(from, o);
    }
    const instruction_work& work = program.works[static_cast<std::size_t>(root)];
    apply(work.kernel, work.details);
  }

  /// The elementwise pass of a node whose operands are computed, while it has them.
  explicit block_step(const node_ptr& result) : result_(&result) {
    const pending_node& node = *result->task();
    int slots[max_operands]{};
    std::size_t count = 0;
    for_each_operand(
        node.work().numbers, node.operands().size(),
        [&](const number_operand& each) {
          slots[count++] = number_slot(pass_, each.how(), each.type);
        },
        [&](std::size_t k) {
          inputs_.push_back(k);
          operands_.emplace_back(node.operands()[static_cast<int>(k)]);
          slots[count++] = pass_.read(operands_.back().elements());
        });
    (void)pass_.apply(node.work().kernel.each, {slots, count}, node.tensor().type);
    pass_.write(node.elements());
  }

  /// Sets the memory of the results after the first, which is allocated before the step runs.
  void write_to(further_shards& memory) noexcept { memory_ = &memory; }

  /// Caches what each shard reads, from the next run on, for runs in which only the addresses of
  /// the operands differ: of those that are not `fixed`, in order.
  void note_shards(growable<bool> fixed) {
    fixed_ = std::move(fixed);
    if (result().where().count() <= most_noted) {
      shards_.resize(static_cast<std::size_t>(result().where().count()));
      run_noted_ = &block_step::run_noted;
    }
  }

  /// Returns true for a pass over a tensor that has rows: the rows of a shard may be computed
  /// apart.
  [[nodiscard]] bool is_divisible() const noexcept {
    return !whole_ && result().tensor().rank() > 0;
  }
  /// Computes some rows of a shard of the result. Several may run at the same time.
  void run_rows(index_t shard, const shard_rows& rows) const {
    const any_block whole = result().writable_block(shard);
    const any_block out = rows.in(whole);
    if (out.size() == 0) return;
    run_pass(out, [&](const viewed_operand& operand, scratch_vector<std::byte>& gathered) {
      return rows.in(operand_view(operand, result().where(), shard, whole.extents, gathered).view);
    });
  }

  /// Computes one distinct shard of the result. Several may run at the same time.
  void run_shard(index_t shard) {
    if (call_) return call_->run_shard(result(), shard);
    if (run_noted_ == nullptr) return run_anew(shard);
    (this->*run_noted_)(shard);
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
    growable<held_box> parts;
    growable<any_block> results;
  };
  static constexpr index_t most_noted = 8;

  /// Computes a shard with cached views.
  void run_noted(index_t shard) {
    noted_shard& noted = shards_[static_cast<std::size_t>(shard)];
    if (!noted.is_known) {
      noted.is_known = true;
      noted.is_in_place = note(shard, noted);
    }
    if (!noted.is_in_place) return run_anew(shard);
    noted.results[0].data = result().writable_data<std::byte>(shard);
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
    call_batched(whole_, {details_->how, details_->rule, blocks, parts.first(parts.size() - 1),
                          noted.results, details_->split.sizes, parts.back()});
  }

  /// Caches what a shard reads and writes. Returns false if it reads copies.
  [[nodiscard]] bool note(index_t shard, noted_shard& to) const {
    const shard_table& where = result().where();
    const index_t device = where.device_of(shard);
    bool is_in_place = true;
    scratch_vector<std::byte> copy;
    const auto add = [&](noted_views& views, std::size_t k, const operand_part& part) {
      is_in_place = is_in_place && !part.is_copied;
      if (is_in_place) views.add(operands_[k].slot(), device, part.view, fixed_[k]);
    };
    to.results.push_back(result().writable_block(shard));
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
    for (std::size_t k = 0; k < details_->rule.operands.size(); ++k) {
      to.parts.push_back(part_of(where.mesh(), at, *details_, k));
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
      const any_block out = result().writable_block(shard);
      return run_pass(out, [&](const viewed_operand& operand, scratch_vector<std::byte>& gathered) {
        return operand_view(operand, result().where(), shard, out.extents, gathered).view;
      });
    }
    run_whole(result(), shard, *details_, whole_, further_, memory_,
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

  /// Where a step comes from, while its work is made.
  struct origin {
    const lowered_program& program;
    const program_view& code;
    const step_desc& step;
    const growable<node_ptr>& nodes;
    value_slots& slots;
  };

  /// Forms the pass that ends with value `last`: its members, the numbers, and the tensors, each of
  /// which is read once however often it is an operand.
  void form_pass(const origin& from, value_id last) {
    const program_view& code = from.code;
    value_slots& slots = from.slots;
    slots.begin_pass();
    int functions = 0;
    const auto enter = [&](value_id i, value_id) {
      if (is_constant(code.what(i))) {
        slots.set_slot(i, number_slot(pass_, code.how(i), code.values[i].type));
        return false;
      }
      const bool is_input = from.program.notes[static_cast<std::size_t>(i)].root != from.step.root;
      const std::size_t next = operands_.size();
      if (is_input) read_next(from, i);
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
      slots.set_slot(i, pass_.apply(from.program.works[static_cast<std::size_t>(i)].kernel.each,
                                    {read, count}, code.values[i].type));
      ++functions;
    };
    const auto state_of = [&](value_id i) -> visit_state& { return slots.visit(i); };
    post_order(code, last, state_of, enter, leave);
    if (functions == 1 && last == from.step.root) call_in_place(from, last);
  }
  /// Calls the only function of a pass directly if it can read its operands in place. They were
  /// added in order, one for each that is no number.
  void call_in_place(const origin& from, value_id only) {
    if (!function_call::is_computed(from.code.values[only].type)) return;
    function_call call(from.program.works[static_cast<std::size_t>(only)].kernel.each);
    std::size_t next = 0;
    for (value_id o : from.code.code[only].operands)
      if (is_constant(from.code.what(o)))
        call.add(number_operand_of(from.code.how(o), from.code.values[o].type));
      else if (!add_in_place(call, operands_[next++]))
        return;
    call_ = call;
  }
  /// Adds an operand to a call, and returns true if it can be read in place.
  [[nodiscard]] bool add_in_place(function_call& call, const viewed_operand& operand) {
    call.add(operand.slot());
    return !operand.is_view() && function_call::is_in_place(operand.read(), result());
  }

  /// Adds the next operand of the step.
  void read_next(const origin& from, value_id i) {
    const std::int32_t read = from.step.operands[static_cast<int>(operands_.size())];
    operands_.emplace_back(from.code, from.program.notes.data(), i,
                           from.nodes[static_cast<std::size_t>(read)]);
  }

  /// Adds the operation after the pass, if there is one.
  void apply(const operation_kernel& kernel, call_details_ptr details) {
    whole_ = kernel.whole;
    further_ = kernel.further;
    details_ = std::move(details);
  }
  [[nodiscard]] tensor_node& result() const noexcept { return **result_; }

  growable<viewed_operand> operands_;
  const node_ptr* result_;
  /// The only function of a pass, if it reads its operands in place.
  std::optional<function_call> call_;
  pass_program pass_;
  /// Which operands the pass reads: each value once.
  inplace_vector<std::size_t, max_fused_operands> inputs_;
  // The kernel of an operation after the pass.
  structured_kernel whole_{};
  further_elements further_{};
  further_shards* memory_ = nullptr;
  call_details_ptr details_{};
  bool has_prologue_ = false;
  tensor_desc inner_{};
  /// Set when views are cached: other programs of headers alone do not contain what that needs.
  void (block_step::*run_noted_)(index_t shard) = nullptr;
  /// By shard; empty if nothing is cached.
  growable<noted_shard> shards_;
  /// By operand, true if its memory does not change.
  growable<bool> fixed_;
};

}  // namespace shardwise::internal
