// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/layout/gradient.hpp"
#include "shardwise/operation/arithmetic.hpp"
#include "shardwise/operation/comparison.hpp"
#include "shardwise/operation/zero_factors.hpp"
#include "shardwise/plan/collective_operation.hpp"
#include "shardwise/rule/manual_collective.hpp"

namespace shardwise {

/// Makes a tensor manual, or ends manual sharding: every device keeps its elements.
struct manual_operation {
  static constexpr text_view name = "manual";

  [[nodiscard]] static constexpr attributes how(bool enters) noexcept {
    attributes out;
    out.integers = {index_t{enters}};
    return out;
  }
  [[nodiscard]] static constexpr bounded_text<47> label(const attributes& how) noexcept {
    return text_view(how.integers[0] != 0 ? "enable_manual_sharding" : "disable_manual_sharding");
  }
  [[nodiscard]] static constexpr operation_cost cost(const mesh_desc&, const attributes&,
                                                     const tensor_descs&,
                                                     const tensor_desc&) noexcept {
    return {.is_collective = true};
  }
  /// The gradient is the inverse operation.
  static constexpr void gradient(gradient_step& at) {
    tensor_desc back = at.operand(0).tensor();
    back.layout = gradient_layout(back.layout);
    const gradient_value dy =
        at.laid_out(at.cotangent(), gradient_layout(at.result().tensor().layout));
    at.give(0, at.emit(operation_of<manual_operation>, how(at.how().integers[0] == 0), dy, back));
  }
};

/// A collective as the rules of redistribution describe it: of a tensor that is split or pending
/// over its manual axes.
struct seen_collective {
  tensor_desc before{};
  planned_transfer step{};
  position_moves moves{};
};

/// Returns the description of a collective between manual tensors. The values of the devices along
/// its axes are seen as parts of one tensor, concatenated along the dimension that the collective
/// names.
[[nodiscard]] constexpr seen_collective seen_as(const mesh_desc& mesh,
                                                const manual_collective& called,
                                                const tensor_desc& before,
                                                const tensor_desc& after) noexcept {
  seen_collective out{before,
                      {.kind = called.kind,
                       .axes = called.axes,
                       .from = called.from >= 0 ? called.from : -1,
                       .to = called.to >= 0 ? called.to : -1,
                       .after = after.layout},
                      called.moves};
  const auto split = [&](layout_desc& layout, int d) {
    layout.manual = static_cast<std::uint8_t>(layout.manual & ~unsigned{called.bits()});
    layout.dims[d] = called.axes;
  };
  const index_t parts = mesh.parts(called.axes);
  if (called.from >= 0) {
    split(out.before.layout, called.from);
    out.before.extents[called.from] *= parts;
  }
  if (called.to >= 0) split(out.step.after, called.to);
  // Each part consists of parts, of which every device gets one.
  if (called.from >= 0 && called.from == called.to && parts > 1)
    out.step.after.grains[called.to] = grain::cyclic(after.extents[called.to] / parts);
  return out;
}

/// A collective on manual axes that the program calls; its attributes are those of
/// `manual_collective`.
struct manual_collective_operation {
  static constexpr text_view name = "manual_collective";

  [[nodiscard]] static constexpr bounded_text<47> label(const attributes& how) noexcept {
    const manual_collective called = manual_collective::read(how);
    if (called.as_terms) return text_view(called.of_one ? "as_partial" : "as_terms");
    if (called.kind == collective::slice && called.to < 0) return text_view("vary");
    return to_text(called.kind);
  }
  [[nodiscard]] static constexpr operation_cost cost(const mesh_desc& mesh, const attributes& how,
                                                     const tensor_descs& operands,
                                                     const tensor_desc& result) noexcept {
    const manual_collective called = manual_collective::read(how);
    const seen_collective seen = seen_as(mesh, called, operands[0], result);
    operation_cost out{.is_collective = true, .moved = called.kind, .axes = called.axes};
    if (called.kind != collective::collective_permute && called.kind != collective::broadcast) {
      out.bytes = detail::received_bytes(mesh, seen.before, seen.step);
      return out;
    }
    out.bytes = moved_bytes(mesh, seen);
    bool moves = false;
    for (const index_t bytes : out.bytes) moves = moves || bytes > 0;
    // Without any transfer between devices it is not a collective.
    if (!moves && largest_shard_size(mesh, result.layout, result.extents) > 0)
      out.moved = collective::slice;
    return out;
  }

  static constexpr void gradient(gradient_step& at) {
    const manual_collective called = manual_collective::read(at.how());
    const layout_desc& result = at.result().tensor().layout;
    if (called.kind == collective::all_gather) {
      // The cotangent of a shared value may be the sum of the devices' cotangents.
      gradient_value dy = at.cotangent();
      layout_desc layout = dy.tensor().layout;
      const bool is_sum =
          layout.kind == reduction::sum && (layout.pending & called.bits()) == called.bits();
      layout.pending =
          is_sum ? layout.pending : static_cast<std::uint8_t>(layout.pending & ~called.bits());
      dy = at.laid_out(dy, layout);
      return at.give(0, call(dy, {.kind = is_sum ? collective::reduce_scatter : collective::slice,
                                  .axes = called.axes,
                                  .to = called.from}));
    }
    if (called.kind == collective::slice && called.to < 0) return at.give(0, at.cotangent());
    const gradient_value dy = at.laid_out(at.cotangent(), gradient_layout(result));
    manual_collective back = called;
    switch (called.kind) {
      case collective::slice:
        back = {.kind = collective::all_gather, .axes = called.axes, .from = called.to};
        break;
      case collective::all_to_all:
        back.from = called.to;
        back.to = called.from;
        break;
      case collective::collective_permute:
        back.moves = called.moves.reversed();
        break;
      case collective::broadcast:
        back.kind = collective::collective_permute;
        back.moves = position_moves::only(called.moves.by());
        return at.give(0, call(vary(at, dy), back));
      default:
        return reduction_gradient(at, called, dy);
    }
    at.give(0, call(dy, back));
  }

