// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/draw/ascii.hpp"
#include "shardwise/draw/visualize.hpp"
#include "shardwise/process/host_values.hpp"

#include <cstdlib>
#include <iostream>

#if __has_include(<unistd.h>)
#include <unistd.h>
#endif

namespace shardwise {

namespace detail {

/// Returns true unless another process of the program draws the same on the standard output.
inline bool is_drawn_here(const std::ostream& out) {
  return &out != &std::cout || process_index() == 0;
}

}  // namespace detail

SHARDWISE_INLINE picture_style style_for(const std::ostream& out) {
  picture_style style;
#if __has_include(<unistd.h>)
  const char* const refused = std::getenv("NO_COLOR");
  style.colour = &out == &std::cout && (refused == nullptr || *refused == '\0') && isatty(1) != 0;
#else
  (void)out;
#endif
  return style;
}

SHARDWISE_INLINE void visualize(std::ostream& out, const mesh_desc& mesh, const tensor_desc& tensor,
                                const picture_style& style) {
  if (detail::is_drawn_here(out)) write_picture(out, mesh, tensor, style);
}
SHARDWISE_INLINE void visualize(std::ostream& out, const mesh_desc& mesh, const tensor_desc& tensor,
                                std::size_t width) {
  if (detail::is_drawn_here(out)) write_picture(out, mesh, tensor, {.width = width});
}
SHARDWISE_INLINE void visualize(std::ostream& out, const mesh_desc& mesh, const layout_desc& layout,
                                const picture_style& style) {
  if (detail::is_drawn_here(out)) write_picture(out, mesh, layout, style);
}

}  // namespace shardwise
