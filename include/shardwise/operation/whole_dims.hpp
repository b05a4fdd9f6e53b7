// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/composed.hpp"

#include <type_traits>
#include <utility>

namespace shardwise::detail {

/// A reduction that needs its dimensions whole.
struct reduction_of_whole {
  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
    factor_rule out = reduction_operation::rule(how, operands);
    out.law = linearity::nonlinear;
    for (int d = 0; d < operands[0].rank(); ++d)
      if ((reduction_operation::reduced(how) >> d & 1U) != 0)
        out.factors[d] = factor_kind::need_replication;
    return out;
  }
};

/// A tensor with what has to be gathered to reduce whole dimensions, and the verdict on what is
/// left.
struct whole_dims {
  factor_rule rule{};
  tensor_descs known{};
  diagnosis verdict{};

  /// Only splits are judged here: the steps of a reduction report everything else.
  constexpr whole_dims(const mesh_desc& mesh, const tensor_desc& x, const over& dims,
                       unsigned permitted) {
    if (!dims.judge(x.rank()).ok()) return;
    rule =
        reduction_of_whole::rule(reduction_operation::how(reduction::sum, dims.bits(), false), {x});
    known = fetched(mesh, rule, {x}, permitted);
    verdict = propagate(mesh, rule, known).verdict;
    if (verdict.rule != violation::dimension_is_split) verdict = {};
  }
  /// Returns the calls that an error suggests.
  [[nodiscard]] constexpr auto calls(const mesh_desc& mesh, const across_permission& more) const {
    return propose(mesh, rule, known, verdict, more);
  }
};

/// The call that checks the operand of a reduction which is composed of others and needs its
/// dimensions whole: an error is that of the reduction `Named`, not of one of its steps. The
/// options are those of the reduction.
template <class Named, int... Dims>
struct whole_dims_call {
  template <class X, class... Options>
  [[nodiscard]] static constexpr auto judge() noexcept {
    using tensor = std::remove_cvref_t<X>;
    if constexpr (!Operand<tensor>)
      return allowed<std::true_type>{};
    else if constexpr (!decltype(judge_dims<tensor>())::ok)
      return judge_dims<tensor>();
    else
      return judge_typed<tensor, permitted_in<Options...>>();
  }
  template <class X, class... Options>
  [[nodiscard]] static constexpr std::true_type apply(const X& x, const Options&... options) {
    if constexpr (ValueOperand<X>)
      with_dims([&](const auto&... dims) { require_whole<permitted_in<Options...>>(x, dims...); },
                options...);
    return {};
  }

 private:
  template <class... Options>
  using permitted_in =
      std::remove_cvref_t<decltype(permitted_among(std::declval<const Options&>()...))>;

  template <class X>
  [[nodiscard]] static constexpr auto judge_dims() noexcept {
    if constexpr (sizeof...(Dims) == 0)
      return allowed<>{};
    else
      return answer_to<Named>([] {
        constexpr int rank = X::extents_type::rank;
        return over(Dims...).from_front(rank).judge(rank);
      });
  }
  template <class X, class Permitted>
  [[nodiscard]] static constexpr auto judge_typed() noexcept {
    constexpr auto found = [] {
      return whole_dims(mesh_of<X>::value, paper_of<X>::value,
                        named_dims<Dims...>(X::extents_type::rank),
                        Permitted::bits(mesh_of<X>::value));
    };
    using answer = decltype(answer_to<Named>(
        [] { return decltype(found){}().verdict; }, calls_shown<mesh_of<X>>([] {
          // Without variables: g++ would warn that they shadow those of the program.
          return decltype(found){}().calls(mesh_of<X>::value,
                                           permission_of<Permitted>(mesh_of<X>::value));
        })));
    if constexpr (answer::ok)
      return allowed<std::true_type>{};
    else
      return answer{};
  }
  template <class Permitted, class X, class... Options>
  static void require_whole(const X& x, const Options&... dims) {
    if constexpr (requires { dims_of<Dims...>(x, dims...); }) {
      const mesh_desc& mesh = x.mesh();
      require(Permitted::check(mesh));
      const whole_dims found(mesh, x.tensor(), dims_of<Dims...>(x, dims...), Permitted::bits(mesh));
      if (!found.verdict.ok())
        fail(found.verdict,
             advice(mesh, found.rule, found.known, found.verdict, permission_of<Permitted>(mesh)));
    }
  }
};

}  // namespace shardwise::detail
