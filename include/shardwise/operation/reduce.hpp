// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/arithmetic.hpp"
#include "shardwise/operation/cast.hpp"
#include "shardwise/operation/comparison.hpp"
#include "shardwise/operation/over.hpp"
#include "shardwise/operation/reshape.hpp"
#include "shardwise/operation/zero_factors.hpp"

#include <limits>

namespace shardwise {

/// The operation that reduces dimensions. The kind of its attributes is that of the reduction; its
/// integers are a bit mask of the reduced dimensions and whether they are kept with size 1.
struct reduction_operation {
  static constexpr text_view name = "reduce";
  static constexpr bool takes_prologue = true;

  [[nodiscard]] static constexpr attributes how(reduction kind, unsigned reduced,
                                                bool keep) noexcept {
    attributes out;
    out.kind = kind;
    out.integers = {index_t{reduced}, index_t{keep}};
    return out;
  }
  [[nodiscard]] static constexpr unsigned reduced(const attributes& how) noexcept {
    return static_cast<unsigned>(how.integers[0]);
  }
  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
    return reduction_rule(how.kind, operands[0].rank(), reduced(how), how.integers[1] != 0);
  }
  [[nodiscard]] static constexpr bounded_text<47> label(const attributes& how) noexcept {
    return to_text(how.kind);
  }
  /// Sums and products need numbers; maxima and minima accept `bool` too.
  [[nodiscard]] static constexpr diagnosis check_elements(const attributes& how,
                                                          const tensor_descs& operands) noexcept {
    return check_alike(operands, 0, how.kind == reduction::max || how.kind == reduction::min);
  }
  /// One operation for each element of the operand.
  [[nodiscard]] static constexpr operation_cost cost(const mesh_desc& mesh, const attributes&,
                                                     const tensor_descs& operands,
                                                     const tensor_desc&) noexcept {
    return {.flops = largest_shard_size(mesh, operands[0].layout, operands[0].extents)};
  }
  [[nodiscard]] static constexpr batched_form batched(const attributes& how, const tensor_descs&,
                                                      unsigned, index_t) noexcept {
    batched_form out{how};
    out.how.integers[0] = how.integers[0] << 1;
    return out;
  }
  using emits = emitted_operations<pointwise<functions::where>>;
  /// Equal maxima share the cotangent evenly.
  static constexpr void gradient(gradient_step& at) {
    const gradient_value x = at.operand(0);
    const gradient_value dy = kept(at, at.cotangent());
    if (at.how().kind == reduction::sum) return at.give(0, dy);
    const gradient_value y = kept(at, at.result());
    const auto count = [&](const gradient_value& where) {
      return emit<reduction_operation>(how(reduction::sum, reduced(at.how()), true),
                                       masked(at.number(1, x), where));
    };
    if (at.how().kind != reduction::product) {
      const gradient_value best = elementwise<functions::equal>(at.rounded(x), y);
      return at.give(0, masked(dy / count(best), best));
    }
    const gradient_value one = at.number(1, x);
    const gradient_value is_zero = elementwise<functions::equal>(x, at.number(0, x));
    const gradient_value safe = elementwise<functions::where>(is_zero, one, x);
    const gradient_value own = zero_factors(x, is_zero);
    const gradient_value zeros =
        emit<reduction_operation>(how(reduction::sum, reduced(at.how()), true), own) - own;
    const gradient_value others =
        emit<reduction_operation>(how(reduction::product, reduced(at.how()), true), safe) / safe;
    at.give(0, dy * times_zeros(at, others, zeros));
  }
  /// Returns a value with the shape of the result, with size 1 for each reduced dimension.
  [[nodiscard]] static constexpr gradient_value kept(gradient_step& at,
                                                     const gradient_value& value) {
    const extents_desc before = at.operand(0).tensor().extents;
    if (at.how().integers[1] != 0) return value;
    extents_desc extents;
    int leading = 0;
    for (int d = 0; d < before.ssize(); ++d) {
      const bool is_kept = (reduced(at.how()) >> d & 1U) == 0;
      if (!is_kept && leading == d) ++leading;
      extents.push_back(is_kept ? before[d] : 1);
    }
    // Missing leading dimensions are broadcast without it.
    if (value.tensor().rank() == before.ssize() - leading) return value;
    return emit<reshape_operation>(reshape_operation::how(extents), value);
  }
};

/// A reduction whose attributes are types: the dimensions whose bits are set in `Reduced`, kept
/// with size 1 if `Keep`.
template <reduction Kind, unsigned Reduced, bool Keep = false>
struct reduction_of {
  using operation_class = reduction_operation;
  static constexpr attributes how = reduction_operation::how(Kind, Reduced, Keep);
};

