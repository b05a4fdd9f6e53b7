// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/concatenate.hpp"
#include "shardwise/operation/gathered_call.hpp"
#include "shardwise/operation/tile.hpp"

#include <concepts>
#include <utility>

namespace shardwise {

/// The repetition of each element along a dimension as often as a list of counts says, on abstract
/// tensors. Its integers are the dimension, the number of counts, their sum and the first negative
/// one, or 0. It is computed as a composition of other operations.
struct repeat_counts_operation : of_any_elements {
  static constexpr text_view name = "repeat_counts";
  static constexpr dims_among names{.count = 1};

  /// Returns the attributes for any range of counts.
  template <class Counts>
  [[nodiscard]] static constexpr attributes how(index_t dim, const Counts& counts) noexcept {
    index_t number = 0, total = 0, negative = 0;
    for (const auto& each : counts) {
      const auto count = static_cast<index_t>(each);
      ++number;
      if (count < 0 && negative == 0) negative = count;
      if (count > 0) total = size_sum(total, count);
    }
    return integer_attributes(dim, number, total, negative);
  }
  /// Elements move by different distances, so the dimension must not be split.
  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
    const int rank = operands[0].rank();
    const auto dim = static_cast<int>(how.integers[0]);
    const auto copies = static_cast<std::uint8_t>(rank);
    factor_rule out = same_dimensions_rule(linearity::structural, rank);
    out.factors[dim] = factor_kind::need_replication;
    out.factors.push_back(factor_kind::pass_through);
    out.result[dim] = copies;
    out.sizes = out.given_sizes();
    out.sizes[copies] = how.integers[2];
    return out;
  }
  /// Checks that each element has a count, which is not negative.
  [[nodiscard]] static constexpr diagnosis check(const attributes& how,
                                                 const tensor_descs& operands) noexcept {
    const diagnosis named = over(how.integers[0]).judge(operands[0].rank());
    if (!named.ok()) return named;
    const auto dim = static_cast<int>(how.integers[0]);
    if (how.integers[3] < 0)
      return {.rule = violation::extent_is_negative, .dim = dim, .have = how.integers[3]};
    const index_t size = operands[0].extents[dim], counted = how.integers[1];
    if (size == counted || size == dyn || counted == dyn) return {};
    return {.rule = violation::operand_sizes_differ,
            .operand = 0,
            .dim = dim,
            .have = size,
            .want = counted};
  }
};

/// The operation whose attributes are types.
template <int Dim, index_t... Counts>
struct repeat_counts_of {
  using operation_class = repeat_counts_operation;
  static constexpr attributes how =
      repeat_counts_operation::how(Dim, inplace_vector<index_t, sizeof...(Counts)>{Counts...});
};

/// A list of integers of the host: an array, a vector, a span.
template <class Counts>
concept CountList = requires(const Counts& counts) {
  counts.size();
  requires std::integral<std::remove_cvref_t<decltype(*counts.data())>>;
};

namespace detail {

/// The runs of adjacent elements that are repeated equally often, and at least once.
template <index_t... Counts>
struct runs_of_counts {
  struct run {
    index_t begin = 0;
    index_t end = 0;
    index_t count = 0;
  };
  static constexpr inplace_vector<run, sizeof...(Counts)> value = [] {
    inplace_vector<run, sizeof...(Counts)> out;
    index_t at = 0, before = 0;
    for (const index_t count : {Counts...}) {
      if (count > 0 && count == before) ++out[out.ssize() - 1].end;
      if (count > 0 && count != before) out.push_back({at, at + 1, count});
      before = count;
      ++at;
    }
    return out;
  }();
};

template <int Dim, index_t... Counts>
struct repeat_counts_steps {
  template <class X>
  [[nodiscard]] static constexpr auto apply(const X& x) {
    using operation = repeat_counts_of<Dim, Counts...>;
    constexpr int count = runs::value.ssize();
    if constexpr (Operand<X>)  // a dyn size is known now
      require(repeat_counts_operation::check(attributes_for<operation>(X::extents_type::rank),
                                             {desc_of(x)}));
    if constexpr (count == 0)
      return slice_in_dim<Dim, 0, 0>(x);
    else if constexpr (count == 1)
      return part<0>(x);
    else
      return joined(x, std::make_integer_sequence<int, count>{});
  }

 private:
  using runs = runs_of_counts<Counts...>;
  template <int I, class X>
  [[nodiscard]] static constexpr auto part(const X& x) {
    constexpr auto run = runs::value[I];
    if constexpr (run.count == 1)
      return slice_in_dim<Dim, run.begin, run.end>(x);
    else
      return repeat<Dim, run.count>(slice_in_dim<Dim, run.begin, run.end>(x));
  }
  template <class X, int... I>
  [[nodiscard]] static constexpr auto joined(const X& x, std::integer_sequence<int, I...>) {
    return concatenate<Dim>(part<I>(x)...);
  }
};
template <class Permitted, int Dim, index_t... Counts>
using repeat_counts_call =
    gathered_call<repeat_counts_of<Dim, Counts...>, Permitted, repeat_counts_steps<Dim, Counts...>>;

}  // namespace detail

/// Returns each element along a dimension as often as its own count says; `repeat` in NumPy,
/// `repeat_interleave` in PyTorch. There is one count for each element, 0 or more; otherwise the
/// error is `extent_is_negative` or `operand_sizes_differ`.
///
/// The dimension must not be split, or is gathered over permitted axes, since elements move by
/// different distances; all other splits are kept, and pending reductions stay pending. Each run of
/// equal counts is one `repeat`. If only the run knows the counts, give them as a list or, on the
/// devices, to `repeat_each`.
///
///     auto y = repeat<0, 1, 0, 4>(x);        // f32[3, 8@data] -> f32[5, 8@data]: a c c c c
template <int Dim, index_t First, index_t Second, index_t... Rest, NamedOperand X,
          internal::Terms Given = across_axes<>>
[[nodiscard]] constexpr internal::outcome_on<
    detail::repeat_counts_call<internal::permitted_by<Given>, Dim, First, Second, Rest...>, Given,
    X>
repeat(X&& x, const Given& given = {}) {
  return internal::carry_out_on<
      detail::repeat_counts_call<internal::permitted_by<Given>, Dim, First, Second, Rest...>>(
      given, static_cast<X&&>(x));
}

}  // namespace shardwise
