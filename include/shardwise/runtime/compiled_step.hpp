// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/nest.hpp"
#include "shardwise/operation/number.hpp"
#include "shardwise/operation/random_keys.hpp"
#include "shardwise/runtime/gradient.hpp"
#include "shardwise/runtime/make_nodes.hpp"
#include "shardwise/runtime/owner_link.hpp"
#include "shardwise/runtime/steady_program.hpp"
#include "shardwise/runtime/step.hpp"
#include "shardwise/runtime/step_programs.hpp"
#if !defined(SHARDWISE_COMPILED)
#include "shardwise/runtime/steady_program_work.hpp"
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
#include <vector>

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

/// The number that an argument is.
template <StepNumber X>
[[nodiscard]] constexpr auto step_number(const X& x) noexcept {
  if constexpr (Scalar<X>)
    return x;
  else
    return std::bit_cast<std::int64_t>(x.value);
}

/// The placeholders for the arguments of one call while a function is recorded.
struct step_stand_ins {
  std::shared_ptr<pool_state> home;
  std::vector<recorded_argument> made;
  std::vector<node_ptr> numbers;

  template <class First, class X>
  [[nodiscard]] auto of(const X& x) {
    if constexpr (std::is_same_v<X, random_key>) {
      const auto bits = of<First>(step_number(x));
      return traced_key<std::remove_const_t<decltype(bits)>>{bits};
    } else if constexpr (Scalar<X>) {
      static_assert(Element<X>, "a number of a step is a float, a double, a std::int32_t, ...");
      numbers.push_back(number_node(home, constant_operation::how(x), {element_of<X>, {}, {}},
                                    element_kernels_of<X>));
      return handle_of<typename number_beside<X, First>::type>(stand_for(numbers.back()));
    } else {
      const auto stand = [&]<class Each>(const Each& each) {
        return handle_of<settled_tensor<Each>>(stand_for(each.share()));
      };
      return map_nest<frozen_parts::hold_tensors>(x, stand);
    }
  }

 private:
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
    static_assert((... && !internal::hides_tensors<std::remove_cvref_t<X>>()),
                  "the tensors of a nest are in tuples, vectors and aggregates, not in optionals, "
                  "pointers or maps");
    if constexpr (AnyRefused<X...>) {
      return refused_value{};
    } else {
      // `returned` written out: in its place clang would add lines to an error in the function.
      using made = decltype(f_(std::declval<given<X, argument<X, first_of<X...>>>>()...));
      if constexpr (internal::holds_refusal<std::remove_cvref_t<made>>)
        return internal::refused_results_of<made>{};
      else
        return compiled<X...>(x...);
    }
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

