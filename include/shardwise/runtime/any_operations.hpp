// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/layout/layout_rules.hpp"
#include "shardwise/operation/reduce.hpp"
#include "shardwise/operation/reshape.hpp"
#include "shardwise/runtime/lazy_domain.hpp"
#include "shardwise/tensor/any_tensor.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace shardwise {

namespace detail {

/// What an operation requires of its operands beside its rule: of its attributes, and of element
/// types.
struct operand_checks {
  diagnosis (*attributes)(const shardwise::attributes&, const tensor_descs&);
  diagnosis (*elements)(const shardwise::attributes&, const tensor_descs&);
};
/// The checks of the class of an operation. Elements are all of one type if it says nothing else.
template <class Class>
[[nodiscard]] constexpr operand_checks checks_of() noexcept {
  operand_checks out{
      [](const attributes&, const tensor_descs&) { return diagnosis{}; },
      [](const attributes&, const tensor_descs& known) { return check_alike(known); }};
  if constexpr (requires(const attributes& how) { Class::check(how, tensor_descs{}); })
    out.attributes = [](const attributes& how, const tensor_descs& known) {
      return Class::check(how, known);
    };
  if constexpr (requires(const attributes& how) { Class::check_elements(how, tensor_descs{}); })
    out.elements = [](const attributes& how, const tensor_descs& known) {
      return Class::check_elements(how, known);
    };
  return out;
}

/// Gathers the operands of an operation over permitted axes, a bit mask, as far as its rule
/// requires it.
void fetch_operands(std::span<node_ptr> read, const applied_operation& does,
                    const operand_checks& checks, unsigned permitted);

/// Creates a pending operation that is not elementwise, whose layout its rule determines. Reports
/// the error with the operands, the suggested reshard, and the permission if the call takes one.
[[nodiscard]] node_ptr whole_value_node(std::span<node_ptr> read, const applied_operation& does,
                                        const operand_checks& checks,
                                        const element_kernels& elements, kernel_finder find,
                                        across_permission call);

/// Replaces the tensors by ones gathered over permitted axes, as far as the rule requires it, and
/// returns the description of the elementwise result.
[[nodiscard]] tensor_desc describe_each(std::span<node_ptr> nodes, const number_operands& numbers,
                                        const operation& what, unsigned permitted);

template <class Operation, Element Made, class X>
node_ptr list_node_of(unsigned permitted, const X* const* list, int count) {
  using class_type = typename Operation::operation_class;
  std::array<node_ptr, max_operands> nodes;
  const std::span<node_ptr> read(nodes.data(), static_cast<std::size_t>(count));
  const applied_operation does{&operation_of<class_type>,
                               attributes_for<Operation>((*list)->extents().ssize())};
  for (node_ptr& node : read) node = read_operand<const X&>(**list++);
  const operand_checks checks = checks_of<class_type>();
  if (permitted != 0) fetch_operands(read, does, checks, permitted);
  return whole_value_node(read, does, checks, element_kernels_of<Made>,
                          &whole_for<class_type, typename X::value_type>,
                          across_permission::with(permitted));
}

}  // namespace detail

/// The operations on tensors with run-time layouts: each is checked when it is applied, and fusion
/// is decided when the program runs.
struct any_domain {
  /// The type of the result of an operation on elements of these types.
  template <class Operation, class... T>
  using element_made = type_of_element<internal::result_element<Operation>(
      tensor_descs{tensor_desc{element_of<T>, {}, {}}...})>;
  template <class X>
  [[nodiscard]] static X pending_zeros(const X& like) {
    return detail::pending_zeros_like(like);
  }

  /// Checks what is known at compile time about an operation on operands of these elements.
  template <class Operation, class... T>
  [[nodiscard]] static constexpr auto judge() noexcept {
    using elements = decltype(internal::judge_elements<Operation, T...>());
    if constexpr (!elements::ok)
      return elements{};
    else
      return allowed<any_tensor<element_made<Operation, T...>>>{};
  }

  /// The same tensor with another layout.
  template <Element T>
  [[nodiscard]] static any_tensor<T> reshard(const any_tensor<T>& x, const layout_desc& target) {
    require(validate(x.mesh(), target));
    return internal::handle_of<any_tensor<T>>(
        reshard_node_of(detail::read_operand<decltype(x)>(x), target));
  }

  /// The result of a rule of manual sharding, or of a collective that the program calls.
  template <class Made, class X>
  [[nodiscard]] static Made manually(X&& x, const tensor_desc& result) {
    return internal::handle_of<Made>(
        manual_node_of(detail::read_operand<X>(std::forward<X>(x)), result));
  }
  template <class Made, class X>
  [[nodiscard]] static Made manually(X&& x, const tensor_desc& result,
                                     const manual_collective& called) {
    return internal::handle_of<Made>(collective_node_of(detail::read_operand<X>(std::forward<X>(x)),
                                                        manual_change(called), result));
  }

