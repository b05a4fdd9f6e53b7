// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/draw/ascii.hpp"
#include "shardwise/tensor/shard_table.hpp"
#include "shardwise/tensor/shown_as.hpp"

#include <cstddef>
#include <iostream>

namespace shardwise {

/// Returns the style for a stream: coloured if it is the standard output, that is a terminal, and
/// the environment variable `NO_COLOR` is not set.
[[nodiscard]] picture_style style_for(const std::ostream& out);

/// Draws which device holds which part: the tensor in the library's notation, then a table of the
/// last two dimensions, one page for each part of the dimensions before them. A cell lists its
/// devices: `0 4` are replicas, `0+1` hold terms of a pending reduction, `0-63` are many.
///
/// If several processes run the program, only the first draws on the standard output.
void visualize(std::ostream& out, const mesh_desc& mesh, const tensor_desc& tensor,
               const picture_style& style);

/// Draws without colour; no line is longer than `width`, unless a single cell is.
void visualize(std::ostream& out, const mesh_desc& mesh, const tensor_desc& tensor,
               std::size_t width = 100);

/// Draws a layout without a tensor: the cells of a table of its blocks.
void visualize(std::ostream& out, const mesh_desc& mesh, const layout_desc& layout,
               const picture_style& style = {});

/// Draws a tensor or an expression without computing it.
template <Readable X>
void visualize(const X& x, std::ostream& out, const picture_style& style) {
  const shard_table& where = x.share()->where();
  visualize(out, where.mesh(), where.tensor(), style);
}
template <Readable X>
void visualize(const X& x, std::ostream& out = std::cout) {
  visualize(x, out, style_for(out));
}
/// Arguments that are not in a pool are an error; types are drawn without a pool, as below.
template <class X>
  requires(!Readable<X>)
void visualize(const X&) { (void)sizeof(typename internal::reading<"visualize", X>::type); }

/// Draws a tensor type whose sizes are all static, or a layout type, without a pool.
///
///     visualize<sharded_tensor<float, extents<8, 16>, layout<pod, P<"data", none>>>>();
///     visualize<layout<pod, P<"data", none>>>();
template <class X>
  requires internal::is_sharded_tensor<X>
void visualize(std::ostream& out, const picture_style& style) {
  static_assert(X::extents_type::dynamic_rank == 0, "a picture needs every size");
  constexpr detail::picture_subject shown =
      detail::picture_subject_of(static_cast<const X*>(nullptr));
  visualize(out, shown.mesh, shown.tensor, style);
}
template <class Layout>
  requires(!internal::is_sharded_tensor<Layout> && internal::LayoutType<Layout>)
void visualize(std::ostream& out, const picture_style& style) {
  visualize(out, Layout::mesh_type::value, Layout::value, style);
}
template <class X>
void visualize(std::ostream& out = std::cout) {
  static_assert(sizeof(X) > 0);  // reports errors here, with the shortest message
  visualize<X>(out, style_for(out));
}

}  // namespace shardwise

#if !defined(SHARDWISE_COMPILED)
#include "shardwise/draw/visualize_work.hpp"
#endif
