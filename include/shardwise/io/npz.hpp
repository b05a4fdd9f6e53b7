// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/io/load_array.hpp"
#include "shardwise/io/npz_file.hpp"
#include "shardwise/io/npz_work.hpp"
#include "shardwise/io/safetensors.hpp"
#include "shardwise/nn/state_dict.hpp"

#include <string>

namespace shardwise {

/// Saves every tensor of a nest, named by its path (`layers.0.w`), to one NPZ file, which replaces
/// an existing file only when it is complete; a tensor alone is called `tensor`. A state can be
/// saved too; see `save_safetensors`, whose rules hold. Elements are stored as they are, or packed
/// by deflate where asked.
///
///     save_npz("model.npz", model);
///     save_npz("model.npz", model, zip_method::deflated);
template <class Nest>
void save_npz(const std::string& path, const Nest& nest, zip_method how = zip_method::stored) {
  internal::require_types_to_save(nest);
  if constexpr (internal::is_state<Nest>) internal::require_entries(nest.size());
  detail::write_npz(path, state_dict(nest), how);
}

}  // namespace shardwise
