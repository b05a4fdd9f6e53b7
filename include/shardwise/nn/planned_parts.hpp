// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/nest.hpp"
#include "shardwise/expression/nest.hpp"
#include "shardwise/nn/changed_nest.hpp"
#include "shardwise/nn/plan.hpp"
#include "shardwise/plan/abstract.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

namespace shardwise::detail {

/// A layout with the place of its tensor in the type of a model, so that tensors of one type in
/// different places have different types: `mlp<linear<W>, linear<W>>` has `W` at 0, 0 and at 1, 0.
template <bool OnPaper, class Layout, class Place>
struct marked_layout : Layout {};

/// Marks the tensors of a nest with their places: argument `I` of the class at `Outer`.
template <class Outer, std::size_t I>
struct to_marked {
  template <class Self, std::size_t Argument>
  using below = to_marked<Self, Argument>;
  template <class Was, class Is>
  using module = Is;
  template <class T>
  using element = T;
  template <class T, class Extents, class Layout>
  using tensor = abstract_tensor<T, Extents, marked_layout<false, Layout, to_marked>>;
  template <class T, class Extents, class Layout>
  using abstract = abstract_tensor<T, Extents, marked_layout<true, Layout, to_marked>>;
};
/// The allocator of a range is for what the range has as its first argument.
template <class T, class Outer, std::size_t I>
struct changed_nest<std::allocator<T>, to_marked<Outer, I>> {
  using type = std::allocator<typename changed_nest<T, to_marked<Outer, 0>>::type>;
};

template <class X>
inline constexpr bool is_marked = false;
template <class T, class Extents, bool OnPaper, class Layout, class Place>
inline constexpr bool
    is_marked<abstract_tensor<T, Extents, marked_layout<OnPaper, Layout, Place>>> = true;

/// Calls `f(type, path)` for each tensor and each aggregate in the type of a nest, by the names
/// that their objects have; a range has one element, and an optional is there.
template <class Nest, class F>
constexpr void for_each_part(const F& f, const leaf_path& path = {}) {
  if constexpr (EitherOperand<Nest>) {
    f(std::type_identity<Nest>{}, path);
  } else if constexpr (FrozenNest<Nest>) {
    for_each_part<decltype(Nest::value)>(f, path);
  } else if constexpr (TupleLike<Nest>) {
    for_each_index<std::tuple_size<Nest>::value>([&]<std::size_t I>() {
      for_each_part<std::tuple_element_t<I, Nest>>(f, step_down(path, I));
    });
  } else if constexpr (RangeOfNests<Nest>) {
    for_each_part<std::remove_cvref_t<decltype(*std::declval<Nest&>().begin())>>(
        f, step_down(path, 0));
  } else if constexpr (OptionalNest<Nest>) {
    for_each_part<std::remove_cvref_t<decltype(*std::declval<Nest&>())>>(f, path);
  } else if constexpr (Aggregate<Nest>) {
    f(std::type_identity<Nest>{}, path);
    using members = decltype(members_of(std::declval<Nest&>()));
    for_each_index<member_count<Nest>>([&]<std::size_t I>() {
      for_each_part<std::remove_cvref_t<std::tuple_element_t<I, members>>>(
          f, member_path<Nest>(path, I));
    });
  } else {
    require_few_members<Nest>();
  }
}

/// True if a type is another, or a template argument in it, however deep.
template <class Whole, class Part>
inline constexpr bool has_argument = std::is_same_v<Whole, Part>;
template <class T, std::size_t N, class Part>
inline constexpr bool has_argument<std::array<T, N>, Part> =
    std::is_same_v<std::array<T, N>, Part> || has_argument<T, Part>;
template <template <class...> class Whole, class... A, class Part>
inline constexpr bool has_argument<Whole<A...>, Part> = std::is_same_v<Whole<A...>, Part> ||
                                                        (... || has_argument<A, Part>);

/// True for a class that a change of a nest may make another one of.
template <class T>
inline constexpr bool is_class_template = false;
template <template <class...> class Whole, class... A>
inline constexpr bool is_class_template<Whole<A...>> = true;

/// An object for each type, whose address says which it is.
template <class T>
inline constexpr char identity_of_type = 0;

/// What a plan says of one part of a model: a tensor, or a module.
struct planned_part {
  const void* type = nullptr;
  int rule = -1;              // that a tensor takes
  std::uint64_t modules = 0;  // a bit for each rule that changes the module
};

/// What is wrong with a plan for a model.
enum class plan_fault : std::uint8_t {
  nothing,
  pattern_matches_nothing,
  parameter_has_no_rule,
  layout_is_refused,
  layout_is_fixed,
  layouts_differ,
  result_spec_is_missing,
};
/// The same with the names in question and, of a layout that is refused, why.
struct plan_verdict {
  plan_fault fault = plan_fault::nothing;
  leaf_path first{};
  leaf_path second{};
  diagnosis layout{};
};

/// The module after the rules whose bits are set.
template <std::uint64_t Bits, class Module, class... Rules>
struct ruled_module;

/// True for a rule that changes modules.
template <class Rule>
concept ChangesModules = requires {
  typename Rule::template module<nn::as_computed>;
};

/// The rules of a plan as a list of types.
template <class... Rules>
struct rule_list {
  /// The rules that change the modules of a name, as bits.
  [[nodiscard]] static constexpr std::uint64_t modules([[maybe_unused]] text_view name) noexcept {
    std::uint64_t bits = 0;
    [[maybe_unused]] int i = 0;
    ((bits |= std::uint64_t{ChangesModules<Rules> && name_matches(name, Rules::value.pattern)}
              << i++),
     ...);
    return bits;
  }
  /// True if all rules of some bits can change a module, one after another.
  template <class Module>
  [[nodiscard]] static constexpr bool can_change(std::uint64_t bits) noexcept {
    [[maybe_unused]] int i = 0;
    return (... && ((bits >> i++ & 1U) == 0 || changes<Rules, Module>()));
  }
  template <class Rule, class Module>
  [[nodiscard]] static constexpr bool changes() noexcept {
    if constexpr (ChangesModules<Rule>)
      return Rule::template can_change<Module>;
    else
      return true;
  }
  static constexpr bool has_modules[sizeof...(Rules) + 1] = {ChangesModules<Rules>..., false};
  template <std::uint64_t Bits, class Module>
  using changed = typename ruled_module<Bits, Module, Rules...>::type;
};
template <class... Rules>
rule_list<Rules...> rules_in(const nn::plan<Rules...>&);

/// What a plan says of the parts of a marked model.
template <class Marked, class Plan>
struct planned_parts {
  using rules = decltype(rules_in(std::declval<const Plan&>()));

