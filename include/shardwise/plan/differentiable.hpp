// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/named_as.hpp"
#include "shardwise/expression/nest.hpp"

#include <type_traits>

namespace shardwise::detail {

/// True for a tensor that has a gradient, and for one whose element type is known at run time.
template <class X>
[[nodiscard]] constexpr bool has_gradients() noexcept {
  if constexpr (requires { element_of<typename X::value_type>; })
    return has_fractions(element_of<typename X::value_type>);
  else
    return true;
}

/// True unless the type of a loss says that it is not one floating-point number.
template <class Loss>
[[nodiscard]] constexpr bool may_be_loss() noexcept {
  if constexpr (Operand<Loss>) {
    const tensor_desc& loss = paper_of<Loss>::value;
    const bool is_one =
        !is_known(mesh_of<Loss>::value, loss.extents) || element_count(loss.extents) == 1;
    return has_gradients<Loss>() && is_one && loss.layout.manual == 0;
  } else {
    return has_gradients<Loss>();
  }
}

/// A tensor in the library's notation; its element type alone if its layout is a value.
template <class X>
[[nodiscard]] constexpr message_text written_tensor() noexcept {
  message_text out;
  if constexpr (Operand<X>)
    out << text_view(to_text(mesh_of<X>::value, paper_of<X>::value));
  else
    out << to_text(element_of<typename X::value_type>);
  return out;
}
/// The first of some arguments that is a tensor whose elements have no gradient; nothing if there
/// is none. Such tensors in a nest have gradients of zeros.
template <class... X>
[[nodiscard]] constexpr message_text tensor_without_gradient() noexcept {
  message_text found;
  [[maybe_unused]] const auto note = [&]<class Each>(std::type_identity<Each>) {
    if constexpr (EitherOperand<Each>)
      if (!has_gradients<Each>() && found.empty()) found = written_tensor<Each>();
  };
  (note(std::type_identity<X>{}), ...);
  return found;
}

/// The first tensor of the results of a function, the loss, if it is not one floating-point number.
template <class Results>
[[nodiscard]] constexpr message_text tensor_that_is_no_loss() noexcept {
  message_text found;
  const auto note = [&]<class Each>(std::type_identity<Each>) {
    if constexpr (EitherOperand<Each>) {
      if (!may_be_loss<Each>()) found = written_tensor<Each>();
      return true;
    } else {
      return false;
    }
  };
  (void)any_in_nest<Results>(note);
  return found;
}

/// A text as part of a type.
template <auto Words>
using shown_text = as_written<to_fixed_string<Words().size()>(Words())>;

}  // namespace shardwise::detail

namespace shardwise::internal {

/// The rule that a function breaks whose first result is differentiated with respect to `Wanted`.
template <class Results, class... Wanted>
[[nodiscard]] constexpr auto judge_differentiation() noexcept {
  constexpr auto loss = [] { return tensor_that_is_no_loss<Results>(); };
  constexpr auto without = [] { return tensor_without_gradient<Wanted...>(); };
  if constexpr (!has_tensor_in<Results>())
    return refused<violation::loss_is_no_number, of_types<shown_operand<Results>>>{};
  else if constexpr (!loss().empty())
    return refused<violation::loss_is_no_number, shown_text<loss>>{};
  else if constexpr (!without().empty())
    return refused<misuse::elements_have_no_fractions, shown_text<without>>{};
  else
    return allowed<>{};
}

}  // namespace shardwise::internal
