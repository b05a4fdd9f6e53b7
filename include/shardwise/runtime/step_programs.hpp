// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/growable.hpp"
#include "shardwise/core/philox.hpp"
#include "shardwise/engine/steady_program.hpp"
#include "shardwise/expression/nest.hpp"
#include "shardwise/expression/operand.hpp"
#include "shardwise/tensor/tensor_handle.hpp"

#include <array>
#include <atomic>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <type_traits>
#include <utility>

namespace shardwise::detail {

/// An argument that becomes a number of the program: what changes from step to step.
template <class X>
concept StepNumber = Scalar<X> || std::is_same_v<std::remove_cvref_t<X>, random_key>;

/// The number that an argument is.
template <StepNumber X>
[[nodiscard]] constexpr auto step_number(const X& x) noexcept {
  if constexpr (Scalar<X>)
    return x;
  else
    return std::bit_cast<std::int64_t>(x.value);
}

/// The bytes of the members of nests that are neither tensors nor numbers.
struct step_constants {
  internal::growable<std::byte> bytes;

  template <class Each>
  void operator()(const Each& each) {
    static_assert(std::is_trivially_copyable_v<Each>,
                  "a step takes tensors, numbers, and what can be compared byte by byte");
    if constexpr (!std::is_empty_v<Each>) add(&each, sizeof(Each));
  }

 private:
  void add(const void* from, std::size_t size);
};

/// The parts of nests of tensors: the tensors, in order, and the constants.
///
/// It is the only visitor of the nests of a step, since code is generated for each type of visitor
/// and each type of nest.
struct step_parts {
  internal::growable<tensor_node*> tensors{};
  /// The variables of these tensors; null for expressions, and for what is not to be changed.
  internal::growable<const tensor_handle*> variables{};
  step_constants constants{};

  template <class Nest>
  void add(const Nest& nest) {
    visit_nest<frozen_parts::hold_tensors>(nest, *this, constants);
  }
  void operator()(const tensor_handle& each);
  /// An expression, which is not a variable.
  template <class Each>
    requires(!std::derived_from<Each, tensor_handle>)
  void operator()(const Each& each) { add_tensor(each.share().get(), nullptr); }
  void add_tensor(tensor_node* at, const tensor_handle* variable);
};

/// Lists the parts of several nests, one after another.
template <class... Nests>
[[nodiscard]] step_parts parts_of(const Nests&... nests) {
  step_parts all;
  (all.add(nests), ...);
  return all;
}

/// Lists the tensors of the arguments that the recorded function has changed. Refuses changes of
/// other members.
void note_changes(const step_parts& now, const step_parts& had,
                  internal::growable<recorded_result>& to);

/// The programs of one step, and a description of the arguments of the current call.
class step_programs {
 public:
  step_programs();
  step_programs(step_programs&&) noexcept;
  ~step_programs();

  struct entry {
    const void* types;
    /// The bytes of members that are neither tensors nor numbers.
    internal::growable<std::byte> constants;
    /// Tensors of rank 0 that hold the numbers of a call.
    internal::growable<node_ptr> numbers;
    /// The results without their tensors.
    std::shared_ptr<const void> results;
    steady_program program;
  };

  /// A call of the step while it lives. Refuses a call inside another one, or of another thread,
  /// which would overwrite its description.
  class call {
   public:
    explicit call(step_programs& of);
    call(const call&) = delete;
    call& operator=(const call&) = delete;
    ~call() { std::atomic_ref(of_.is_called_).store(false); }

   private:
    step_programs& of_;
  };
  /// Adds an argument to the description: a number, or a nest of tensors, which the step may
  /// change or not.
  template <bool MayChange, class X>
  void add(const X& x) {
    if constexpr (StepNumber<X>) {
      const auto entered = step_number(x);
      const auto value = static_cast<compute_type<std::remove_const_t<decltype(entered)>>>(entered);
      add_number(&value, sizeof value);
    } else {
      const std::size_t first = now_.variables.size();
      now_.add(x);
      if (!MayChange)
        for (std::size_t k = first; k < now_.variables.size(); ++k) now_.variables[k] = nullptr;
    }
  }
  /// Completes the description: computes the arguments, and finds tensors that are passed as more
  /// than one argument.
  void settle();
  /// Returns the program for the described arguments, or null.
  [[nodiscard]] entry* find(const void* types) noexcept;
  entry& keep(entry made);
  /// Runs the program on the described arguments, and updates the variables that it changes.
  void run(entry& at);

  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }

 private:
  /// A number of a call, in the type in which its tensor is computed.
  using number_value = std::array<std::byte, 8>;

  /// Starts the description of a call.
  void begin() noexcept;
  void add_number(const void* value, std::size_t size);
  [[nodiscard]] bool is_repeated(const tensor_node* tensor) const noexcept;
  /// The variable of an argument that the step may change. It was passed as one that is not const.
  [[nodiscard]] tensor_handle& variable(std::size_t argument) const noexcept {
    return const_cast<tensor_handle&>(*now_.variables[argument]);
  }
  /// Writes numbers to their tensors, and gives changed tensors memory of their own.
  void enter(entry& at);
  /// Holds a tensor that is passed as several arguments, so that the others keep its value while
  /// one variable is changed. Fails if one variable would be changed twice.
  void hold(const tensor_handle& variable);
  /// Assigns tensors whose layouts or sizes are new.
  void replace(entry& at);
  /// Invalidates the tensors that a failed program had begun to overwrite.
  void lose(const entry& at, const std::exception_ptr& thrown);

  static constexpr std::size_t most = 8;

  bool is_called_ = false;
  internal::growable<entry> entries_;
  step_parts now_;
  internal::growable<number_value> numbers_;
  /// Tensors that are passed as more than one argument, sorted by address.
  internal::growable<const tensor_node*> repeated_;
  /// The variables of repeated tensors that the step changes, and those tensors.
  internal::growable<const tensor_handle*> changed_;
  internal::growable<node_ptr> held_;
};

}  // namespace shardwise::detail

#if !defined(SHARDWISE_COMPILED)
#include "shardwise/runtime/step_programs_work.hpp"
#endif
