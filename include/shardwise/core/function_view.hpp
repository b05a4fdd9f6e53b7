// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <concepts>
#include <type_traits>

namespace shardwise {

/// A non-owning reference to a function (C++26: `std::function_ref`). Code that takes one is
/// compiled once for all functions of the same signature.
///
///     void each(function_view<void(int)> f) { f(1); }
///     each([&](int i) { sum += i; });
template <class Signature>
class function_view;
template <class Result, class... A>
class function_view<Result(A...)> {
 public:
  template <class F>
    requires(!std::same_as<std::remove_cvref_t<F>, function_view> &&
             std::is_invocable_r_v<Result, const F&, A...>)
  function_view(const F& f)
  noexcept
      : function_(&f), call_([](const void* function, A... arguments) -> Result {
          return (*static_cast<const F*>(function))(static_cast<A>(arguments)...);
        }) {}

  Result operator()(A... arguments) const { return call_(function_, static_cast<A>(arguments)...); }

 private:
  const void* function_;
  Result (*call_)(const void* function, A... arguments);
};

}  // namespace shardwise
