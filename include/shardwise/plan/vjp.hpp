// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/plan/gradient.hpp"

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace shardwise {

namespace internal {

/// A recorded function of tensors of a domain, whose cotangents are requested later.
template <class Domain>
struct recording_of;

/// Checks that there are as many cotangents as results.
constexpr void require_cotangents(std::size_t given, std::size_t results) {
  if (given != results)
    fail({.rule = violation::cotangent_differs,
          .have = static_cast<index_t>(given),
          .want = static_cast<index_t>(results)});
}
/// Checks that cotangent `r` has the element type and the extents of its result.
constexpr void require_cotangent(const tensor_desc& result, const tensor_desc& given, int r) {
  diagnosis verdict = check_same_extents(result.extents, given.extents);
  if (verdict.ok() && result.type == given.type) return;
  verdict.rule = violation::cotangent_differs;
  verdict.operand = r;
  fail(verdict);
}

class paper_recording {
  using ids = inplace_vector<value_id, 64>;

 public:
  template <class X>
  constexpr explicit paper_recording(const X& first) : code_(first.program()) {
    if (code_ != nullptr) wrote_calls_out_ = code_->write_calls_out(true);
  }

  template <class X>
  using settled = X;

  template <class X>
  [[nodiscard]] constexpr X argument(const X& x) {
    if (code_ != nullptr) add(arguments_, x.id_in(*code_));
    return x;
  }
  template <class X>
  constexpr void result(const X& x) {
    if (code_ != nullptr) add(results_, x.id_in(*code_));
  }
  constexpr void finish() noexcept {
    if (code_ != nullptr) code_->write_calls_out(wrote_calls_out_);
  }
  /// The type of a result of the function for its caller.
  template <class X>
  [[nodiscard]] constexpr X given(const X& x, int) const {
    if (code_ != nullptr) x.name();
    return x;
  }

  /// Computes the cotangents of the arguments from those of the results.
  class pullback {
   public:
    constexpr explicit pullback(const paper_recording& of) : of_(of) {}
    template <class X>
    constexpr void seed(const X& x) {
      if (of_.code_ != nullptr) add(cotangents_, x.id_in(*of_.code_));
    }
    constexpr void run() {
      if (of_.code_ == nullptr) return;
      program_builder& code = *of_.code_;
      const program_builder::position behind = code.end();
      value_id begin = behind.code;
      for (value_id i : of_.arguments_) begin = i < begin ? i : begin;
      require_cotangents(cotangents_.size(), of_.results_.size());
      inplace_vector<cotangent_seed, ids::capacity()> seeds;
      for (int r = 0; r < of_.results_.ssize(); ++r) {
        require_cotangent(code.value(of_.results_[r]), code.value(cotangents_[r]), r);
        seeds.push_back({of_.results_[r], cotangents_[r]});
      }
      made_ = of_.arguments_;
      append_gradients(code, begin, {seeds.begin(), seeds.size()}, {made_.begin(), made_.size()},
                       &left_pending_over<>::layout);
      code.keep_needed(behind, made_.begin(), made_.ssize());
      for (value_id i : made_) code.name(i);
    }
    template <class Made, class X>
    [[nodiscard]] constexpr Made next(const X& x) {
      return Made{x.in(of_.code_, of_.code_ == nullptr ? -1 : made_[next_++])};
    }

   private:
    const paper_recording& of_;
    ids cotangents_, made_;
    int next_ = 0;
  };

 private:
  static constexpr void add(ids& to, value_id i) {
    if (to.full()) fail({.rule = violation::program_is_too_long, .have = 65, .want = 64});
    to.push_back(i);
  }

  program_builder* code_;
  bool wrote_calls_out_ = false;
  ids arguments_, results_;
};
template <>
struct recording_of<abstract_domain> {
  using type = paper_recording;
};

/// The second result of `vjp`: a function of cotangents.
template <class Recording, class Arguments>
struct pullback_function {
  Recording recording;
  Arguments arguments;

  template <class... Dy>
  [[nodiscard]] constexpr auto operator()(const Dy&... dy) const {
    typename Recording::pullback pull(recording);
    [[maybe_unused]] const auto seed = [&](const auto& each) { pull.seed(each); };
    (for_each_tensor(dy, seed), ...);
    pull.run();
    const auto take = [&]<class Each>(const Each& each) {
      return pull.template next<typename asked_gradient<Each, left_pending_over<>>::type>(each);
    };
    auto made = map_nest<frozen_parts::are_left_out>(arguments, take);
    if constexpr (std::tuple_size<Arguments>::value == 1)
      return std::get<0>(std::move(made));
    else
      return made;
  }
};

/// The same for an invalid function of `Count` arguments.
template <std::size_t Count>
struct refused_pullback {
  template <class... Dy>
  [[nodiscard]] constexpr auto operator()(const Dy&...) const {
    if constexpr (Count == 1)
      return refused_value{};
    else
      return none(std::make_index_sequence<Count>{});
  }

 private:
  template <std::size_t... I>
  [[nodiscard]] static constexpr auto none(std::index_sequence<I...>) {
    return std::tuple{(static_cast<void>(I), refused_value{})...};
  }
};

/// True if a function that returns `Results` cannot be called, or has an error that has been
/// reported.
template <class Results>
inline constexpr bool has_no_results =
    holds_refusal<std::remove_cvref_t<Results>> || may_be_an_error<std::remove_cvref_t<Results>> ||
    std::is_same_v<Results, not_callable>;
/// Fails if a function that returns `Results` for arguments `X` cannot be called with them, or is
/// valid but returns no tensor; `Call` is the call as it should be.
template <class Results, class F, fixed_string Call, class... X>
constexpr void require_results() {
  if constexpr (std::is_same_v<Results, not_callable>)
    static_cast<void>(report<refused_call<F, Call, X...>>());
  else if constexpr (may_be_an_error<std::remove_cvref_t<Results>>)
    fail({.rule = violation::loss_is_no_number}, "the function returns an int");
}

/// Calls a function and returns its results with the function of their cotangents.
template <class F, class... X>
[[nodiscard]] constexpr auto call_vjp(const F& f, const X&... x) {
  const auto& first = first_in(x...);
  using tensor = std::remove_cvref_t<decltype(first)>;
  using recording_type = typename recording_of<typename domain_of<tensor>::type>::type;
  recording_type recording(first);
  const auto argument = [&](const auto& each) { return recording.argument(each); };
  const std::tuple<decltype(map_nest(x, argument))...> arguments{map_nest(x, argument)...};
  const auto out = call_with(f, arguments);
  const auto note = [&](const auto& each) { recording.result(each); };
  for_each_tensor(out, note);
  recording.finish();
  int number = 0;
  const auto give = [&](const auto& each) { return recording.given(each, number++); };
  auto given = map_nest(out, give);
  using pullback = pullback_function<recording_type, std::remove_const_t<decltype(arguments)>>;
  return std::pair<decltype(given), pullback>{std::move(given),
                                              pullback{std::move(recording), arguments}};
}

}  // namespace internal

/// Returns the results of a function of tensors and a function that maps their cotangents to those
/// of the arguments: to one cotangent for a single argument, or to a tuple. The function takes a
/// cotangent for each result. It may be called later, and more than once; the values of `f` that it
/// reads are computed once. The cotangents of integer arguments are zero, and results without a
/// derivative, such as integers or `floor(x)`, contribute nothing.
///
///     auto [y, pull] = vjp(layer, x, w);
///     auto [dx, dw] = pull(dy);
template <class F, class... X>
[[nodiscard]] constexpr auto vjp(const F& f, const X&... x) {
  if constexpr (AnyRefused<X...>) {
    return std::pair{refused_value{}, internal::refused_pullback<sizeof...(X)>{}};
  } else if constexpr ((... || internal::holds_expressions<X>)) {
    return internal::call_vjp(f, x...);
  } else {
    // As in `gradient`.
    using results = decltype(std::declval<const internal::callee<F>&>()(
        std::declval<const typename internal::recorded_as<X>::type&>()...));
    internal::require_results<results, F, "vjp(f, x, w)",
                              typename internal::recorded_as<X>::type...>();
    if constexpr (internal::has_no_results<results>)
      return std::pair{internal::refused_results_of<results>{},
                       internal::refused_pullback<sizeof...(X)>{}};
    else
      return internal::call_vjp(f, x...);
  }
}

}  // namespace shardwise
