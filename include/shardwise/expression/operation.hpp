// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/core/error.hpp"
#include "shardwise/expression/operand.hpp"
#include "shardwise/expression/terms.hpp"
#include "shardwise/rule/operation.hpp"
#include "shardwise/rule/suggestion.hpp"

#include <type_traits>

namespace shardwise {

/// Pointers to the run-time extents of an operation's operands.
using known_operands = inplace_vector<const extents_desc*, max_operands>;

namespace detail {

/// Returns the operands of an operation with their run-time extents.
[[nodiscard]] constexpr tensor_descs with_extents(const tensor_descs& operands,
                                                  const known_operands& extents) noexcept {
  tensor_descs met = operands;
  for (int i = 0; i < extents.ssize(); ++i) met[i].extents = *extents[i];
  return met;
}

/// The implementation of `known_sizes`.
[[nodiscard]] constexpr factor_sizes meet_sizes(const mesh_desc& mesh, const factor_rule& rule,
                                                const tensor_descs& operands,
                                                const known_operands& extents) {
  factor_sizes sizes = rule.given_sizes();
  diagnosis verdict;
  for (int o = 0; o < extents.ssize() && verdict.ok(); ++o)
    verdict = merge_sizes(rule.operands[o], *extents[o], o, sizes);
  if (verdict.ok()) verdict = complete_sizes(rule, sizes);
  if (!verdict.ok()) {
    const tensor_descs met = with_extents(operands, extents);
    fail(verdict, advice(mesh, rule, met, verdict));
  }
  return sizes;
}
/// The version that is called at run time; the compiled library contains it.
[[nodiscard]] factor_sizes known_sizes_now(const mesh_desc& mesh, const factor_rule& rule,
                                           const tensor_descs& operands,
                                           const known_operands& extents);

/// Returns the sizes of an operation's factors when every extent is known: its layouts have been
/// checked already, its sizes are checked now.
[[nodiscard]] constexpr factor_sizes known_sizes(const mesh_desc& mesh, const factor_rule& rule,
                                                 const tensor_descs& operands,
                                                 const known_operands& extents) {
  if constexpr (build_config::compiled) {
    if (!std::is_constant_evaluated()) return known_sizes_now(mesh, rule, operands, extents);
  }
  return meet_sizes(mesh, rule, operands, extents);
}

/// The extents of a result whose factors have these sizes.
[[nodiscard]] constexpr extents_desc result_extents(const factor_map& result,
                                                    const factor_sizes& sizes) noexcept {
  extents_desc extents;
  for (std::uint8_t f : result) extents.push_back(f == repeated ? 1 : sizes[f]);
  return extents;
}

/// Checks, when every size is known, what the types assumed about products of factors: that devices
/// have the same elements before and after, if the result has the layout of its type.
constexpr void require_same_split(const propagation& said, const mesh_desc& mesh,
                                  const factor_rule& rule, const tensor_descs& operands) {
  const propagation known = propagate(mesh, rule, operands);
  diagnosis verdict = known.verdict;
  for (int d = 0; d < said.result.layout.rank() && verdict.ok(); ++d)
    for (std::uint8_t a : said.result.layout.dims[d])
      if (verdict.ok() && mesh.size(a) != 1 && known.result.layout.dim_of(a) != d)
        verdict = moving_split(mesh, operands, a);
  if (!verdict.ok()) fail(verdict, advice(mesh, rule, operands, verdict));
}

/// Returns the split of an operation for the run-time sizes.
[[nodiscard]] constexpr propagation resized(const propagation& split, const mesh_desc& mesh,
                                            const factor_rule& rule, const tensor_descs& operands,
                                            const known_operands& extents) {
  propagation known = split;
  known.sizes = known_sizes(mesh, rule, operands, extents);
  known.result.extents = result_extents(rule.result, known.sizes);
  if (rule.depends_on_sizes())
    require_same_split(split, mesh, rule, with_extents(operands, extents));
  return known;
}

}  // namespace detail

namespace internal {

/// True if the attributes of an operation, which are types, have a dimension that is counted from
/// the end.
template <class Operation>
inline constexpr bool counts_from_end = false;
template <class Operation>
  requires(Operation::operation_class::names.are_from_end(Operation::how))
inline constexpr bool counts_from_end<Operation> = true;

/// Returns the attributes of an operation whose attributes are types, for a first operand of this
/// rank: those of its instruction, in which dimensions count from the first.
template <class Operation>
[[nodiscard]] constexpr decltype(auto) attributes_for(int rank) noexcept {
  if constexpr (counts_from_end<Operation>)
    return Operation::operation_class::names.from_front(Operation::how, rank);
  else
    return (Operation::how);
}

/// Returns the factor rule of an operation whose attributes are types: a precomputed one, if it has
/// one, or that of its class for its attributes.
template <class Operation>
[[nodiscard]] constexpr decltype(auto) rule_of(const tensor_descs& operands) noexcept {
  if constexpr (requires { Operation::rule(operands); })
    return Operation::rule(operands);
  else
    return Operation::operation_class::rule(attributes_for<Operation>(operands[0].rank()),
                                            operands);
}
/// Checks that an operation accepts these element types: operands of one numeric type, unless it
/// declares otherwise.
template <class Operation>
[[nodiscard]] constexpr diagnosis check_elements(const tensor_descs& operands) noexcept {
  using class_type = typename Operation::operation_class;
  if constexpr (requires { class_type::check_elements(Operation::how, operands); })
    return class_type::check_elements(Operation::how, operands);
  else
    return check_alike(operands);
}
/// Checks the requirements of an operation apart from layouts, when its sizes are known.
template <class Operation>
constexpr void require_attributes(const tensor_descs& operands) {
  using class_type = typename Operation::operation_class;
  if constexpr (requires { class_type::check(Operation::how, operands); })
    require(class_type::check(attributes_for<Operation>(operands[0].rank()), operands));
}
/// Returns the element type of the result: that of the first operand, unless the operation declares
/// otherwise.
template <class Operation>
[[nodiscard]] constexpr element result_element(const tensor_descs& operands) noexcept {
  using class_type = typename Operation::operation_class;
  if constexpr (requires { class_type::result_type(Operation::how, operands); })
    return class_type::result_type(Operation::how, operands);
  else
    return operands[0].type;
}

/// The position of the first `false`, or -1.
template <bool... Flags>
inline constexpr int first_false = [] {
  int at = 0;
  int found = -1;
  ((found = found < 0 && !Flags ? at : found, ++at), ...);
  return found;
}();

/// The type at a position of a list.
template <int At, class First, class... Rest>
struct type_at : type_at<At - 1, Rest...> {};
template <class First, class... Rest>
struct type_at<0, First, Rest...> {
  using type = First;
};

/// The answer to the verdict that `verdict_of()`, a stateless function, returns about operands of
/// element types `T`.
template <class Operation, class... T, class Verdict>
[[nodiscard]] constexpr auto answer_about_elements(Verdict verdict_of) noexcept {
  constexpr int at = verdict_of().operand;
  if constexpr (at < 0)
    return allowed<>{};
  else
    return answer_to<Operation, typename type_at<at, T...>::type,
                     typename type_at<(at > 0 ? at - 1 : 0), T...>::type>(verdict_of);
}
/// Checks that an operation accepts operands of element types `T`, whose ranks are unknown.
template <class Operation, class... T>
[[nodiscard]] constexpr auto judge_elements() noexcept {
  return answer_about_elements<Operation, T...>([] {
    return check_elements<Operation>({tensor_desc{element_of<T>, {}, {}}...});
  });
}

}  // namespace internal

namespace internal {
/// The calls that fix an error as facts: the reshard and, where the call takes one, the permission.
/// `fix()`, a stateless function, returns the suggestion.
template <class Mesh, class Fix>
[[nodiscard]] constexpr auto calls_shown(Fix) noexcept {
  return text_shown<suggested>([] { return call_of(Mesh::value, Fix{}(), ""); }) +
         text_shown<or_across>([] { return axes_to_permit(Mesh::value, Fix{}(), ""); });
}
}  // namespace internal

/// The result of an operation on operands, as types: `extents_type` and `layout_type`.
template <class Operation, class First, class... Rest>
struct result_of {
  using operation = Operation;
  using mesh_type = typename First::mesh_type;
  static constexpr const mesh_desc& mesh = mesh_type::value;
  static constexpr tensor_descs operands{First::value, Rest::value...};
  using value_type = type_of_element<internal::result_element<Operation>(operands)>;
  static constexpr propagation value =
      propagate(mesh, internal::rule_of<Operation>(operands), operands);
  static constexpr const extents_desc& extents_value = value.result.extents;
  /// The position of the first operand on another mesh than the first operand, or -1.
  static constexpr int on_other_mesh =
      internal::first_false<true, std::is_same_v<mesh_type, typename Rest::mesh_type>...>;
  /// True if the operands have one mesh and element types that the operation accepts, and the rule
  /// reports no error.
  static constexpr bool is_legal =
      on_other_mesh < 0 && internal::check_elements<Operation>(operands).ok() && value.verdict.ok();
  static constexpr int dynamic_extents =
      (First::extents_type::dynamic_rank + ... + Rest::extents_type::dynamic_rank);
  /// The rule, for operands whose extents are known at run time.
  static constexpr decltype(internal::rule_of<Operation>(operands)) rule =
      internal::rule_of<Operation>(operands);
  /// True if dimensions consist of several factors, so that sizes are needed to check layouts.
  static constexpr bool has_composites = rule.depends_on_sizes();
  /// True if everything can be checked at compile time.
  static constexpr bool is_static =
      dynamic_extents == 0 && !(has_composites && mesh_type::dynamic_axes != 0);

