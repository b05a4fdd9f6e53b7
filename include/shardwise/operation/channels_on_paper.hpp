// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/channel_norm.hpp"
#include "shardwise/operation/composed_on_paper.hpp"

namespace shardwise::detail {

/// A normalisation of `[batch, channels, spatial...]` over positions, and over the batch or groups
/// of channels; scale and shift are `[channels]`.
template <bool OverBatch, bool OverGroups = false>
struct channels_judge {
  [[nodiscard]] static constexpr unsigned dims(int rank) noexcept {
    return ((1U << rank) - 1U) & ~(OverBatch ? 2U : 3U);
  }
  [[nodiscard]] static constexpr factor_rule rule(const attributes&,
                                                  const tensor_descs& operands) noexcept {
    const int rank = operands[0].rank();
    factor_rule out = normalising_rule(rank, dims(rank) | (OverGroups ? 2U : 0U));
    while (out.operands.size() < operands.size()) out.operands.push_back({std::uint8_t{1}});
    return out;
  }
  [[nodiscard]] static constexpr diagnosis check(const attributes& how,
                                                 const tensor_descs& operands) noexcept {
    const int rank = operands[0].rank();
    if constexpr (!OverGroups) return over(OverBatch ? 1 : 2).judge(rank);
    const diagnosis groups = group_norm_operation::check(how, operands);
    if (!groups.ok()) return groups;
    return check_reshape(operands[0].extents, in_groups(operands[0].extents, how.integers[0]));
  }
};

/// The steps of norms of channels on abstract tensors.
namespace composed_steps {

/// Numbers of channels in the shape that is broadcast to all positions of a tensor of this rank.
[[nodiscard]] constexpr tensor_desc beside_positions(paper_steps& at, const tensor_desc& x,
                                                     int rank) {
  if (rank < 3) return x;
  attributes added;
  for (int d = 1; d < rank - 1; ++d) added.integers.push_back(d);
  return at.apply<unsqueeze_operation>(added, x);
}
template <bool OverBatch>
constexpr void channel_norm(paper_steps& at, const attributes&, const tensor_descs& x,
                            tensor_results& out) {
  const int rank = x[0].rank();
  attributes how;
  for (int d = 0; d < rank; ++d)
    if ((channels_judge<OverBatch>::dims(rank) >> d & 1U) != 0) how.integers.push_back(d);
  tensor_descs operands{x[0]};
  for (int o = 1; o < x.ssize(); ++o) operands.push_back(beside_positions(at, x[o], rank));
  layer_norm(at, how, operands, out);
}
constexpr void group_norm(paper_steps& at, const attributes& how, const tensor_descs& x,
                          tensor_results& out) {
  const int rank = x[0].rank();
  const tensor_descs groups{x[0]};
  const factor_rule splits = reshape_rule(x[0].extents, in_groups(x[0].extents, how.integers[0]));
  const bool are_whole = propagate(at.mesh(), splits, groups).verdict.ok();
  const tensor_desc wide =
      widened(at, are_whole ? x[0] : at.gathered(normalising_rule(rank, 2U), groups)[0]);
  const auto reshaped = [&](const tensor_desc& from, const extents_desc& to) {
    return at.apply<reshape_operation>(reshape_operation::how(to), from);
  };
  attributes along;
  for (int d = 2; d <= rank; ++d) along.integers.push_back(d);
  tensor_results normal;
  layer_norm(at, along, {reshaped(wide, in_groups(wide.extents, how.integers[0]))}, normal);
  tensor_desc made = reshaped(normal[0], wide.extents);
  const auto beside = [&](int o) {
    return widened(at, at.beside(made, beside_positions(at, x[o], rank)));
  };
  if (x.size() > 1) made = at.each<f::multiply>(made, beside(1));
  if (x.size() > 2) made = at.each<f::add>(made, beside(2));
  out.push_back(narrowed(at, made, x[0].type));
}

}  // namespace composed_steps
}  // namespace shardwise::detail
