// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/nest.hpp"
#include "shardwise/nn/marked_nest.hpp"
#include "shardwise/nn/plan.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace shardwise::detail {

/// The effect of a plan on one part of a model: a tensor, or a module.
struct planned_part {
  const void* type = nullptr;
  bool is_tensor = false;
  int rule = -1;              // the rule for a tensor
  std::uint64_t modules = 0;  // a bit for each rule that changes the module
};

/// The first rule that a plan breaks for a model, with the names involved.
struct plan_verdict {
  diagnosis broken{};
  leaf_path first{};
  leaf_path second{};
  /// Set instead of `broken` for a rule that only types can break.
  bool is_misused = false;
  misuse misused{};

  [[nodiscard]] constexpr bool ok() const noexcept { return broken.ok() && !is_misused; }
};

/// The module after the rules whose bits are set.
template <std::uint64_t Bits, bool IsFinished, class Module, class... Rules>
struct ruled_module;

/// True for a rule that changes modules.
template <class Rule>
concept ChangesModules = requires {
  typename Rule::template module<nn::as_computed>;
};

/// The rules of a plan as a list of types.
template <class... Rules>
struct rule_list {
  static constexpr std::size_t count = sizeof...(Rules);
  static constexpr bool changes_modules[count + 1] = {ChangesModules<Rules>..., false};

  /// True if the rules whose bits are set can change a module, one after another.
  template <class Module>
  [[nodiscard]] static constexpr bool can_change(std::uint64_t bits) noexcept {
    [[maybe_unused]] int i = 0;
    return (... && ((bits >> i++ & 1U) == 0 || changes<Rules, Module>()));
  }
  template <std::uint64_t Bits, class Module>
  using changed = typename ruled_module<Bits, false, Module, Rules...>::type;

 private:
  template <class Rule, class Module>
  [[nodiscard]] static constexpr bool changes() noexcept {
    if constexpr (ChangesModules<Rule>)
      return Rule::template can_change<Module>;
    else
      return true;
  }
};
template <class... Rules>
rule_list<Rules...> rules_in(const nn::plan<Rules...>&);

/// The effect of a plan on the parts of a marked model. Each rule is matched in a separate constant
/// expression, since compilers limit the number of steps of one.
template <class Marked, class Plan>
struct planned_parts {
  using rules = decltype(rules_in(std::declval<const Plan&>()));

  static constexpr std::size_t count = [] {
    std::size_t n = 0;
    for_each_part<Marked>([&](const auto&, const leaf_path&) { ++n; });
    return n;
  }();
  /// Returns the parts that match the pattern of a rule: tensors to which it applies, and modules
  /// that it changes.
  template <std::size_t Rule>
  static constexpr std::array<bool, count + 1> matched_by = [] {
    constexpr const nn::plan_rule_desc& rule = Plan::value.rules[Rule];
    std::array<bool, count + 1> out{};
    std::size_t n = 0;
    for_each_part<Marked>([&]<class X>(std::type_identity<X>, const leaf_path& path) {
      const bool is_asked =
          EitherOperand<X> ? rule.action != nn::plan_action::module : rules::changes_modules[Rule];
      if (is_asked)
        out[n] =
            EitherOperand<X> ? name_is_under(path, rule.pattern) : name_matches(path, rule.pattern);
      ++n;
    });
    return out;
  }();
  static constexpr std::array<planned_part, count + 1> list = [] {
    std::array<planned_part, count + 1> out{};
    std::size_t n = 0;
    for_each_part<Marked>([&]<class X>(std::type_identity<X>, const leaf_path&) {
      out[n].type = &identity_of_type<X>;
      out[n++].is_tensor = EitherOperand<X>;
    });
    for_each_index<rules::count>([&]<std::size_t R>() {
      for (n = 0; n < count; ++n)
        if (matched_by<R>[n] && !out[n].is_tensor)
          out[n].modules |= std::uint64_t{1} << R;
        else if (matched_by<R>[n] && out[n].rule < 0)
          out[n].rule = int(R);
    });
    return out;
  }();

  /// Returns the effect on a type: that on its first part, since all must agree; none for other
  /// types.
  template <class X>
  [[nodiscard]] static constexpr const planned_part& of() noexcept {
    for (const planned_part& part : list)
      if (part.type == &identity_of_type<X>) return part;
    return list[count];
  }
  /// The layout that a rule assigns to tensors of a type.
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

  /// Returns whether the plan is valid for the model, or the first error.
  [[nodiscard]] static constexpr plan_verdict verdict() noexcept {
    plan_verdict found = unmatched();
    std::size_t n = 0;
    for_each_part<Marked>([&]<class X>(std::type_identity<X>, const leaf_path& path) {
      const planned_part& part = list[n++];
      if (!found.ok()) return;
      if constexpr (EitherOperand<X>)
        found = verdict_of_tensor<X>(part, path);
      else
        found = verdict_of_module<X>(part, path);
    });
    return found;
  }

 private:
  [[nodiscard]] static constexpr plan_verdict misused_by(misuse rule, const leaf_path& first,
                                                         const leaf_path& second = {}) noexcept {
    return {.first = first, .second = second, .is_misused = true, .misused = rule};
  }
  /// Returns the first pattern that matches nothing: no tensor, if the rule applies to tensors, or
  /// no module, if it changes modules.
  [[nodiscard]] static constexpr plan_verdict unmatched() noexcept {
    plan_verdict found;
    for_each_index<rules::count>([&]<std::size_t R>() {
      const nn::plan_rule_desc& rule = Plan::value.rules[R];
      bool any_tensor = rule.action == nn::plan_action::module;
      bool any_module = !rules::changes_modules[R];
      for (std::size_t n = 0; n < count; ++n)
        if (matched_by<R>[n]) (list[n].is_tensor ? any_tensor : any_module) = true;
      if (found.ok() && !(any_tensor && any_module))
        found = {.broken = {.rule = violation::pattern_matches_nothing}, .first = rule.pattern};
    });
    return found;
  }
  template <class X>
  [[nodiscard]] static constexpr plan_verdict verdict_of_tensor(const planned_part& part,
                                                                const leaf_path& path) noexcept {
    if (part.rule < 0 && Plan::value.is_complete)
      return {.broken = {.rule = violation::parameter_has_no_rule}, .first = path};
    if constexpr (Operand<X>) {
      const planned_part& first = of<X>();
      if (&first != &part && first.rule == part.rule && is_marked<X>) return {};
      const resolved_layout wanted = layout_by_rule<X>(part.rule);
      if (!wanted.verdict.ok()) return {.broken = wanted.verdict, .first = path};
      if (!is_marked<X> && !(wanted.layout == paper_of<X>::value.layout))
        return {.broken = {.rule = violation::planned_layout_is_fixed}, .first = path};
      if (is_marked<X> && !(wanted.layout == layout_by_rule<X>(first.rule).layout))
        return misused_by(misuse::planned_layouts_differ, first_path<X>(), path);
    }
    return {};
  }
  template <class X>
  [[nodiscard]] static constexpr plan_verdict verdict_of_module(const planned_part& part,
                                                                const leaf_path& path) noexcept {
    if (part.modules != of<X>().modules)
      return misused_by(misuse::planned_layouts_differ, first_path<X>(), path);
    if (part.modules == 0) return {};
    if (!is_class_template<X> || !has_argument<Marked, X>)
      return {.broken = {.rule = violation::planned_layout_is_fixed}, .first = path};
    if (!rules::template can_change<X>(part.modules))
      return misused_by(misuse::result_spec_is_missing, path);
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
