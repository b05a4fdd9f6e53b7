// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/lstsq.hpp"
#include "shardwise/operation/matrices_on_paper.hpp"
#include "shardwise/operation/matrix_power.hpp"
#include "shardwise/operation/pinv.hpp"
#include "shardwise/operation/pixel_shuffle.hpp"

#include <cstdint>

/// The steps of powers and systems of matrices, and of the exchange of channels for positions, on
/// abstract tensors.
namespace shardwise::detail::composed_steps {

[[nodiscard]] constexpr tensor_desc power_of(paper_steps& at, std::uint64_t power,
                                             const tensor_desc& x) {
  if (power < 2) return x;
  const auto product = [&](const tensor_desc& a, const tensor_desc& b) {
    return product_of(at, "...ij,...jk->...ik", a, b);
  };
  const tensor_desc half = power_of(at, power / 2, x);
  const tensor_desc square = product(half, half);
  return power % 2 == 0 ? square : product(square, x);
}
constexpr void matrix_power(paper_steps& at, const attributes& how, const tensor_descs& given,
                            tensor_results& out) {
  using of = matrix_power_operation;
  const tensor_desc x = widened(at, at.checked(of::rule(how, given), given)[0]);
  const index_t power = how.integers[0];
  if (power == 0) {
    const tensor_desc is_same =
        at.each<f::equal>(at.apply<iota_like_operation>(of::numbering_rows(x.extents), x),
                          at.apply<iota_like_operation>(of::numbering_columns(x.extents), x));
    out.push_back(narrowed(at, at.apply(cast_to(x.type), {}, {is_same}), given[0].type));
    return;
  }
  const tensor_desc base = power < 0 ? at.apply<inverse_operation>({}, x) : x;
  const auto size = static_cast<std::uint64_t>(power);
  out.push_back(narrowed(at, power_of(at, power < 0 ? 0 - size : size, base), given[0].type));
}
constexpr void pinv(paper_steps& at, const attributes& how, const tensor_descs& given,
                    tensor_results& out) {
  const tensor_desc x = widened(at, at.checked(pinv_operation::rule(how, given), given)[0]);
  tensor_results parts;
  svd(at, how, {x}, parts);
  const tensor_desc u = parts[0], s = parts[1], vh = parts[2], number = paper_steps::number(s);
  if (!at.verdict().ok()) return;
  const tensor_desc largest = at.apply<reduction_operation>(pinv_operation::largest(s.extents), s);
  const tensor_desc is_used = at.each<f::greater>(s, at.each<f::multiply>(largest, number));
  const tensor_desc inverses = at.each<f::where>(
      is_used, at.each<f::divide>(number, at.each<f::where>(is_used, s, number)), number);
  const tensor_desc scaled = product_of(at, "...ik,...k->...ik", u, inverses);
  out.push_back(narrowed(at, product_of(at, "...kj,...ik->...ji", vh, scaled), given[0].type));
}
constexpr void lstsq(paper_steps& at, const attributes& how, const tensor_descs& given,
                     tensor_results& out) {
  const tensor_descs x = at.checked(lstsq_operation::rule(how, given), given);
  const tensor_desc a = widened(at, x[0]), b = widened(at, x[1]);
  const bool columns = a.rank() == b.rank(), is_wide = lstsq_operation::is_wide(a.extents);
  tensor_results parts;
  qr(at, how, {is_wide ? product_of(at, "...ij->...ji", a) : a}, parts);
  const tensor_desc q = parts[0], r = parts[1];
  const auto solved = [&](const tensor_desc& sides) {
    return at.apply<triangular_solve_operation>(triangular_solve_operation::how(true, is_wide), r,
                                                sides);
  };
  const tensor_desc made = is_wide
                               ? product_of(at, lstsq_operation::spanning(columns), q, solved(b))
                               : solved(product_of(at, lstsq_operation::projecting(columns), q, b));
  out.push_back(narrowed(at, made, given[1].type));
}
template <bool Inverse>
constexpr void pixel_shuffle(paper_steps& at, const attributes& how, const tensor_descs& given,
                             tensor_results& out) {
  using of = pixel_shuffle_operation<Inverse>;
  const tensor_desc x = at.checked(of::rule(how, given), given)[0];
  const auto reshaped = [&](const tensor_desc& from, const extents_desc& to) {
    return at.apply<reshape_operation>(reshape_operation::how(to), from);
  };
  const tensor_desc parts = reshaped(x, of::divided(x.extents, how.integers[0]));
  if (!at.verdict().ok()) return;
  const tensor_desc moved = at.apply<transpose_operation>(of::order(parts.extents), parts);
  if (!at.verdict().ok()) return;
  out.push_back(reshaped(moved, of::merged(moved.extents)));
}

}  // namespace shardwise::detail::composed_steps
