// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/growable.hpp"
#include "shardwise/kernel/element_kernels.hpp"
#include "shardwise/kernel/loop_nest.hpp"
#include "shardwise/kernel/pass_order.hpp"
#include "shardwise/kernel/scratch_memory.hpp"
#include "shardwise/kernel/step_call.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

namespace shardwise {

/// Fills a step with the same element, of 1, 4 or 8 bytes.
inline void fill_step(std::byte* to, const void* value, index_t bytes) noexcept {
  // Words of a known size, which compilers write as vectors.
  const auto fill = [&]<class Word>(Word word) {
    std::memcpy(&word, value, sizeof(Word));
    for (std::size_t i = 0; i < most_in_step; ++i)
      std::memcpy(to + i * sizeof(Word), &word, sizeof(Word));
  };
  if (bytes == 4)
    fill(std::uint32_t{});
  else if (bytes == 8)
    fill(std::uint64_t{});
  else
    fill(std::uint8_t{});
}

/// A fused elementwise pass as a list of block functions, for passes that exist only at run time.
/// It works on blocks that stay in the first-level cache, and gives the same bits as a pass that is
/// compiled as a whole.
///
///     pass_program pass;
///     const int x = pass.read(element_kernels_of<float>);
///     pass.apply(exp_function, {&x, 1}, element::f32);
///     pass.write(element_kernels_of<float>);
///     pass.run({&block_of_x, 1}, block_of_y);
class pass_program {
 public:
  /// The maximum number of blocks that a pass reads.
  static constexpr std::size_t most_leaves = 8;

  /// Adds a slot that holds the elements of the next block to read.
  int read(const element_kernels& elements);
  /// Adds a slot filled with a single number.
  template <class T>
  int number(T value) {
    static_assert(sizeof(T) <= sizeof(std::uint64_t));
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(T));
    return order_.number(bits, sizeof(T));
  }
  /// Adds a slot that holds the result of a function of other slots, in the type used for
  /// arithmetic on its elements.
  int apply(const block_function& function, std::span<const int> operands, element result);
  /// Returns the number of calls of a function for each element.
  [[nodiscard]] int calls(const block_function& function) const noexcept;
  /// Ends the pass, whose result is that of the last `apply`.
  void write(const element_kernels& elements);

  /// Runs the pass. All blocks have the extents of `out`, and stride 0 repeats; `out` is row-major
  /// and contiguous, and may be one of the blocks that are read.
  void run(std::span<const const_any_block> blocks, const any_block& out) const;

 private:
  /// The maximum number of elements of a block, and the bytes of intermediate results that stay in
  /// the cache.
  static constexpr index_t longest = 1024;
  static constexpr index_t shortest = 256;
  static constexpr index_t first_level = 16384;
  /// The minimum number of elements of a row that is computed in blocks of its own, and of one for
  /// which there is nothing to do but to call a single step.
  static constexpr index_t long_row = 128;
  static constexpr index_t shortest_row = 64;

  struct leaf {
    int slot;
    const element_kernels* elements;
  };
  /// The slots of a running pass: in separate buffers, or in place in a block that is read; and
  /// whether they advance or hold one number. Constructed for each run, since a function of the
  /// program may run programs.
  class scratch {
   public:
    explicit scratch(const pass_program& pass) : pass_(pass) {
      const std::size_t bytes =
          static_cast<std::size_t>(pass.order_.buffers() * pass.buffer_bytes_);
      if (bytes > sizeof few_memory_) {
        more_memory_.resize(bytes);
        memory_ = more_memory_.data();
      }
      if (pass.order_.values().size() > few_slots) {
        more_slots_.resize(pass.order_.values().size());
        slots_ = more_slots_.data();
      }
    }
    scratch(const scratch&) = delete;
    scratch& operator=(const scratch&) = delete;

    /// Makes the elements of a slot be written to `where`.
    void write(int slot, std::byte* where) noexcept {
      written_ = slot;
      target_ = where;
    }
    [[nodiscard]] std::byte* own(int slot) const noexcept {
      return slot == written_ ? target_ : buffer(slot);
    }
    /// Returns the buffer of a slot, which also has room for a step.
    [[nodiscard]] std::byte* buffer(int slot) const noexcept {
      return memory_ +
             pass_.order_.values()[static_cast<std::size_t>(slot)].buffer * pass_.buffer_bytes_;
    }
    void point(int slot, const void* where, index_t move) noexcept { slots_[slot] = {where, move}; }
    [[nodiscard]] const void* from(int slot) const noexcept { return slots_[slot].from; }
    [[nodiscard]] index_t move(int slot) const noexcept { return slots_[slot].move; }

   private:
    static constexpr std::size_t few_slots = 24;
    struct place {
      const void* from;
      index_t move;
    };

    const pass_program& pass_;
    // Not initialised: a pass writes what it reads.
    alignas(64) std::byte few_memory_[65536];
    place few_slots_[few_slots];
    scratch_vector<std::byte> more_memory_;
    scratch_vector<place> more_slots_;
    std::byte* memory_ = few_memory_;
    place* slots_ = few_slots_;
    std::byte* target_ = nullptr;
    int written_ = -1;
  };

  /// Returns true if blocks end where the rows of the operands do, which are then read in place:
  /// rows are long, and some operand has other rows than the one that is repeated.
  [[nodiscard]] bool reads_rows(const loop_nest<most_leaves>& nest, std::size_t count,
                                unsigned in_order) const noexcept;
  /// Returns true if a single step computes the result: then there is nothing to keep in a cache
  /// but what it cannot read where it is.
  [[nodiscard]] bool is_one_step() const noexcept;

  void fill_numbers(scratch& at) const;

  /// Returns a bit mask of the blocks whose elements are contiguous in the order of `out`.
  [[nodiscard]] static unsigned blocks_in_order(std::span<const const_any_block> blocks,
                                                const any_block& out) noexcept;

  /// Runs such a step, row by row. What it cannot read where it is is loaded into buffers.
  void run_rows(scratch& at, const loop_nest<most_leaves>& nest,
                std::span<const const_any_block> blocks, const any_block& out) const;
  void run_block(scratch& at, const loop_nest<most_leaves>& nest,
                 std::span<const const_any_block> blocks, unsigned in_order,
                 const loop_nest<most_leaves>::position& place, index_t first, index_t n,
                 const any_block& out) const;

  /// Stores the elements of a slot.
  void store(const scratch& at, int slot, index_t n, std::byte* target) const;

  /// Returns the call of a step with its operands where they are now.
  [[nodiscard]] step_call prepare(scratch& at, const pass_order::step& next) const;
  void run_step(scratch& at, const pass_order::step& next, void* to, index_t n) const;

  void read_leaf(scratch& at, const loop_nest<most_leaves>& nest, const const_any_block& block,
                 std::size_t k, const loop_nest<most_leaves>::position& place, bool in_row,
                 index_t first, index_t n) const;
  /// The same for a block whose elements are all contiguous.
  void read_in_order(scratch& at, const const_any_block& block, std::size_t k, index_t first,
                     index_t n) const;

  pass_order order_;
  internal::growable<leaf> leaves_;
  const element_kernels* result_ = nullptr;
  int last_ = -1;
  /// The value that the last function only rounds, and the elements to which it rounds.
  int rounded_ = -1;
  std::optional<element> stored_as_{};
  index_t length_ = longest;
  index_t buffer_bytes_ = 0;
};

}  // namespace shardwise

#if !defined(SHARDWISE_COMPILED)
#include "shardwise/kernel/pass_program_work.hpp"
#endif
