// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/checkpoint/checkpoint_index.hpp"
#include "shardwise/io/safetensors.hpp"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace shardwise {

namespace detail {

/// A tensor that is to be saved, whose shards are held as they are.
struct held_tensor {
  std::string name{};
  node_ptr tensor{};
};

/// What is saved: tensors that are computed, the metadata, and what a manager knows. Holding it
/// keeps programs from overwriting the shards.
struct checkpoint_snapshot {
  std::vector<held_tensor> tensors{};
  std::map<std::string, std::string> metadata{};
  std::optional<managed_step> managed{};
};

/// Computes the tensors of a nest or a state, and holds them. Throws for those that have no values
/// to save: pending over several devices, or manual.
[[nodiscard]] checkpoint_snapshot hold_state(const const_state_view& state,
                                             std::map<std::string, std::string> metadata);

/// Writes a snapshot to a new folder: each process its own pieces, and the first one the index,
/// after all have written theirs.
void write_checkpoint(std::string folder, checkpoint_snapshot held);

}  // namespace detail

/// Saves every tensor of a nest or of a state, with metadata, as a checkpoint: a folder in which
/// each process writes the shards that its devices hold, one copy of replicas, with checksums. It
/// can be loaded with any layout, on any mesh, by any number of processes.
///
/// The folder must not exist. It is written as `FOLDER.unfinished`, and gets its name when it is
/// complete. All processes that share the mesh must call it; the failure of one is thrown in all of
/// them.
///
/// Throws `file_is_not_writable`, and what reading a tensor throws.
///
///     save_checkpoint("run/step-1000", model, {{"step", "1000"}});
template <class Nest>
void save_checkpoint(const std::string& folder, const Nest& nest,
                     const std::map<std::string, std::string>& metadata = {}) {
  internal::require_types_to_save(nest);
  detail::write_checkpoint(folder, detail::hold_state(state_dict(nest), metadata));
}

}  // namespace shardwise

#if !defined(SHARDWISE_COMPILED_FILES)
#include "shardwise/checkpoint/save_checkpoint_work.hpp"
#endif
