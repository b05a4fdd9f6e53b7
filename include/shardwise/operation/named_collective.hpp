// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/arithmetic.hpp"
#include "shardwise/operation/manual.hpp"
#include "shardwise/rule/manual_collective.hpp"

#include <type_traits>

namespace shardwise {

/// A pair of positions of a `permute`: `From` sends to `To`.
template <index_t From, index_t To>
struct sends {
  static constexpr position_moves::pair value{From, To};
};

/// What a `shift` moves in at the end: the values from the other end, or zeros.
enum class shift_end : unsigned char { wraps, zeros };

namespace detail {

/// The name in errors of a collective on manual axes.
template <collective Kind>
struct manual_collective_of;
/// The names of `all_mean`, `all_and` and `all_or`, and of `as_partial`, in errors.
struct all_mean_of;
struct as_partial_of;

/// A collective that is called with axis names, joined as in `by`.
template <collective Kind, reduction Reduce, fixed_string Axes, int From, int To>
struct named_collective {
  using shown = manual_collective_of<Kind>;
  template <class X>
  using target = typename X::layout_type;

  [[nodiscard]] static constexpr manual_collective called(const mesh_desc& mesh,
                                                          diagnosis* verdict = nullptr) noexcept {
    manual_collective out{.kind = Kind, .reduce = Reduce, .from = From, .to = To};
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
    // An axis that is not in the mesh is not manual.
    if (out.verdict.rule == violation::axis_is_not_in_mesh)
      out.verdict.rule = violation::axis_is_not_manual;
    return out.verdict.ok() ? known.from_front(tensor.rank()).apply(mesh, tensor) : out;
  }
};

/// Returns the axes of a pack, joined.
template <fixed_string... Axes>
[[nodiscard]] consteval auto named_axes() noexcept {
  if constexpr (sizeof...(Axes) == 0)
    return none;
  else
    return by(Axes.characters...);
}

template <reduction Reduce, fixed_string... Axes>
using all_reduce_rule = named_collective<collective::all_reduce, Reduce, named_axes<Axes...>(),
                                         manual_collective::nowhere, manual_collective::nowhere>;

/// The same for `bool` elements only.
template <reduction Reduce, fixed_string... Axes>
struct all_truth_rule : all_reduce_rule<Reduce, Axes...> {
  template <class X = void>
  [[nodiscard]] static constexpr manual_result judge(const mesh_desc& mesh,
                                                     const tensor_desc& tensor) noexcept {
    if (tensor.type != element::boolean)
      return {tensor, {.rule = violation::operand_is_no_truth_value, .operand = 0}};
    return all_reduce_rule<Reduce, Axes...>::judge(mesh, tensor);
  }
};

template <fixed_string... Axes>
using vary_rule = named_collective<collective::slice, reduction::sum, named_axes<Axes...>(),
                                   manual_collective::nowhere, manual_collective::nowhere>;

/// Makes the devices' values the terms of a sum, or the value that they share one of its terms.
template <bool OfOne, fixed_string... Axes>
struct terms_rule : vary_rule<Axes...> {
  using shown = std::conditional_t<OfOne, as_partial_of, typename vary_rule<Axes...>::shown>;

  [[nodiscard]] static constexpr manual_collective called(const mesh_desc& mesh,
                                                          diagnosis* verdict = nullptr) noexcept {
    manual_collective out = vary_rule<Axes...>::called(mesh, verdict);
    out.as_terms = true;
    out.of_one = OfOne;
    return out;
  }
  template <class X = void>
  [[nodiscard]] static constexpr manual_result judge(const mesh_desc& mesh,
                                                     const tensor_desc& tensor) noexcept {
    return vary_rule<Axes...>::template judge_called<terms_rule>(mesh, tensor);
  }
};

/// Collectives in which each device receives from one other.
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
struct mirror_moves {
  [[nodiscard]] static constexpr position_moves value() noexcept {
    return position_moves::mirror();
  }
};
template <index_t Root>
struct root_moves {
  [[nodiscard]] static constexpr position_moves value() noexcept {
    return position_moves::root(Root);
  }
};

/// The call `all_mean<Axes...>`: a sum, then a division.
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
                     of_types<all_mean_of, typename std::remove_cvref_t<X>::value_type>>{};
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

}  // namespace shardwise
