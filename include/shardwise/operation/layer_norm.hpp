// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/finish_gradient.hpp"
#include "shardwise/operation/normalising.hpp"
#include "shardwise/operation/reduce.hpp"
#include "shardwise/operation/sum_of_squares.hpp"
#include "shardwise/operation/transcendental.hpp"

#include <utility>

namespace shardwise {

/// Normalisation along dimensions, which are its integers, on abstract tensors. It is computed as a
/// composition of other operations.
struct layer_norm_operation {
  static constexpr text_view name = "layer_norm";
  static constexpr dims_among names{};

  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
    return detail::normalising_rule(operands[0].rank(), over(how.integers).bits());
  }
  [[nodiscard]] static constexpr diagnosis check(const attributes& how,
                                                 const tensor_descs& operands) noexcept {
    return over(how.integers).judge(operands[0].rank());
  }
};

/// The operation whose attributes are types, and its variant without the mean.
template <int... Dims>
struct layer_norm_of {
  using operation_class = layer_norm_operation;
  static constexpr attributes how = integer_attributes(Dims...);
};
template <int... Dims>
struct rms_norm_of : layer_norm_of<Dims...> {};

namespace internal {

/// The layout of a scale beside a tensor, gathered over permitted axes where necessary.
template <class X, class Scale, class Permitted>
struct layout_beside {
  static constexpr layout_desc layout_value =
      fetched_beside(mesh_of<X>::value, paper_of<X>::value, paper_of<Scale>::value,
                     Permitted::bits(mesh_of<X>::value));
};

/// Returns the layout of a scale beside a tensor, gathered over permitted axes where necessary, for
/// layouts that are values. Throws the error that a further permission would fix.
template <class Permitted>
[[nodiscard]] layout_desc known_layout_beside(const mesh_desc& mesh, const tensor_desc& x,
                                              tensor_desc scale) {
  scale.layout = fetched_beside(mesh, x, scale, Permitted::bits(mesh));
  const factor_rule rule = rule_beside(x, scale);
  const tensor_descs known{x, scale};
  const diagnosis verdict = propagate(mesh, rule, known).verdict;
  if (helps_beside(verdict))
    fail(verdict, advice(mesh, rule, known, verdict, permission_of<Permitted>(mesh)));
  return scale.layout;
}

/// Returns a scale or shift as it is read beside a tensor: gathered over permitted axes where its
/// splits contradict those of the tensor. Where no permission resolves them, the function that
/// reads it reports the error.
template <class Permitted, class X, class Scale>
[[nodiscard]] constexpr auto beside_tensor(const X& x, const Scale& scale) {
  if constexpr (AnyRefused<X, Scale> || !(EitherOperand<X> && EitherOperand<Scale>)) {
    return Scale(scale);
  } else if constexpr (ValueOperand<Scale>) {
    const auto known_of = []<class Y>(const Y& y) {
      if constexpr (ValueOperand<Y>)
        return y.tensor();
      else
        return desc_of(y);
    };
    const layout_desc layout =
        known_layout_beside<Permitted>(x.mesh(), known_of(x), scale.tensor());
    return layout == scale.layout() ? Scale(scale) : reshard(Scale(scale), layout);
  } else if constexpr (ValueOperand<X>) {
    using value = typename X::value_domain::template tensor<typename Scale::value_type>;
    return beside_tensor<Permitted>(x, value(scale));
  } else if constexpr (std::is_same_v<Permitted, across_axes<>> ||
                       !std::is_same_v<mesh_of<X>, mesh_of<Scale>>) {
    return Scale(scale);
  } else {
    using gathered = layout_beside<X, Scale, Permitted>;
    if constexpr (gathered::layout_value == Scale::layout_type::value)
      return Scale(scale);
    else
      return reshard<layout_from_value<mesh_of<X>, gathered>>(scale);
  }
}

/// Computes `x * scale + shift`, with those of the two that are given, which are gathered over
/// permitted axes where necessary.
template <class Permitted = across_axes<>, class X>
[[nodiscard]] constexpr auto scaled(X&& x) {
  return std::remove_cvref_t<X>(static_cast<X&&>(x));
}
template <class Permitted = across_axes<>, class X, class Scale>
[[nodiscard]] constexpr auto scaled(X&& x, const Scale& scale) {
  return static_cast<X&&>(x) * widened(beside_tensor<Permitted>(x, scale));
}
template <class Permitted, class X, class Shift>
[[nodiscard]] constexpr auto shifted(X&& x, const Shift& shift) {
  return static_cast<X&&>(x) + widened(beside_tensor<Permitted>(x, shift));
}
template <class Permitted = across_axes<>, class X, class Scale, class Shift>
[[nodiscard]] constexpr auto scaled(X&& x, const Scale& scale, const Shift& shift) {
  return shifted<Permitted>(scaled<Permitted>(static_cast<X&&>(x), scale), shift);
}

/// The verdict on `x * scale + shift`, for a tensor that is normalised after it is finished.
template <class Permitted, class X>
[[nodiscard]] constexpr auto judge_scaled() noexcept {
  return allowed<X>{};
}
/// The verdict on a function of a tensor and its scale or shift, with the permission that helps.
template <class Function, class Permitted, class X, class Scale>
[[nodiscard]] constexpr auto judge_beside() noexcept {
  using beside = decltype(widened(beside_tensor<Permitted>(
      std::declval<const std::remove_cvref_t<X>&>(), std::declval<const Scale&>())));
  using judged = decltype(judge_part<elementwise_call<Function>, X, beside>());
  if constexpr (!judged::ok && Operand<X> && Operand<beside>) {
    using made = elementwise_result<Function, X, beside>;
    if constexpr (helps_beside(made::value.verdict))
      return made::template judge<Permitted>();
    else
      return judged{};
  } else {
    return judged{};
  }
}
template <class Permitted, class X, class Scale>
[[nodiscard]] constexpr auto judge_scaled() noexcept {
  return judge_beside<functions::multiply, Permitted, X, std::remove_cvref_t<Scale>>();
}
template <class Permitted, class X, class Scale, class Shift>
[[nodiscard]] constexpr auto judge_scaled() noexcept {
  using product = decltype(judge_scaled<Permitted, X, Scale>());
  if constexpr (product::ok)
    return judge_beside<functions::add, Permitted, typename product::type,
                        std::remove_cvref_t<Shift>>();
  else
    return product{};
}
template <class Permitted>
struct judges_scale {
  template <class X, class Epsilon, class... Scale>
  [[nodiscard]] static constexpr auto judge() noexcept {
    using wide = decltype(finished(widened(std::declval<X>()), Permitted{}));
    return judge_scaled<Permitted, wide, Scale...>();
  }
};

/// Returns elements divided by the root of a mean of squares.
template <class X, class Squares>
[[nodiscard]] constexpr auto over_root(const X& x, const Squares& squares, double epsilon) {
  if constexpr (AnyRefused<X, Squares>)
    return refused_value{};
  else
    return x / narrowed<typename X::value_type>(sqrt(squares + epsilon));
}

/// The differences of elements from their mean along dimensions, the mean, and the mean of their
/// squares; both means keep the dimensions with size 1.
template <class Centred, class Mean, class Variance>
struct moments {
  Centred centred;
  Mean mean;
  Variance variance;
};
template <class Permitted, int... Dims, class X>
[[nodiscard]] constexpr auto moments_of(const X& x) {
  auto center = finished(mean<Dims...>(x, keep_dims), Permitted{});
  auto centred = x - center;
  auto variance = finished(mean_of_squares<Dims...>(centred, keep_dims), Permitted{});
  return moments<decltype(centred), decltype(center), decltype(variance)>{
      std::move(centred), std::move(center), std::move(variance)};
}

// A pending gradient is reduced before it propagates through a norm. Otherwise the gradients of the
// operand, the means, the scale and the shift would each be reduced.
template <class Permitted, int... Dims>
struct layer_norm_steps : judges_scale<Permitted> {
  template <class X, class... Scale>
  [[nodiscard]] static constexpr auto apply(const X& given, double epsilon, const Scale&... scale) {
    using T = typename X::value_type;
    const auto of = moments_of<Permitted, Dims...>(widened(given));
    return finish_gradient(
        narrowed<T>(scaled<Permitted>(over_root(of.centred, of.variance, epsilon), scale...)));
  }
};
template <class Permitted, int... Dims>
struct rms_norm_steps : judges_scale<Permitted> {
  template <class X, class... Scale>
  [[nodiscard]] static constexpr auto apply(const X& given, double epsilon, const Scale&... scale) {
    using T = typename X::value_type;
    const auto x = widened(given);
    const auto squares = finished(mean_of_squares<Dims...>(x, keep_dims), Permitted{});
    return finish_gradient(
        narrowed<T>(scaled<Permitted>(over_root(x, squares, epsilon), scale...)));
  }
};

template <class Permitted, int... Dims>
using layer_norm_call =
    composed_call<layer_norm_of<Dims...>, Permitted, layer_norm_steps<Permitted, Dims...>>;
template <class Permitted, int... Dims>
using rms_norm_call =
    composed_call<rms_norm_of<Dims...>, Permitted, rms_norm_steps<Permitted, Dims...>>;

}  // namespace internal

