// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/checkpoint/checkpoint_files.hpp"
#include "shardwise/checkpoint/checkpoint_index.hpp"
#include "shardwise/io/metadata.hpp"
#include "shardwise/io/safetensors.hpp"

#include <atomic>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace shardwise {

/// What a process has read of a checkpoint.
struct checkpoint_traffic {
  index_t bytes = 0;
  index_t chunks = 0;
};

/// A checkpoint that is open for reading: its index and the lists of its pieces have been read and
/// checked; elements are read on request, and compared with their checksums.
///
///     const checkpoint saved("run/step-1000");
///     saved.load(model);
///     const auto step = metadata_number<index_t>(saved.metadata(), "step");
class checkpoint {
 public:
  /// Opens a checkpoint; no file of tensors is opened before its elements are read. Throws
  /// `file_is_not_readable` if it has no index, or files are absent, and `file_is_malformed` if a
  /// list has another checksum than the index says, or its pieces do not make up their tensors.
  explicit checkpoint(std::string folder);

  [[nodiscard]] const std::string& folder() const noexcept { return folder_; }
  [[nodiscard]] const std::map<std::string, std::string>& metadata() const noexcept {
    return index_.metadata;
  }
  /// Returns the step and the metric, if a manager has saved it.
  [[nodiscard]] const std::optional<managed_step>& managed() const noexcept {
    return index_.managed;
  }
  /// Returns the tensors by name, with their pieces in all files.
  [[nodiscard]] const std::map<std::string, checkpoint_tensor>& tensors() const noexcept {
    return tensors_;
  }

  /// Assigns to every tensor of a nest or of a state the values that were saved under its path.
  /// Each keeps its extents, layout and pool. Each process reads only the chunks of 1 MiB that hold
  /// elements of its devices, each once.
  ///
  /// Elements of another type are converted only if that is requested.
  ///
  /// Throws `tensor_is_not_in_file`, `stored_tensor_differs`, or `state_names_differ` if the
  /// checkpoint has others besides, unless only the `common` names are requested; these are checked
  /// before the first is read. Throws `file_is_malformed` with the file, the tensor and the bytes
  /// whose checksum differs; the tensors read so far keep their new values.
  template <class Nest>
    requires(!internal::is_state<Nest>)
  state_difference load(Nest& nest, state_names names = state_names::all,
                        stored_elements elements = stored_elements::same)
  const {
    internal::require_tensors(nest);
    if constexpr (internal::is_variable<Nest>())
      return load_state(state_dict(nest), names, elements, true);
    else
      return {};
  }
  /// The same for a state, such as a part of a nest; the checkpoint may have others.
  ///
  ///     saved.load(state_dict(model).matching("encoder.*"));
  void load(const state_view& state, stored_elements elements = stored_elements::same) const {
    internal::require_entries(state.size());
    (void)load_state(state, state_names::all, elements, false);
  }

  /// Compares everything with its checksums, and returns what differs, or is absent: a line each,
  /// empty if all is as it was written.
  [[nodiscard]] std::vector<std::string> verify() const;

  /// Returns what this object has read of elements.
  [[nodiscard]] checkpoint_traffic traffic() const noexcept {
    return {bytes_.load(std::memory_order_relaxed), chunks_.load(std::memory_order_relaxed)};
  }

 private:
  /// Where a piece of a tensor is: the file, and the place of its first byte.
  struct place {
    std::size_t file = 0;
    index_t begin = 0;
  };
  struct part_file {
    std::string path;
    index_t header = 0;  ///< bytes before those of tensors
    std::uint64_t header_checksum = 0;
  };

  state_difference load_state(const state_view& state, state_names names, stored_elements elements,
                              bool is_whole) const;
  [[nodiscard]] node_ptr load_tensor(const state_entry& entry, const std::string& name) const;
  /// Reads a chunk of a piece into memory, and compares its checksum. Returns what is wrong, or
  /// nothing.
  [[nodiscard]] std::string read_chunk(const internal::placed_file& file, const std::string& name,
                                       const checkpoint_tensor& tensor, std::size_t piece,
                                       std::size_t chunk, std::span<std::byte> to) const;
  [[nodiscard]] index_t bytes_of_chunk(const checkpoint_tensor& tensor, std::size_t piece,
                                       std::size_t chunk) const noexcept;

  std::string folder_;
  checkpoint_index index_;
  std::vector<part_file> files_;
  std::map<std::string, checkpoint_tensor> tensors_;
  /// By tensor, the places of its pieces.
  std::map<std::string, std::vector<place>> places_;
  mutable std::atomic<index_t> bytes_{0}, chunks_{0};
};

}  // namespace shardwise

#if !defined(SHARDWISE_COMPILED_FILES)
#include "shardwise/checkpoint/checkpoint_work.hpp"
#endif