  template <class... X>
  auto compiled(std::remove_reference_t<X>&... x) {
    const detail::step_programs::call now(programs_);
    (programs_.add(std::as_const(x)), ...);
    programs_.find_repeated();
    constexpr const void* types = &detail::type_mark<X...>;
    entry* found = programs_.find(types);
    if (found == nullptr) found = &programs_.keep(record<X...>(types, std::as_const(x)...));
    run<X...>(*found, x...);
    if constexpr (!std::is_void_v<returned<X...>>) {
      using hollow = results<returned<X...>>;
      const auto take = [&]<class Each>(const Each&) {
        return internal::handle_of<Each>(found->program.next_result());
      };
      return internal::map_nest<internal::frozen_parts::hold_tensors>(
          *static_cast<const hollow*>(found->results.get()), take);
    }
  }
  /// Calls the function with placeholders for its arguments, and plans its program.
  template <class... X>
  [[nodiscard]] entry record(const void* types, const std::remove_cvref_t<X>&... x) {
    using first = first_of<X...>;
    detail::step_stand_ins all{internal::first_in(x...).share()->home(), {}, {}};
    std::tuple<argument<X, first>...> arguments{all.template of<first>(x)...};
    constexpr std::index_sequence_for<X...> places;
    const std::vector<std::byte> constants = constants_in(arguments, places);
    const auto note_all = [&](std::vector<detail::recorded_result>& to) {
      note_changes<X...>(arguments, all.made, to, places);
      if (constants_in(arguments, places) != constants)
        fail({.rule = violation::operand_count_differs},
             "a step changes tensors; sizes of lists and other members stay as they are");
    };
    std::vector<detail::recorded_result> made;
    const auto finish = [&](std::shared_ptr<const void> hollow) {
      return entry{types,
                   {},
                   std::move(all.numbers),
                   std::move(hollow),
                   detail::steady_program(all.made, made)};
    };
    if constexpr (std::is_void_v<returned<X...>>) {
      call<X...>(arguments, places);
      note_all(made);
      return finish(nullptr);
    } else {
      const auto out = call<X...>(arguments, places);
      note_all(made);
      const auto note = [&](const auto& each) { made.push_back({each.share()}); };
      internal::for_each_tensor<internal::frozen_parts::hold_tensors>(out, note);
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
  [[nodiscard]] static std::vector<std::byte> constants_in(const Arguments& arguments,
                                                           std::index_sequence<I...>) {
    detail::step_constants all;
    const auto ignore = [](const auto&) {};
    (internal::visit_nest<internal::frozen_parts::hold_tensors>(std::get<I>(arguments), ignore,
                                                                all),
     ...);
    return std::move(all.bytes);
  }
  /// Lists the tensors of the arguments that the call has changed.
  template <class... X, class Arguments, std::size_t... I>
  static void note_changes(Arguments& arguments, const std::vector<detail::recorded_argument>& had,
                           std::vector<detail::recorded_result>& to, std::index_sequence<I...>) {
    std::size_t k = 0;
    const auto note = [&](const auto& each) {
      if (k < had.size() && each.share() != had[k].stand_in)
        to.push_back({each.share(), static_cast<int>(k)});
      ++k;
    };
    (internal::for_each_tensor<internal::frozen_parts::hold_tensors>(std::get<I>(arguments), note),
     ...);
    if (k != had.size())
      fail({.rule = violation::operand_count_differs,
            .have = static_cast<index_t>(k),
            .want = static_cast<index_t>(had.size())},
           "a step leaves as many tensors in its arguments as there were");
  }

  template <class... X>
  void run(entry& at, std::remove_reference_t<X>&... x) {
    std::vector<tensor_node*>& tensors = programs_.tensors();
    std::size_t k = 0, number = 0;
    (enter<X, first_of<X...>>(at, x, tensors, k, number), ...);
    internal::run_guarded([&] { at.program.run(tensors); },
                          [&](const std::exception_ptr& thrown) {
                            k = 0;
                            if (at.program.has_lost_arguments())
                              (lose<X, first_of<X...>>(at, x, k, thrown), ...);
                          });
    k = 0;
    if (at.program.replaces_arguments()) (replace<X, first_of<X...>>(at, x, k), ...);
    programs_.let_go();
  }
  /// Writes a number to its tensor, and gives changed tensors memory of their own.
  template <class X, class First>
  void enter(entry& at, std::remove_reference_t<X>& x, std::vector<tensor_node*>& tensors,
             std::size_t& k, std::size_t& number) {
    if constexpr (detail::StepNumber<X>) {
      node_ptr& mine = at.numbers[number++];
      // A result of an earlier call, or an argument, may be that number.
      if (!mine->owns_memory()) mine = detail::copy_of(*mine);
      tensor_node& to = *mine;
      const auto entered = detail::step_number(x);
      const auto value = static_cast<compute_type<std::remove_const_t<decltype(entered)>>>(entered);
      for (index_t i = 0; i < to.where().count_here(); ++i)
        to.elements().store(&value, 1,
                            to.template writable_data<std::byte>(to.where().shard_here(i)));
      tensors[k++] = &to;
    } else {
      const auto own = [&]<class Each>(Each& each) {
        if constexpr (may_change<X, argument<X, First>>)
          if (at.program.changes(k)) {
            const bool is_repeated = programs_.is_repeated(tensors[k]);
            if (is_repeated) programs_.hold(&each, each.share());
            if (is_repeated || each.share().use_count() > 1 || !each.share()->owns_memory()) {
              each = internal::handle_of<Each>(detail::copy_of(*each.share()));
              tensors[k] = each.share().get();
            }
          }
        ++k;
      };
      internal::for_each_tensor<internal::frozen_parts::hold_tensors>(x, own);
    }
  }
  /// Assigns tensors whose layouts or sizes are new.
  template <class X, class First>
  static void replace(entry& at, std::remove_reference_t<X>& x, std::size_t& k) {
    if constexpr (detail::StepNumber<X>) {
      ++k;
    } else {
      const auto assign = [&]<class Each>(Each& each) {
        if constexpr (may_change<X, argument<X, First>>)
          if (node_ptr made = at.program.take_replacement(k))
            each = internal::handle_of<Each>(std::move(made));
        ++k;
      };
      internal::for_each_tensor<internal::frozen_parts::hold_tensors>(x, assign);
    }
  }
  /// Invalidates the tensors that a failed program had begun to overwrite.
  template <class X, class First>
  static void lose(const entry& at, std::remove_reference_t<X>& x, std::size_t& k,
                   const std::exception_ptr& thrown) {
    if constexpr (detail::StepNumber<X>) {
      ++k;
    } else {
      const auto take_away = [&]<class Each>(Each& each) {
        if constexpr (may_change<X, argument<X, First>>)
          if (at.program.changes(k))
            each = internal::handle_of<Each>(detail::lost_node_of(*each.share(), thrown));
        ++k;
      };
      internal::for_each_tensor<internal::frozen_parts::hold_tensors>(x, take_away);
    }
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
/// else is constant: what `f` captures, and members that are not tensors. `f` must not change such
/// members, and a different value of one compiles another program. `f` must not read elements, so
/// no branch may depend on them, and must not call a step with its arguments; it calls the function
/// of that step. The step keeps its memory between calls, until it is destroyed.
///
///     auto train = step(optim::training_step{loss, optim::sgd{}});
///     for (int i = 0; i < 1000; ++i) now = train(model, state, 0.1F, batch(i), labels(i));
template <class F>
  requires(std::is_class_v<std::remove_cvref_t<F>> && !std::invocable<F> &&
           !std::same_as<std::remove_cvref_t<F>, device_pool> &&
           !EitherOperand<std::remove_cvref_t<F>>)
[[nodiscard]] auto step(F&& f) { return compiled_step<std::remove_cvref_t<F>>(std::forward<F>(f)); }

}  // namespace shardwise
