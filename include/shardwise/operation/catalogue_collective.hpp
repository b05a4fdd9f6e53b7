// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/catalogue_entry.hpp"

namespace shardwise::detail {

/// Returns the collective that the arguments describe.
template <collective Kind>
[[nodiscard]] constexpr manual_collective collective_called(const mesh_desc& mesh,
                                                            const operation_arguments& given,
                                                            diagnosis& verdict) noexcept {
  constexpr bool joins = Kind == collective::all_gather || Kind == collective::all_to_all;
  manual_collective out{.kind = Kind, .reduce = static_cast<reduction>(given.integer("reduction"))};
  std::uint8_t used = 0;
  verdict = resolve_entry(mesh, given.words("axes"), -1, used, out.axes);
  const auto dimension = [&](text_view name) {
    return static_cast<int>(given.integer(name, manual_collective::nowhere));
  };
  if (joins) out.from = dimension(given.has("concat") ? "concat" : "dim");
  if (Kind != collective::all_gather) out.to = dimension(given.has("split") ? "split" : "dim");
  const auto pairs = given.integers("sends");
  position_moves::list all;
  for (int i = 0; i + 1 < pairs.ssize(); i += 2) all.push_back({pairs[i], pairs[i + 1]});
  if (!all.empty()) out.moves = position_moves::pairs(all);
  if (given.has("places"))
    out.moves = given.integer("edge") == 0 ? position_moves::ring(given.integer("places"))
                                           : position_moves::line(given.integer("places"));
  if (given.has("index")) out.moves = position_moves::root(given.integer("index"));
  return out;
}
template <collective Kind>
[[nodiscard]] constexpr catalogued_operation collective_entry(
    text_view name, text_view parameters, text_view arguments, text_view peers,
    text_view operands = "f32[8,4]{V:y}",
    collective_of_arguments called = &collective_called<Kind>) noexcept {
  return {.name = name,
          .parameters = parameters,
          .operands = operands,
          .arguments = arguments,
          .peers = peers,
          .called = called,
          .of_truth_values = operands[0] == 'b',
          .is_differentiable = operands[0] == 'f'};
}
/// Returns the entry of a sum over devices, divided by their number.
[[nodiscard]] constexpr catalogued_operation device_mean_entry() noexcept {
  catalogued_operation entry =
      collective_entry<collective::all_reduce>("all_mean", "axes", "axes=y", "pmean");
  entry.has_fractions = true;
  entry.flops_after = 1;
  return entry;
}
/// Returns the entry of a reduction of `bool` elements.
template <reduction Reduce>
[[nodiscard]] constexpr manual_collective reduction_called(const mesh_desc& mesh,
                                                           const operation_arguments& given,
                                                           diagnosis& verdict) noexcept {
  manual_collective out = collective_called<collective::all_reduce>(mesh, given, verdict);
  out.reduce = Reduce;
  return out;
}
template <bool OfOne>
[[nodiscard]] constexpr manual_collective terms_called(const mesh_desc& mesh,
                                                       const operation_arguments& given,
                                                       diagnosis& verdict) noexcept {
  manual_collective out = collective_called<collective::slice>(mesh, given, verdict);
  out.as_terms = true;
  out.of_one = OfOne;
  return out;
}

}  // namespace shardwise::detail
