// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/catalogue.hpp"
#include "shardwise/rule/permission.hpp"

namespace shardwise {

/// The results of an operation of the catalogue for some operands, or the reason why they are
/// invalid.
struct operation_inference {
  tensor_results results{};
  /// The floating-point operations of the device with the largest shard.
  index_t flops = 0;
  /// The data movement over permitted axes, or the collective that is called, in order.
  paper_reshards reshards{};
  diagnosis verdict{};
  /// If a rule of the type layer is broken, its name and its sentence.
  text_view misuse{};
  /// The operands with layouts that make the operation valid; empty if no reshard helps.
  tensor_descs legal{};
  /// The axes, a bit for each, that `across` would have to name to make the operation valid; 0 if
  /// it takes no permission, or if none helps.
  unsigned to_permit = 0;

  [[nodiscard]] constexpr bool ok() const noexcept { return verdict.ok() && misuse.empty(); }
};

/// What a caller requests besides the arguments: a bit mask of the axes over which the operation
/// may communicate, and the layout of the result, which may be uneven.
struct inference_wishes {
  unsigned permitted = 0;
  const layout_desc* wanted = nullptr;
};

/// Returns the attributes of an application: those that its entry computes from the arguments, or
/// the integers of its parameters in order.
[[nodiscard]] constexpr attributes attributes_of(const catalogued_operation& entry,
                                                 const operation_arguments& given,
                                                 const tensor_descs& operands) noexcept {
  if (entry.how != nullptr) return entry.how(given, operands);
  attributes out;
  text_reader in(entry.parameters);
  for (text_view name = in.word(); !name.empty(); name = in.word()) {
    in.accept('?');
    const parameter_form form = find_parameter(name)->form;
    if (form == parameter_form::words) continue;
    const auto numbers = given.integers(name);
    if (numbers.empty() && form != parameter_form::integers && form != parameter_form::extents)
      out.integers.push_back(0);
    for (index_t n : numbers)
      if (!out.integers.full()) out.integers.push_back(n);
  }
  return out;
}

/// Returns the name of a parameter that is missing, that the operation does not have, or whose list
/// is too long.
struct argument_fault {
  text_view missing{};
  bool has_unknown = false;
  text_view too_long{};
};
[[nodiscard]] constexpr argument_fault check_arguments(const catalogued_operation& entry,
                                                       const operation_arguments& given) noexcept {
  std::size_t known = 0;
  std::size_t numbers = 0;
  text_reader in(entry.parameters);
  for (text_view name = in.word(); !name.empty(); name = in.word()) {
    const bool may_lack = in.accept('?');
    numbers += given.integers(name).size();
    if (numbers > attributes{}.integers.capacity()) return {{}, false, name};
    if (given.has(name))
      ++known;
    else if (!may_lack)
      return {name, false, {}};
  }
  return {{}, known != given.size(), {}};
}

namespace internal {

/// The parameters whose values are dimensions.
inline constexpr text_view names_of_dimensions[] = {"dim", "dims", "order", "split", "concat"};

[[nodiscard]] constexpr bool names_dimensions(text_view parameter) noexcept {
  for (const text_view name : names_of_dimensions)
    if (name == parameter) return true;
  return false;
}

/// Returns the number of dimensions among which the arguments name some: those of the first operand
/// of this rank or those of the result.
[[nodiscard]] constexpr int rank_of_names(const catalogued_operation& entry,
                                          const operation_arguments& given, int rank) noexcept {
  if (entry.names.of_result)
    for (const text_view name : names_of_dimensions) rank += given.integers(name).ssize();
  return rank - entry.names.beyond;
}

/// Returns the arguments with all dimensions counted from the front.
[[nodiscard]] constexpr operation_arguments arguments_from_front(const catalogued_operation& entry,
                                                                 operation_arguments given,
                                                                 int rank) noexcept {
  if (entry.names.of_each) return given;
  rank = rank_of_names(entry, given, rank);
  for (const text_view name : names_of_dimensions) given.count_from_front(name, rank);
  return given;
}

/// Checks the extents that a rule gives the result, whether or not it accepts the layouts.
[[nodiscard]] constexpr diagnosis check_result_sizes(const factor_rule& rule,
                                                     const propagation& made) noexcept {
  if (made.sizes.size() != rule.factors.size()) return {};
  extents_desc extents;
  for (const std::uint8_t f : rule.result) extents.push_back(f == repeated ? 1 : made.sizes[f]);
  return validate(extents);
}

/// Unsplits what the operands have of a factor, and what its windows read.
constexpr void unsplit_factor(tensor_descs& operands, const factor_rule& rule,
                              std::uint8_t factor) noexcept {
  for (int o = 0; o < operands.ssize(); ++o)
    for (int d = 0; d < rule.operands[o].ssize(); ++d) {
      bool has_it = rule.operands[o][d] == factor;
      for (const factor_window& window : rule.windows)
        has_it = has_it || (window.reader == factor && window.source == rule.operands[o][d]);
      if (has_it) operands[o].layout.unsplit(d);
    }
}

/// Returns a tensor as its text is read: its layout may be uneven only if its axes do not divide
/// its extents.
[[nodiscard]] constexpr tensor_desc as_shown(const mesh_desc& mesh, tensor_desc tensor) noexcept {
  tensor_desc even = tensor;
  even.layout.follow(exact{});
  if (validate(mesh, even.layout, even.extents).ok()) return even;
  tensor.layout.uneven = true;
  return tensor;
}

/// Returns the operands with layouts that make an operation valid, if there are any; if a layout of
/// the result is requested, those that give it that layout or the closest one.
[[nodiscard]] constexpr tensor_descs legal_operands(const mesh_desc& mesh, const factor_rule& rule,
                                                    const tensor_descs& operands,
                                                    const layout_desc* wanted) {
  const auto corrected = [&](const tensor_descs& from) {
    tensor_descs fixed = fetched(mesh, rule, from, ~0U, true);
    for (tensor_desc& each : fixed) each = as_shown(mesh, each);
    propagation made = propagate(mesh, rule, fixed);
    const auto judge = [&] {
      return made.verdict.ok() ? check_known(mesh, made.result.layout, made.result.extents)
                               : made.verdict;
    };
    // A result of windows may have an extent that the axes do not divide.
    if (const diagnosis uneven = judge(); uneven.rule == violation::extent_is_not_divisible) {
      unsplit_factor(fixed, rule, rule.result[uneven.dim]);
      for (tensor_desc& each : fixed) each = as_shown(mesh, each);
      made = propagate(mesh, rule, fixed);
    }
    return judge().ok() && !(fixed == operands) ? fixed : tensor_descs{};
  };
  if (wanted != nullptr && wanted->rank() == rule.result.ssize()) {
    tensor_descs closer = operands;
    for (int o = 0; o < operands.ssize(); ++o) {
      layout_desc& layout = closer[o].layout;
      if (layout.rank() != rule.operands[o].ssize()) return {};
      for (int d = 0; d < layout.rank(); ++d) {
        const std::uint8_t f = rule.operands[o][d];
        const int to = f == repeated ? -1 : rule.dim_with(rule.result, f);
        if (to < 0) continue;
        axis_list kept;
        for (const std::uint8_t a : layout.dims[d])
          if (wanted->dims[to].contains(a)) kept.push_back(a);
        layout.grains[d] = layout.grains[d].over(kept.ssize());
        layout.dims[d] = kept;
      }
    }
    if (const tensor_descs found = corrected(closer); !found.empty()) return found;
  }
  return corrected(operands);
}

/// Returns true if an operation has this parameter.
[[nodiscard]] constexpr bool takes_parameter(const catalogued_operation& entry,
                                             text_view name) noexcept {
  text_reader in(entry.parameters);
  for (text_view known = in.word(); !known.empty(); known = in.word()) {
    if (known == name) return true;
    in.accept('?');
  }
  return false;
}

}  // namespace internal

/// Checks an operation on operands and infers its results, as its function does for tensors of
/// these types.
///
///     const auto made = infer_operation(mesh, *find_operation("sum"), given, {x});
///     made.results[0];                                      // f32[8]{partial sum: model}
[[nodiscard]] constexpr operation_inference infer_operation(const mesh_desc& mesh,
                                                            const catalogued_operation& entry,
                                                            const operation_arguments& arguments,
                                                            const tensor_descs& given_operands,
                                                            const inference_wishes& wishes = {}) {
  operation_inference out;
  // If the result may be uneven, the operands may be too, which are split as they were.
  tensor_descs operands = given_operands;
  if (wishes.wanted != nullptr && wishes.wanted->uneven)
    for (tensor_desc& operand : operands) operand.layout.uneven = true;
  const auto refuse = [&](const diagnosis& verdict) {
    out.verdict = verdict;
    return !verdict.ok();
  };
  const diagnosis other_count{.rule = violation::operand_count_differs,
                              .have = operands.ssize(),
                              .want = operands.ssize() < entry.least ? entry.least : entry.most};
  if (operands.ssize() < entry.least || operands.ssize() > entry.most)
    return refuse(other_count), out;
  const operation_arguments given =
      detail::arguments_from_front(entry, arguments, operands[0].rank());
  for (const text_view name : {"dim", "split", "concat"})
    if (given.has(name))
      if (const index_t dim = given.integer(name); dim < -max_rank || dim > max_rank) {
        (void)refuse({.rule = violation::dimension_is_out_of_range,
                      .have = dim,
                      .want = operands[0].rank()});
        return out;
      }
  if (entry.called != nullptr) {
    diagnosis verdict;
    const manual_collective called = entry.called(mesh, given, verdict);
    const auto apply = [&](const tensor_desc& tensor) {
      manual_result made{tensor, verdict};
      if (verdict.ok()) made = called.apply(mesh, tensor);
      if (entry.of_truth_values && tensor.type != element::boolean)
        made.verdict = {.rule = violation::operand_is_no_truth_value, .operand = 0};
      return made;
    };
    const bool lacks_fractions = entry.has_fractions && !has_fractions(operands[0].type);
    const manual_result made = apply(operands[0]);
    if (const suggested_reshard fix = propose(operands[0], made.verdict);
        fix.operand == 0 && !lacks_fractions) {
      const tensor_desc fixed =
          detail::as_shown(mesh, tensor_desc{operands[0].type, operands[0].extents, fix.layout});
      if (apply(fixed).verdict.ok()) out.legal = {fixed};
    }
    if (refuse(made.verdict)) return out;
    if (lacks_fractions) return out.misuse = "elements_have_no_fractions", out;
    out.results.push_back(made.tensor);
    out.reshards.push_back({operands[0], made.tensor.layout, called});
    out.flops =
        entry.flops_after * largest_shard_size(mesh, made.tensor.layout, made.tensor.extents);
    return out;
  }
  if (given.has("dims") && !entry.names.of_result &&
      refuse(over(given.integers("dims")).judge(operands[0].rank())))
    return out;
  const attributes how = attributes_of(entry, given, operands);
  if (refuse(entry.check(how, operands))) return out;
  if (refuse(entry.check_elements(how, operands))) return out;
  const bool is_fraction = has_fractions(operands[0].type);
  const bool needs_fractions =
      entry.has_fractions || (entry.needs_fractions != nullptr && entry.needs_fractions(how));
  if (needs_fractions && !is_fraction) out.misuse = "elements_have_no_fractions";
  if (entry.of_integers && (is_fraction || operands[0].type == element::boolean))
    out.misuse = "elements_are_no_integers";
  if (!out.misuse.empty()) return out;

  paper_steps steps(mesh, wishes.permitted, entry.gathers);
  const auto finish = [&] {
    out.flops += steps.flops();
    out.reshards = steps.reshards();
  };
  if (entry.steps != nullptr) {
    entry.steps(steps, how, operands, out.results);
    if (steps.verdict().ok() && !out.results.empty()) return finish(), out;
    out.results.clear();
  }
  tensor_descs read = operands;
  const index_t parts =
      entry.parts == nullptr ? 0 : entry.parts(mesh, operands[0], how, wishes.permitted);
  if (parts > 0) {
    const tensor_desc best = steps.apply(*entry.what, entry.in_parts(how, parts), operands);
    if (steps.verdict().ok())
      read = tensor_descs{best, tensor_desc{element::i64, best.extents, best.layout}};
  }
  const factor_rule rule = entry.rule(how, read);
  const tensor_descs known = fetched(mesh, rule, read, wishes.permitted);
  propagation made = propagate(mesh, rule, known);
  // Results that no program could have are errors too. If the rule of a composition finds no error,
  // the failing step reports it.
  const diagnosis sizes = detail::check_result_sizes(rule, made);
  if (!sizes.ok()) made.verdict = sizes;
  if (made.verdict.ok()) made.verdict = check_known(mesh, made.result.layout, made.result.extents);
  if (refuse(made.verdict.ok() ? steps.verdict() : made.verdict)) {
    out.legal = detail::legal_operands(mesh, entry.rule(how, operands), operands, wishes.wanted);
    if (out.legal.empty() || !detail::takes_parameter(entry, "across")) return out;
    inference_wishes more = wishes;
    for (int o = 0; o < operands.ssize(); ++o)
      more.permitted |= moved_axes(mesh, operands[o], out.legal[o].layout);
    if (more.permitted != wishes.permitted &&
        infer_operation(mesh, entry, arguments, operands, more).ok())
      out.to_permit = more.permitted;
    return out;
  }
  for (int o = 0; o < read.ssize(); ++o)
    if (!(known[o] == read[o])) (void)steps.resharded(read[o], known[o].layout);
  if (entry.what != nullptr) {
    if (entry.what->result_type != nullptr) made.result.type = entry.what->result_type(how, known);
    out.flops = paper_steps::cost_of(mesh, *entry.what, how, known, made.result);
  }
  const tensor_desc indices{element::i64, made.result.extents, made.result.layout};
  if (!entry.gives_indices_alone) out.results.push_back(made.result);
  if (entry.gives_indices || entry.gives_indices_alone) out.results.push_back(indices);
  finish();
  return out;
}

}  // namespace shardwise
