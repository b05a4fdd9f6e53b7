// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/philox.hpp"
#include "shardwise/expression/nest.hpp"
#include "shardwise/expression/operand.hpp"
#include "shardwise/runtime/steady_program.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace shardwise::detail {

/// An argument that becomes a number of the program: what changes from step to step.
template <class X>
concept StepNumber = Scalar<X> || std::is_same_v<std::remove_cvref_t<X>, random_key>;

/// The bytes of the members of nests that are neither tensors nor numbers.
struct step_constants {
  std::vector<std::byte> bytes;

  template <class Each>
  void operator()(const Each& each) {
    static_assert(std::is_trivially_copyable_v<Each>,
                  "a step takes tensors, numbers, and what can be compared byte by byte");
    if constexpr (!std::is_empty_v<Each>) {
      const std::size_t size = bytes.size();
      bytes.resize(size + sizeof(Each));
      std::memcpy(bytes.data() + size, &each, sizeof(Each));
    }
  }
};

/// The programs of one step, and a description of the arguments of the current call.
class step_programs {
 public:
  step_programs();
  step_programs(step_programs&&) noexcept;
  ~step_programs();

  struct entry {
    const void* types;
    /// The bytes of members that are neither tensors nor numbers.
    std::vector<std::byte> constants;
    /// Tensors of rank 0 that hold the numbers of a call.
    std::vector<node_ptr> numbers;
    /// The results without their tensors.
    std::shared_ptr<const void> results;
    steady_program program;
  };

  /// A call of the step while it lives. Refuses a call inside another one, which would overwrite
  /// its description.
  class call {
   public:
    explicit call(step_programs& of);
    call(const call&) = delete;
    call& operator=(const call&) = delete;
    ~call() { of_.is_called_ = false; }

   private:
    step_programs& of_;
  };
  template <class X>
  void add(const X& x) {
    if constexpr (StepNumber<X>) {
      tensors_.push_back(nullptr);
    } else {
      const auto tensor = [&](const auto& each) {
        tensor_node* const at = each.share().get();
        at->evaluate();
        tensors_.push_back(at);
      };
      visit_nest<frozen_parts::hold_tensors>(x, tensor, constants_);
    }
  }
  /// Finds tensors that are several arguments of the described call.
  void find_repeated();
  [[nodiscard]] bool is_repeated(const tensor_node* tensor) const noexcept {
    return std::binary_search(repeated_.begin(), repeated_.end(), tensor);
  }
  /// Keeps a repeated tensor for the other arguments that it is, while the variable at an address
  /// is changed. Refuses to change a variable twice.
  void hold(const void* variable, node_ptr tensor);
  void let_go() noexcept { held_.clear(); }
  /// Returns the program for the described arguments, or null.
  [[nodiscard]] entry* find(const void* types) noexcept;
  entry& keep(entry made);

  [[nodiscard]] std::vector<tensor_node*>& tensors() noexcept { return tensors_; }
  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }

 private:
  /// Starts the description of a call.
  void begin() noexcept;

  static constexpr std::size_t most = 8;

  bool is_called_ = false;
  std::vector<entry> entries_;
  std::vector<tensor_node*> tensors_;
  step_constants constants_;
  /// The tensors that are several arguments, by address.
  std::vector<const tensor_node*> repeated_;
  /// The variables of repeated tensors that the step changes, and those tensors.
  std::vector<const void*> changed_;
  std::vector<node_ptr> held_;
};

}  // namespace shardwise::detail

#if !defined(SHARDWISE_COMPILED)
#include "shardwise/runtime/step_programs_work.hpp"
#endif
