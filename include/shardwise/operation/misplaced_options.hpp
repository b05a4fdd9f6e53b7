// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/judge.hpp"
#include "shardwise/expression/operand.hpp"
#include "shardwise/layout/extents.hpp"
#include "shardwise/spec/spec.hpp"

namespace shardwise::detail {

/// The subject of the error: none. It depends on the operand, so that the error is that of the call
/// and not of the declaration.
template <class X>
struct no_subject {
  using type = of_types<>;
};

/// The result of a call whose options are arguments of the function: the error, with a call that
/// has them where they belong.
template <fixed_string Call, class X>
using options_misplaced = broken_rule<misuse::options_are_template_arguments,
                                      typename no_subject<X>::type, suggested(Call)>;

/// The text of a call, or of an option.
using call_text = bounded_text<79>;

/// An option with numbers: `paddings<1, 1>`.
template <fixed_string Name, index_t... Numbers>
inline constexpr call_text numbered_option = [] {
  call_text out;
  out << Name << '<';
  [[maybe_unused]] text_view before = "";
  ((out << before << Numbers, before = ", "), ...);
  out << '>';
  return out;
}();

/// How an option is written whose type says it; for others `text` is empty.
template <class Option>
struct written_option {
  static constexpr call_text text{};
};
template <index_t... Sizes>
struct written_option<extents<Sizes...>> {
  static constexpr call_text text = numbered_option<"extents", Sizes...>;
};
template <fixed_string... Entries>
struct written_option<P<Entries...>> {
  static constexpr call_text text = [] {
    call_text out("P<");
    [[maybe_unused]] text_view before = "";
    const auto write = [&](text_view entry) {
      out << before;
      before = ", ";
      if (entry.empty())
        out << "none";
      else
        out << '"' << entry << '"';
    };
    (write(Entries), ...);
    out << '>';
    return out;
  }();
};

/// The call of `Name` with such options: as they are given, or else as in `Example`.
template <fixed_string Name, fixed_string Example, fixed_string Operands, class... Options>
struct written_call {
  [[nodiscard]] constexpr call_text operator()() const noexcept {
    call_text options;
    const auto write = [&](const call_text& option) {
      if (!option.empty()) options << (options.empty() ? "" : ", ") << option;
    };
    (write(written_option<Options>::text), ...);
    call_text out;
    out << Name << '<' << (options.empty() ? text_view(Example) : text_view(options)) << '>' << '('
        << Operands << ')';
    return out;
  }
};
/// The same with the text that `Call` writes.
template <class Call, class X>
using call_misplaced =
    typename decltype(internal::refused_with<misuse::options_are_template_arguments,
                                             typename no_subject<X>::type>(
        internal::text_shown<suggested>(Call{})))::type;

}  // namespace shardwise::detail