  static constexpr std::size_t count = [] {
    std::size_t n = 0;
    for_each_part<Marked>([&](const auto&, const leaf_path&) { ++n; });
    return n;
  }();
  static constexpr std::array<planned_part, count + 1> list = [] {
    std::array<planned_part, count + 1> out{};
    std::size_t n = 0;
    for_each_part<Marked>([&]<class X>(std::type_identity<X>, const leaf_path& path) {
      planned_part& part = out[n++];
      part.type = &identity_of_type<X>;
      if constexpr (EitherOperand<X>)
        part.rule = nn::rule_for(Plan::value, path);
      else
        part.modules = rules::modules(path);
    });
    return out;
  }();

  /// What it says of a type; nothing of one that is no part.
  template <class X>
  [[nodiscard]] static constexpr planned_part of() noexcept {
    for (const planned_part& part : list)
      if (part.type == &identity_of_type<X>) return part;
    return {};
  }
  /// The layout that a rule gives to tensors of a type.
  template <class X>
  [[nodiscard]] static constexpr resolved_layout layout_by_rule(int rule) noexcept {
    constexpr tensor_desc have = paper_of<X>::value;
    if (rule < 0) return {have.layout, {}};
    return nn::layout_by(Plan::value.rules[rule], mesh_of<X>::value, have);
  }
  template <class X>
  [[nodiscard]] static constexpr layout_desc layout_of() noexcept {
    return layout_by_rule<X>(of<X>().rule).layout;
  }
  /// A module whose arguments were changed, after the rules for it.
  template <class Was, class Is>
  using changed_module = typename rules::template changed<of<Was>().modules, Is>;