 private:
  /// Returns the bytes that a device receives over each axis if it receives from one other device:
  /// one value, attributed to the most major axis along which a sender and its receiver differ.
  [[nodiscard]] static constexpr inplace_vector<index_t, max_axes> moved_bytes(
      const mesh_desc& mesh, const seen_collective& seen) noexcept {
    inplace_vector<index_t, max_axes> bytes;
    bytes.resize(seen.step.axes.size());
    const index_t count = mesh.parts(seen.step.axes);
    const index_t part = largest_shard_size(mesh, seen.before.layout, seen.before.extents) *
                         size_of(seen.before.type);
    int most_major = seen.step.axes.ssize();
    for (index_t to = 0; to < count && most_major > 0; ++to) {
      const index_t from = seen.moves.heard_by(to, count);
      if (from < 0) continue;
      index_t inner = count;
      for (int i = 0; i < most_major; ++i) {
        inner /= mesh.size(seen.step.axes[i]);
        if (from / inner != to / inner) most_major = i;
      }
    }
    if (most_major < seen.step.axes.ssize()) bytes[most_major] = part;
    return bytes;
  }
  /// Appends a collective to the program whose gradient is taken.
  [[nodiscard]] static constexpr gradient_value call(const gradient_value& x,
                                                     const manual_collective& called) {
    gradient_step& at = *x.step;
    const manual_result made = called.apply(at.mesh(), x.tensor());
    if (!made.verdict.ok()) fail(made.verdict);
    return at.emit(operation_of<manual_collective_operation>, called.how(), x, made.tensor);
  }
  /// Returns a shared value as one that may vary like the operand.
  [[nodiscard]] static constexpr gradient_value vary(gradient_step& at, const gradient_value& x) {
    return at.laid_out(x, gradient_layout(at.operand(0).tensor().layout));
  }
  /// The gradient of a reduction over devices: equal maxima share it evenly; in a product, if one
  /// factor is zero, only its derivative is nonzero.
  static constexpr void reduction_gradient(gradient_step& at, const manual_collective& called,
                                           const gradient_value& part) {
    const auto whole = [&](const gradient_value& of) {
      if (called.kind == collective::all_reduce) return of;
      return call(of, {.kind = collective::all_gather, .axes = called.axes, .from = called.to});
    };
    const gradient_value dy = whole(part);
    if (called.reduce == reduction::sum) return at.give(0, dy);
    const gradient_value x = at.operand(0);
    const auto reduced = [&](reduction kind, const gradient_value& of) {
      return vary(at,
                  call(of, {.kind = collective::all_reduce, .reduce = kind, .axes = called.axes}));
    };
    const auto count = [&](const gradient_value& where) {
      return reduced(reduction::sum, masked(at.number(1, x), where));
    };
    if (called.reduce != reduction::product) {
      const gradient_value best =
          elementwise<functions::equal>(at.rounded(x), vary(at, whole(at.result())));
      return at.give(0, masked(vary(at, dy) / count(best), best));
    }
    const gradient_value is_zero = elementwise<functions::equal>(x, at.number(0, x));
    const gradient_value safe = x + masked(at.number(1, x), is_zero);
    const gradient_value others = reduced(reduction::product, safe) / safe;
    const gradient_value own = zero_factors(x, is_zero);
    const gradient_value zeros = reduced(reduction::sum, own) - own;
    at.give(0, vary(at, dy) * times_zeros(at, others, zeros));
  }
};

/// Returns true for operations that move data between devices or make tensors manual, which the
/// engine implements itself.
[[nodiscard]] constexpr bool is_collective(const operation& what) noexcept {
  return what.id == operation_of<collective_operation>.id ||
         what.id == operation_of<manual_collective_operation>.id ||
         what.id == operation_of<manual_operation>.id;
}

/// Returns the communication of an instruction as the rules of redistribution describe it.
[[nodiscard]] constexpr seen_collective seen_as(const mesh_desc& mesh,
                                                const applied_operation& does,
                                                const tensor_desc& before,
                                                const tensor_desc& after) noexcept {
  if (does.what->id == operation_of<collective_operation>.id)
    return {before, collective_operation::moved(does.how, after.layout), {}};
  if (does.what->id == operation_of<manual_collective_operation>.id)
    return seen_as(mesh, manual_collective::read(does.how), before, after);
  return {before, {.after = after.layout}, {}};
}

/// Appends a collective that the program calls, and returns the number of its result.
constexpr value_id append_manual(program_builder& program, value_id id,
                                 const manual_collective& called) {
  const manual_result made = called.apply(program.mesh(), program.value(id));
  require(made.verdict);
  return program.append(operation_of<manual_collective_operation>, called.how(), {id}, made.tensor);
}

/// Returns the operation that converts a tensor to `result` without communication.
[[nodiscard]] constexpr applied_operation manual_change(const tensor_desc& result) noexcept {
  return {&operation_of<manual_operation>, manual_operation::how(result.layout.manual != 0)};
}
/// The same for a collective that the program calls.
[[nodiscard]] constexpr applied_operation manual_change(const manual_collective& called) noexcept {
  return {&operation_of<manual_collective_operation>, called.how()};
}

}  // namespace shardwise
