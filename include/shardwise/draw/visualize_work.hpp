// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/draw/ascii.hpp"
#include "shardwise/draw/visualize.hpp"

#include <cstdlib>
#include <iostream>

#if __has_include(<unistd.h>)
#include <unistd.h>
#endif

namespace shardwise {

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
  write_picture(out, mesh, tensor, style);
}
SHARDWISE_INLINE void visualize(std::ostream& out, const mesh_desc& mesh, const tensor_desc& tensor,
                                std::size_t width) {
  write_picture(out, mesh, tensor, {.width = width});
}
SHARDWISE_INLINE void visualize(std::ostream& out, const mesh_desc& mesh, const layout_desc& layout,
                                const picture_style& style) {
  write_picture(out, mesh, layout, style);
}

}  // namespace shardwise
