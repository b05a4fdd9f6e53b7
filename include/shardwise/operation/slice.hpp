// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/as.hpp"
#include "shardwise/operation/flip_operation.hpp"
#include "shardwise/operation/misplaced_options.hpp"
#include "shardwise/operation/over.hpp"
#include "shardwise/operation/pad_operation.hpp"
#include "shardwise/operation/reduce.hpp"
#include "shardwise/operation/reshape.hpp"
#include "shardwise/rule/gradient_step.hpp"

#include <algorithm>
#include <limits>

namespace shardwise {

/// The begin or end of a slice that extends to the end of its dimension.
inline constexpr index_t open_end = std::numeric_limits<index_t>::min();

/// Indices of a dimension at equal distances: the first, their number, and their distance.
struct strided_range {
  index_t first = 0;
  index_t count = 0;
  index_t step = 1;
};

/// The operation that takes elements at equal distances along a dimension. Its integers are the
/// dimension, the begin, the end and the step as in NumPy, and whether the dimension, of which one
/// element remains, is removed.
struct slice_operation : of_any_elements {
  static constexpr text_view name = "slice";
  static constexpr dims_among names{.count = 1};
  static constexpr views_read reads = views_read::any;

  [[nodiscard]] static constexpr attributes how(int dim, index_t begin, index_t end, index_t step,
                                                bool drop = false) noexcept {
    return integer_attributes(dim, begin, end, step, drop);
  }
  /// Returns the indices that are taken from a dimension of `size` elements; negative ends count
  /// from its end.
  [[nodiscard]] static constexpr strided_range range_of(const attributes& how,
                                                        index_t size) noexcept {
    const index_t step = how.integers[3];
    const auto from_end = [&](index_t at) { return at < 0 ? at + size : at; };
    const index_t begin =
        how.integers[1] == open_end ? (step > 0 ? 0 : size - 1) : from_end(how.integers[1]);
    const index_t end =
        how.integers[2] == open_end ? (step > 0 ? size : -1) : from_end(how.integers[2]);
    const index_t span = step > 0 ? end - begin : begin - end;
    if (span <= 0) return {begin, 0, step > 0 ? 1 : -1};
    // A step beyond the last element takes one element, as the largest step within does.
    const index_t within = std::clamp(step, -span, span);
    return {begin, ceil_div(span, step > 0 ? within : -within), within};
  }
  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
    const int rank = operands[0].rank();
    const auto dim = static_cast<int>(how.integers[0]);
    const index_t size = operands[0].extents[dim];
    factor_rule out = same_dimensions_rule(linearity::structural, rank);
    const bool drops = how.integers[4] != 0;
    if (takes_all(how, size) && !drops) return out;
    out.factors[dim] = factor_kind::need_replication;
    const strided_range range = size == dyn ? strided_range{} : range_of(how, size);
    if (drops) {
      out.result.clear();
      for (int d = 0; d < rank; ++d)
        if (d != dim) out.result.push_back(static_cast<std::uint8_t>(d));
      return out;
    }
    const auto kept = static_cast<std::uint8_t>(rank);
    out.factors.push_back(factor_kind::pass_through);
    out.result[dim] = kept;
    out.sizes = out.given_sizes();
    if (size != dyn) {
      out.sizes[kept] = range.count;
      if (range.step > 0 && range.count > 0) {
        // An index of the result reads the element `range.first` after its own position.
        const index_t last = range.first + (range.count - 1) * range.step;
        out.factors[dim] = factor_kind::blocked;
        out.windows.push_back({static_cast<std::uint8_t>(dim),
                               kept,
                               {1, range.step, -range.first, last + 1 - size, 1},
                               true});
      }
    } else if (is_fixed(how)) {
      out.sizes[kept] = range_of(how, 0).count;
    } else {
      // If the size is known only at run time, the numbers of elements excluded before and after
      // determine the extent.
      const auto before = static_cast<std::uint8_t>(rank + 1);
      const auto behind = static_cast<std::uint8_t>(rank + 2);
      out.factors.push_back(factor_kind::need_replication);
      out.factors.push_back(factor_kind::need_replication);
      out.sizes = out.given_sizes();
      const index_t begin = how.integers[1], end = how.integers[2];
      if (begin == open_end || begin >= 0) out.sizes[before] = begin == open_end ? 0 : begin;
      if (begin != open_end && begin < 0) out.sizes[kept] = (end == open_end ? 0 : end) - begin;
      if (end == open_end || end < 0) out.sizes[behind] = end == open_end ? 0 : -end;
      out.composites.push_back(
          {static_cast<std::uint8_t>(dim), composition::sum, {before, kept, behind}});
    }
    return out;
  }
  /// Checks that the slice lies within the dimension. If the size is known only at run time, the
  /// ends must determine the number of elements.
  [[nodiscard]] static constexpr diagnosis check(const attributes& how,
                                                 const tensor_descs& operands) noexcept {
    const auto dim = static_cast<int>(how.integers[0]);
    if (const diagnosis named = over(dim).judge(operands[0].rank()); !named.ok()) return named;
    diagnosis refusal{.rule = violation::slice_is_out_of_range, .operand = 0, .dim = dim};
    const index_t size = operands[0].extents[dim];
    const index_t step = how.integers[3];
    if (step == 0)
      return {.rule = violation::amount_is_out_of_range, .dim = dim, .have = 0, .want = 1};
    if (size == dyn) {
      const index_t begin = how.integers[1], end = how.integers[2];
      const bool from_end_only = begin != open_end && begin < 0 && end != open_end && end >= 0;
      return is_fixed(how) || (step == 1 && !from_end_only) ? diagnosis{} : refusal;
    }
    const index_t begin = how.integers[1], end = how.integers[2];
    const auto is_outside = [&](index_t at) { return at != open_end && (at < -size || at > size); };
    refusal.want = size;
    refusal.have = begin;
    if (is_outside(begin)) return refusal;
    if (begin == size && (is_outside(end) || range_of(how, size).count > 0)) return refusal;
    refusal.have = end;
    return is_outside(end) ? refusal : diagnosis{};
  }
  [[nodiscard]] static constexpr strided_elements view(const attributes& how,
                                                       const factor_rule& rule,
                                                       const strided_elements& from,
                                                       const extents_desc& made) noexcept {
    const auto dim = static_cast<int>(how.integers[0]);
    // A dimension of which everything is taken may be split. Any other one is whole in a view.
    strided_range range{0, from.extents[dim], 1};
    if (rule.factors[rule.operands[0][dim]] != factor_kind::pass_through)
      range = range_of(how, from.extents[dim]);
    return elements_from(from, dim, range, made);
  }
  /// A slice of a split dimension is computed: where a device begins depends on its position.
  static constexpr bool views_split = false;
  /// Returns the elements in a range of a dimension.
  [[nodiscard]] static constexpr strided_elements elements_from(const strided_elements& from,
                                                                int dim, const strided_range& range,
                                                                const extents_desc& made) noexcept {
    strided_elements out{from.offset, made, {}};
    if (range.count > 0) out.offset += range.first * from.strides[dim];
    const bool drops = made.ssize() < from.extents.ssize();
    for (int d = 0; d < from.extents.ssize(); ++d)
      if (d != dim || !drops) out.strides.push_back(from.strides[d] * (d == dim ? range.step : 1));
    return out;
  }
  [[nodiscard]] static constexpr bounded_text<47> label(const attributes& how) noexcept {
    bounded_text<47> words;
    words << name << ' ' << how.integers[0];
    const index_t ends[] = {how.integers[1], how.integers[2]};
    for (int i = 0; i < 2; ++i) {
      words << text_view(i == 0 ? " " : ":");
      if (ends[i] != open_end) words << ends[i];
    }
    if (how.integers[3] != 1) words << ':' << how.integers[3];
    if (how.integers[4] != 0) words << " alone";
    return words;
  }

