// SPDX-License-Identifier: BSL-1.0
// expect: a file stores the tensors of a nest or of a state, and this type has none
#include <shardwise/io.hpp>
#include <shardwise/shardwise.hpp>

void use() { shardwise::save_safetensors("model.safetensors", 3); }
