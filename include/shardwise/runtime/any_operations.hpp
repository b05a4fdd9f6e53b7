// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/functions.hpp"
#include "shardwise/expression/fused.hpp"
#include "shardwise/layout/manual.hpp"
#include "shardwise/runtime/lazy_domain.hpp"
#include "shardwise/tensor/any_tensor.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace shardwise {

/// A tensor whose layout is a value.
template <class X>
concept AnyTensor =
    std::same_as<std::remove_cvref_t<X>, any_tensor<typename std::remove_cvref_t<X>::value_type>>;

namespace detail {

/// Applies a rule to values, or reports what it refuses with the operands and the mending reshard.
[[nodiscard]] inline propagation apply_rule(const mesh_desc& mesh, const factor_rule& rule,
                                            const tensor_descs& operands) {
  propagation out = propagate(mesh, rule, operands);
  if (!out.verdict.ok()) fail(out.verdict, advice(mesh, rule, operands, out.verdict));
  return out;
}

/// The tensors of one operation live on one machine, and so on one mesh.
template <class First, class... Rest>
const First& one_machine(const First& first, const Rest&... rest) {
  (require_one_pool(first.share()->home(), rest.share()), ...);
  return first;
}

}  // namespace detail

/// `einsum` with an equation known at run time.
template <Element T, std::same_as<any_tensor<T>>... Rest>
[[nodiscard]] any_tensor<T> einsum(text_view equation, const any_tensor<T>& first,
                                   const Rest&... rest) {
  const parsed_einsum parsed = parse_einsum(equation);
  require(parsed.verdict);
  const node_ptr<T>& model = detail::one_machine(first, rest...).share();
  const mesh_desc& mesh = model->where().mesh();
  const propagation split =
      detail::apply_rule(mesh, parsed.rule, {first.tensor(), rest.tensor()...});
  return any_tensor<T>(make_pending<einsum_node<T>>(
      std::array{first.share(), rest.share()...}, split.result,
      einsum_step(mesh, equation, split, 1 + int{sizeof...(Rest)}), parsed.rule, split));
}

/// `elementwise` on tensors whose layouts are values; each call is a pass of its own.
template <class Function, Element T, std::same_as<any_tensor<T>>... Rest>
[[nodiscard]] any_tensor<T> elementwise(const any_tensor<T>& first, const Rest&... rest) {
  constexpr std::size_t n = 1 + sizeof...(Rest);
  const node_ptr<T>& model = detail::one_machine(first, rest...).share();
  const mesh_desc& mesh = model->where().mesh();
  const tensor_descs known{first.tensor(), rest.tensor()...};
  const tensor_desc result =
      detail::apply_rule(mesh, pointwise<Function>::rule(known), known).result;
  const auto tree = []<std::size_t... I>(std::index_sequence<I...>) {
    return fused::call<Function, fused::argument<I>...>{fused::argument<I>{}...};
  }
  (std::make_index_sequence<n>{});
  return any_tensor<T>(make_pending<pointwise_node<T, std::remove_const_t<decltype(tree)>, n>>(
      std::array{first.share(), rest.share()...}, result, computation::next_sequence(), tree));
}

/// Folds the dimensions whose bits are set in `reduced`.
template <Element T>
[[nodiscard]] any_tensor<T> fold(reduction kind, const any_tensor<T>& x, unsigned reduced) {
  if (reduced >> x.tensor().rank() != 0)
    fail({.rule = broken::dimension_is_out_of_range,
          .have = static_cast<index_t>(reduced),
          .want = x.tensor().rank()});
  const mesh_desc& mesh = x.mesh();
  const tensor_desc result =
      detail::apply_rule(mesh, reduction_rule(kind, x.tensor().rank(), reduced), {x.tensor()})
          .result;
  using tree = fused::argument<0>;
  return any_tensor<T>(make_pending<fold_node<T, tree, 1>>(
      std::array{x.share()}, result, fold_step(mesh, kind, x.tensor(), result, 0, {}), tree{},
      x.tensor(), kind, reduced));
}

/// The same tensor under another layout.
template <Element T>
[[nodiscard]] any_tensor<T> reshard(const any_tensor<T>& x, const layout_desc& target) {
  return any_tensor<T>(reshard_node_of<T>(x.share(), target));
}

namespace detail {
/// The layout that a spec means for a tensor: its policy stays, nothing is pending.
template <Element T>
[[nodiscard]] layout_desc layout_for(const any_tensor<T>& x, const spec_desc& spec) {
  const resolved_layout resolved = resolve(x.mesh(), spec, {}, x.layout().uneven);
  require(resolved.verdict);
  return resolved.layout;
}
template <Element T>
[[nodiscard]] const layout_desc& layout_for(const any_tensor<T>&, const layout_desc& layout) {
  return layout;
}
}  // namespace detail

/// The same tensor under another spec; its policy stays, pending reductions are finished.
///
///     auto y = reshard(x, spec_desc{{"data", ""}});
template <Element T>
[[nodiscard]] any_tensor<T> reshard(const any_tensor<T>& x, const spec_desc& target) {
  return reshard(x, detail::layout_for(x, target));
}

namespace detail {
/// The tensor after a rule of manual sharding.
template <class T>
[[nodiscard]] any_tensor<T> by_hand(const any_tensor<T>& x, const manual_result& made,
                                    reduction fold = reduction::sum) {
  require(made.verdict);
  if (made.tensor == x.tensor()) return x;
  return any_tensor<T>(
      step_node_of<T>(x.share(), manual_step(x.mesh(), x.tensor(), made.tensor, fold)));
}
}  // namespace detail

/// `enable_manual_sharding` of a tensor whose layout is a value.
template <Element T>
[[nodiscard]] any_tensor<T> enable_manual_sharding(const any_tensor<T>& x) {
  return detail::by_hand(x, to_manual(x.mesh(), x.tensor()));
}
/// `disable_manual_sharding` of a tensor whose layout is a value.
template <Element T>
[[nodiscard]] any_tensor<T> disable_manual_sharding(const any_tensor<T>& x,
                                                    const layout_desc& target) {
  return detail::by_hand(x, from_manual(x.mesh(), x.tensor(), target));
}
/// `all_reduce` along manual axes, as bits, of a tensor whose layout is a value.
template <Element T>
[[nodiscard]] any_tensor<T> all_reduce(const any_tensor<T>& x, reduction fold, unsigned axes) {
  return detail::by_hand(x, reduced_manual(x.mesh(), x.tensor(), axes), fold);
}

template <Element T>
[[nodiscard]] any_tensor<T> operator+(const any_tensor<T>& a, const any_tensor<T>& b) {
  return elementwise<functions::add>(a, b);
}
template <Element T>
[[nodiscard]] any_tensor<T> operator-(const any_tensor<T>& a, const any_tensor<T>& b) {
  return elementwise<functions::subtract>(a, b);
}
template <Element T>
[[nodiscard]] any_tensor<T> operator*(const any_tensor<T>& a, const any_tensor<T>& b) {
  return elementwise<functions::multiply>(a, b);
}
template <Element T>
[[nodiscard]] any_tensor<T> operator/(const any_tensor<T>& a, const any_tensor<T>& b) {
  return elementwise<functions::divide>(a, b);
}

}  // namespace shardwise
