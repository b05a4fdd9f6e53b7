// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/growable.hpp"
#include "shardwise/engine/program_input.hpp"
#include "shardwise/kernel/kernel_lookup.hpp"
#include "shardwise/tensor/any_tensor.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

namespace shardwise {

struct lowered_program;

/// A prepared program: planned, and with the kernel of every instruction. It is created once and
/// can run any number of times.
///
///     constexpr auto recorded = trace_program(layer, abstract<X>(), abstract<W>());
///     const prepared_program ready = prepare<float>(recorded);
///     any_tensor<float> y = run<float>(ready, x, w);
class prepared_program {
 public:
  /// Copies a program with its calls inlined, plans it, and finds its kernels, which must be
  /// registered for the element types given to `prepare`, `known`. Throws `operation_has_no_kernel`
  /// for others.
  prepared_program(const program_view& code, internal::growable<const element_kernels*> known);

  /// Returns the program and its plan.
  [[nodiscard]] const lowered_program& planned() const;

  /// Checks that the results have the types of the program's results, in order.
  void check_results(std::span<const element> types) const;
  /// Checks that the inputs are those of the program, in order, and computes those that are
  /// pending.
  void check(const internal::growable<program_input>& inputs) const;
  /// Returns the nodes of checked inputs; numbers become tensors.
  [[nodiscard]] internal::growable<node_ptr> input_nodes(
      internal::growable<program_input> inputs) const;
  /// Runs the program on checked inputs, which it consumes, and returns the results in order.
  /// Donated inputs without other handles are overwritten if that saves memory.
  [[nodiscard]] internal::growable<node_ptr> run(internal::growable<program_input> inputs) const;

 private:
  [[nodiscard]] std::shared_ptr<pool_state> home_of(
      const internal::growable<program_input>& inputs) const;
  /// Checks that an input matches that of the traced program.
  void check(const program_input& input, const tensor_desc& wanted, int place) const;
  /// Returns the kernels of an element type that was given to `prepare`; null for others.
  [[nodiscard]] const element_kernels* elements_of(element type) const noexcept;
  /// The program, and whether it is complete.
  struct parts;

  std::shared_ptr<parts> parts_;
  /// The element types that the program may have.
  internal::growable<const element_kernels*> known_;
};

/// Prepares a recorded program whose tensors have elements of types `T...`.
template <Element... T, std::size_t Capacity>
[[nodiscard]] prepared_program prepare(const traced_program<Capacity>& recorded) {
  enter_known<T...>();
  return prepared_program(recorded.view(), {&element_kernels_of<T>..., &element_kernels_of<bool>});
}

/// Runs a prepared program immediately on tensors in the order of its inputs, and returns the
/// results of the traced function: an `any_tensor<T>`, or several in a tuple, one for each of
/// `T...`. The bits are those of the traced function.
///
/// A number may be given for an input of rank 0. An input that was traced with `donate` is
/// overwritten if it is moved and has no other owner.
///
///     w = run<float>(ready, std::move(w), dw, 0.1F);
template <Element... T, ProgramInput... X>
[[nodiscard]] auto run(const prepared_program& ready, X&&... inputs) {
  internal::growable<program_input> given;
  given.reserve(sizeof...(X));
  (given.push_back(internal::input_from(inputs)), ...);
  ready.check_results(std::array{element_of<T>...});
  ready.check(given);
  (internal::give_up(std::forward<X>(inputs)), ...);
  const internal::growable<node_ptr> results = ready.run(std::move(given));
  std::size_t next = 0;
  const auto take = [&]<class Type>(std::type_identity<Type>) {
    return internal::handle_of<any_tensor<Type>>(results[next++]);
  };
  if constexpr (sizeof...(T) == 1)
    return (take(std::type_identity<T>{}), ...);
  else
    return std::tuple{take(std::type_identity<T>{})...};
}

}  // namespace shardwise

#if !defined(SHARDWISE_COMPILED)
#include "shardwise/engine/prepared_program_work.hpp"
#endif
