// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/by_extents.hpp"
#include "shardwise/operation/gathered_call.hpp"
#include "shardwise/operation/reshape.hpp"
#include "shardwise/operation/transpose.hpp"

namespace shardwise {

/// The exchange of channels for positions on abstract tensors; its integer is the factor by which
/// the positions of either dimension become more or, in the inverse, fewer. It is computed as a
/// composition of other operations.
template <bool Inverse>
struct pixel_shuffle_operation {
  static constexpr text_view name = Inverse ? "pixel_unshuffle" : "pixel_shuffle";

  /// Channels, rows and columns are products of those of the side that has fewer, and of a factor.
  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
    const extents_desc& extents = operands[0].extents;
    const int rank = extents.ssize();
    const index_t times = how.integers[0];
    factor_rule out = same_dimensions_rule(linearity::structural, rank);
    if (times == 1) return out;
    const auto number = [](int factor) { return static_cast<std::uint8_t>(factor); };
    const auto channels = number(rank - 3), rows = number(rank - 2), columns = number(rank - 1);
    const auto down = number(rank), along = number(rank + 1);
    for (int f = 0; f < 5; ++f) out.factors.push_back(factor_kind::pass_through);
    // The dimensions of the side with more channels; those of size 1 have no part of their own.
    out.sizes = out.given_sizes();
    const auto divided = [&](index_t n, index_t by) { return n == dyn ? dyn : n / by; };
    out.sizes[channels] = Inverse ? extents[rank - 3] : divided(extents[rank - 3], times * times);
    out.sizes[rows] = Inverse ? divided(extents[rank - 2], times) : extents[rank - 2];
    out.sizes[columns] = Inverse ? divided(extents[rank - 1], times) : extents[rank - 1];
    out.sizes[down] = out.sizes[along] = times;
    factor_map& many = Inverse ? out.result : out.operands[0];
    factor_map& wide = Inverse ? out.operands[0] : out.result;
    const auto whole = [&](int at, std::uint8_t first) {
      composite_factor product{number(at), composition::product, {}};
      if (out.sizes[first] != 1) product.parts.push_back(first);
      return product;
    };
    const auto merge = [&](composite_factor product, std::uint8_t& dim) {
      if (product.parts.size() == 1) {
        dim = product.parts[0];
        return;
      }
      dim = product.whole;
      out.composites.push_back(product);
    };
    composite_factor all = whole(rank + 2, channels);
    all.parts.push_back(down);
    all.parts.push_back(along);
    merge(all, many[rank - 3]);
    composite_factor high = whole(rank + 3, rows);
    high.parts.push_back(down);
    merge(high, wide[rank - 2]);
    composite_factor broad = whole(rank + 4, columns);
    broad.parts.push_back(along);
    merge(broad, wide[rank - 1]);
    return out;
  }
  /// Checks that there are channels, rows and columns, and that the factor divides them.
  [[nodiscard]] static constexpr diagnosis check(const attributes& how,
                                                 const tensor_descs& operands) noexcept {
    const tensor_desc& x = operands[0];
    if (x.rank() < 3)
      return {.rule = violation::operand_rank_differs, .operand = 0, .have = x.rank(), .want = 3};
    if (x.rank() + 2 > max_rank)
      return {.rule = violation::rank_is_too_high, .have = x.rank() + 2, .want = max_rank};
    const index_t times = how.integers[0];
    constexpr index_t most = 1 << 15;  // whose square is a number of channels
    if (times < 1 || times > most)
      return {.rule = violation::amount_is_out_of_range,
              .have = times,
              .want = times < 1 ? index_t{1} : most};
    return check_reshape(x.extents, divided(x.extents, times));
  }
  /// Returns the extents in which each factor is a dimension.
  [[nodiscard]] static constexpr extents_desc divided(const extents_desc& extents,
                                                      index_t times) noexcept {
    const int rank = extents.ssize();
    extents_desc out;
    for (int d = 0; d < rank - 3; ++d) out.push_back(extents[d]);
    const auto part = [&](int d, index_t by) {
      const index_t n = extents[rank - 3 + d];
      out.push_back(n == dyn ? dyn : n / by);
    };
    part(0, Inverse ? 1 : times * times);
    if (!Inverse) out.push_back(times);
    if (!Inverse) out.push_back(times);
    for (int d = 1; d < 3; ++d) {
      part(d, Inverse ? times : 1);
      if (Inverse) out.push_back(times);
    }
    return out;
  }
  /// Returns the order that moves the factors behind rows and columns or, in the inverse, behind
  /// the channels.
  [[nodiscard]] static constexpr attributes order(const extents_desc& parts) noexcept {
    constexpr int moves[2][5] = {{0, 3, 1, 4, 2}, {0, 2, 4, 1, 3}};
    attributes out;
    const int batch = parts.ssize() - 5;
    for (int d = 0; d < batch; ++d) out.integers.push_back(d);
    for (int from : moves[Inverse]) out.integers.push_back(batch + from);
    return out;
  }
  /// Returns the extents of the result, from those of the parts in the new order.
  [[nodiscard]] static constexpr extents_desc merged(const extents_desc& parts) noexcept {
    extents_desc out;
    const int batch = parts.ssize() - 5;
    for (int d = 0; d < batch; ++d) out.push_back(parts[d]);
    const auto product = [&](int first, int count) {
      index_t size = 1;
      for (int d = 0; d < count; ++d) size = size_product(size, parts[batch + first + d]);
      out.push_back(size);
    };
    product(0, Inverse ? 3 : 1);
    product(Inverse ? 3 : 1, Inverse ? 1 : 2);
    product(Inverse ? 4 : 3, Inverse ? 1 : 2);
    return out;
  }
};

