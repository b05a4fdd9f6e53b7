// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/kernel/loop_nest.hpp"
#include "shardwise/kernel/pass_program.hpp"
#include "shardwise/kernel/repeated_rows.hpp"

#include <algorithm>
#include <cstddef>

namespace shardwise {

SHARDWISE_INLINE int pass_program::read(const element_kernels& elements) {
  leaves_.push_back({order_.read(size_of(computed_in(elements.type))), &elements});
  return leaves_.back().slot;
}

SHARDWISE_INLINE int pass_program::apply(const block_function& function,
                                         std::span<const int> operands, element result) {
  last_ = order_.apply(function, operands, size_of(computed_in(result)));
  rounded_ = operands[0];
  stored_as_ = function.stored_as;
  return last_;
}

SHARDWISE_INLINE int pass_program::calls(const block_function& function) const noexcept {
  return order_.calls(function);
}

SHARDWISE_INLINE void pass_program::write(const element_kernels& elements) {
  result_ = &elements;
  if (stored_as_ == elements.type) last_ = rounded_;
  order_.close(last_);
  index_t bytes = 1;
  for (const pass_order::value& at : order_.values()) bytes = std::max(bytes, at.bytes);
  // With few intermediate results blocks can be longer, which reduces their number.
  length_ = longest;
  while (length_ > shortest && order_.shared_buffers() * length_ * bytes > first_level)
    length_ /= 2;
  buffer_bytes_ = length_ * bytes;
}

SHARDWISE_INLINE void pass_program::run(std::span<const const_any_block> blocks,
                                        const any_block& out) const {
  const unsigned in_order = blocks_in_order(blocks, out);
  loop_nest<most_leaves> nest;
  if (in_order == (1U << blocks.size()) - 1) {
    // The result of merging the loops of all dimensions, without examining each of them.
    loop_nest<most_leaves>::loop all{out.size(), {}};
    std::fill_n(all.strides, blocks.size(), index_t{1});
    nest.push(all);
  } else {
    for (int d = 0; d < out.rank(); ++d) {
      loop_nest<most_leaves>::loop loop{out.extents[d], {}};
      for (std::size_t k = 0; k < blocks.size(); ++k) loop.strides[k] = blocks[k].strides[d];
      nest.push(loop);
    }
  }
  if (nest.size() == 0) return;
  scratch at(*this);
  fill_numbers(at);
  const bool in_rows = reads_rows(nest, blocks.size(), in_order);
  if (is_one_step() && (in_rows || nest.rank() <= 1)) return run_rows(at, nest, blocks, out);
  if (!in_rows) {
    for (index_t done = 0; done < nest.size(); done += length_)
      run_block(at, nest, blocks, in_order, nest.at(done), done,
                std::min(length_, nest.size() - done), out);
    return;
  }
  const index_t row = nest.inner_extent();
  auto place = nest.at(0);
  for (index_t begin = 0; begin < nest.size(); begin += row) {
    while (place.inner < row) {
      const index_t n = std::min(length_, row - place.inner);
      run_block(at, nest, blocks, in_order, place, begin + place.inner, n, out);
      place.inner += n;
      for (std::size_t k = 0; k < blocks.size(); ++k) place.offsets[k] += n * nest.inner_stride(k);
    }
    place.along[nest.rank() - 1] = row;
    nest.next_row(place);
  }
}

SHARDWISE_INLINE unsigned pass_program::blocks_in_order(std::span<const const_any_block> blocks,
                                                        const any_block& out) noexcept {
  unsigned all = (1U << blocks.size()) - 1;
  index_t step = 1;
  for (int d = out.rank() - 1; d >= 0; --d) {
    if (out.extents[d] == 1) continue;
    for (std::size_t k = 0; k < blocks.size(); ++k)
      if (blocks[k].strides[d] != step) all &= ~(1U << k);
    step *= out.extents[d];
  }
  return all;
}

SHARDWISE_INLINE bool pass_program::reads_rows(const loop_nest<most_leaves>& nest,
                                               std::size_t count,
                                               unsigned in_order) const noexcept {
  if (nest.rank() < 2 || nest.inner_extent() < shortest_row) return false;
  // What is made for each row takes as long as many elements: the numbers that it repeats, the
  // calls of several steps, and the remainder of a chain.
  bool is_row_cheap = is_one_step() && !order_.steps()[0].is_chain;
  bool has_rows = false;
  for (std::size_t k = 0; k < count; ++k) {
    is_row_cheap = is_row_cheap && nest.inner_stride(k) != 0;
    const bool is_one_row = nest.rank() == 2 && nest.inner_stride(k) == 1 && nest.stride(0, k) == 0;
    has_rows = has_rows || ((in_order >> k & 1U) == 0 && !is_one_row);
  }
  return has_rows && (is_row_cheap || nest.inner_extent() >= long_row);
}

SHARDWISE_INLINE bool pass_program::is_one_step() const noexcept {
  return order_.steps().size() == 1 && order_.steps()[0].result == last_ &&
         result_->type == computed_in(result_->type);
}

SHARDWISE_INLINE void pass_program::fill_numbers(scratch& at) const {
  for (const pass_order::constant& number : order_.numbers()) {
    std::byte* const to = at.buffer(number.slot);
    fill_step(to, &number.bits, order_.values()[static_cast<std::size_t>(number.slot)].bytes);
    at.point(number.slot, to, 0);
  }
}

SHARDWISE_INLINE void pass_program::run_rows(scratch& at, const loop_nest<most_leaves>& nest,
                                             std::span<const const_any_block> blocks,
                                             const any_block& out) const {
  // A block that is read: the start of its next row, and how far elements and rows are apart. Its
  // elements are loaded into a buffer, unless the step reads them where they are.
  struct reader {
    const std::byte* row;
    index_t stride, bytes, row_bytes;
    const element_kernels* elements;
    std::byte* buffer;

    void load(index_t first, index_t n) const {
      elements->load(row + first * bytes, stride, n, buffer);
    }
  };
  reader readers[most_leaves];
  const std::size_t count = blocks.size();
  bool loads = false, repeats = false, all_rows = true;
  for (std::size_t k = 0; k < count; ++k) {
    const auto [slot, elements] = leaves_[k];
    const index_t bytes = size_of(elements->type), stride = nest.inner_stride(k);
    const bool is_as_computed = elements->type == computed_in(elements->type);
    const bool is_in_place = stride == 1 && is_as_computed;
    std::byte* const buffer = is_in_place ? nullptr : at.buffer(slot);
    readers[k] = {nullptr, stride, stride * bytes, nest.row_stride(k) * bytes, elements, buffer};
    at.point(slot, is_in_place ? blocks[k].data : buffer, stride == 0 ? 0 : 1);
    repeats = repeats || stride == 0;
    loads = loads || (stride != 0 && !is_in_place);
    all_rows = all_rows && is_as_computed && (stride == 1 || stride == -1);
  }
  auto* target = static_cast<std::byte*>(out.data);
  at.write(last_, target);
  step_call call = prepare(at, order_.steps()[0]);
  // The operands that are read where they are, with their blocks.
  struct row_operand {
    std::size_t operand, block;
  };
  row_operand placed[most_chain_links];
  std::size_t places = 0;
  all_rows = all_rows && call.runs_rows();
  const std::span<const pass_order::operand> operands = order_.operands(order_.steps()[0]);
  for (std::size_t o = 0; o < operands.size(); ++o)
    for (std::size_t k = 0; k < count; ++k)
      if (leaves_[k].slot == operands[o].slot && (all_rows || readers[k].buffer == nullptr))
        placed[places++] = {o, k};
  index_t apart[pass_order::most_operands]{};
  for (const auto [operand, block] : std::span(placed, all_rows ? places : 0)) {
    apart[operand] = nest.row_stride(block);
    if (readers[block].stride < 0) call.reverse(operand);
  }
  const index_t row = nest.inner_extent(), piece = loads ? length_ : row;
  const index_t bytes = size_of(result_->type);
  for_rows_side_by_side(nest, [&](const index_t(&offsets)[most_leaves], index_t rows) {
    for (std::size_t k = 0; k < count; ++k)
      readers[k].row = static_cast<const std::byte*>(blocks[k].data) +
                       offsets[k] * size_of(leaves_[k].elements->type);
    if (all_rows) {
      for (const auto [operand, block] : std::span(placed, places))
        call.place(operand, readers[block].row);
      call.run_rows(target, row, rows, apart);
      target += rows * row * bytes;
      return;
    }
    for (; rows > 0; --rows) {
      for (std::size_t k = 0; repeats && k < count; ++k)
        if (readers[k].stride == 0) readers[k].load(0, index_t{most_in_step});
      for (index_t done = 0; done < row; done += piece) {
        const index_t n = std::min(piece, row - done);
        for (std::size_t k = 0; loads && k < count; ++k)
          if (readers[k].stride != 0 && readers[k].buffer != nullptr) readers[k].load(done, n);
        for (const auto [operand, block] : std::span(placed, places))
          call.place(operand, readers[block].row + done * readers[block].bytes);
        call.run(target, n);
        target += n * bytes;
      }
      for (std::size_t k = 0; k < count; ++k) readers[k].row += readers[k].row_bytes;
    }
  });
}

SHARDWISE_INLINE void pass_program::run_block(scratch& at, const loop_nest<most_leaves>& nest,
                                              std::span<const const_any_block> blocks,
                                              unsigned in_order,
                                              const loop_nest<most_leaves>::position& place,
                                              index_t first, index_t n,
                                              const any_block& out) const {
  const bool in_row = place.inner + n <= nest.inner_extent();
  auto* const target = static_cast<std::byte*>(out.data) + first * size_of(result_->type);
  if (result_->type == computed_in(result_->type)) at.write(last_, target);
  for (std::size_t k = 0; k < blocks.size(); ++k)
    if ((in_order >> k & 1U) != 0)
      read_in_order(at, blocks[k], k, first, n);
    else
      read_leaf(at, nest, blocks[k], k, place, in_row, first, n);
  for (const pass_order::step& next : order_.steps()) {
    void* const to = at.own(next.result);
    run_step(at, next, to, n);
    at.point(next.result, to, 1);
  }
  if (at.from(last_) != target) store(at, last_, n, target);
}

SHARDWISE_INLINE void pass_program::store(const scratch& at, int slot, index_t n,
                                          std::byte* target) const {
  if (at.move(slot) != 0) return result_->store(at.from(slot), n, target);
  // A single number, of which there is a step.
  constexpr auto filled = static_cast<index_t>(most_in_step);
  for (index_t done = 0; done < n; done += filled)
    result_->store(at.from(slot), std::min(filled, n - done),
                   target + done * size_of(result_->type));
}

SHARDWISE_INLINE void pass_program::run_step(scratch& at, const pass_order::step& next, void* to,
                                             index_t n) const {
  prepare(at, next).run(to, n);
}

SHARDWISE_INLINE step_call pass_program::prepare(scratch& at, const pass_order::step& next) const {
  step_call out(next);
  for (const auto [slot, link] : order_.operands(next)) {
    if (next.is_chain && link == chain_link::keep)
      at.point(slot, at.own(slot),
               order_.values()[static_cast<std::size_t>(slot)].is_local ? 0 : 1);
    if (slot < 0)
      out.add(link, nullptr, 0);
    else
      out.add(link, at.from(slot), at.move(slot));
  }
  return out;
}

SHARDWISE_INLINE void pass_program::read_in_order(scratch& at, const const_any_block& block,
                                                  std::size_t k, index_t first, index_t n) const {
  const leaf& here = leaves_[k];
  const element type = here.elements->type;
  const std::byte* const start = static_cast<const std::byte*>(block.data) + first * size_of(type);
  if (type == computed_in(type)) return at.point(here.slot, start, 1);
  std::byte* const own = at.own(here.slot);
  here.elements->load(start, 1, n, own);
  at.point(here.slot, own, 1);
}

SHARDWISE_INLINE void pass_program::read_leaf(scratch& at, const loop_nest<most_leaves>& nest,
                                              const const_any_block& block, std::size_t k,
                                              const loop_nest<most_leaves>::position& place,
                                              bool in_row, index_t first, index_t n) const {
  const leaf& here = leaves_[k];
  const index_t bytes = size_of(here.elements->type);
  const auto* const data = static_cast<const std::byte*>(block.data);
  const index_t stride = nest.inner_stride(k);
  std::byte* const own = at.own(here.slot);
  if (in_row) {
    const std::byte* const start = data + place.offsets[k] * bytes;
    if (stride == 0) {
      std::byte* const step = at.buffer(here.slot);
      here.elements->load(start, 0, index_t{most_in_step}, step);
      return at.point(here.slot, step, 0);
    }
    if (stride == 1 && here.elements->type == computed_in(here.elements->type))
      return at.point(here.slot, start, 1);
    here.elements->load(start, stride, n, own);
  } else if (nest.rank() == 2 && stride == 1 && nest.stride(0, k) == 0) {
    detail::repeat_row(*here.elements, data, {nest.inner_extent(), place.inner, n}, own);
  } else if (nest.rank() == 2 && stride == 0) {
    const index_t step = nest.stride(0, k);
    detail::repeat_elements<longest>(*here.elements, data + place.along[0] * step * bytes, step,
                                     {nest.inner_extent(), place.inner, n}, own);
  } else {
    const index_t wide = size_of(computed_in(here.elements->type));
    for_each_piece(nest, first, n,
                   [&](index_t done, const index_t(&offsets)[most_leaves], index_t run) {
                     here.elements->load(data + offsets[k] * bytes, stride, run, own + done * wide);
                   });
  }
  at.point(here.slot, own, 1);
}

}  // namespace shardwise
