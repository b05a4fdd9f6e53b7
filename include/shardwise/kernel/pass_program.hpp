// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/block_function.hpp"
#include "shardwise/kernel/element_kernels.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace shardwise {

/// The longest step of any type: a number beside blocks fills the step of the type that reads it.
inline constexpr std::size_t most_in_step = static_cast<std::size_t>(std::max(
    {detail::step<float>, detail::step<double>, detail::step<std::int64_t>, detail::step<bool>}));

/// Fills a step with the same element.
inline void fill_step(std::byte* to, const void* value, index_t bytes) noexcept {
  const auto size = static_cast<std::size_t>(bytes);
  for (std::size_t i = 0; i < most_in_step; ++i) std::memcpy(to + i * size, value, size);
}

/// A fused elementwise pass as a list of block functions: how passes run that exist only at run
/// time. It works on blocks that stay in the first-level cache, and gives the bits that a pass has
/// which is compiled as a whole.
///
///     pass_program pass;
///     const int x = pass.read(element_kernels_of<float>);
///     pass.apply(exp_function, {&x, 1}, element::f32);
///     pass.write(element_kernels_of<float>);
///     pass.run({&block_of_x, 1}, block_of_y);
class pass_program {
 public:
  /// The most blocks that a pass reads.
  static constexpr std::size_t most_leaves = 8;

  /// A slot that holds what the next of the blocks to read has.
  int read(const element_kernels& elements) {
    leaves_.push_back({new_slot(size_of(computed_in(elements.type))), &elements});
    return leaves_.back().slot;
  }
  /// A slot that holds the same number throughout.
  template <class T>
  int number(T value) {
    static_assert(sizeof(T) <= sizeof(std::uint64_t));
    numbers_.push_back({new_slot(sizeof(T)), 0});
    std::memcpy(&numbers_.back().bits, &value, sizeof(T));
    return numbers_.back().slot;
  }
  /// A slot that holds what a function gives of others: elements of a type, as they are computed.
  int apply(block_function function, std::span<const int> operands, element result) {
    call next{
        function, {}, static_cast<int>(operands.size()), new_slot(size_of(computed_in(result)))};
    std::copy(operands.begin(), operands.end(), next.operands);
    calls_.push_back(next);
    return next.result;
  }
  /// Ends the pass: it gives what the last function gives.
  void write(const element_kernels& elements) {
    result_ = &elements;
    share_buffers();
    index_t bytes = 1;
    for (const slot& at : slots_) bytes = std::max(bytes, at.bytes);
    buffer_bytes_ = longest * bytes;
    // Few intermediate results leave room for longer blocks, of which fewer are begun.
    length_ = longest;
    while (length_ > shortest && shared_ * length_ * bytes > first_level) length_ /= 2;
    buffer_bytes_ = length_ * bytes;
  }

  /// Runs the pass. All blocks have the extents of `out`, stride 0 repeats; `out` is row-major
  /// without gaps, and may be one of the blocks that are read.
  void run(std::span<const const_any_block> blocks, const any_block& out) const {
    loop_nest<most_leaves> nest;
    for (int d = 0; d < out.rank(); ++d) {
      loop_nest<most_leaves>::loop loop{out.extents[d], {}};
      for (std::size_t k = 0; k < blocks.size(); ++k) loop.strides[k] = blocks[k].strides[d];
      nest.push(loop);
    }
    scratch at(*this);
    fill_numbers(at);
    for (index_t first = 0; first < nest.size(); first += length_)
      run_block(at, nest, blocks, first, std::min(length_, nest.size() - first), out);
  }

 private:
  /// How many elements a block has, and the bytes of intermediate results that stay in the cache.
  static constexpr index_t longest = 1024;
  static constexpr index_t shortest = 256;
  static constexpr index_t first_level = 16384;

  /// A value of the pass: the bytes of an element, and the buffer that holds it.
  struct slot {
    index_t bytes;
    int buffer = -1;
  };
  struct leaf {
    int slot;
    const element_kernels* elements;
  };
  struct constant {
    int slot;
    std::uint64_t bits;
  };
  struct call {
    block_function function;
    int operands[3];
    int count;
    int result;
  };

  /// Where the slots of a running pass are: in buffers of their own, or where a block is read in
  /// place; and whether they move on or hold one number. Made for each run, since the function of a
  /// program may run programs.
  class scratch {
   public:
    explicit scratch(const pass_program& pass) : pass_(pass) {
      const std::size_t bytes = static_cast<std::size_t>(pass.buffers_ * pass.buffer_bytes_);
      if (bytes > sizeof few_memory_) {
        more_memory_.resize(bytes);
        memory_ = more_memory_.data();
      }
      if (pass.slots_.size() > few_slots) {
        more_slots_.resize(pass.slots_.size());
        slots_ = more_slots_.data();
      }
    }
    scratch(const scratch&) = delete;
    scratch& operator=(const scratch&) = delete;