  /// Whether the plan fits, or what is wrong first.
  [[nodiscard]] static constexpr plan_verdict verdict() noexcept {
    plan_verdict found = unmatched();
    std::size_t n = 0;
    for_each_part<Marked>([&]<class X>(std::type_identity<X>, const leaf_path& path) {
      const planned_part& part = list[n++];
      if (found.fault != plan_fault::nothing) return;
      if constexpr (EitherOperand<X>)
        found = verdict_of_tensor<X>(part, path);
      else
        found = verdict_of_module<X>(part, path);
    });
    return found;
  }

 private:
  /// The first pattern that matches nothing.
  [[nodiscard]] static constexpr plan_verdict unmatched() noexcept {
    for (int i = 0; i < int(Plan::value.rules.ssize()); ++i) {
      const nn::plan_rule_desc& rule = Plan::value.rules[i];
      bool any_tensor = rule.action == nn::plan_action::module, any_module = !rules::has_modules[i];
      for_each_part<Marked>([&]<class X>(std::type_identity<X>, const leaf_path& path) {
        if constexpr (EitherOperand<X>)
          any_tensor = any_tensor || name_is_under(path, rule.pattern);
        else
          any_module = any_module || name_matches(path, rule.pattern);
      });
      if (!any_tensor || !any_module)
        return {plan_fault::pattern_matches_nothing, rule.pattern, {}, {}};
    }
    return {};
  }
  template <class X>
  [[nodiscard]] static constexpr plan_verdict verdict_of_tensor(const planned_part& part,
                                                                const leaf_path& path) noexcept {
    if (part.rule < 0 && Plan::value.is_complete)
      return {plan_fault::parameter_has_no_rule, path, {}, {}};
    if constexpr (Operand<X>) {
      const resolved_layout wanted = layout_by_rule<X>(part.rule);
      if (!wanted.verdict.ok()) return {plan_fault::layout_is_refused, path, {}, wanted.verdict};
      if (!is_marked<X> && !(wanted.layout == paper_of<X>::value.layout))
        return {plan_fault::layout_is_fixed, path, {}, {}};
      // What is found by its type is the first part of it.
      if (is_marked<X> && !(wanted.layout == layout_of<X>()))
        return {plan_fault::layouts_differ, first_path<X>(), path, {}};
    }
    return {};
  }
  template <class X>
  [[nodiscard]] static constexpr plan_verdict verdict_of_module(const planned_part& part,
                                                                const leaf_path& path) noexcept {
    if (part.modules != of<X>().modules)
      return {plan_fault::layouts_differ, first_path<X>(), path, {}};
    if (part.modules == 0) return {};
    if (!is_class_template<X> || !has_argument<Marked, X>)
      return {plan_fault::layout_is_fixed, path, {}, {}};
    if (!rules::template can_change<X>(part.modules))
      return {plan_fault::result_spec_is_missing, path, {}, {}};
    return {};
  }
  template <class X>
  [[nodiscard]] static constexpr leaf_path first_path() noexcept {
    leaf_path first;
    bool is_found = false;
    for_each_part<Marked>([&]<class Each>(std::type_identity<Each>, const leaf_path& path) {
      if (std::is_same_v<Each, X> && !is_found) {
        first = path;
        is_found = true;
      }
    });
    return first;
  }
};

}  // namespace shardwise::detail
