// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/arithmetic.hpp"
#include "shardwise/operation/manual.hpp"
#include "shardwise/rule/manual_collective.hpp"

namespace shardwise {

/// One position gives to another in a `permute`.
template <index_t From, index_t To>
struct sends {
  static constexpr position_moves::pair value{From, To};
};

/// What enters at the end of a `shift`: what leaves the other end, or zeros.
enum class shift_end : unsigned char { wraps, zeros };

namespace detail {

/// A collective of manual axes, as errors name it.
template <collective Kind>
struct manual_collective_of;
/// `all_mean`, `all_and`, `all_or`, as errors name them.
struct all_mean_of;

/// A collective that is called with axes by name, as `by` joins them.
template <collective Kind, reduction Fold, fixed_string Axes, int From, int To>
struct named_collective {
  using shown = manual_collective_of<Kind>;
  template <class X>
  using target = typename X::layout_type;

  [[nodiscard]] static constexpr manual_collective called(const mesh_desc& mesh,
                                                          diagnosis* verdict = nullptr) noexcept {
    manual_collective out{.kind = Kind, .fold = Fold, .from = From, .to = To};
    std::uint8_t used = 0;
    const diagnosis found = resolve_entry(mesh, text_view(Axes), -1, used, out.axes);
    if (verdict != nullptr) *verdict = found;
    return out;
  }
  template <class X = void>
  [[nodiscard]] static constexpr manual_result judge(const mesh_desc& mesh,
                                                     const tensor_desc& tensor) noexcept {
    return judge_called<named_collective>(mesh, tensor);
  }

 protected:
  template <class Derived>
  [[nodiscard]] static constexpr manual_result judge_called(const mesh_desc& mesh,
                                                            const tensor_desc& tensor) noexcept {
    manual_result out{tensor, {}};
    const manual_collective known = Derived::called(mesh, &out.verdict);
    // An axis that the mesh has not is not manual.
    if (out.verdict.rule == broken::axis_is_not_in_mesh)
      out.verdict.rule = broken::axis_is_not_manual;
    return out.verdict.ok() ? known.apply(mesh, tensor) : out;
  }
};

/// The axes of a pack, joined.
template <fixed_string... Axes>
[[nodiscard]] consteval auto named_axes() noexcept {
  if constexpr (sizeof...(Axes) == 0)
    return none;
  else
    return by(Axes.characters...);
}

template <reduction Fold, fixed_string... Axes>
using all_reduce_rule = named_collective<collective::all_reduce, Fold, named_axes<Axes...>(),
                                         manual_collective::nowhere, manual_collective::nowhere>;

/// The same of truth values alone.
template <reduction Fold, fixed_string... Axes>
struct all_truth_rule : all_reduce_rule<Fold, Axes...> {
  template <class X = void>
  [[nodiscard]] static constexpr manual_result judge(const mesh_desc& mesh,
                                                     const tensor_desc& tensor) noexcept {
    if (tensor.type != element::boolean)
      return {tensor, {.rule = broken::operand_is_no_truth_value, .operand = 0}};
    return all_reduce_rule<Fold, Axes...>::judge(mesh, tensor);
  }
};

template <fixed_string... Axes>
using vary_rule = named_collective<collective::slice, reduction::sum, named_axes<Axes...>(),
                                   manual_collective::nowhere, manual_collective::nowhere>;

/// What the devices have as the terms of a sum.
template <fixed_string... Axes>
struct terms_rule : vary_rule<Axes...> {
  [[nodiscard]] static constexpr manual_collective called(const mesh_desc& mesh,
                                                          diagnosis* verdict = nullptr) noexcept {
    manual_collective out = vary_rule<Axes...>::called(mesh, verdict);
    out.as_terms = true;
    return out;
  }
  template <class X = void>
  [[nodiscard]] static constexpr manual_result judge(const mesh_desc& mesh,
                                                     const tensor_desc& tensor) noexcept {
    return vary_rule<Axes...>::template judge_called<terms_rule>(mesh, tensor);
  }
};

/// Ones whose devices hear one other.
template <collective Kind, fixed_string Axes, class Moves>
struct moving_collective : named_collective<Kind, reduction::sum, Axes, manual_collective::nowhere,
                                            manual_collective::nowhere> {
  using base = named_collective<Kind, reduction::sum, Axes, manual_collective::nowhere,
                                manual_collective::nowhere>;
  [[nodiscard]] static constexpr manual_collective called(const mesh_desc& mesh,
                                                          diagnosis* verdict = nullptr) noexcept {
    manual_collective out = base::called(mesh, verdict);
    out.moves = Moves::value();
    return out;
  }
  template <class X = void>
  [[nodiscard]] static constexpr manual_result judge(const mesh_desc& mesh,
                                                     const tensor_desc& tensor) noexcept {
    return base::template judge_called<moving_collective>(mesh, tensor);
  }
};
template <class... Pairs>
struct pair_moves {
  [[nodiscard]] static constexpr position_moves value() noexcept {
    position_moves::list all;
    ((all.full() ? void() : all.push_back(Pairs::value)), ...);
    return position_moves::pairs(all);
  }
};
template <index_t By, shift_end End>
struct shift_moves {
  [[nodiscard]] static constexpr position_moves value() noexcept {
    return End == shift_end::wraps ? position_moves::ring(By) : position_moves::line(By);
  }
};
template <index_t Root>
struct root_moves {
  [[nodiscard]] static constexpr position_moves value() noexcept {
    return position_moves::root(Root);
  }
};

/// The call `all_mean<Axes...>`: a sum, divided.
template <fixed_string... Axes>
struct all_mean_call {
  using summing = manual_call<all_reduce_rule<reduction::sum, Axes...>>;