  using emits = emitted_operations<pad_operation, flip_operation, slice_operation>;
  /// The cotangent of elements that were not taken is zero.
  static constexpr void gradient(gradient_step& at);

 private:
  /// Returns the elements of a dimension with `step - 1` zeros after each.
  [[nodiscard]] static constexpr gradient_value spaced(const gradient_value& x, int dim,
                                                       index_t step);
  /// Returns true if the ends alone determine the number of elements.
  [[nodiscard]] static constexpr bool is_fixed(const attributes& how) noexcept {
    const index_t begin = how.integers[1], end = how.integers[2];
    return begin != open_end && end != open_end && (begin < 0) == (end < 0);
  }
  [[nodiscard]] static constexpr bool takes_all(const attributes& how, index_t size) noexcept {
    if (how.integers[3] != 1) return false;
    const index_t begin = how.integers[1], end = how.integers[2];
    const bool from_begin = begin == open_end || begin == 0 || (size != dyn && begin == -size);
    return from_begin && (end == open_end || (size != dyn && end == size));
  }
};

namespace detail {

/// Returns the cotangents of the elements in the middle of a dimension, plus those of their
/// copies before and after: contiguous runs, in order or reversed, or copies of one element.
[[nodiscard]] constexpr gradient_value unpadded(const attributes& how, const gradient_value& x,
                                                int dim, index_t size) {
  const index_t before = how.integers[2 * dim], end = x.tensor().extents[dim] - before;
  const auto part = [&](index_t first, index_t count) {
    return emit<slice_operation>(
        slice_operation::how(dim, before + first, before + first + count, 1), x);
  };
  gradient_value sum = part(0, size);
  if (pad_operation::mode(how) == pad_mode::constant) return sum;
  for (index_t first = -before; first < end;) {
    if (first == 0) first = size;
    if (first == end) break;
    const index_t last = first < 0 ? 0 : end,
                  source = pad_operation::source_of(pad_operation::mode(how), first, size);
    const auto next = [&](index_t at) {
      return pad_operation::source_of(pad_operation::mode(how), at, size);
    };
    const index_t step = first + 1 < last ? next(first + 1) - source : 0;
    index_t count = 1;
    while (first + count < last && next(first + count) == source + count * step) ++count;
    gradient_value run = part(first, count);
    if (step == 0 && count > 1)
      run =
          emit<reduction_operation>(reduction_operation::how(reduction::sum, 1U << dim, true), run);
    if (step < 0) run = emit<flip_operation>(integer_attributes(dim), run);
    const index_t low = step < 0 ? source - count + 1 : source;
    const index_t behind = size - low - (step == 0 ? 1 : count);
    sum = sum +
          emit<pad_operation>(pad_operation::how_along(x.tensor().rank(), dim, low, behind), run);
    first += count;
  }
  return sum;
}

}  // namespace detail

