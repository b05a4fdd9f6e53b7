// SPDX-License-Identifier: BSL-1.0
// Which elements of an operand's block are those of a view.
#include <shardwise/paper.hpp>

using namespace shardwise;

namespace {

/// A contiguous block of 4 by 6 elements.
constexpr strided_elements block{0, {4, 6}, {6, 1}};

template <class Operation>
constexpr strided_elements view_of(const attributes& how, const extents_desc& made,
                                   const strided_elements& from = block) {
  layout_desc whole;
  whole.dims.resize(from.extents.size());
  const tensor_desc operand{element::f32, from.extents, whole};
  return Operation::view(how, Operation::rule(how, {operand}), from, made);
}

static_assert(view_of<transpose_operation>(integer_attributes(1, 0), {6, 4}) ==
              strided_elements{0, {6, 4}, {1, 6}});
static_assert(view_of<flip_operation>(integer_attributes(0, 1, 1), {4, 6}) ==
              strided_elements{23, {4, 6}, {-6, -1}});
static_assert(view_of<slice_operation>(slice_operation::how(1, 1, 6, 2), {4, 3}) ==
              strided_elements{1, {4, 3}, {6, 2}});
static_assert(view_of<slice_operation>(slice_operation::how(1, open_end, open_end, -1), {4, 6}) ==
              strided_elements{5, {4, 6}, {6, -1}});
static_assert(view_of<slice_operation>(slice_operation::how(0, 2, 3, 1, true), {6}) ==
              strided_elements{12, {6}, {1}});
static_assert(view_of<broadcast_to_operation>(integer_attributes(3, 4, 6), {3, 4, 6}) ==
              strided_elements{0, {3, 4, 6}, {0, 6, 1}});
static_assert(view_of<reshape_operation>(integer_attributes(2, 12), {2, 12}) ==
              strided_elements{0, {2, 12}, {12, 1}});
static_assert(view_of<unsqueeze_operation>(integer_attributes(1), {4, 1, 6}) ==
              strided_elements{0, {4, 1, 6}, {6, 0, 1}});
static_assert(view_of<squeeze_operation>(integer_attributes(0), {6}, {3, {1, 6}, {6, 1}}) ==
              strided_elements{3, {6}, {1}});
// Views of blocks without elements stay in their memory.
static_assert(view_of<flip_operation>(integer_attributes(0), {0, 6}, {0, {0, 6}, {6, 1}}).offset ==
              0);
static_assert(view_of<slice_operation>(slice_operation::how(1, 6, 6, 1), {4, 0}).offset == 0);

}  // namespace
