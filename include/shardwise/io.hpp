// SPDX-License-Identifier: BSL-1.0
#pragma once

/// Tensors in files.

#include "shardwise/io/file.hpp"
#include "shardwise/io/safetensors.hpp"
#include "shardwise/io/safetensors_header.hpp"
