// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/nest.hpp"
#include "shardwise/plan/abstract.hpp"
#include "shardwise/plan/callee.hpp"
#include "shardwise/plan/gradient.hpp"

#include <type_traits>
#include <utility>

namespace shardwise {

namespace detail {

/// Marks values of a domain to be computed again by gradients, during its lifetime.
template <class Domain>
struct recomputing_of;

class paper_recomputing {
 public:
  template <class X>
  constexpr explicit paper_recomputing(const X& first) : code_(first.program()) {
    if (code_ != nullptr) before_ = code_->recompute_what_follows(true);
  }
  paper_recomputing(const paper_recomputing&) = delete;
  paper_recomputing& operator=(const paper_recomputing&) = delete;
  constexpr ~paper_recomputing() {
    if (code_ != nullptr) (void)code_->recompute_what_follows(before_);
  }
  /// A result of the function, which is named and kept like the values around it.
  template <class X>
  constexpr X result(const X& x) const {
    if (code_ == nullptr) return x;
    code_->recompute(x.id_in(*code_), before_);
    code_->name(x.id_in(*code_));
    return x;
  }

 private:
  program_builder* code_;
  bool before_ = false;
};
template <>
struct recomputing_of<abstract_domain> {
  using type = paper_recomputing;
};

}  // namespace detail

namespace type_parts {

using namespace detail;

/// A function whose values gradients compute again.
template <class F>
struct recomputed_function {
  F f;

  template <class... X>
    requires(sizeof...(X) > 0)
  constexpr auto operator()(const X&... x) const {
    if constexpr (AnyRefused<X...>) {
      return refused_value{};
    } else {
      using results = decltype(std::declval<const callee<F>&>()(x...));
      if constexpr (std::is_same_v<results, not_callable>)
        return report<refused_call<F, "recompute(f)(x, w)", X...>>();
      else if constexpr (holds_refusal<std::remove_cvref_t<results>>)
        return refused_results_of<results>{};
      else
        return marked(x...);
    }
  }

 private:
  template <class... X>
  constexpr auto marked(const X&... x) const {
    // An expression that becomes a node only now is an argument, and not computed again.
    const auto settle = [](const auto& each) {
      if constexpr (requires { each.share(); }) (void)each.share();
    };
    (for_each_tensor(x, settle), ...);
    const auto& first = first_in(x...);
    using tensor = std::remove_cvref_t<decltype(first)>;
    const typename recomputing_of<typename domain_of<tensor>::type>::type mark(first);
    const auto result = [&](const auto& each) { return mark.result(each); };
    const auto out = f(x...);
    return map_nest(out, result);
  }
};

}  // namespace type_parts

/// Returns a function that computes the same as `f`, but for which gradients keep only the
/// arguments and the results: intermediate values are computed again when a gradient reads them. So
/// a deep model takes less memory and more time, as its ledger shows.
///
///     constexpr auto block = recompute([](const auto& x, const auto& w) { ... });
template <class F>
[[nodiscard]] constexpr auto recompute(const F& f) {
  return type_parts::recomputed_function<std::decay_t<F>>{f};
}

}  // namespace shardwise