/// Returns the values minus their mean along these dimensions, divided by their standard deviation:
/// `(x - mean) / sqrt(variance + epsilon)`, where the variance is the mean of the squares.
///
/// The dimensions must not be split, unless axes are permitted: then the two means are reduced over
/// them, which is exact for uneven shards too. `bfloat16` and `float16` are computed in `float` and
/// rounded once.
///
///     auto y = layer_norm<1>(x, 1e-5);
///     auto z = layer_norm<1>(x, 1e-5, across<"model">);
template <int... Dims, NamedOperand X, internal::Terms Given = across_axes<>>
  requires(sizeof...(Dims) > 0)
[[nodiscard]] constexpr internal::outcome_on<
    internal::layer_norm_call<internal::permitted_by<Given>, Dims...>, Given, X, double>
layer_norm(X&& x, double epsilon, const Given& given = {}) {
  return internal::carry_out_on<internal::layer_norm_call<internal::permitted_by<Given>, Dims...>>(
      given, static_cast<X&&>(x), static_cast<double&&>(epsilon));
}
/// The same, multiplied by `scale`, plus `shift`; both are broadcast to the result. They may be
/// split like the dimensions; where their splits contradict those of `x`, they are gathered over
/// the permitted axes.
///
///     auto y = layer_norm<1>(x, scale, shift, 1e-5);     // f32[8@data, 64], f32[64], f32[64]
///     // f32[8@data, 64@model], f32[64@model], f32[64@model]
///     auto z = layer_norm<1>(x, scale, shift, 1e-5, across<"model">);
template <int... Dims, NamedOperand X, NamedOperand Scale, NamedOperand Shift,
          internal::Terms Given = across_axes<>>
  requires(sizeof...(Dims) > 0)
