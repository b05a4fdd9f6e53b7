// SPDX-License-Identifier: BSL-1.0
// The kernels that programs find in the compiled library: those of the widest instruction set that
// the machine has, chosen once, when the first of them is looked for.
#include "shardwise/kernel/element_kernels.hpp"
#include "shardwise/kernel/instruction_sets.hpp"
#include "shardwise/kernel/kernel_set.hpp"
#include "shardwise/kernel/kernel_table.hpp"
#include "shardwise/kernel/random_numbers.hpp"
#include "shardwise/kernel/scratch_memory.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>
#include <utility>
#include <vector>

#if !defined(SHARDWISE_COMPILED)
#error "the compiled library is built with SHARDWISE_COMPILED, as the programs that link it are"
#endif

namespace shardwise::detail {
namespace {

/// Returns the widest set that was compiled and that the machine has, or a smaller one that the
/// environment names, for tests and comparisons; empty if there is none.
[[nodiscard]] std::string_view chosen_set() {
  const char* const wanted = std::getenv("SHARDWISE_KERNELS");
  std::string_view chosen;
  for (std::size_t i = 0; i < shardwise_kernel_part_count; ++i) {
    const std::string_view set = shardwise_kernel_parts[i].set;
    if (!internal::machine_has(set)) continue;
    chosen = set;
    if (wanted != nullptr && set == wanted) break;
  }
  return chosen;
}

/// The kernels of the chosen set, by operation and types.
class chosen_kernels {
 public:
  chosen_kernels() {
    const auto operation = [](void* to, std::uint64_t what, std::uint64_t types,
                              const void* kernel) {
      static_cast<chosen_kernels*>(to)->enter(what, types,
                                              *static_cast<const operation_kernel*>(kernel));
    };
    const auto elements = [](void* to, const void* kernels) {
      const auto& given = *static_cast<const element_kernels*>(kernels);
      static_cast<chosen_kernels*>(to)->elements_[static_cast<std::size_t>(given.type)] = given;
    };
    const auto random = [](void* to, const void* kernels) {
      const auto& given = *static_cast<const random_kernels*>(kernels);
      static_cast<chosen_kernels*>(to)->random_[static_cast<std::size_t>(given.type)] = given;
    };
    const shardwise_kernel_receiver receiver{this, operation, elements, random};
    const std::string_view set = chosen_set();
    if (set.empty())
      fail({.rule = violation::operation_has_no_kernel},
           "the library was compiled for instructions that this machine does not have; "
           "SHARDWISE_X86_SETS=native compiles it for the machine");
    for (std::size_t i = 0; i < shardwise_kernel_part_count; ++i)
      if (shardwise_kernel_parts[i].set == set) shardwise_kernel_parts[i].give(receiver);
    std::sort(entries_.begin(), entries_.end(),
              [](const entry& a, const entry& b) { return a.key < b.key; });
  }

  [[nodiscard]] static const chosen_kernels& instance() {
    static const chosen_kernels chosen;
    return chosen;
  }
  [[nodiscard]] const element_kernels& of(element type) const noexcept {
    return elements_[static_cast<std::size_t>(type)];
  }
  [[nodiscard]] const random_kernels& random(element type) const noexcept {
    return random_[static_cast<std::size_t>(type)];
  }
  [[nodiscard]] const operation_kernel* find(std::uint64_t what,
                                             std::uint64_t types) const noexcept {
    const auto at = std::lower_bound(entries_.begin(), entries_.end(), std::pair(what, types),
                                     [](const entry& a, const auto& b) { return a.key < b; });
    return at != entries_.end() && at->key == std::pair(what, types) ? &at->kernel : nullptr;
  }

 private:
  struct entry {
    std::pair<std::uint64_t, std::uint64_t> key;
    operation_kernel kernel;
  };

  /// Enters a kernel. What it says of elements is said of this library's.
  void enter(std::uint64_t what, std::uint64_t types, operation_kernel kernel) {
    // What the gradient needs is here too, and the set's table is no program's.
    kernel.enter_gradient = nullptr;
    const auto own = [](const element_kernels* given) {
      return &compiled_elements[static_cast<std::size_t>(given->type)];
    };
    if (kernel.elements != nullptr) kernel.elements = own(kernel.elements);
    for (const element_kernels*& further : kernel.further) further = own(further);
    entries_.push_back({{what, types}, kernel});
  }

  std::vector<entry> entries_;
  std::array<element_kernels, element_types> elements_{};
  std::array<random_kernels, element_types> random_{};
};

/// The kernels of a type: those of the chosen set, found when they are called, since tensors may be
/// made before any object of this library is.
template <element Type>
struct late {
  [[nodiscard]] static const element_kernels& chosen() {
    return chosen_kernels::instance().of(Type);
  }

  static void copy(const const_any_block& from, const any_block& to) { chosen().copy(from, to); }
  static void reduce(reduction kind, const const_any_block& left, const const_any_block& right,
                     const any_block& into) {
    chosen().reduce(kind, left, right, into);
  }
  static void reduce_rows(reduction kind, const eight_rows& rows, index_t n, void* into) {
    chosen().reduce_rows(kind, rows, n, into);
  }
  static void load(const void* from, index_t stride, index_t count, void* to) {
    chosen().load(from, stride, count, to);
  }
  static void store(const void* from, index_t count, void* to) { chosen().store(from, count, to); }

  [[nodiscard]] static constexpr element_kernels kernels() noexcept {
    element_kernels all{.type = Type, .load = &load, .store = &store};
    all.copy = decltype(all.copy)::template to<&copy>();
    all.reduce = decltype(all.reduce)::template to<&reduce>();
    if (computed_in(Type) == Type)
      all.reduce_rows = decltype(all.reduce_rows)::template to<&reduce_rows>();
    return all;
  }
};

}  // namespace

constexpr element_kernels compiled_elements[element_types] = {
    late<element::f32>::kernels(),     late<element::f64>::kernels(),
    late<element::i32>::kernels(),     late<element::i64>::kernels(),
    late<element::boolean>::kernels(), late<element::i8>::kernels(),
    late<element::u8>::kernels(),      late<element::bf16>::kernels(),
    late<element::f16>::kernels()};

const operation_kernel* compiled_kernel(std::uint64_t operation, std::uint64_t types) noexcept {
  return chosen_kernels::instance().find(operation, types);
}

}  // namespace shardwise::detail

const shardwise::random_kernels& shardwise::internal::compiled_random(element type) noexcept {
  return detail::chosen_kernels::instance().random(type);
}

const void** shardwise_scratch_slot() noexcept { return &shardwise::scratch_scope::slot(); }

void shardwise_kernel_failed(const void* verdict, const char* advice, std::size_t size) {
  using namespace shardwise;
  fail(*static_cast<const diagnosis*>(verdict), {advice, size});
}
