// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/convolution_kernel.hpp"
#include "shardwise/kernel/window_sums.hpp"
#include "shardwise/operation/stencil.hpp"

namespace shardwise {

/// Computes the weighted sums of neighbours, block by block of the spatial dimensions.
template <>
struct kernel_of<stencil_operation> {
  static constexpr bool widens_halves = true;
  static constexpr bool widens_bytes = true;

  template <class C>
  static void run(const kernel_call& call) {
    on_blocks<C, 2>(call, [&](const strided<const C>& grid, const strided<const C>& weights,
                              const strided<C>& to) {
      if (to.size() == 0) return;
      scratch_array<C> grid_memory, weights_memory;
      const C* from = detail::without_gaps(grid, grid_memory);
      const C* const each = detail::without_gaps(weights, weights_memory);
      const extents_desc sizes = weights.extents;
      const auto walk = detail::walk_windows(
          row_major(grid.extents), call.parts[0], call.made, sizes.ssize(),
          [&](int d) { return stencil_operation::numbers_at(call.how, sizes, d); },
          [&](int d) { return sizes[d]; });
      const index_t read = walk.have[0] * walk.have[1] * walk.have[2];
      detail::window_sums<C> sums(walk);
      C* out = to.data;
      for (index_t n = to.size() / walk.positions(); n > 0; --n) {
        sums.run(each, from, out);
        from += read;
        out += walk.positions();
      }
    });
  }
};

/// Multiplies the elements that windows read by the cotangents, as for the weights of a
/// convolution, and adds the products of all blocks.
template <>
struct kernel_of<stencil_weights_operation> {
  static constexpr bool widens_halves = true;
  static constexpr bool widens_bytes = true;

  template <class C>
  static void run(const kernel_call& call) {
    on_blocks<C, 2>(call, [&](const strided<const C>& grid, const strided<const C>& cotangents,
                              const strided<C>& to) {
      fill_block<C>(C{0}, to);
      if (to.size() == 0 || grid.size() == 0 || cotangents.size() == 0) return;
      scratch_array<C> grid_memory, memory;
      const C* from = detail::without_gaps(grid, grid_memory);
      const C* given = detail::without_gaps(cotangents, memory);
      const int dimensions = stencil_weights_operation::dimensions(call.how);
      const auto walk = detail::walk_windows(
          row_major(grid.extents), call.parts[0], call.parts[1], dimensions,
          [&](int d) { return stencil_weights_operation::numbers_at(call.how, d).first; },
          [&](int d) { return to.extents[d]; });
      const index_t read = walk.have[0] * walk.have[1] * walk.have[2];
      const index_t positions = walk.positions(), elements = walk.elements();
      const auto terms = make_scratch<C>(static_cast<std::size_t>(elements));
      detail::window_panel<C> panel(walk, 1);
      for (index_t n = cotangents.size() / positions; n > 0; --n) {
        panel.for_each_block(from, 0, [&](index_t first, const matrix_view<const C>& reads) {
          multiply_matrices<C>({given + first, 1, reads.columns, positions, 1}, reads.transposed(),
                               {terms.get(), 1, elements, elements, 1});
          for (index_t k = 0; k < elements; ++k)
            to.data[k] = static_cast<C>(to.data[k] + terms[static_cast<std::size_t>(k)]);
        });
        from += read;
        given += positions;
      }
    });
  }
};

}  // namespace shardwise