constexpr void pad_operation::gradient(gradient_step& at) {
  const extents_desc have = at.operand(0).tensor().extents;
  const bool wants_number = at.operand_count() > 1 && at.wants(1);
  gradient_value dx = at.cotangent();
  // That of the number is the sum over the padding, which the elements within have no part in.
  const auto give_sum_of = [&](int d, index_t begin, index_t end) {
    if (!wants_number || begin == end) return;
    const unsigned all = (1U << have.ssize()) - 1U;
    at.give(1, emit<reduction_operation>(
                   reduction_operation::how(reduction::sum, all, false),
                   emit<slice_operation>(slice_operation::how(d, begin, end, 1), dx)));
  };
  for (int d = have.ssize() - 1; d >= 0; --d) {
    const index_t size = dx.tensor().extents[d], before = at.how().integers[2 * d];
    if (size == have[d]) continue;
    give_sum_of(d, 0, before);
    give_sum_of(d, before + have[d], size);
    dx = detail::unpadded(at.how(), dx, d, have[d]);
  }
  at.give(0, dx);
}

constexpr void slice_operation::gradient(gradient_step& at) {
  const extents_desc whole = at.operand(0).tensor().extents;
  const auto dim = static_cast<int>(at.how().integers[0]);
  strided_range range = range_of(at.how(), whole[dim]);
  extents_desc taken = whole;
  taken[dim] = range.count;
  gradient_value dy = at.cotangent();
  if (dy.tensor().extents != taken) dy = emit<reshape_operation>(reshape_operation::how(taken), dy);
  if (range.step < 0) {
    dy = emit<flip_operation>(integer_attributes(dim), dy);
    range = {range.first + (range.count - 1) * range.step, range.count, -range.step};
  }
  if (range.count == 0) range.first = 0;
  if (range.step > 1) dy = spaced(dy, dim, range.step);
  const index_t behind = whole[dim] - range.first - dy.tensor().extents[dim];
  const int rank = whole.ssize();
  // The last element may need fewer zeros after it than the others.
  if (behind < 0) dy = emit<slice_operation>(how(dim, 0, whole[dim] - range.first, 1), dy);
  at.give(0, emit<pad_operation>(
                 pad_operation::how_along(rank, dim, range.first, behind < 0 ? 0 : behind), dy));
}

