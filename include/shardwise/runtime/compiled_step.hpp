// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/growable.hpp"
#include "shardwise/engine/make_nodes.hpp"
#include "shardwise/engine/run_program.hpp"
#include "shardwise/engine/steady_program.hpp"
#include "shardwise/expression/nest.hpp"
#include "shardwise/operation/number.hpp"
#include "shardwise/operation/random_keys.hpp"
#include "shardwise/process/owner_link.hpp"
#include "shardwise/runtime/gradient.hpp"
#include "shardwise/runtime/step.hpp"
#include "shardwise/runtime/step_programs.hpp"
#include "shardwise/tensor/variables.hpp"
#if !defined(SHARDWISE_COMPILED)
#include "shardwise/engine/steady_program_work.hpp"
#endif

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

namespace shardwise {

namespace detail {

/// The type of the placeholder for an argument of type `X`: the tensor type of an expression.
template <class X>
using settled_tensor = typename graph_tape::settled<X>;

/// An identity for each type.
template <class... X>
inline constexpr char type_mark = 0;

/// True for an argument that a function may change.
template <class X>
inline constexpr bool is_given_to_change =
    std::is_lvalue_reference_v<X> && !std::is_const_v<std::remove_reference_t<X>> &&
    !detail::StepNumber<X>;

/// The placeholders for the arguments of one call while a function is recorded.
struct step_stand_ins {
  std::shared_ptr<pool_state> home;
  internal::growable<recorded_argument> made;
  internal::growable<node_ptr> numbers;

  template <class First, class X>
  [[nodiscard]] auto of(const X& x) {
    if constexpr (std::is_same_v<X, random_key>) {
      const auto bits = of<First>(step_number(x));
      return traced_key<std::remove_const_t<decltype(bits)>>{bits};
    } else if constexpr (Scalar<X>) {
      numbers.push_back(number_node(home, constant_operation::how(x), {element_of<X>, {}, {}},
                                    element_kernels_of<X>));
      return handle_of<typename number_beside<X, First>::type>(stand_for(numbers.back()));
    } else if constexpr (has_variables_only<X>() && std::copy_constructible<X>) {
      X stands = x;
      replace_all(parts_of(stands));
      return stands;
    } else {
      const auto stand = [&]<class Each>(const Each& each) {
        return handle_of<settled_tensor<Each>>(stand_for(each.share()));
      };
      return map_nest<frozen_parts::hold_tensors>(x, stand);
    }
  }

 private:
  /// Makes the variables of a nest, which are not const, placeholders for their tensors.
  void replace_all(const step_parts& of) {
    for (const tensor_handle* each : of.variables)
      set_node(const_cast<tensor_handle&>(*each), stand_for(each->share()));
  }
  [[nodiscard]] node_ptr stand_for(const node_ptr& real) {
    made.push_back({argument_node_of(real), real});
    return made.back().stand_in;
  }
};

/// Makes a tensor without a node, the placeholder for a tensor that a step returns.
struct hollow_tensor {
  template <class X>
  [[nodiscard]] settled_tensor<X> operator()(const X&) const {
    return handle_of<settled_tensor<X>>(node_ptr());
  }
};

/// A function, or an object with a call operator, that takes arguments.
template <class F>
concept StepFunction = !std::invocable<F&> && !std::same_as<F, device_pool> && !EitherOperand<F> &&
                       (std::is_class_v<F> || std::is_function_v<std::remove_pointer_t<F>>);

/// The verdict on an argument that is a number: it has a type that tensors may have.
template <class X>
using step_number_judge =
    std::conditional_t<Scalar<X> && !Element<X>,
                       refused<misuse::element_is_not_supported, of_types<X>>, allowed<>>;

}  // namespace detail

/// A function of tensors that its first call compiles and later calls replay; returned by
/// `step(f)`. It may be called by one thread at a time.
template <class F>
class compiled_step {
 public:
  explicit compiled_step(F f) : f_(std::move(f)) {}

