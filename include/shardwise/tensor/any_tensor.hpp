// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/tensor/node.hpp"
#include "shardwise/tensor/sharded_tensor.hpp"

#include <type_traits>
#include <utility>

namespace shardwise {

struct any_domain;

/// A tensor whose mesh, extents and layout are values, for programs whose mesh is known only at run
/// time. The same engine computes it; every rule is checked when an operation is applied, and a
/// broken one throws `error` with the sentence that the compiler would print.
///
///     auto x = distribute<float>(pool, host, {4, 8}, spec_desc{{"data", ""}});
///     auto y = relu(x * 2.0F) - mean(x, over{1}, keep_dims);
template <Element T>
class any_tensor : public tensor_handle, public type_parts::no_number<T, extents<>> {
 public:
  using value_domain = any_domain;
  using value_type = T;

  /// Converts a tensor with a compile-time layout, or names an expression of such tensors.
  template <class Typed, class X = std::remove_cvref_t<Typed>>
    requires(internal::operand_kind_of<X> == internal::operand_kind::refused_tensor ||
             (!std::is_same_v<X, any_tensor> && Readable<X> &&
              std::is_same_v<typename X::value_type, T>))
  any_tensor(Typed&& typed) : tensor_handle(std::forward<Typed>(typed).share()) { share()->name(); }

  /// Returns its elements, extents and layout.
  [[nodiscard]] const tensor_desc& tensor() const { return share()->tensor(); }
  /// Returns how it is split, and over which axes it is pending.
  [[nodiscard]] const layout_desc& layout() const { return tensor().layout; }

 private:
  friend any_tensor internal::handle_of<any_tensor>(node_ptr) noexcept;
  explicit any_tensor(node_ptr state) noexcept : tensor_handle(std::move(state)) {}
};
template <Operand Typed>
any_tensor(const Typed&) -> any_tensor<typename Typed::value_type>;

}  // namespace shardwise
