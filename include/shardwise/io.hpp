// SPDX-License-Identifier: BSL-1.0
#pragma once

/// Tensors in files.

// First, so that the include stacks in errors are short.
// clang-format off
#include "shardwise/core/broken_rule.hpp"
// clang-format on
#include "shardwise/io/csv.hpp"
#include "shardwise/io/file.hpp"
#include "shardwise/io/file_array.hpp"
#include "shardwise/io/file_bytes.hpp"
#include "shardwise/io/load_array.hpp"
#include "shardwise/io/mapped_file.hpp"
#include "shardwise/io/metadata.hpp"
#include "shardwise/io/npy.hpp"
#include "shardwise/io/npy_header.hpp"
#include "shardwise/io/open_files.hpp"
#include "shardwise/io/program_json.hpp"
#include "shardwise/io/safetensors.hpp"
#include "shardwise/io/safetensors_directory.hpp"
#include "shardwise/io/safetensors_header.hpp"
#include "shardwise/io/safetensors_index.hpp"
#include "shardwise/io/stored_elements.hpp"
#include "shardwise/io/stored_part.hpp"
#include "shardwise/io/stored_tensors.hpp"
#include "shardwise/io/tensor_source.hpp"
#include "shardwise/io/unpack_options.hpp"
#include "shardwise/io/weight_names.hpp"