  /// Calls the function, updates the arguments that it changes in place, and returns its computed
  /// results. Throws the first exception of a device; arguments that were already being overwritten
  /// throw it again whenever they are read.
  template <class... X>
    requires(... || internal::has_tensor_in<std::remove_cvref_t<X>>())
  auto operator()(X&&... x) {
    using judged = typename internal::first_refusal<
        internal::hidden_tensors<std::remove_cvref_t<X>...>,
        detail::step_number_judge<std::remove_cvref_t<X>>...>::type;
    if constexpr (AnyRefused<X...>) {
      return refused_value{};
    } else if constexpr (!judged::ok) {
      return internal::report<judged>();
    } else {
      // `returned` written out: in its place clang would add lines to an error in the function.
      using made = decltype(std::declval<internal::callee<F>&>()(
          std::declval<given<X, argument<X, first_of<X...>>>>()...));
      if constexpr (std::is_same_v<made, internal::not_callable>)
        return internal::report<
            internal::refused_arguments<F, int{sizeof...(X)}, "train(model, x)">>();
      else if constexpr (internal::holds_refusal<std::remove_cvref_t<made>>)
        return internal::refused_results_of<made>{};
      else
        return compiled<X...>(x...);
    }
  }

  /// Returns what a call with these arguments costs, for one device: the ledger of its program,
  /// which is compiled as by a call. Runs nothing except what pending arguments need, and changes
  /// no argument. Constants of the function are computed once, so they count as inputs. Returned
  /// results that the step keeps from the call before are not counted.
  ///
  ///     const cost_ledger cost = train.ledger(model, state, 0.1F, x, y);
  template <class... X>
    requires(... || internal::has_tensor_in<std::remove_cvref_t<X>>())
  [[nodiscard]] cost_ledger ledger(X&&... x) {
    using made = decltype((*this)(std::forward<X>(x)...));
    if constexpr (internal::holds_refusal<std::remove_cvref_t<made>>) {
      return {};
    } else {
      const detail::step_programs::call now(programs_);
      return program_for<X...>(x...).program.ledger();
    }
  }

  /// Returns the program of a call with these arguments, which is compiled as by a call: a view
  /// that is valid until the next one. Runs nothing except what pending arguments need, and changes
  /// no argument.
  template <class... X>
    requires(... || internal::has_tensor_in<std::remove_cvref_t<X>>())
  [[nodiscard]] program_view code(X&&... x) {
    const detail::step_programs::call now(programs_);
    return program_for<X...>(x...).program.code();
  }

  /// Returns the number of programs it keeps: one for each set of types, sizes, layouts and
  /// constants of its calls, at most the last eight.
  [[nodiscard]] std::size_t programs() const noexcept { return programs_.size(); }

 private:
  using entry = detail::step_programs::entry;

  template <class... X>
  using first_of = std::remove_cvref_t<decltype(internal::first_in(
      std::declval<const std::remove_cvref_t<X>&>()...))>;
  template <class X, class First>
  using argument = decltype(std::declval<detail::step_stand_ins&>().template of<First>(
      std::declval<const std::remove_cvref_t<X>&>()));
  /// True for an argument that the function may change; an expression is not.
  template <class X, class Argument>
  static constexpr bool may_change =
      detail::is_given_to_change<X>&& std::is_same_v<Argument, std::remove_cvref_t<X>>;
  template <class X, class Argument>
  using given = std::conditional_t<may_change<X, Argument>, Argument&, const Argument&>;
  template <class... X>
  using returned =
      decltype(std::declval<F&>()(std::declval<given<X, argument<X, first_of<X...>>>>()...));
  template <class Returned>
  using results = decltype(internal::map_nest<internal::frozen_parts::hold_tensors>(
      std::declval<const std::remove_cvref_t<Returned>&>(),
      std::declval<const detail::hollow_tensor&>()));

