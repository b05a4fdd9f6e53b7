// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/catalogue_attributes.hpp"
#include "shardwise/operation/channels_on_paper.hpp"
#include "shardwise/operation/composed.hpp"
#include "shardwise/operation/composed_on_paper.hpp"
#include "shardwise/operation/contraction_on_paper.hpp"
#include "shardwise/operation/convolution_on_paper.hpp"
#include "shardwise/operation/elementwise_on_paper.hpp"
#include "shardwise/operation/paper_steps.hpp"
#include "shardwise/operation/parts_on_paper.hpp"
#include "shardwise/operation/products_on_paper.hpp"
#include "shardwise/operation/statistics_on_paper.hpp"
#include "shardwise/operation/systems_on_paper.hpp"
#include "shardwise/operation/top_k.hpp"
#include "shardwise/rule/manual_collective.hpp"

#include <type_traits>

namespace shardwise {

/// The steps of a composed operation.
using composition_steps = void (*)(paper_steps&, const attributes&, const tensor_descs&,
                                   tensor_results&);

/// The collective on manual axes that an application calls, or the reason why there is none.
using collective_of_arguments = manual_collective (*)(const mesh_desc&, const operation_arguments&,
                                                      diagnosis&);

/// An operation in the catalogue of the library: its parameters, and the functions of its class
/// that check it.
struct catalogued_operation {
  text_view name{};
  /// The parameters, in the order of the integers of its attributes; those with `?` are optional.
  text_view parameters{};
  /// The minimum number of operands.
  int least = 1;
  int most = 1;
  /// The operands and the arguments of an example, separated by blanks.
  text_view operands{};
  text_view arguments{};
  /// The names of the operation in other libraries.
  text_view peers{};
  factor_rule (*rule)(const attributes&, const tensor_descs&) = nullptr;
  diagnosis (*check)(const attributes&, const tensor_descs&) = nullptr;
  diagnosis (*check_elements)(const attributes&, const tensor_descs&) = nullptr;
  /// Computes the attributes of an application, if they are not the integers of its parameters.
  attributes (*how)(const operation_arguments&, const tensor_descs&) = nullptr;
  /// The operation, or null for a composed one.
  const operation* what = nullptr;
  composition_steps steps = nullptr;
  /// The collective on manual axes, which has no factor rule.
  collective_of_arguments called = nullptr;
  bool of_truth_values = false;
  /// The number of operations on each element of the collective's result.
  index_t flops_after = 0;
  bool has_fractions = false;
  /// Returns true if elements must be floating-point for these attributes; null if that does not
  /// depend on them.
  bool (*needs_fractions)(const attributes&) = nullptr;
  bool of_integers = false;
  bool is_differentiable = false;
  /// True if the second result, or the only one, holds indices.
  bool gives_indices = false;
  bool gives_indices_alone = false;
  /// For a search: the number of parts of a dimension that is split over permitted axes, and the
  /// attributes of the search in these parts.
  index_t (*parts)(const mesh_desc&, const tensor_desc&, const attributes&,
                   unsigned permitted) = nullptr;
  attributes (*in_parts)(const attributes&, index_t parts) = nullptr;
  /// True if the steps of a composed operation gather their operands over permitted axes.
  bool gathers = false;
  /// Which dimensions its parameters name.
  dims_among names{};
};

namespace internal {

template <class Class>
[[nodiscard]] constexpr diagnosis check_of(const attributes& how, const tensor_descs& operands) {
  if constexpr (requires { Class::check(how, operands); })
    return Class::check(how, operands);
  else
    return {};
}
template <class Class>
[[nodiscard]] constexpr diagnosis check_elements_of(const attributes& how,
                                                    const tensor_descs& operands) {
  if constexpr (requires { Class::check_elements(how, operands); })
    return Class::check_elements(how, operands);
  else
    return check_alike(operands);
}

/// Returns the part of an entry that the class of its operation determines.
template <class Class>
[[nodiscard]] constexpr catalogued_operation with_class(catalogued_operation entry) noexcept {
  entry.rule = &Class::rule;
  entry.check = &check_of<Class>;
  entry.check_elements = &check_elements_of<Class>;
  entry.what = &operation_of<Class>;
  entry.is_differentiable = requires(gradient_step & at) { Class::gradient(at); };
  if constexpr (requires { Class::names; }) entry.names = Class::names;
  if constexpr (requires { &Class::parts_of; }) {
    entry.parts = &Class::parts_of;
    entry.in_parts = &Class::in_parts;
  }
  return entry;
}

}  // namespace internal

namespace detail {

/// Returns the entry of an operation that is a class.
template <class Class>
[[nodiscard]] constexpr catalogued_operation whole_entry(
    text_view name, text_view parameters, text_view operands, text_view arguments, text_view peers,
    int least = 1, int most = 1,
    attributes (*how)(const operation_arguments&, const tensor_descs&) = nullptr) noexcept {
  return with_class<Class>({.name = name,
                            .parameters = parameters,
                            .least = least,
                            .most = most,
                            .operands = operands,
                            .arguments = arguments,
                            .peers = peers,
                            .how = how});
}

/// Returns the entry of an elementwise function, under its name in the library.
template <class Function>
[[nodiscard]] constexpr catalogued_operation each_entry(text_view name, int operands,
                                                        text_view peers,
                                                        text_view sample = {}) noexcept {
  constexpr bool of_integers = requires { requires Function::of_integers; };
  constexpr bool of_truth_values = requires { Function::of_truth_values; };
  constexpr text_view samples[] = {"f32[8,4]", "f32[8,4] f32[8,4]", "f32[8,4] f32[] f32[]"};
  constexpr text_view whole[] = {"i32[8,4]", "i32[8,4] i32[8,4]"};
  constexpr text_view truth[] = {"bool[8,4]", "bool[8,4] bool[8,4]"};
  if (sample.empty())
    sample = of_integers       ? whole[operands > 1]
             : of_truth_values ? truth[operands > 1]
                               : samples[operands - 1];
  catalogued_operation entry = with_class<pointwise<Function>>({.name = name,
                                                                .parameters = "across?",
                                                                .least = operands,
                                                                .most = operands,
                                                                .operands = sample,
                                                                .peers = peers});
  entry.has_fractions = requires { requires Function::has_fractions; };
  entry.of_integers = of_integers;
  return entry;
}

/// Returns the entry of a composed operation, whose rule `Judge` has.
template <class Judge>
[[nodiscard]] constexpr catalogued_operation composed_entry(
    text_view name, text_view parameters, text_view operands, text_view arguments, text_view peers,
    composition_steps steps, int least = 1, int most = 1, bool is_differentiable = true,
    bool has_fractions = true,
    attributes (*how)(const operation_arguments&, const tensor_descs&) = nullptr) noexcept {
  catalogued_operation entry{.name = name,
                             .parameters = parameters,
                             .least = least,
                             .most = most,
                             .operands = operands,
                             .arguments = arguments,
                             .peers = peers,
                             .rule = &Judge::rule,
                             .check = &check_of<Judge>,
                             .check_elements = &check_elements_of<Judge>,
                             .how = how,
                             .steps = steps,
                             .has_fractions = has_fractions,
                             .is_differentiable = is_differentiable};
  if constexpr (requires { Judge::names; }) entry.names = Judge::names;
  return entry;
}

/// Returns the entry of a composed operation whose steps gather their operands.
[[nodiscard]] constexpr catalogued_operation gathering(catalogued_operation entry) noexcept {
  entry.gathers = true;
  return entry;
}
/// Returns the entry of a function of elements that is composed of others.
[[nodiscard]] constexpr catalogued_operation composed_each_entry(
    text_view name, text_view operands, int count, text_view peers, composition_steps steps,
    bool has_fractions, bool is_differentiable = true) noexcept {
  return gathering(composed_entry<elementwise_judge>(
      name, "across?", operands, "", peers, steps, count, count, is_differentiable, has_fractions));
}

/// Returns the entry of a contraction with a name of its own.
[[nodiscard]] constexpr catalogued_operation product_entry(
    text_view name, attributes (*how)(const operation_arguments&, const tensor_descs&),
    text_view operands, int count, text_view peers) noexcept {
  return composed_entry<contraction_judge>(
      name, "", operands, "", peers, &composed_steps::contraction, count, count, true, false, how);
}

/// Returns the entry of a pooling; only floating-point elements have means.
template <reduction Kind>
[[nodiscard]] constexpr catalogued_operation pool_entry(text_view name, text_view peers) noexcept {
  catalogued_operation entry =
      whole_entry<pool_operation>(name, "window stride? padding? across?", "f32[2,4,8,8]",
                                  "window=2,2", peers, 1, 1, &pool_how<Kind>);
  entry.has_fractions = Kind == reduction::sum;
  return entry;
}

/// Returns the entry of an interpolation; weights that are fractions need floating-point elements.
[[nodiscard]] constexpr catalogued_operation interpolate_entry() noexcept {
  catalogued_operation entry = whole_entry<interpolate_operation>(
      "interpolate", "sizes method align_corners? across?", "f32[2,4,8,8]",
      "sizes=4,16 method=linear", "interpolate, upsample, image.resize", 1, 1, &interpolate_how);
  entry.needs_fractions = &interpolate_operation::has_fractions;
  return entry;
}

/// Returns the entry of a reduction, such as `sum`.
template <reduction Kind>
[[nodiscard]] constexpr auto reduction_entry(text_view name, text_view peers) noexcept {
  return whole_entry<reduction_operation>(name, "dims? keep_dims?", "f32[8,4]", "dims=1", peers, 1,
                                          1, &reduction_how<Kind>);
}
/// Returns the entry of a reduction of transformed elements. Those that need whole dimensions
/// accept a permission.
template <class Judge, reduction Kind>
[[nodiscard]] constexpr catalogued_operation reduced_entry(text_view name, text_view peers,
                                                           composition_steps steps,
                                                           text_view operands = "f32[8,4]",
                                                           bool has_fractions = true,
                                                           bool is_differentiable = true) noexcept {
  constexpr text_view parameters =
      std::is_same_v<Judge, reduction_of_whole> ? "dims? keep_dims? across?" : "dims? keep_dims?";
  return composed_entry<Judge>(name, parameters, operands, "dims=1", peers, steps, 1, 1,
                               is_differentiable, has_fractions, &reduction_how<Kind>);
}
/// Returns the entry of a search whose results are values and indices, or only indices.
template <class Class>
[[nodiscard]] constexpr catalogued_operation search_entry(text_view name, text_view peers,
                                                          bool alone) noexcept {
  catalogued_operation entry = whole_entry<Class>(name, "dim across?", "f32[8,4]", "dim=1", peers);
  entry.gives_indices = !alone;
  entry.gives_indices_alone = alone;
  if (alone) entry.is_differentiable = false;
  return entry;
}

/// Returns the entry of an operation on floating-point elements.
template <class Class>
[[nodiscard]] constexpr catalogued_operation fractional_entry(text_view name, text_view parameters,
                                                              text_view operands,
                                                              text_view arguments, text_view peers,
                                                              int least, int most) noexcept {
  catalogued_operation entry =
      whole_entry<Class>(name, parameters, operands, arguments, peers, least, most);
  entry.has_fractions = true;
  return entry;
}
/// Returns the entry of an operation that devices may compute by exchanging shards.
template <class Class>
[[nodiscard]] constexpr catalogued_operation exchanging_entry(
    text_view name, text_view parameters, text_view arguments, text_view peers,
    composition_steps steps,
    attributes (*how)(const operation_arguments&, const tensor_descs&) = nullptr) noexcept {
  catalogued_operation entry =
      whole_entry<Class>(name, parameters, "f32[8,4]", arguments, peers, 1, 1, how);
  entry.steps = steps;
  return entry;
}
/// Returns the entry of a running sum or a similar operation.
template <class Class>
[[nodiscard]] constexpr catalogued_operation scan_entry(text_view name, text_view peers) noexcept {
  catalogued_operation entry =
      exchanging_entry<Class>(name, "dim across?", "dim=1", peers, &composed_steps::scan<Class>);
  entry.has_fractions = !Class::takes(element::i64);
  return entry;
}
[[nodiscard]] constexpr catalogued_operation top_k_entry() noexcept {
  catalogued_operation entry = whole_entry<top_k_operation>(
      "top_k", "dim count across?", "f32[8,4]", "dim=1 count=2", "top_k, topk");
  entry.gives_indices = true;
  return entry;
}

}  // namespace detail
}  // namespace shardwise