  /// An elementwise function. Its operands may also be tensors with compile-time layouts and
  /// numbers; numbers are replicated tensors of rank 0.
  template <class Operation, class... X>
    requires requires { typename Operation::function; }
  [[nodiscard]] static auto apply(X&&... operands) {
    return apply_across<Operation>(0U, std::forward<X>(operands)...);
  }
  /// The same after its operands have been gathered over permitted axes, a bit mask, where
  /// necessary.
  template <class Operation, class... X>
    requires requires { typename Operation::function; }
  [[nodiscard]] static auto apply_across(unsigned permitted, X&&... operands) {
    const detail::repeated_operands<X...> as_one(operands...);
    using number = typename internal::number_type<typename Operation::function, X...>::type;
    using T = element_made<Operation, typename internal::element_type_of<number, X>::type...>;
    const auto describe = [permitted](std::span<node_ptr> nodes, const number_operands& numbers) {
      tensor_desc result =
          detail::describe_each(nodes, numbers, operation_of<Operation>, permitted);
      result.type = element_of<T>;
      return result;
    };
    return internal::handle_of<any_tensor<T>>(
        detail::make_each<typename Operation::function, T>(describe, std::forward<X>(operands)...));
  }
  /// An operation that is not elementwise, whose attributes are types.
  template <class Operation, class First, class... Rest>
    requires(!requires { typename Operation::function; })
  [[nodiscard]] static auto apply(First&& first, Rest&&... rest) {
    const detail::repeated_operands<First, Rest...> as_one(first, rest...);
    using T = typename std::remove_cvref_t<First>::value_type;
    using made = element_made<Operation, T, typename std::remove_cvref_t<Rest>::value_type...>;
    const attributes& how = internal::attributes_for<Operation>(first.extents().ssize());
    return internal::handle_of<any_tensor<made>>(
        whole<typename Operation::operation_class, T, made, 1 + sizeof...(Rest)>(
            how, {detail::read_operand<First>(std::forward<First>(first)),
                  detail::read_operand<Rest>(std::forward<Rest>(rest))...}));
  }

  /// The same after its operands have been gathered over permitted axes.
  template <class Operation, class First, class... Rest>
    requires(!requires { typename Operation::function; })
  [[nodiscard]] static auto apply_across(unsigned permitted, First&& first, Rest&&... rest) {
    using class_type = typename Operation::operation_class;
    using T = typename std::remove_cvref_t<First>::value_type;
    using made = element_made<Operation, T, typename std::remove_cvref_t<Rest>::value_type...>;
    const attributes& how = internal::attributes_for<Operation>(first.extents().ssize());
    std::array<node_ptr, 1 + sizeof...(Rest)> read{
        detail::read_operand<First>(std::forward<First>(first)),
        detail::read_operand<Rest>(std::forward<Rest>(rest))...};
    fetch<class_type>(how, read, permitted);
    return internal::handle_of<any_tensor<made>>(whole<class_type, T, made, 1 + sizeof...(Rest)>(
        how, std::move(read), across_permission::with(permitted)));
  }

  /// An operation on a list of tensors, after they have been gathered over permitted axes.
  template <class Operation, class Made, class X>
  [[nodiscard]] static Made apply_to_list(unsigned permitted, const X* const* list, int count) {
    return internal::handle_of<Made>(
        detail::list_node_of<Operation, typename Made::value_type>(permitted, list, count));
  }
  /// Returns the operand of an operation on one tensor after it has been gathered.
  template <class Operation, class X>
  [[nodiscard]] static auto gathered(unsigned permitted, X&& x) {
    const attributes& how = internal::attributes_for<Operation>(x.extents().ssize());
    std::array<node_ptr, 1> read{detail::read_operand<X>(std::forward<X>(x))};
    fetch<typename Operation::operation_class>(how, read, permitted);
    return internal::handle_of<any_tensor<typename std::remove_cvref_t<X>::value_type>>(
        std::move(read[0]));
  }

