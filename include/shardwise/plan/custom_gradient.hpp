// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/named_as.hpp"
#include "shardwise/plan/gradient.hpp"

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace shardwise {

/// A result and residuals: the values that a custom gradient reads.
template <class Result, class Residuals>
struct residuals_of {
  Result result;
  Residuals residuals;
};
/// Returns the result of a function with a nest of tensors that its custom gradient reads.
///
///     return with_residuals(y, std::tuple{x, scale});
template <class Result, class Residuals>
[[nodiscard]] constexpr residuals_of<Result, Residuals> with_residuals(const Result& result,
                                                                       const Residuals& residuals) {
  return {result, residuals};
}

namespace internal {

/// Rejects a custom gradient unless it has the element type, extents and splits of its argument; it
/// may be a pending sum.
[[nodiscard]] constexpr diagnosis check_cotangent(const tensor_desc& argument,
                                                  const tensor_desc& given,
                                                  int number = -1) noexcept {
  if (argument.type == given.type && check_same_extents(argument.extents, given.extents).ok() &&
      given.layout == dual_layout(argument.layout, given.layout))
    return {};
  return {.rule = violation::cotangent_differs, .operand = number};
}

}  // namespace internal

namespace detail {

/// Records the function of a custom gradient in a domain.
template <class Domain>
struct custom_recording_of;

class paper_custom_recording {
 public:
  template <class X>
  constexpr explicit paper_custom_recording(const X& first) : code_(first.program()) {
    if (code_ != nullptr) begin_ = code_->end();
  }
  template <class X>
  using settled = X;

  template <class X>
  [[nodiscard]] constexpr X argument(const X& x) const {
    x.name();
    return x;
  }
  /// Returns a result of the function as a value that the function has computed.
  template <class X>
  constexpr void result(const X& x) {
    if (code_ == nullptr) return;
    value_id id = x.id_in(*code_);
    bool is_own = id >= begin_.code && !code_->operator[](id).what->is_leaf;
    for (value_id other : results_) is_own = is_own && other != id;
    if (!is_own)
      id = code_->append(operation_of<pointwise<functions::identity>>, {}, {id},
                         x.known(paper_of<X>::value));
    code_->name(id);
    add(results_, id);
  }
  /// Removes what only a gradient would read, if none is taken.
  constexpr void finish_results() {
    if (code_ != nullptr && !records())
      code_->keep_needed(begin_, results_.begin(), results_.ssize());
  }
  template <class X>
  [[nodiscard]] constexpr X given(const X& x) {
    return X{x.in(code_, code_ == nullptr ? -1 : results_[next_++])};
  }
  /// Returns true if a gradient of the recording is taken.
  [[nodiscard]] constexpr bool records() const noexcept {
    return code_ != nullptr && code_->writes_calls_out();
  }

  /// Returns the placeholder for the cotangent of a result.
  template <class Made, class X>
  [[nodiscard]] constexpr Made cotangent(const X& x) {
    const value_id id =
        code_->append(operation_of<cotangent_operation>, {}, {}, x.known(paper_of<Made>::value));
    add(cotangents_, id);
    return Made{x.in(code_, id)};
  }
  /// Calls the backward function; its results are recomputed by gradients.
  template <class F>
  [[nodiscard]] constexpr auto call(const F& f) {
    const bool before = code_->recompute_what_follows(true);
    auto made = f();
    code_->recompute_what_follows(before);
    return made;
  }
  template <class X, class G>
  constexpr void gradient(const X& x, const G& g) {
    add(arguments_, x.id_in(*code_));
    add(gradients_, g.id_in(*code_));
  }
  constexpr void finish_gradients() {
    code_->differentiate_by(results_, cotangents_, arguments_, gradients_);
  }

 private:
  using ids = inplace_vector<value_id, 64>;

  static constexpr void add(ids& to, value_id i) {
    if (to.full()) fail({.rule = violation::program_is_too_long, .have = 65, .want = 64});
    to.push_back(i);
  }

  program_builder* code_;
  program_builder::position begin_{};
  ids results_, cotangents_, arguments_, gradients_;
  int next_ = 0;
};
template <>
struct custom_recording_of<abstract_domain> {
  using type = paper_custom_recording;
};

template <class X>
inline constexpr bool has_residuals = false;
template <class Result, class Residuals>
inline constexpr bool has_residuals<residuals_of<Result, Residuals>> = true;

/// Returns the rule that the gradient of an argument breaks, by its type.
template <class X, class G>
[[nodiscard]] constexpr auto judge_cotangent() noexcept {
  if constexpr (AnyRefused<G>)
    return refused<>{};
  else if constexpr (!EitherOperand<G>)
    return refused<violation::cotangent_differs, shown_operand<G>>{};
  else if constexpr (Operand<X> && Operand<G>)
    return answer_to<>([] { return check_cotangent(paper_of<X>::value, paper_of<G>::value); },
                       facts<own_type(notation_of<X, G>()), given_type(notation_of<G, X>())>{});
  else
    return allowed<>{};
}
template <class X, class G>
[[nodiscard]] constexpr auto judge_gradients() noexcept;
template <class Own, class Given, std::size_t... I>
[[nodiscard]] constexpr auto judge_members(std::index_sequence<I...>) noexcept {
  return
      typename first_refusal<decltype(judge_gradients<nth_type<I, Own>, nth_type<I, Given>>())...,
                             allowed<>>::type{};
}
/// Returns the rule that the gradients of an argument break; they are a nest like the argument.
template <class X, class G>
[[nodiscard]] constexpr auto judge_gradients() noexcept {
  constexpr nest_kind kind = nest_kind_of<X>();
  constexpr nest_kind given = nest_kind_of<G>();
  if constexpr (AnyRefused<G>) {
    return refused<>{};
  } else if constexpr (kind == nest_kind::tensor) {
    if constexpr (has_gradients<X>())
      return judge_cotangent<X, G>();
    else
      return allowed<>{};
  } else if constexpr (kind == nest_kind::range && given == nest_kind::range) {
    return judge_gradients<typename X::value_type, typename G::value_type>();
  } else if constexpr ((kind == nest_kind::tuple || kind == nest_kind::aggregate) &&
                       (given == nest_kind::tuple || given == nest_kind::aggregate)) {
    using own_members = decltype(list_parts(std::declval<const X&>()));
    using given_members = decltype(list_parts(std::declval<const G&>()));
    constexpr std::size_t count = own_members::size;
    if constexpr (count == given_members::size)
      return judge_members<own_members, given_members>(std::make_index_sequence<count>{});
    else
      return refused<violation::cotangent_differs, of_types<>,
                     size_met{index_t{given_members::size}}, size_needed{index_t{count}}>{};
  } else if constexpr (has_tensor_in<X>()) {
    return refused<violation::cotangent_differs, shown_operand<G>>{};
  } else {
    return allowed<>{};
  }
}

/// Records the gradients of the tensors of an argument, which are a nest like it. Entries for
/// tensors without gradients and for other members are ignored.
template <class X, class G, class Recording>
constexpr void note_gradients(const X& x, const G& g, Recording& recording) {
  constexpr nest_kind kind = nest_kind_of<X>();
  if constexpr (kind == nest_kind::tensor) {
    if constexpr (has_gradients<X>()) recording.gradient(x, g);
  } else if constexpr (kind == nest_kind::range) {
    index_t have = 0, want = 0;
    for ([[maybe_unused]] const auto& member : g) ++have;
    for ([[maybe_unused]] const auto& member : x) ++want;
    if (have != want) fail({.rule = violation::cotangent_differs, .have = have, .want = want});
    auto each = g.begin();
    for (const auto& member : x) note_gradients(member, *each++, recording);
  } else if constexpr (kind == nest_kind::tuple || kind == nest_kind::aggregate) {
    const auto own = list_parts(x);
    const auto given = list_parts(g);
    for_each_index<decltype(own)::size>(
        [&]<std::size_t I>() { note_gradients(nth<I>(own), nth<I>(given), recording); });
  }
}

}  // namespace detail

namespace type_parts {

using namespace detail;

/// A function whose gradient another one computes.
template <class F, class Backward>
struct recorded_function {
  F f;
  Backward backward;

  /// Returns the result of the call, or the rule that it breaks.
  template <class... X>
  [[nodiscard]] constexpr auto attempt(const X&... x) const {
    if constexpr (AnyRefused<X...>) {
      return refused<>{};
    } else {
      const auto& first = first_in(x...);
      using tensor = std::remove_cvref_t<decltype(first)>;
      typename custom_recording_of<typename domain_of<tensor>::type>::type recording(first);
      const auto argument = [&](const auto& each) { return recording.argument(each); };
      // Both functions are named here, near the program's call, so that compilers show an error in
      // one of them in few lines.
      using made = decltype(f(map_nest(x, argument)...));
      using result = std::remove_cvref_t<decltype(result_in(std::declval<const made&>()))>;
      if constexpr (AnyRefused<result>) {
        return refused<>{};
      } else {
        using cotangent = decltype(stand_ins(recording, std::declval<const result&>()));
        if constexpr (has_residuals<made>)
          (void)sizeof(decltype(backward(std::declval<const made&>().residuals,
                                         std::declval<const cotangent&>()))*);
        else
          (void)sizeof(
              decltype(backward(map_nest(x, argument)..., std::declval<const cotangent&>()))*);
        return record(recording, map_nest(x, argument)...);
      }
    }
  }

 private:
  template <class Recording, class... X>
  constexpr auto record(Recording& recording, const X&... x) const {
    const auto out = f(x...);
    const auto& result = result_in(out);
    const auto note = [&](const auto& each) { recording.result(each); };
    const auto give = [&](const auto& each) { return recording.given(each); };
    for_each_tensor(result, note);
    recording.finish_results();
    auto given = map_nest(result, give);
    using gradients = decltype(differentiate(out, stand_ins(recording, given), x...));
    using judged = decltype(judge<gradients, X...>());
    if constexpr (judged::ok) {
      if (recording.records()) {
        const auto cotangent = stand_ins(recording, given);
        note_all(recording, recording.call([&] { return differentiate(out, cotangent, x...); }),
                 x...);
        recording.finish_gradients();
      }
      return given;
    } else {
      return judged{};
    }
  }
  /// Returns the placeholders for the cotangents of the results.
  template <class Recording, class Result>
  [[nodiscard]] static constexpr auto stand_ins(Recording& recording, const Result& results) {
    const auto stand_in = [&]<class Each>(const Each& each) {
      using settled = typename Recording::template settled<Each>;
      return recording
          .template cotangent<typename asked_gradient<settled, left_pending_over<>>::type>(each);
    };
    return map_nest(results, stand_in);
  }
  template <class Made>
  [[nodiscard]] static constexpr const auto& result_in(const Made& out) noexcept {
    if constexpr (has_residuals<Made>)
      return out.result;
    else
      return out;
  }
  template <class Made, class Cotangent, class... X>
  [[nodiscard]] constexpr auto differentiate(const Made& out, const Cotangent& cotangent,
                                             const X&... x) const {
    if constexpr (has_residuals<Made>)
      return backward(out.residuals, cotangent);
    else
      return backward(x..., cotangent);
  }
  /// True if the gradient of a single argument is not in a tuple.
  template <class Given, class First, class... Rest>
  static constexpr bool is_alone = sizeof...(Rest) == 0 &&
                                   !decltype(judge_gradients<std::tuple<First>, Given>())::ok;
  template <class Given, class... X>
  [[nodiscard]] static constexpr auto judge() noexcept {
    if constexpr (AnyRefused<Given>)
      return refused<>{};
    else if constexpr (is_alone<Given, X...>)
      return judge_gradients<X..., Given>();
    else
      return judge_gradients<std::tuple<X...>, Given>();
  }
  template <class Recording, class Given, class... X>
  static constexpr void note_all(Recording& recording, const Given& gradients, const X&... x) {
    if constexpr (is_alone<Given, X...>)
      (note_gradients(x, gradients, recording), ...);
    else
      note_gradients(std::tuple<X...>(x...), gradients, recording);
  }
};

template <class F, class Backward>
struct custom_function : recorded_function<F, Backward> {
  // The error is what the call returns, so that compilers point at the program's own line.
  template <class... X>
    requires(sizeof...(X) > 0)
  constexpr auto operator()(const X&... x) const -> typename given_of<
      decltype(std::declval<const recorded_function<F, Backward>&>().attempt(x...))>::type {
    using outcome =
        given_of<decltype(std::declval<const recorded_function<F, Backward>&>().attempt(x...))>;
    if constexpr (outcome::is_refusal)
      return outcome::value();
    else
      return this->attempt(x...);
  }
};

}  // namespace type_parts

/// Returns a function that computes `f` and whose gradient is computed by `backward`.
/// `backward(x..., dy)` takes the arguments of `f` and the cotangent of its result, and returns the
/// gradient of the argument, or a tuple of the gradients of several. If `f` returns
/// `with_residuals(y, residuals)`, the function returns `y`, and `backward(residuals, dy)` takes
/// the residuals instead of the arguments.
///
/// The cotangent has the layout of `gradient_of<Y>`; several results have their cotangents in a
/// nest like them. Each gradient must have the element type, extents and splits of its argument and
/// may be a pending sum, or the error is `cotangent_differs`. Arguments that are not floating-point
/// need an entry, which is ignored. What is differentiated is an argument: a function that captures
/// it fails with `value_is_captured` when a gradient is taken. Second derivatives differentiate `f`
/// and `backward` themselves. `gradient(loss, w)` of a pending number rejects results of such a
/// function.
///
///     constexpr auto clipped = custom_gradient(
///         [](const auto& x) { return stop_gradient(x); },
///         [](const auto& x, const auto& dy) { return clamp(dy, -1.0F, 1.0F); });
template <class F, class Backward>
[[nodiscard]] constexpr auto custom_gradient(const F& f, const Backward& backward) {
  return type_parts::custom_function<std::decay_t<F>, std::decay_t<Backward>>{{f, backward}};
}

}  // namespace shardwise