  /// The answer to an invalid operation: what every rule requires, meshes and element types, comes
  /// before its rule. `Permitted` is the `across` of the call, or void.
  template <class Permitted = void>
  [[nodiscard]] static constexpr auto judge() noexcept {
    using elements = decltype(internal::answer_about_elements<Operation, typename First::value_type,
                                                              typename Rest::value_type...>(
        [] { return internal::check_elements<Operation>(operands); }));
    if constexpr (on_other_mesh >= 0)
      return refused<violation::operand_meshes_differ,
                     of_types<Operation, mesh_type, typename Rest::mesh_type...>,
                     operand_at{on_other_mesh}>{};
    else if constexpr (!elements::ok)
      return elements{};
    else
      return internal::answer_to<Operation>(
          [] { return value.verdict; }, internal::calls_shown<mesh_type>([] {
            return propose(mesh, rule, operands, value.verdict,
                           internal::permission_of<Permitted>(mesh));
          }));
  }
};

/// Checks what is known only at run time about a valid operation, and returns how its factors are
/// split. If every size is static, there is nothing left to check and the result is a constant.
template <class Result>
[[nodiscard]] constexpr decltype(auto) known_split(const mesh_desc& on,
                                                   const known_operands& extents) {
  if constexpr (Result::is_static) {
    return (Result::value);
  } else {
    internal::require_attributes<typename Result::operation>(
        detail::with_extents(Result::operands, extents));
    return detail::resized(Result::value, on, Result::rule, Result::operands, extents);
  }
}

/// The same for callers that need only the extents of the result.
template <class Result>
[[nodiscard]] constexpr decltype(auto) known_extents(const mesh_desc& on,
                                                     const known_operands& extents) {
  if constexpr (Result::is_static)
    return (Result::extents_value);
  else if constexpr (Result::has_composites)
    return known_split<Result>(on, extents).result.extents;
  else
    return detail::result_extents(Result::rule.result,
                                  detail::known_sizes(on, Result::rule, Result::operands, extents));
}

/// The information that a domain needs about a valid operation: how the factors are split is needed
/// only for computing.
template <class Domain, class Result>
[[nodiscard]] constexpr decltype(auto) known_for(const mesh_desc& on,
                                                 const known_operands& extents) {
  if constexpr (Domain::has_values)
    return known_split<Result>(on, extents);
  else
    return known_extents<Result>(on, extents);
}

namespace detail {

/// The name in errors of a tensor type without its definition, which is in `shardwise.hpp`.
struct tensor_that_is_only_named;

/// The error for an operand at position `At` that is not a tensor: its own error, if it is an
/// invalid tensor type.
template <class Operation, int At, class X>
struct no_tensor_at
    : refused<misuse::operand_is_not_a_tensor, of_types<Operation, X>, operand_at{At}> {};
template <class Operation, int At, class T, class Extents, class Layout>
struct no_tensor_at<Operation, At, sharded_tensor<T, Extents, Layout>>
    : std::conditional_t<tensor_judge<T, Extents, Layout>::ok,
                         no_tensor_at<Operation, At, tensor_that_is_only_named>,
                         tensor_judge<T, Extents, Layout>> {};
template <class Operation, int At, class... X>
struct no_tensor_at<Operation, At, std::tuple<X...>>
    : no_tensor_at<Operation, At, results_in_a_tuple> {};
template <class Operation, int At, class First, class Second>
struct no_tensor_at<Operation, At, std::pair<First, Second>>
    : no_tensor_at<Operation, At, results_in_a_tuple> {};

}  // namespace detail

namespace internal {

template <class Operation, int At, class... X>
using no_tensor =
    no_tensor_at<Operation, At, std::remove_cvref_t<typename type_at<At, X...>::type>>;

/// True for a tensor that holds values, or will.
template <class X>
inline constexpr bool has_values = ValueOperand<X>;
template <Operand X>
  requires(!AnyRefused<X>)
inline constexpr bool has_values<X> = std::remove_cvref_t<X>::domain::has_values;

/// The position of the first abstract operand among operands with values, or -1.
template <class... X>
inline constexpr int abstract_among = (... || has_values<X>)
                                          ? first_false<(!Operand<X> || has_values<X>)...>
                                          : -1;

}  // namespace internal

/// True if `Operation` can be applied to these paper tensors: a test that never causes an error.
template <class Operation, class... Papers>
inline constexpr bool is_legal = result_of<Operation, Papers...>::is_legal;

/// The paper tensor of the result of a valid operation.
template <class Result>
using paper_from = paper_tensor<
    typename Result::value_type, extents_from_value<Result>,
    layout_from_key<
        typename Result::mesh_type, pack(Result::value.result.layout),
        pack_grains(Result::value.result.layout, 0), pack_grains(Result::value.result.layout, 1),
        pack_grains(Result::value.result.layout, 2), pack_grains(Result::value.result.layout, 3)>>;

}  // namespace shardwise
