// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/io/file.hpp"
#include "shardwise/io/npy.hpp"
#include "shardwise/process/owner_link.hpp"

namespace shardwise::detail {

SHARDWISE_INLINE_FILES void write_npy(const std::string& path, element type,
                                      const extents_desc& extents,
                                      std::span<const std::byte> elements) {
  const std::string header = write_npy_header(type, extents);
  output_file file(path);
  file.write(std::as_bytes(std::span(header)));
  file.write(elements);
  file.commit();
}

SHARDWISE_INLINE_FILES void write_npy(const std::string& path, const const_state_entry& tensor) {
  // Other owners of the mesh gather the tensor with this one, and are told if it fails.
  internal::run_for_owners(tensor.share()->home()->link(), [&] {
    write_npy(path, tensor.tensor().type, tensor.tensor().extents, tensor.bytes());
  });
}

}  // namespace shardwise::detail
