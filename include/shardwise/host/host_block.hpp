// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/error.hpp"
#include "shardwise/host/host.hpp"
#include "shardwise/kernel/element_kernels.hpp"
#include "shardwise/kernel/strided.hpp"
#include "shardwise/layout/tensor_desc.hpp"

#include <cstring>
#include <span>  // has the range concepts without the cost of <ranges>
#include <type_traits>
#include <vector>

namespace shardwise {

/// An Eigen matrix or vector, or a map or block of one, whose elements are in memory.
template <class B>
concept MatrixInMemory = requires(const B& b) {
  typename B::Scalar;
  requires B::IsRowMajor == 0 || B::IsRowMajor == 1;
  { b.data() } -> std::convertible_to<const typename B::Scalar*>;
  b.innerStride() + b.outerStride() + b.rows() + b.cols();
};

/// Row-major elements with extents: `local_shard`, `host_tensor`.
template <class B>
concept ShapedElements = !MatrixInMemory<B> && requires(const B& b) {
  { b.extents() } -> std::convertible_to<extents_desc>;
  b.elements().data();
};

/// A contiguous range of row-major elements: a vector, an array, a span.
template <class B>
concept RunOfElements =
    !MatrixInMemory<B> && !ShapedElements<B> && std::ranges::contiguous_range<const B>;

/// A block of host memory in one of these forms.
template <class B>
concept HostBlock = MatrixInMemory<B> || ShapedElements<B> || RunOfElements<B>;

/// A range of blocks of host memory; the range or its items own them.
template <class R>
concept HostBlocks = std::ranges::forward_range<const R> &&
    HostBlock<std::ranges::range_value_t<const R>> &&
    (std::is_lvalue_reference_v<std::ranges::range_reference_t<const R>> ||
     std::ranges::borrowed_range<std::ranges::range_value_t<const R>>);

namespace detail {

template <class B>
struct element_of_block {
  using type = std::remove_cvref_t<decltype(*std::declval<const B&>().data())>;
};
template <ShapedElements B>
struct element_of_block<B> {
  using type = std::remove_cvref_t<decltype(*std::declval<const B&>().elements().data())>;
};

/// A block in the form that kernels use. A range of elements has no extents until its tensor is
/// known.
template <class T>
struct host_block {
  strided<const T> view{};
  bool is_run = false;
  index_t count = 0;
};

/// Returns the view of a block for a tensor of this rank: a matrix with a single column or row may
/// have rank 1.
template <HostBlock B>
[[nodiscard]] auto block_of(const B& block, int rank) {
  host_block<typename element_of_block<B>::type> out;
  if constexpr (MatrixInMemory<B>) {
    const index_t inner = block.innerStride();
    const index_t outer = block.outerStride();
    const index_t rows = block.rows();
    const index_t columns = block.cols();
    out.view = {block.data(), {rows, columns}, {inner, outer}};
    if (B::IsRowMajor) out.view.strides = {outer, inner};
    if (rank == 1 && (rows == 1 || columns == 1)) {
      const int kept = columns == 1 ? 0 : 1;
      out.view.extents = {out.view.extents[kept]};
      out.view.strides = {out.view.strides[kept]};
    }
    out.count = rows * columns;
  } else if constexpr (ShapedElements<B>) {
    out.view = {block.elements().data(), block.extents(), row_major(block.extents())};
    out.count = out.view.size();
  } else {
    out.view.data = std::ranges::data(block);
    out.is_run = true;
    out.count = static_cast<index_t>(std::ranges::size(block));
  }
  return out;
}

/// The element type of the blocks in a range.
template <class R>
using element_of_blocks = typename element_of_block<std::ranges::range_value_t<const R>>::type;

/// Returns the views of all blocks.
template <HostBlocks R>
[[nodiscard]] auto blocks_of(const R& range, int rank) {
  std::vector<host_block<element_of_blocks<R>>> blocks;
  for (const auto& block : range) blocks.push_back(block_of(block, rank));
  return blocks;
}

/// Returns the extents of a range of `count` elements: those of `part`, one of which may be `dyn`;
/// it stays `dyn` if another one is 0.
[[nodiscard]] inline extents_desc shape_of_run(extents_desc part, index_t count, int number) {
  int unknown = -1;
  index_t others = 1;  // or any number above `count`
  for (int d = 0; d < part.ssize(); ++d)
    if (part[d] != dyn)
      others = part[d] == 0 || others <= count / part[d] ? others * part[d] : count + 1;
    else if (unknown < 0)
      unknown = d;
    else
      fail({.rule = violation::shard_extents_differ, .operand = number, .dim = d},
           "several sizes are dyn: give them after the blocks, or blocks that have extents");
  if (unknown >= 0 && others > 0) part[unknown] = count / others;
  return part;
}

/// Returns true if two blocks of the same extents have the same bits. Both are copied once.
template <class T>
[[nodiscard]] bool same_bits(const strided<const T>& a, const strided<const T>& b) {
  if (a.size() == 0) return true;
  const auto packed = [&](const strided<const T>& from) {
    host_elements<T> elements;
    make_elements<T>(elements, a.size());
    copy_elements(from, strided<T>{elements.data(), a.extents, row_major(a.extents)});
    return elements;
  };
  return std::memcmp(packed(a).data(), packed(b).data(),
                     static_cast<std::size_t>(a.size()) * sizeof(T)) == 0;
}

}  // namespace detail
}  // namespace shardwise