[[nodiscard]] constexpr internal::outcome_on<
    internal::layer_norm_call<internal::permitted_by<Given>, Dims...>, Given, X, double,
    const Scale&, const Shift&>
layer_norm(X&& x, const Scale& scale, const Shift& shift, double epsilon, const Given& given = {}) {
  return internal::carry_out_on<internal::layer_norm_call<internal::permitted_by<Given>, Dims...>,
                                Given, X, double, const Scale&, const Shift&>(
      given, static_cast<X&&>(x), static_cast<double&&>(epsilon), scale, shift);
}

/// Returns the values divided by their root mean square along these dimensions: `x / sqrt(mean of
/// squares + epsilon)`; otherwise like `layer_norm`, with a single mean to reduce.
///
///     auto y = rms_norm<1>(x, scale, 1e-6);
template <int... Dims, NamedOperand X, internal::Terms Given = across_axes<>>
  requires(sizeof...(Dims) > 0)
[[nodiscard]] constexpr internal::outcome_on<
    internal::rms_norm_call<internal::permitted_by<Given>, Dims...>, Given, X, double>
rms_norm(X&& x, double epsilon, const Given& given = {}) {
  return internal::carry_out_on<internal::rms_norm_call<internal::permitted_by<Given>, Dims...>>(
      given, static_cast<X&&>(x), static_cast<double&&>(epsilon));
}
template <int... Dims, NamedOperand X, NamedOperand Scale, internal::Terms Given = across_axes<>>
  requires(sizeof...(Dims) > 0)
[[nodiscard]] constexpr internal::outcome_on<
    internal::rms_norm_call<internal::permitted_by<Given>, Dims...>, Given, X, double, const Scale&>
rms_norm(X&& x, const Scale& scale, double epsilon, const Given& given = {}) {
  return internal::carry_out_on<internal::rms_norm_call<internal::permitted_by<Given>, Dims...>,
                                Given, X, double, const Scale&>(
      given, static_cast<X&&>(x), static_cast<double&&>(epsilon), scale);
}

}  // namespace shardwise