/// The name of `mean` in errors.
struct mean_of;

/// Requests that a reduction keep the reduced dimensions with size 1, so that the result can be
/// broadcast to its operand: `exp(x) / sum<1>(exp(x), keep_dims)`.
struct keep_dims_t {};
/// The request itself.
inline constexpr keep_dims_t keep_dims{};

namespace internal {

/// The dimensions of a reduction that are template arguments; none means all.
template <int... Dims>
[[nodiscard]] constexpr over named_dims(int rank) noexcept {
  if constexpr (sizeof...(Dims) == 0)
    return over::all(rank);
  else
    return over(Dims...).from_front(rank);
}

/// Returns the dimensions of a reduction of `x`, if its options are valid.
template <int... Dims, class X, std::same_as<keep_dims_t>... Keep>
  requires(sizeof...(Keep) < 2)
[[nodiscard]] constexpr over dims_of(const X& x, Keep...) {
  return named_dims<Dims...>(x.extents().ssize());
}
template <ValueOperand X, std::same_as<keep_dims_t>... Keep>
  requires(sizeof...(Keep) < 2)
[[nodiscard]] constexpr over dims_of(const X& x, const over& dims, Keep...) noexcept {
  return dims.from_front(x.extents().ssize());
}

/// The call of a reduction such as `sum<Dims...>`.
template <reduction Kind, int... Dims>
struct reduction_call {
  /// For a tensor whose layout is a type; the only option is `keep_dims`.
  template <class X, class... Options>
  using result = result_of<reduction_of<Kind, named_dims<Dims...>(X::extents_type::rank).bits(),
                                        sizeof...(Options) != 0>,
                           paper_of<X>>;

  template <class X, class... Options>
  [[nodiscard]] static constexpr auto judge() noexcept {
    using tensor = std::remove_cvref_t<X>;
    if constexpr (!EitherOperand<X>) {
      return no_tensor<reduction_of<Kind, 0>, 0, X>{};
    } else if constexpr (!requires(X & x, Options... options) {
                           dims_of<Dims...>(x, options...);
                         }) {
      return refused<misuse::reduction_options_are_unexpected,
                     of_types<reduction_of<Kind, 0>, shown_operand<Options>...>>{};
    } else if constexpr (ValueOperand<X>) {
      return tensor::value_domain::template judge<reduction_of<Kind, 0>,
                                                  typename tensor::value_type>();
    } else {
      constexpr int rank = tensor::extents_type::rank;
      constexpr auto verdict = [] { return named_dims<Dims...>(rank).judge(rank); };
      if constexpr (!verdict().ok()) {
        return answer_to<reduction_of<Kind, 0>>(verdict);
      } else {
        using made = result<tensor, Options...>;
        using operation = typename made::operation;
        if constexpr (made::is_legal)
          return allowed<typename tensor::domain::template made<operation, paper_from<made>, X>>{};
        else
          return made::judge();
      }
    }
  }

  template <class X, class... Options>
  [[nodiscard]] static constexpr auto apply(X&& x, const Options&... options) {
    using tensor = std::remove_cvref_t<X>;
    if constexpr (ValueOperand<X>) {
      constexpr bool keep = (... || std::is_same_v<Options, keep_dims_t>);
      const over dims = dims_of<Dims...>(x, options...);
      return tensor::value_domain::template reduce<typename tensor::value_type>(
          Kind, static_cast<X&&>(x), dims, keep);
    } else {
      using made = result<tensor, Options...>;
      using domain = typename tensor::domain;
      return domain::template apply<typename made::operation, paper_from<made>>(
          known_for<domain, made>(x.mesh(), {&x.extents()}), static_cast<X&&>(x));
    }
  }
};

/// Returns the number by which a sum over `elements` elements is divided. If there are none, it is
/// NaN, as is the quotient: a pending sum is not divided by 0.
template <class T>
[[nodiscard]] constexpr T divisor_of_sum(index_t number, index_t elements) noexcept {
  return elements > 0 ? static_cast<T>(number) : std::numeric_limits<T>::quiet_NaN();
}

/// The call `mean<Dims...>`: a sum, divided. That of 16-bit elements is a sum in `float`, whose
/// range and precision the number of elements needs.
template <int... Dims>
struct mean_call {
  using summing = reduction_call<reduction::sum, Dims...>;

