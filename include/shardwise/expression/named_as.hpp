// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/operand.hpp"
#include "shardwise/rule/suggestion.hpp"

#include <type_traits>

namespace shardwise {

/// Checks that a tensor can be initialised or assigned by a value: it must have the same elements,
/// extents and layout. Whether parts may be uneven does not matter if nothing is split.
[[nodiscard]] constexpr diagnosis check_assignment(const tensor_desc& tensor,
                                                   const tensor_desc& value) noexcept {
  if (tensor == value) return {};
  tensor_desc whole = value;
  if (value.layout.splitting_axes().empty()) whole.layout.uneven = tensor.layout.uneven;
  if (tensor == whole) return {};
  return {.rule = violation::tensor_type_differs};
}

namespace internal {

/// Returns the call that converts `value` to a tensor like `wanted`, written for `x`; empty if no
/// single call does. Axes are quoted as in a program.
[[nodiscard]] constexpr message_text call_between(const mesh_desc& mesh, const tensor_desc& value,
                                                  const tensor_desc& wanted,
                                                  text_view quote = "") noexcept {
  message_text out;
  if (value.extents != wanted.extents) return out;
  if (value.layout == wanted.layout) return out << "cast<" << type_name_of(wanted.type) << ">(x)";
  if (value.type != wanted.type || wanted.layout.pending != 0 || wanted.layout.manual != 0 ||
      !check_reshard(mesh, value.layout, wanted.layout).ok())
    return out;
  // A reshard to a spec keeps the policy.
  const bool keeps = wanted.layout.uneven == value.layout.uneven;
  return write_reshard(out, mesh, wanted.layout, quote,
                       keeps ? "" : text_view(wanted.layout.uneven ? "uneven" : "exact"))
         << "(x)";
}

/// True if a variable of the tensor type `To` can be initialised by a tensor of type `From`: the
/// same mesh, and equal elements, extents and layout, also if these are differently named types.
template <class From, class To>
inline constexpr bool is_named_as = [] {
  if constexpr (!is_element<typename std::remove_cvref_t<From>::value_type> ||
                !is_element<typename std::remove_cvref_t<To>::value_type>)
    return true;  // reported already
  else if constexpr (!std::is_same_v<mesh_of<From>, mesh_of<To>>)
    return false;
  else
    return check_assignment(paper_of<To>::value, paper_of<From>::value).ok();
}();

/// The text of a tensor type in the notation of the library. It includes the policy if that of
/// `Beside` has the same text otherwise.
template <class X, class Beside = void>
[[nodiscard]] constexpr auto notation_of() noexcept {
  constexpr message_text words = [] {
    message_text out = to_text(mesh_of<X>::value, paper_of<X>::value);
    if constexpr (!std::is_void_v<Beside>)
      if (text_view(out) == text_view(to_text(mesh_of<Beside>::value, paper_of<Beside>::value)))
        out << text_view(paper_of<X>::value.layout.uneven ? ", uneven" : ", exact");
    return out;
  }();
  return to_fixed_string<words.size()>(words);
}

/// The error for a tensor that is initialised by a value of another type: both in the library's
/// notation, and the call that fixes it.
template <class From, class To>
[[nodiscard]] constexpr auto judge_naming() noexcept {
  if constexpr (!std::is_same_v<mesh_of<From>, mesh_of<To>>)
    return refused<violation::operand_meshes_differ, of_types<mesh_of<To>, mesh_of<From>>>{};
  else
    return answer_to<>(
        [] { return check_assignment(paper_of<To>::value, paper_of<From>::value); },
        facts<own_type(notation_of<To, From>()), given_type(notation_of<From, To>())>{} +
            text_shown<suggested>([] {
              return call_between(mesh_of<To>::value, paper_of<From>::value, paper_of<To>::value);
            }));
}

}  // namespace internal

}  // namespace shardwise