/// The operation whose attributes are types.
template <bool Inverse, index_t Times>
struct pixel_shuffle_of {
  using operation_class = pixel_shuffle_operation<Inverse>;
  static constexpr attributes how = integer_attributes(Times);
};

namespace detail {
template <bool Inverse, index_t Times>
[[nodiscard]] constexpr attributes pixels_divided(const extents_desc& extents) noexcept {
  return reshape_operation::how(pixel_shuffle_operation<Inverse>::divided(extents, Times));
}
template <bool Inverse>
[[nodiscard]] constexpr attributes pixels_merged(const extents_desc& parts) noexcept {
  return reshape_operation::how(pixel_shuffle_operation<Inverse>::merged(parts));
}
template <bool Inverse, index_t Times>
struct pixel_shuffle_steps {
  template <class X>
  [[nodiscard]] static constexpr auto apply(const X& x) {
    return apply_by_extents<reshape_operation, &pixels_merged<Inverse>>(
        apply_by_extents<transpose_operation, &pixel_shuffle_operation<Inverse>::order>(
            apply_by_extents<reshape_operation, &pixels_divided<Inverse, Times>>(x)));
  }
};
template <bool Inverse, index_t Times, class Permitted>
using pixel_shuffle_call =
    gathered_call<pixel_shuffle_of<Inverse, Times>, Permitted, pixel_shuffle_steps<Inverse, Times>>;
}  // namespace detail

/// Returns images with `Times` as many rows and columns, whose additional pixels were channels:
/// `[..., c r r, h, w]` becomes `[..., c, h r, w r]`. Channels, rows and columns may be split where
/// no pixel would move, which even splits of `c`, `h` and `w` never do; other splits are gathered
/// over permitted axes. Pending reductions stay pending. At most one extent may be `dyn`.
///
///     auto y = pixel_shuffle<2>(x);       // f32[8@data, 12, 4, 4] -> f32[8@data, 3, 8, 8]
template <index_t Times, NamedOperand X, internal::Terms Given = across_axes<>>
[[nodiscard]] constexpr internal::outcome_on<
    detail::pixel_shuffle_call<false, Times, internal::permitted_by<Given>>, Given, const X&>
pixel_shuffle(const X& x, const Given& given = {}) {
  return internal::carry_out_on<
      detail::pixel_shuffle_call<false, Times, internal::permitted_by<Given>>>(given, x);
}
/// Returns the images of which `pixel_shuffle<Times>` makes `x`.
///
///     auto x = pixel_unshuffle<2>(y);     // f32[8@data, 3, 8, 8] -> f32[8@data, 12, 4, 4]
template <index_t Times, NamedOperand X, internal::Terms Given = across_axes<>>
[[nodiscard]] constexpr internal::outcome_on<
    detail::pixel_shuffle_call<true, Times, internal::permitted_by<Given>>, Given, const X&>
pixel_unshuffle(const X& x, const Given& given = {}) {
  return internal::carry_out_on<
      detail::pixel_shuffle_call<true, Times, internal::permitted_by<Given>>>(given, x);
}

}  // namespace shardwise