  /// Calls `f` with the operands of an operation after they have been gathered.
  template <class Operation, class F, class... X>
  [[nodiscard]] static auto with_gathered(unsigned permitted, const F& f, const X&... x) {
    std::array<node_ptr, sizeof...(X)> read{detail::read_operand<const X&>(x)...};
    fetch<typename Operation::operation_class>(
        internal::attributes_for<Operation>(std::get<0>(std::tie(x...)).extents().ssize()), read,
        permitted);
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return f(internal::handle_of<any_tensor<typename X::value_type>>(std::move(read[I]))...);
    }
    (std::index_sequence_for<X...>{});
  }

  /// A number among the operands, as a tensor of rank 0.
  template <Element T, class Model>
  [[nodiscard]] static any_tensor<T> number(const Model& model, T value) {
    return internal::handle_of<any_tensor<T>>(internal::number_node_beside(model, value));
  }
  /// A further result of an operation with several results.
  template <class T>
  using tensor = any_tensor<T>;
  template <Element T, class X>
  [[nodiscard]] static any_tensor<T> second(const X& first) {
    return internal::handle_of<any_tensor<T>>(
        result_node_of(first.share(), 1, element_kernels_of<T>));
  }

  /// Reduces dimensions; keeps them with size 1 if `keep`.
  template <Element T, class X>
  [[nodiscard]] static any_tensor<T> reduce(reduction kind, X&& x, const over& dims, bool keep) {
    require(dims.judge(x.tensor().rank()));
    return internal::handle_of<any_tensor<T>>(
        whole<reduction_operation, T, T, 1>(reduction_operation::how(kind, dims.bits(), keep),
                                            {detail::read_operand<X>(std::forward<X>(x))}));
  }

  /// An operation whose attributes are values, on tensors; arithmetic uses the element type of the
  /// first.
  template <class Class, Element Made, class First, class... Rest>
  [[nodiscard]] static any_tensor<Made> apply_with(const attributes& how, First&& first,
                                                   Rest&&... rest) {
    using T = typename std::remove_cvref_t<First>::value_type;
    return internal::handle_of<any_tensor<Made>>(whole<Class, T, Made, 1 + sizeof...(Rest)>(
        how, {detail::read_operand<First>(std::forward<First>(first)),
              detail::read_operand<Rest>(std::forward<Rest>(rest))...}));
  }
  /// The same after its operands have been gathered over permitted axes, a bit mask.
  template <class Class, Element Made, class First, class... Rest>
  [[nodiscard]] static any_tensor<Made> apply_with_across(unsigned permitted, const attributes& how,
                                                          First&& first, Rest&&... rest) {
    using T = typename std::remove_cvref_t<First>::value_type;
    std::array<node_ptr, 1 + sizeof...(Rest)> read{
        detail::read_operand<First>(std::forward<First>(first)),
        detail::read_operand<Rest>(std::forward<Rest>(rest))...};
    fetch<Class>(how, read, permitted);
    return internal::handle_of<any_tensor<Made>>(whole<Class, T, Made, 1 + sizeof...(Rest)>(
        how, std::move(read), across_permission::with(permitted)));
  }
  /// Gathers the operands of an operation over permitted axes where necessary.
  template <class Class, std::size_t N>
  static void fetch(const attributes& how, std::array<node_ptr, N>& read, unsigned permitted) {
    detail::fetch_operands(read, {&operation_of<Class>, how}, detail::checks_of<Class>(),
                           permitted);
  }

  /// An operation whose attributes are values.
  template <class Class, class First, class Result, std::size_t N>
  [[nodiscard]] static node_ptr whole(const attributes& how, std::array<node_ptr, N> read,
                                      across_permission call = {}) {
    return detail::whole_value_node(read, {&operation_of<Class>, how}, detail::checks_of<Class>(),
                                    element_kernels_of<Result>, &whole_for<Class, First>, call);
  }
};

/// `sum`, `product`, `max` or `min` of a tensor with a run-time layout, with the kind as a value.
template <Element T>
[[nodiscard]] any_tensor<T> reduce(reduction kind, const any_tensor<T>& x, const over& dims,
                                   bool keep = false) {
  return any_domain::reduce<T>(kind, x, internal::dims_of(x, dims), keep);
}
/// `reshape` to extents that are values, one of which may be `dyn`.
///
///     auto rows = reshape(x, extents_desc{dyn, 128});
template <Element T>
[[nodiscard]] any_tensor<T> reshape(const any_tensor<T>& x, const extents_desc& target) {
  return internal::handle_of<any_tensor<T>>(any_domain::whole<reshape_operation, T, T, 1>(
      reshape_operation::how(target), {detail::read_operand<decltype(x)>(x)}));
}
/// Returns the same tensor with another layout.
///
///     auto y = reshard(x, layout_of(x.mesh(), spec_desc{{"x,y", ""}}, {}, single_cut{}));
template <Element T>
[[nodiscard]] any_tensor<T> reshard(const any_tensor<T>& x, const layout_desc& target) {
  return any_domain::reshard(x, target);
}
/// Returns the same tensor with another spec; pending reductions are finished. Exact stays exact
/// and uneven stays uneven unless a policy is given: `uneven{}`, `single_cut{}` or `exact{}`.
///
///     auto y = reshard(x, spec_desc{{"data", ""}});
///     auto z = reshard(x, spec_desc{{"", "data"}}, uneven{});
template <Element T>
[[nodiscard]] any_tensor<T> reshard(const any_tensor<T>& x, const spec_desc& target) {
  return reshard(x, internal::layout_with_spec(x.mesh(), x.layout(), target));
}
template <Element T>
[[nodiscard]] any_tensor<T> reshard(const any_tensor<T>& x, const spec_desc& target,
                                    policy_desc policy) {
  return reshard(x, internal::layout_with_spec(x.mesh(), x.layout(), target, policy));
}

}  // namespace shardwise

#if !defined(SHARDWISE_COMPILED)
#include "shardwise/runtime/any_operations_work.hpp"
#endif