constexpr gradient_value slice_operation::spaced(const gradient_value& x, int dim, index_t step) {
  const extents_desc have = x.tensor().extents;
  // Zeros follow along a dimension of size 1 after it, so that other dimensions stay split; if
  // there are too many, those before it are one row, and those after it another.
  const bool merges = have.ssize() == max_rank;
  extents_desc apart, out = have;
  if (merges) apart = {1, 1};
  for (int d = 0; d < have.ssize(); ++d) {
    if (merges)
      apart[d <= dim ? 0 : 1] *= have[d];
    else
      apart.push_back(have[d]);
    if (!merges && d == dim) apart.push_back(1);
  }
  out[dim] *= step;
  const int at = merges ? 1 : dim + 1;
  const gradient_value spread =
      emit<pad_operation>(pad_operation::how_along(apart.ssize(), at, 0, apart[at] * (step - 1)),
                          emit<reshape_operation>(reshape_operation::how(apart), x));
  return emit<reshape_operation>(reshape_operation::how(out), spread);
}

/// A slice whose attributes are types.
template <int Dim, index_t Begin, index_t End, index_t Step, bool Drop = false>
struct strided_slice_of {
  using operation_class = slice_operation;
  static constexpr attributes how = slice_operation::how(Dim, Begin, End, Step, Drop);
};

namespace detail {
/// The slice that begins at an index known when it runs.
template <int Dim>
struct slice_from_an_index {
  [[nodiscard]] constexpr call_text operator()() const noexcept {
    call_text out;
    out << "dynamic_slice<" << Dim << ", size>(x, begin)";
    return out;
  }
};
}  // namespace detail

/// Returns the elements of a dimension from `Begin` up to, but not including, `End`, by `Step`.
/// Either end may be `open_end`; negative ones count from the end of the dimension, and a negative
/// step goes backwards, as in NumPy. Unlike in NumPy, both must lie within the dimension: otherwise
/// the error is `slice_is_out_of_range`.
///
/// A slice of the whole dimension accepts every split, and so do steps for which each device has
/// what its part of the result reads. Otherwise the dimension must not be split, or devices
/// communicate over permitted axes. If none needs elements beyond the parts of its neighbours, and
/// the axes divide the size of the result or the layout is `uneven`, they exchange a halo, and the
/// result remains split. In other cases, and for slices that go backwards, the dimension is
/// gathered. Pending reductions stay pending.
///
///     auto head = slice_in_dim<1, 0, 4>(x);         // f32[8@data, 64] -> f32[8@data, 4]
///     auto odd = slice_in_dim<1, 1, open_end, 2>(x);    // f32[8@data, 32]
///     auto back = slice_in_dim<1, open_end, open_end, -1>(x);
///     auto part = slice_in_dim<0, 8, 24>(u, across<"rows">);    // f32[32@rows] -> f32[16@rows]
template <int Dim, index_t Begin, index_t End, index_t Step = 1, NamedOperand X,
          internal::Terms Given = across_axes<>>
[[nodiscard]] constexpr auto slice_in_dim(X&& x, Given permitted = {})
    -> decltype(apply_operation<strided_slice_of<Dim, Begin, End, Step>>(permitted,
                                                                         static_cast<X&&>(x))) {
  return apply_operation<strided_slice_of<Dim, Begin, End, Step>>(permitted, static_cast<X&&>(x));
}

/// Error: the bounds are template arguments, or the begin is a number of `dynamic_slice`.
template <int Dim, Operand X, class... Rest>
detail::call_misplaced<detail::slice_from_an_index<Dim>, X> slice_in_dim(const X&, const Rest&...) {
  return {};
}

}  // namespace shardwise
