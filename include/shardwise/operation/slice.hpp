// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/across.hpp"
#include "shardwise/operation/over.hpp"

#include <limits>
#include <tuple>
#include <utility>

namespace shardwise {

/// Where a slice ends, or begins, that goes as far as its dimension does.
inline constexpr index_t open_end = std::numeric_limits<index_t>::min();

/// Indices of a dimension at equal distances: the first, how many, and how far apart.
struct strided_range {
  index_t first = 0;
  index_t count = 0;
  index_t step = 1;
};

/// The operation that takes elements at equal distances along a dimension. Its integers are the
/// dimension, the begin, the end and the step as NumPy has them, and whether the dimension, of
/// which one element is left, is left out.
struct slice_operation : of_any_elements {
  static constexpr text_view name = "slice";

  [[nodiscard]] static constexpr attributes how(int dim, index_t begin, index_t end, index_t step,
                                                bool drop = false) noexcept {
    return integer_attributes(dim, begin, end, step, drop);
  }
  /// The indices that are taken of a dimension of `size` elements: of negative ends the distance
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
    return {begin, span > 0 ? ceil_div(span, step > 0 ? step : -step) : 0, step};
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
      out.sizes[kept] = range_of(how, size).count;
    } else if (is_fixed(how)) {
      out.sizes[kept] = range_of(how, 0).count;
    } else {
      // What is left out before and behind says how much is kept of a size that the run will tell.
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
  /// Judges that the slice lies within the dimension. Of one whose size only the run knows the
  /// number of elements must follow from the ends.
  [[nodiscard]] static constexpr diagnosis check(const attributes& how,
                                                 const tensor_descs& operands) noexcept {
    const auto dim = static_cast<int>(how.integers[0]);
    if (const diagnosis named = over(dim).judge(operands[0].rank()); !named.ok()) return named;
    diagnosis refusal{.rule = broken::slice_is_out_of_range, .operand = 0, .dim = dim};
    const index_t size = operands[0].extents[dim];
    const index_t step = how.integers[3];
    if (step == 0) return refusal;
    if (size == dyn) {
      const index_t begin = how.integers[1], end = how.integers[2];
      const bool from_end_only = begin != open_end && begin < 0 && end != open_end && end >= 0;
      return is_fixed(how) || (step == 1 && !from_end_only) ? diagnosis{} : refusal;
    }
    const strided_range range = range_of(how, size);
    for (int i = 1; i <= 2; ++i) {
      const index_t at = how.integers[i];
      const bool is_taken = i == 1 && range.count > 0 && at == size;
      if (at == open_end || (at >= -size && at <= size && !is_taken)) continue;
      refusal.have = at;
      refusal.want = size;
      return refusal;
    }
    return {};
  }
  [[nodiscard]] static constexpr text<47> label(const attributes& how) noexcept {
    text<47> words;
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

 private:
  /// True if the ends alone say how many elements are taken.
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

/// A slice as types have it.
template <int Dim, index_t Begin, index_t End, index_t Step, bool Drop = false>
struct slice_of {
  using operation_class = slice_operation;
  static constexpr attributes how = slice_operation::how(Dim, Begin, End, Step, Drop);
};

/// The elements `Begin` up to `End`, not included, of a dimension, every `Step`-th of them. Either
/// end may be `open_end`; negative ones count from the end of the dimension, and a negative step
/// goes backwards, as in NumPy. Unlike there both lie within the dimension:
/// `slice_is_out_of_range`.
///
/// Each device needs the whole of the dimension, or fetches it over permitted axes; a slice of all
/// of it passes every split. What is pending stays pending.
///
///     auto head = slice<1, 0, 4>(x);         // f32[8@data, 64] -> f32[8@data, 4]
///     auto odd = slice<1, 1, open_end, 2>(x);    // f32[8@data, 32]
///     auto back = slice<1, open_end, open_end, -1>(x);
template <int Dim, index_t Begin, index_t End, index_t Step = 1, NamedOperand X,
          fixed_string... Axes>
[[nodiscard]] constexpr auto slice(X&& x, across_axes<Axes...> permitted = {})
    -> decltype(apply_operation<slice_of<Dim, Begin, End, Step>>(permitted, static_cast<X&&>(x))) {
  return apply_operation<slice_of<Dim, Begin, End, Step>>(permitted, static_cast<X&&>(x));
}

/// The elements at one index of a dimension, which the result has not; negative ones count from the
/// end. Each device needs the whole of the dimension, or fetches it over permitted axes.
///
///     auto last = index_at<1, -1>(x);           // f32[8@data, 64] -> f32[8@data]
template <int Dim, index_t At, NamedOperand X, fixed_string... Axes>
[[nodiscard]] constexpr auto index_at(X&& x, across_axes<Axes...> permitted = {})
    -> decltype(apply_operation<slice_of<Dim, At, At == -1 ? open_end : At + 1, 1, true>>(
        permitted, static_cast<X&&>(x))) {
  return apply_operation<slice_of<Dim, At, At == -1 ? open_end : At + 1, 1, true>>(
      permitted, static_cast<X&&>(x));
}

namespace detail {

/// The call `split_at<Dim, Ends...>`: a slice for each part, whose begins and ends are `Ends`.
template <int Dim, index_t... Ends>
struct split_call {
  static constexpr int parts = int{sizeof...(Ends)} - 1;
  static constexpr index_t ends[] = {Ends...};
  template <int Part>
  using part_call = whole_call<slice_of<Dim, ends[Part], ends[Part + 1], 1>>;

  template <class X>
  [[nodiscard]] static constexpr auto judge() noexcept {
    return judge_parts<const std::remove_cvref_t<X>&>(std::make_integer_sequence<int, parts>{});
  }
  template <class X>
  [[nodiscard]] static constexpr auto apply(const X& x) {
    return apply_parts(x, std::make_integer_sequence<int, parts>{});
  }

 private:
  template <class X, int... Part>
  [[nodiscard]] static constexpr auto judge_parts(std::integer_sequence<int, Part...>) noexcept {
    using judged = typename first_refusal<decltype(part_call<Part>::template judge<X>())...>::type;
    if constexpr (judged::ok)
      return allowed<
          std::tuple<typename decltype(part_call<Part>::template judge<X>())::type...>>{};
    else
      return judged{};
  }
  template <class X, int... Part>
  [[nodiscard]] static constexpr auto apply_parts(const X& x, std::integer_sequence<int, Part...>) {
    return std::tuple{part_call<Part>::apply(x)...};
  }
};

}  // namespace detail

/// The parts of a tensor between these indices of a dimension, as a tuple; each device needs the
/// whole of it.
///
///     auto [q, k, v] = split_at<1, 64, 80>(x);      // f32[8@data, 96] -> 64, 16 and 16 columns
template <int Dim, index_t... Indices, NamedOperand X>
[[nodiscard]] constexpr detail::outcome_of<detail::split_call<Dim, 0, Indices..., open_end>, X>
split_at(X&& x) {
  return detail::carry_out<detail::split_call<Dim, 0, Indices..., open_end>>(static_cast<X&&>(x));
}

}  // namespace shardwise