    [[nodiscard]] std::byte* own(int slot) const noexcept {
      return memory_ + pass_.slots_[static_cast<std::size_t>(slot)].buffer * pass_.buffer_bytes_;
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
    std::vector<std::byte> more_memory_;
    std::vector<place> more_slots_;
    std::byte* memory_ = few_memory_;
    place* slots_ = few_slots_;
  };

  int new_slot(index_t bytes) {
    slots_.push_back({bytes});
    return static_cast<int>(slots_.size()) - 1;
  }

  /// Gives every slot a buffer: what is read and numbers have one each; the result of a function
  /// takes that of an operand which nothing reads after it, or of another value that is not needed
  /// any more.
  void share_buffers() {
    std::vector<std::size_t> last_use(slots_.size(), 0);
    for (std::size_t i = 0; i < calls_.size(); ++i)
      for (int k = 0; k < calls_[i].count; ++k)
        last_use[static_cast<std::size_t>(calls_[i].operands[k])] = i;
    for (const leaf& here : leaves_)
      slots_[static_cast<std::size_t>(here.slot)].buffer = buffers_++;
    for (const constant& number : numbers_)
      slots_[static_cast<std::size_t>(number.slot)].buffer = buffers_++;
    const int own = buffers_;
    std::vector<int> free;
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      slot& result = slots_[static_cast<std::size_t>(calls_[i].result)];
      std::vector<int> ended;
      for (int k = 0; k < calls_[i].count; ++k) {
        const auto o = static_cast<std::size_t>(calls_[i].operands[k]);
        const int buffer = slots_[o].buffer;
        if (buffer < own || last_use[o] != i ||
            std::find(ended.begin(), ended.end(), buffer) != ended.end())
          continue;
        if (result.buffer < 0 && slots_[o].bytes == result.bytes)
          result.buffer = buffer;
        else if (buffer != result.buffer)
          ended.push_back(buffer);
      }
      if (result.buffer < 0 && !free.empty()) {
        result.buffer = free.back();
        free.pop_back();
      }
      if (result.buffer < 0) result.buffer = buffers_++;
      free.insert(free.end(), ended.begin(), ended.end());
    }
    shared_ = buffers_ - own;
  }

  void fill_numbers(scratch& at) const {
    for (const constant& number : numbers_) {
      std::byte* const to = at.own(number.slot);
      fill_step(to, &number.bits, slots_[static_cast<std::size_t>(number.slot)].bytes);
      at.point(number.slot, to, 0);
    }
  }

  void run_block(scratch& at, const loop_nest<most_leaves>& nest,
                 std::span<const const_any_block> blocks, index_t first, index_t n,
                 const any_block& out) const {
    const auto place = nest.at(first);
    const bool in_row = place.inner + n <= nest.inner_extent();
    for (std::size_t k = 0; k < blocks.size(); ++k)
      read_leaf(at, nest, blocks[k], k, place, in_row, first, n);
    const bool is_computed = result_->type == computed_in(result_->type);
    auto* const target = static_cast<std::byte*>(out.data) + first * size_of(result_->type);
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      const call& next = calls_[i];
      const void* from[3];
      index_t moves[3];
      for (int k = 0; k < next.count; ++k) {
        from[k] = at.from(next.operands[k]);
        moves[k] = at.move(next.operands[k]);
      }
      const bool last = i + 1 == calls_.size();
      void* const to = last && is_computed ? target : at.own(next.result);
      next.function(from, moves, to, n);
      at.point(next.result, to, 1);
    }
    if (!is_computed) result_->store(at.own(calls_.back().result), n, target);
  }

  void read_leaf(scratch& at, const loop_nest<most_leaves>& nest, const const_any_block& block,
                 std::size_t k, const loop_nest<most_leaves>::position& place, bool in_row,
                 index_t first, index_t n) const {
    const leaf& here = leaves_[k];
    const index_t bytes = size_of(here.elements->type);
    const auto* const data = static_cast<const std::byte*>(block.data);
    const index_t stride = nest.inner_stride(k);
    std::byte* const own = at.own(here.slot);
    if (in_row) {
      const std::byte* const start = data + place.offsets[k] * bytes;
      if (stride == 0) {
        here.elements->load(start, 0, index_t{most_in_step}, own);
        return at.point(here.slot, own, 0);
      }
      if (stride == 1 && here.elements->type == computed_in(here.elements->type))
        return at.point(here.slot, start, 1);
      here.elements->load(start, stride, n, own);
    } else {
      const index_t wide = size_of(computed_in(here.elements->type));
      for_each_piece(
          nest, first, n, [&](index_t done, const index_t(&offsets)[most_leaves], index_t run) {
            here.elements->load(data + offsets[k] * bytes, stride, run, own + done * wide);
          });
    }
    at.point(here.slot, own, 1);
  }

  std::vector<slot> slots_;
  std::vector<leaf> leaves_;
  std::vector<constant> numbers_;
  std::vector<call> calls_;
  const element_kernels* result_ = nullptr;
  int buffers_ = 0;
  int shared_ = 0;
  index_t length_ = longest;
  index_t buffer_bytes_ = 0;
};

}  // namespace shardwise
