// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/growable.hpp"
#include "shardwise/operation/einsum.hpp"
#include "shardwise/operation/semiring.hpp"
#include "shardwise/runtime/any_operations.hpp"

#include <array>
#include <concepts>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace shardwise {

namespace internal {

/// Checks a contraction of three or more operands as one operation, before it is computed in steps,
/// so that an error names an operand of the call and not an intermediate product.
inline void require_whole_contraction(const mesh_desc& mesh, const factor_rule& rule,
                                      const tensor_descs& known) {
  const diagnosis verdict = propagate(mesh, rule, known).verdict;
  if (!verdict.ok()) fail(verdict, advice(mesh, rule, known, verdict));
}

/// Returns what is known of tensors.
template <Element T>
[[nodiscard]] tensor_descs described(const internal::growable<any_tensor<T>>& list) {
  tensor_descs known;
  for (const any_tensor<T>& x : list) known.push_back(x.tensor());
  return known;
}

/// Contracts tensors with run-time layouts, with communication over the axes that `Permitted`
/// names, or over none if it is void. Three or more are contracted in pairs. Some of them may be
/// tensors whose layouts are types.
template <class Permitted, class Arithmetic, class First, class... Rest>
  requires(...&& std::same_as<typename First::value_type, typename Rest::value_type>)
[[nodiscard]] auto contract_values(Arithmetic, text_view equation, const First& first,
                                   const Rest&... rest) {
  using T = typename First::value_type;
  unsigned permitted = 0;
  if constexpr (!std::is_void_v<Permitted>) {
    require(Permitted::check(first.mesh()));
    permitted = Permitted::bits(first.mesh());
  }
  using class_type = typename Arithmetic::operation_class;
  internal::growable<any_tensor<T>> left{any_tensor<T>(first), any_tensor<T>(rest)...};
  bounded_text<47> words = named_dimensions(equation, {first.extents(), rest.extents()...});
  const auto once = [permitted](text_view of, auto... x) {
    require(parse_einsum(of).verdict);
    const attributes how = einsum_operation::how(of);
    std::array<node_ptr, sizeof...(x)> read{read_operand<const any_tensor<T>&>(x)...};
    if (permitted != 0) any_domain::fetch<class_type>(how, read, permitted);
    return internal::handle_of<any_tensor<T>>(
        any_domain::whole<class_type, T, T, sizeof...(x)>(how, std::move(read)));
  };
  if (const parsed_einsum parsed = parse_einsum(words, max_operands);
      !parsed.verdict.ok() || parsed.rule.operands.size() != left.size()) {
    require(parsed.verdict);
    fail({.rule = violation::operand_count_differs,
          .have = static_cast<index_t>(left.size()),
          .want = parsed.rule.operands.ssize()});
  }
  if (left.size() > 2 && permitted == 0 && (... && (rest.mesh() == first.mesh())))
    require_whole_contraction(first.mesh(), Arithmetic::rule(words), described(left));
  while (left.size() > 2) {
    operand_extents extents;
    for (const any_tensor<T>& x : left) extents.push_back(x.tensor().extents);
    const contraction_step step = first_contraction(words, extents, Arithmetic::distributes);
    const auto second = static_cast<std::size_t>(step.second);
    any_tensor<T> product =
        once(step.pair, left[static_cast<std::size_t>(step.first)], left[second]);
    left.erase(left.begin() + step.second);
    left.erase(left.begin() + step.first);
    left.insert(left.begin(), std::move(product));
    words = step.rest;
  }
  return left.size() == 1 ? once(words, left[0]) : once(words, left[0], left[1]);
}
}  // namespace internal

/// Computes `einsum` over a semiring with an equation known at run time. Three or more tensors are
/// contracted in pairs. The last argument may request the layout of the result, or permit
/// communication.
///
///     auto two = einsum<min_plus>("ij,jk->ik", d, d);
///     auto far = einsum<min_plus>("ij,jk->ik", d, d, across<"model">);
///     auto cut = einsum<min_plus>("ij,jk->ik", d, d, out_sharding(spec_desc{{"data", ""}}));
template <Semiring auto Over, Element T, std::same_as<any_tensor<T>>... Rest>
[[nodiscard]] any_tensor<T> einsum(text_view equation, const any_tensor<T>& first,
                                   const Rest&... rest) {
  return internal::contract_values<void>(internal::arithmetic_over<Over>{}, equation, first,
                                         rest...);
}
template <Semiring auto Over, Element T, class... Rest>
  requires(internal::ends_with_terms<Rest...>())
[[nodiscard]] any_tensor<T> einsum(text_view equation, const any_tensor<T>& first,
                                   const Rest&... rest) {
  return [&]<std::size_t... I>(std::index_sequence<I...>, const auto& all) {
    const auto& given = std::get<sizeof...(I)>(all);
    using permitted = internal::permitted_by<std::remove_cvref_t<decltype(given)>>;
    return internal::laid_out_on(
        given, internal::contract_values<permitted>(internal::arithmetic_over<Over>{}, equation,
                                                    first, std::get<I>(all)...));
  }
  (std::make_index_sequence<sizeof...(Rest) - 1>{}, std::tie(rest...));
}
/// The same for sums of products.
template <Element T, class... Rest>
  requires((... && std::same_as<any_tensor<T>, Rest>) || internal::ends_with_terms<Rest...>())
[[nodiscard]] any_tensor<T> einsum(text_view equation, const any_tensor<T>& first,
                                   const Rest&... rest) {
  return einsum<plus_times>(equation, first, rest...);
}

/// The same with elements that are first converted to `In`, in which products are added.
///
///     auto logits = einsum<float>("bd,dv->bv", x, table);        // bf16 operands, f32 result
template <Element In, Element T, class... Rest>
  requires(!std::same_as<In, T>)
[[nodiscard]] any_tensor<In> einsum(text_view equation, const any_tensor<T>& first,
                                    const Rest&... rest) {
  return einsum(equation, cast<In>(first), internal::to_accumulate_in<In>(rest)...);
}

}  // namespace shardwise
