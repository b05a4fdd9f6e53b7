// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/named_as.hpp"
#include "shardwise/expression/no_number.hpp"
#include "shardwise/layout/tensor_judge.hpp"
#include "shardwise/tensor/tensor_handle.hpp"

#include <memory>
#include <utility>

namespace shardwise {

struct lazy_domain;
template <Element T>
class any_tensor;
template <class T, class Extents, class Layout>
struct abstract_tensor;

namespace type_parts {
template <class Paper, class Beside>
struct named_once;
}  // namespace type_parts

namespace detail {

/// A tensor or an expression of another type than `To` that can initialise a variable of that type.
template <class X, class To>
concept NameableAs = !std::is_base_of_v<To, std::remove_cvref_t<X>> && requires(X && x) {
  requires(operand_kind_of<std::remove_cvref_t<X>> == operand_kind::typed);
  { static_cast<X&&>(x).share() } -> std::convertible_to<node_ptr>;
  requires is_named_as<paper_of<X>, paper_of<To>>;
};

/// The error of an initialisation, as the type of a parameter: compilers complete it where the
/// program declares the variable, and the error points at that line. Empty if there is no error,
/// since clang examines it before constraints.
template <class Paper, class To>
[[nodiscard]] constexpr auto refuse_name() noexcept {
  if constexpr (is_named_as<Paper, paper_of<To>>)
    return refused<>{};
  else
    return judge_naming<Paper, To>();
}
template <class Paper, class To>
using refused_name = typename decltype(refuse_name<Paper, To>())::type;

/// The same for a tensor on paper, which a traced function gives a type of its own. A class, since
/// compilers evaluate an alias where `To` is defined.
template <class Abstract, class To>
struct refused_abstract : refused<misuse::tensor_is_on_paper, mesh_of<Abstract>,
                                  own_type(internal::notation_of<paper_of<To>>())> {};

}  // namespace detail

/// A tensor with elements of type `T`, distributed over the devices of a pool by `Layout`, or a
/// pending computation of one: work starts when its values are read, or at `sync`.
///
/// A handle: copies share the values, which never change. Assigning an expression names it; a named
/// value is computed once, however often it is used. A tensor may outlive its pool.
///
///     sharded_tensor y = relu(x * w);          // pending
///     y -= x;                                  // y names another value, pending too
///     auto values = to_host(y);                // runs here
template <class T, class Extents, class Layout>
class sharded_tensor : public tensor_handle, public type_parts::no_number<T, Extents> {
  static_assert(sizeof(Layout) > 0);  // reports errors here, with the shortest message
  using judge = internal::tensor_judge<T, Extents, Layout>;
  static_assert(sizeof(typename judge::type) > 0);

 public:
  using domain = lazy_domain;
  using value_type = T;
  using extents_type = Extents;
  using layout_type = Layout;
  using mesh_type = typename judge::mesh_type;

  sharded_tensor() = delete;  // zeros<X>(pool), distribute<X>(pool, data): made in a device_pool
  template <Element U>
  sharded_tensor(const any_tensor<U>&) = delete;  // as<X>(any) checks elements, extents and layout

  /// Names an expression with the same elements, extents and layout, also if these are differently
  /// named types. Any other expression is an error where it is used, which shows both types and the
  /// call that fixes it.
  template <detail::NameableAs<sharded_tensor> Expression>
  sharded_tensor(Expression&& expression)
      : tensor_handle(std::forward<Expression>(expression).share()) {
    share()->name();
  }
  template <class U, class E, class L>
    requires(!internal::is_named_as<paper_tensor<U, E, L>, paper_tensor<T, Extents, Layout>>)
  sharded_tensor(const sharded_tensor<U, E, L>&,
                 detail::refused_name<paper_tensor<U, E, L>, sharded_tensor> = {});
  template <class Paper>
    requires(!internal::is_named_as<Paper, paper_tensor<T, Extents, Layout>>)
  sharded_tensor(const type_parts::named_once<Paper, void>&,
                 detail::refused_name<Paper, sharded_tensor> = {});
  template <class U, class E, class L>
  sharded_tensor(
      const abstract_tensor<U, E, L>&,
      typename detail::refused_abstract<abstract_tensor<U, E, L>, sharded_tensor>::type = {});

 private:
  friend sharded_tensor internal::handle_of<sharded_tensor>(node_ptr) noexcept;
  explicit sharded_tensor(node_ptr state) noexcept : tensor_handle(std::move(state)) {}
};

/// A replicated number: a tensor of rank 0, which can be combined with tensors of any shape. Values
/// that change from step to step, such as a learning rate, are inputs of this type, so that the
/// program of a step stays the same.
///
///     w -= dw * full<scalar<float, pod>>(pool, 0.1F);
template <class T, class Mesh>
using scalar = sharded_tensor<T, extents<>, layout<Mesh, P<>>>;

/// The result of an invalid operation as a variable, `sharded_tensor y = ...;`.
template <>
class sharded_tensor<refused_value, refused_value, refused_value> : public refused_value {};

template <AnyRefused Result>
sharded_tensor(Result&&) -> sharded_tensor<refused_value, refused_value, refused_value>;
template <class Expression>
sharded_tensor(Expression&&)
    -> sharded_tensor<typename std::remove_cvref_t<Expression>::value_type,
                      typename std::remove_cvref_t<Expression>::extents_type,
                      typename std::remove_cvref_t<Expression>::layout_type>;

}  // namespace shardwise
