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
    explicit call(step_programs& of) : of_(of) {
      if (of.is_called_)
        fail({.rule = violation::value_is_being_differentiated},
             "a step is called by its own function");
      of.is_called_ = true;
      of.begin();
    }
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
        node* const at = each.share().get();
        at->evaluate();
        tensors_.push_back(at);
      };
      visit_nest<frozen_parts::hold_tensors>(x, tensor, constants_);
    }
  }
  /// Finds tensors that are several arguments of the described call.
  void find_repeated() {
    repeated_.assign(tensors_.begin(), tensors_.end());
    std::sort(repeated_.begin(), repeated_.end());
    std::size_t count = 0;
    for (std::size_t i = 1; i < repeated_.size(); ++i)
      if (repeated_[i] != nullptr && repeated_[i] == repeated_[i - 1])
        repeated_[count++] = repeated_[i];
    repeated_.resize(count);
  }
  [[nodiscard]] bool is_repeated(const node* tensor) const noexcept {
    return std::binary_search(repeated_.begin(), repeated_.end(), tensor);
  }
  /// Keeps a repeated tensor for the other arguments that it is, while the variable at an address
  /// is changed. Refuses to change a variable twice.
  void hold(const void* variable, node_ptr tensor) {
    if (std::find(changed_.begin(), changed_.end(), variable) != changed_.end())
      fail({.rule = violation::operand_count_differs, .have = 2, .want = 1},
           "a variable that a step changes is one of its arguments, not two");
    changed_.push_back(variable);
    held_.push_back(std::move(tensor));
  }
  void let_go() noexcept { held_.clear(); }
  /// Returns the program for the described arguments, or null.
  [[nodiscard]] entry* find(const void* types) noexcept {
    for (entry& each : entries_)
      if (each.types == types && each.constants == constants_.bytes && each.program.takes(tensors_))
        return &each;
    return nullptr;
  }
  entry& keep(entry made) {
    if (entries_.size() == most) entries_.erase(entries_.begin());
    made.constants = constants_.bytes;
    entries_.push_back(std::move(made));
    return entries_.back();
  }

  [[nodiscard]] std::vector<node*>& tensors() noexcept { return tensors_; }
  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }

 private:
  /// Starts the description of a call.
  void begin() noexcept {
    tensors_.clear();
    constants_.bytes.clear();
    repeated_.clear();
    changed_.clear();
    held_.clear();
  }

  static constexpr std::size_t most = 8;

  bool is_called_ = false;
  std::vector<entry> entries_;
  std::vector<node*> tensors_;
  step_constants constants_;
  /// The tensors that are several arguments, by address.
  std::vector<const node*> repeated_;
  /// The variables of repeated tensors that the step changes, and those tensors.
  std::vector<const void*> changed_;
  std::vector<node_ptr> held_;
};

}  // namespace shardwise::detail