  template <class X>
  [[nodiscard]] static constexpr auto judge() noexcept {
    using sum = decltype(summing::template judge<X>());
    if constexpr (!sum::ok)
      return sum{};
    else if constexpr (!has_fractions(element_of<typename std::remove_cvref_t<X>::value_type>))
      return refused<misuse::elements_have_no_fractions,
                     types<all_mean_of, typename std::remove_cvref_t<X>::value_type>>{};
    else
      return allowed<of_elements<functions::divide, typename sum::type,
                                 typename std::remove_cvref_t<X>::value_type>>{};
  }
  template <class X>
  [[nodiscard]] static constexpr auto apply(X&& x) {
    using T = typename std::remove_cvref_t<X>::value_type;
    const mesh_desc mesh = x.mesh();
    T terms =
        static_cast<T>(mesh.parts(all_reduce_rule<reduction::sum, Axes...>::called(mesh).axes));
    return summing::apply(static_cast<X&&>(x)) / std::move(terms);
  }
};

template <class Rule, class X>
[[nodiscard]] constexpr outcome_of<manual_call<Rule>, X> call_collective(X&& x) {
  return carry_out<manual_call<Rule>>(static_cast<X&&>(x));
}
template <class Rule, class X>
using called_collective = outcome_of<manual_call<Rule>, X>;

}  // namespace detail

/// Folds the values that the devices along manual axes have of a tensor into one that all of them
/// hold; JAX's psum, pmax and pmin. The gradient of a sum is the same for every device; maxima that
/// are equal share it evenly.
///
///     auto total = all_reduce<"data">(x);                        // the sum
///     auto most = all_reduce<reduction::max, "data", "model">(x);
template <reduction Fold, fixed_string... Axes, NamedOperand X>
[[nodiscard]] constexpr auto all_reduce(X&& x)
    -> detail::called_collective<detail::all_reduce_rule<Fold, Axes...>, X> {
  return detail::call_collective<detail::all_reduce_rule<Fold, Axes...>>(static_cast<X&&>(x));
}
template <fixed_string... Axes, NamedOperand X>
[[nodiscard]] constexpr auto all_reduce(X&& x)
    -> detail::called_collective<detail::all_reduce_rule<reduction::sum, Axes...>, X> {
  return detail::call_collective<detail::all_reduce_rule<reduction::sum, Axes...>>(
      static_cast<X&&>(x));
}
/// Whether the value of any, or of every, device along manual axes is true.
///
///     auto diverged = all_or<"data">(any(isnan(mine)));          // bool[]
template <fixed_string... Axes, NamedOperand X>
[[nodiscard]] constexpr auto all_or(X&& x)
    -> detail::called_collective<detail::all_truth_rule<reduction::max, Axes...>, X> {
  return detail::call_collective<detail::all_truth_rule<reduction::max, Axes...>>(
      static_cast<X&&>(x));
}
template <fixed_string... Axes, NamedOperand X>
[[nodiscard]] constexpr auto all_and(X&& x)
    -> detail::called_collective<detail::all_truth_rule<reduction::min, Axes...>, X> {
  return detail::call_collective<detail::all_truth_rule<reduction::min, Axes...>>(
      static_cast<X&&>(x));
}
/// The mean of the values that the devices along manual axes have; JAX's pmean.
template <fixed_string... Axes, NamedOperand X>
[[nodiscard]] constexpr detail::outcome_of<detail::all_mean_call<Axes...>, X> all_mean(X&& x) {
  return detail::carry_out<detail::all_mean_call<Axes...>>(static_cast<X&&>(x));
}

/// Puts what the devices along manual axes have one after the other along a dimension, which no
/// other axis splits; all of them then hold it. Several axes are named by `by("x", "y")`, major to
/// minor. Its gradient is a `reduce_scatter` of what each device made of it.
///
///     auto all = all_gather<"data", 0>(mine);        // f32[4, 2]{manual: data} -> f32[8, 2]
template <fixed_string Axes, int Dim, NamedOperand X>
[[nodiscard]] constexpr auto all_gather(X&& x)
    -> detail::called_collective<detail::named_collective<collective::all_gather, reduction::sum,
                                                          Axes, Dim, manual_collective::nowhere>,
                                 X> {
  return detail::call_collective<detail::named_collective<collective::all_gather, reduction::sum,
                                                          Axes, Dim, manual_collective::nowhere>>(
      static_cast<X&&>(x));
}

/// Folds the values that the devices along manual axes have, and leaves each a part of the result
/// along a dimension, which divides; JAX's psum_scatter. The gradient of a sum is an `all_gather`.
///
///     auto part = reduce_scatter<"data", 0>(terms);  // f32[8, 2]{manual: data} -> f32[4, 2]
template <reduction Fold, fixed_string Axes, int Dim, NamedOperand X>
[[nodiscard]] constexpr auto reduce_scatter(X&& x)
    -> detail::called_collective<detail::named_collective<collective::reduce_scatter, Fold, Axes,
                                                          manual_collective::nowhere, Dim>,
                                 X> {
  return detail::call_collective<detail::named_collective<collective::reduce_scatter, Fold, Axes,
                                                          manual_collective::nowhere, Dim>>(
      static_cast<X&&>(x));
}
template <fixed_string Axes, int Dim, NamedOperand X>
[[nodiscard]] constexpr auto reduce_scatter(X&& x)
    -> decltype(reduce_scatter<reduction::sum, Axes, Dim>(static_cast<X&&>(x))) {
  return reduce_scatter<reduction::sum, Axes, Dim>(static_cast<X&&>(x));
}

/// Cuts what each device has along dimension `Split` into a part for each device along manual axes,
/// and puts the parts that it gets one after the other along `Concat`. The gradient goes the other
/// way.
///
///     auto heads = all_to_all<"model", 1, 0>(mine);  // f32[4, 8]{manual: model} -> f32[16, 2]
template <fixed_string Axes, int Split, int Concat, NamedOperand X>
[[nodiscard]] constexpr auto all_to_all(X&& x) -> detail::called_collective<
    detail::named_collective<collective::all_to_all, reduction::sum, Axes, Concat, Split>, X> {
  return detail::call_collective<
      detail::named_collective<collective::all_to_all, reduction::sum, Axes, Concat, Split>>(
      static_cast<X&&>(x));
}

/// Gives what a device along manual axes has to another, by positions along them; JAX's ppermute. A
/// position gives once and gets once at most; one that gets nothing has zeros. The gradient goes
/// the other way.
///
///     auto y = permute<"data", sends<0, 1>, sends<1, 0>>(mine);
template <fixed_string Axes, class... Pairs, NamedOperand X>
[[nodiscard]] constexpr auto permute(X&& x) -> detail::called_collective<
    detail::moving_collective<collective::collective_permute, Axes, detail::pair_moves<Pairs...>>,
    X> {
  return detail::call_collective<detail::moving_collective<collective::collective_permute, Axes,
                                                           detail::pair_moves<Pairs...>>>(
      static_cast<X&&>(x));
}
/// Gives what each device along manual axes has to the one `By` positions further, around the ring,
/// or before it where that is negative; with `shift_end::zeros` what leaves is lost and zeros
/// enter.
///
///     auto before = shift<"data", 1>(mine);                      // of the device before
///     auto after = shift<"data", -1, shift_end::zeros>(mine);    // of the one after, or 0
template <fixed_string Axes, index_t By, shift_end End = shift_end::wraps, NamedOperand X>
[[nodiscard]] constexpr auto shift(X&& x) -> detail::called_collective<
    detail::moving_collective<collective::collective_permute, Axes, detail::shift_moves<By, End>>,
    X> {
  return detail::call_collective<detail::moving_collective<collective::collective_permute, Axes,
                                                           detail::shift_moves<By, End>>>(
      static_cast<X&&>(x));
}

/// What the device at one position along manual axes has, for all of them. Its gradient is that
/// device's alone.
///
///     auto first = broadcast<"data", 0>(mine);       // f32[4, 2]{manual: data} -> f32[4, 2]
template <fixed_string Axes, index_t Root, NamedOperand X>
[[nodiscard]] constexpr auto broadcast(X&& x) -> detail::called_collective<
    detail::moving_collective<collective::broadcast, Axes, detail::root_moves<Root>>, X> {
  return detail::call_collective<
      detail::moving_collective<collective::broadcast, Axes, detail::root_moves<Root>>>(
      static_cast<X&&>(x));
}

/// What all devices along axes have as a value that may be another on each from now on; JAX's
/// pvary. Nothing moves; its gradient is the sum of the devices'. Operations with manual operands
/// do the same without being asked.
///
///     auto mine = vary<"data">(w);                   // f32[64] -> f32[64]{manual: data}
template <fixed_string... Axes, NamedOperand X>
[[nodiscard]] constexpr auto vary(X&& x)
    -> detail::called_collective<detail::vary_rule<Axes...>, X> {
  return detail::call_collective<detail::vary_rule<Axes...>>(static_cast<X&&>(x));
}
/// What the devices along manual axes have as the terms of a sum that is still to come. Nothing
/// moves; a reshard finishes the sum, once, where and as the program wants it.
///
///     auto total = reshard<P<"data", none>>(as_terms<"data">(mine));     // a reduce_scatter
template <fixed_string... Axes, NamedOperand X>
[[nodiscard]] constexpr auto as_terms(X&& x)
    -> detail::called_collective<detail::terms_rule<Axes...>, X> {
  return detail::call_collective<detail::terms_rule<Axes...>>(static_cast<X&&>(x));
}
/// The part along a dimension that each device along axes keeps of what all of them have, as a
/// value of its own. Nothing moves; its gradient is an `all_gather`.
///
///     auto mine = all_slice<"data", 0>(x);           // f32[8, 2] -> f32[4, 2]{manual: data}
template <fixed_string Axes, int Dim, NamedOperand X>
[[nodiscard]] constexpr auto all_slice(X&& x)
    -> detail::called_collective<detail::named_collective<collective::slice, reduction::sum, Axes,
                                                          manual_collective::nowhere, Dim>,
                                 X> {
  return detail::call_collective<detail::named_collective<collective::slice, reduction::sum, Axes,
                                                          manual_collective::nowhere, Dim>>(
      static_cast<X&&>(x));
}

}  // namespace shardwise