  template <class X, class... Options>
  [[nodiscard]] static constexpr auto judge() noexcept {
    using sum = decltype(summing::template judge<X, Options...>());
    if constexpr (!sum::ok)
      return sum{};
    else if constexpr (!has_fractions(element_of<typename std::remove_cvref_t<X>::value_type>))
      return refused<misuse::elements_have_no_fractions,
                     of_types<mean_of, typename std::remove_cvref_t<X>::value_type>>{};
    else if constexpr (rounds_once<typename std::remove_cvref_t<X>::value_type>)
      return allowed<decltype(apply(std::declval<X>(), std::declval<const Options&>()...))>{};
    else
      return allowed<of_elements<functions::divide, typename sum::type,
                                 typename std::remove_cvref_t<X>::value_type>>{};
  }
  template <class X, class... Options>
  [[nodiscard]] static constexpr auto apply(X&& x, const Options&... options) {
    using T = typename std::remove_cvref_t<X>::value_type;
    if constexpr (rounds_once<T>) {
      return with_terms_as<T>(apply(cast<compute_type<T>>(static_cast<X&&>(x)), options...));
    } else {
      const index_t count = dims_of<Dims...>(x, options...).count(x.extents());
      T terms = divisor_of_sum<T>(count, count);
      return summing::apply(static_cast<X&&>(x), options...) / std::move(terms);
    }
  }
};

}  // namespace internal

/// Returns the sum over the given dimensions, or over all. A split dimension leaves the result
/// pending.
///
///     auto rows = sum<1>(x);                 // f32[512@data, 64] -> f32[512@data]
///     auto kept = sum<1>(x, keep_dims);      // f32[512@data, 1]
///     auto all  = sum(x);                    // f32[]{partial sum: data}
///
/// For a tensor whose layout is a value, the dimensions of each of these reductions may be values:
///
///     auto rows = sum(any, over{1});         // or sum(any, over(numbers), keep_dims)
template <int... Dims, NamedOperand X, class... Options>
[[nodiscard]] constexpr internal::outcome_of<
    internal::maybe_requested<internal::reduction_call<reduction::sum, Dims...>, Options...>, X,
    const Options&...>
sum(X&& x, const Options&... options) {
  return internal::carry_out<
      internal::maybe_requested<internal::reduction_call<reduction::sum, Dims...>, Options...>>(
      static_cast<X&&>(x), options...);
}
/// Returns the product over the given dimensions, or over all.
template <int... Dims, NamedOperand X, class... Options>
[[nodiscard]] constexpr internal::outcome_of<
    internal::maybe_requested<internal::reduction_call<reduction::product, Dims...>, Options...>, X,
    const Options&...>
product(X&& x, const Options&... options) {
  return internal::carry_out<
      internal::maybe_requested<internal::reduction_call<reduction::product, Dims...>, Options...>>(
      static_cast<X&&>(x), options...);
}
/// Returns the maximum over the given dimensions, or over all; the lowest value if there are no
/// elements.
template <int... Dims, NamedOperand X, class... Options>
[[nodiscard]] constexpr internal::outcome_of<
    internal::maybe_requested<internal::reduction_call<reduction::max, Dims...>, Options...>, X,
    const Options&...>
max(X&& x, const Options&... options) {
  return internal::carry_out<
      internal::maybe_requested<internal::reduction_call<reduction::max, Dims...>, Options...>>(
      static_cast<X&&>(x), options...);
}
/// Returns the minimum over the given dimensions, or over all; the highest value if there are no
/// elements.
template <int... Dims, NamedOperand X, class... Options>
[[nodiscard]] constexpr internal::outcome_of<
    internal::maybe_requested<internal::reduction_call<reduction::min, Dims...>, Options...>, X,
    const Options&...>
min(X&& x, const Options&... options) {
  return internal::carry_out<
      internal::maybe_requested<internal::reduction_call<reduction::min, Dims...>, Options...>>(
      static_cast<X&&>(x), options...);
}
/// Returns the mean over the given dimensions, or over all: the sum divided by the global number of
/// elements, so uneven shards are weighted correctly. It is NaN if there are no elements. That of
/// `bfloat16` and `float16` is computed in `float`; a pending one is rounded by each device.
template <int... Dims, NamedOperand X, class... Options>
[[nodiscard]] constexpr internal::outcome_of<
    internal::maybe_requested<internal::mean_call<Dims...>, Options...>, X, const Options&...>
mean(X&& x, const Options&... options) {
  return internal::carry_out<internal::maybe_requested<internal::mean_call<Dims...>, Options...>>(
      static_cast<X&&>(x), options...);
}

}  // namespace shardwise
