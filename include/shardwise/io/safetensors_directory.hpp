// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/io/open_files.hpp"
#include "shardwise/io/safetensors.hpp"
#include "shardwise/io/safetensors_index.hpp"

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace shardwise {

/// How a directory is read: the name of its index, and how many of its files are open at once.
struct directory_options {
  std::string index = std::string(index_name);
  int open_files = 64;
};

/// A directory of safetensors files, the *shards*, with an index that says which of them has each
/// tensor, as the weights of large models are published. It is read like one file: each tensor is
/// found by its name, and every device reads its own part.
///
/// `header()` lists the tensors that the index names, shard by shard in the order of their names,
/// with offsets as if the shards stood one after another, and the metadata of the index.
///
///     const safetensors_directory weights("Llama-3.1-8B");
///     load_safetensors(weights, model);
class safetensors_directory : public tensor_source {
 public:
  /// Opens a directory, and reads its index and the headers of all shards. Throws
  /// `file_is_not_readable` if shards are absent, `tensor_is_not_in_file` if shards lack tensors
  /// that the index says they have, in both cases with all of them, and `file_is_malformed` for an
  /// index or a shard that is none, and for an index that names files elsewhere.
  explicit safetensors_directory(std::string folder, const directory_options& how = {});

  /// Returns the number of shards.
  [[nodiscard]] std::size_t shards() const noexcept { return starts_.size(); }

  void read(const stored_tensor& stored, index_t place, std::span<std::byte> to) const override;

 private:
  /// The shard as a whole: where its tensors begin among those of all, and in its file.
  struct shard_start {
    index_t begin = 0, first = 0;
  };

  open_files files_;
  std::vector<shard_start> starts_;
};

/// The largest shard of a directory, in bytes of tensors; a single tensor may be larger.
struct shard_files {
  index_t most_bytes = 5'000'000'000;
};

namespace detail {
void write_directory(const std::string& folder, const const_state_view& state, shard_files size,
                     const std::map<std::string, std::string>& metadata);
}  // namespace detail

/// Saves every tensor of a nest, or of a state, to a directory of safetensors files with an index,
/// which has the metadata. The directory is created if it does not exist.
///
/// What a directory has is replaced at once, when its new index is written, after all shards: these
/// have other names than those before, `model-00001-of-00003.safetensors` or, if the index names
/// such files already, `model-2-00001-of-00003.safetensors`. The shards of the old index are
/// removed afterwards. If saving fails, the directory can be read as before.
///
/// Everything else is as with one file: see `save_safetensors(path, nest)`.
///
///     save_safetensors("checkpoint", model, shard_files{2'000'000'000}, {{"step", "1000"}});
template <class Nest>
void save_safetensors(const std::string& folder, const Nest& nest, shard_files size,
                      const std::map<std::string, std::string>& metadata = {}) {
  internal::require_types_to_save(nest);
  if constexpr (internal::is_state<Nest>) internal::require_entries(nest.size());
  detail::write_directory(folder, state_dict(nest), size, metadata);
}

}  // namespace shardwise

#if !defined(SHARDWISE_COMPILED_FILES)
#include "shardwise/io/safetensors_directory_work.hpp"
#endif
