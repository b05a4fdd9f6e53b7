// SPDX-License-Identifier: BSL-1.0
// A mesh as a text that is read as one.
#pragma once

#include "text_table.hpp"
#include <shardwise/mesh/mesh_desc.hpp>
#include <shardwise/notation/tile_assignment.hpp>

namespace tool {

/// `mesh(x=2, y=2)`, and with devices in another order than 0, 1, 2, ... `mesh(x=2, y=2)[3,1,2,0]`,
/// all of which are listed.
[[nodiscard]] inline std::string mesh_words(const mesh_desc& mesh,
                                            const std::vector<index_t>& devices) {
  std::string out;
  for (const axis_desc& axis : mesh.axes)
    out += (out.empty() ? "mesh(" : ", ") + str(text_view(axis.label)) + "=" +
           std::to_string(axis.size);
  out += out.empty() ? "mesh()" : ")";
  return is_plain(devices) ? out : out + "[" + joined(devices, ",") + "]";
}

}  // namespace tool