  /// Describes a call, and returns its program.
  template <class... X>
  [[nodiscard]] entry& program_for(std::remove_reference_t<X>&... x) {
    (programs_.add<may_change<X, argument<X, first_of<X...>>>>(std::as_const(x)), ...);
    programs_.settle();
    constexpr const void* types = &detail::type_mark<X...>;
    entry* const found = programs_.find(types);
    if (found != nullptr) return *found;
    internal::growable<node_ptr> stand_ins;
    entry made = record<X...>(types, stand_ins, std::as_const(x)...);
    require_unchanged_captures(stand_ins);
    return programs_.keep(std::move(made));
  }
  template <class... X>
  auto compiled(std::remove_reference_t<X>&... x) {
    const detail::step_programs::call now(programs_);
    entry& at = program_for<X...>(x...);
    programs_.run(at);
    if constexpr (!std::is_void_v<returned<X...>>) {
      using hollow = results<returned<X...>>;
      const auto take = [&]<class Each>(const Each&) {
        return internal::handle_of<Each>(at.program.next_result());
      };
      return internal::map_nest<internal::frozen_parts::hold_tensors>(
          *static_cast<const hollow*>(at.results.get()), take);
    }
  }
  /// Calls the function with placeholders for its arguments, which it lists, and plans its program.
  template <class... X>
  [[nodiscard]] entry record(const void* types, internal::growable<node_ptr>& stand_ins,
                             const std::remove_cvref_t<X>&... x) {
    using first = first_of<X...>;
    detail::step_stand_ins all{internal::first_in(x...).share()->home(), {}, {}};
    std::tuple<argument<X, first>...> arguments{all.template of<first>(x)...};
    for (const internal::recorded_argument& each : all.made) stand_ins.push_back(each.stand_in);
    constexpr std::index_sequence_for<X...> places;
    const detail::step_parts had = parts_in(arguments, places);
    internal::growable<internal::recorded_result> made;
    const auto finish = [&](std::shared_ptr<const void> hollow) {
      return entry{types,
                   {},
                   std::move(all.numbers),
                   std::move(hollow),
                   internal::steady_program(all.made, made)};
    };
    if constexpr (std::is_void_v<returned<X...>>) {
      call<X...>(arguments, places);
      detail::note_changes(parts_in(arguments, places), had, made);
      return finish(nullptr);
    } else {
      const auto out = call<X...>(arguments, places);
      detail::note_changes(parts_in(arguments, places), had, made);
      for (tensor_node* each : detail::parts_of(out).tensors)
        made.push_back({each->shared_from_this()});
      using hollow = results<returned<X...>>;
      const detail::hollow_tensor empty;
      return finish(std::make_shared<const hollow>(
          internal::map_nest<internal::frozen_parts::hold_tensors>(out, empty)));
    }
  }
  template <class... X, class Arguments, std::size_t... I>
  decltype(auto) call(Arguments& arguments, std::index_sequence<I...>) {
    return f_(static_cast<given<X, std::tuple_element_t<I, Arguments>>>(std::get<I>(arguments))...);
  }
  template <class Arguments, std::size_t... I>
  [[nodiscard]] static detail::step_parts parts_in(const Arguments& arguments,
                                                   std::index_sequence<I...>) {
    return detail::parts_of(std::get<I>(arguments)...);
  }

  F f_;
  detail::step_programs programs_;
};

/// Returns a compiled version of `f`. The first call records what `f` does to its arguments and
/// plans it; each later call replays that program without planning or allocating, also where the
/// devices of the mesh have several owners.
///
/// Arguments are nests of tensors, and numbers. Variables that `f` changes are updated in place; an
/// old value that is also held elsewhere is kept. If the same variable is given as two arguments,
/// they are separate values, of which `f` may change at most one. Numbers and random keys are
/// inputs, so a learning rate and the key of a dropout may change from step to step. Everything
/// else is constant: what `f` captures, and members that are not tensors. `f` must not change
/// these, and a different value of a member compiles another program. `f` must not read elements,
/// so no branch may depend on them, and must not call a step with its arguments; it calls the
/// function of that step. The step keeps its memory between calls, until it is destroyed.
///
///     auto train = step(optim::training_step{loss, optim::sgd{}});
///     for (int i = 0; i < 1000; ++i) now = train(model, state, 0.1F, batch(i), labels(i));
template <class F>
  requires detail::StepFunction<std::decay_t<F>>
[[nodiscard]] auto step(F&& f) { return compiled_step<std::decay_t<F>>(std::forward<F>(f)); }

}  // namespace shardwise
