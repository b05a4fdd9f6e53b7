// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/index.hpp"

#include <string>

namespace shardwise {

/// Where packed data are put when they are unpacked.
struct unpack_options {
  /// The most bytes of memory; what needs more is unpacked into a temporary file. At least 64 KiB
  /// are used.
  index_t memory = 256_MiB;
  /// The folder of temporary files. If it is empty, it is that of the environment variable
  /// `TMPDIR`, or `/tmp`. A folder in memory, as `/tmp` is on some systems, saves none.
  std::string folder{};
};

}  // namespace shardwise
