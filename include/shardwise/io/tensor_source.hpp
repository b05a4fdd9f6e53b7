// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/io/file.hpp"
#include "shardwise/io/safetensors_header.hpp"
#include "shardwise/io/stored_elements.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace shardwise {

/// Stored tensors that are found by name, and read on request, each device's part separately: a
/// `safetensors_file`, or a `safetensors_directory`. Several threads may read at the same time.
class tensor_source {
 public:
  virtual ~tensor_source() = default;

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] const safetensors_header& header() const& noexcept { return header_; }
  /// A value, since a loop over the tensors of `safetensors_file(path).header()` outlives the file.
  [[nodiscard]] safetensors_header header() const&& { return header_; }

  /// Returns the tensor of this name, or null.
  [[nodiscard]] const stored_tensor* find(std::string_view name) const& noexcept {
    return header_.find(name);
  }
  const stored_tensor* find(std::string_view name) const&& =
      delete;  // it would not outlive the source
  /// Returns the tensor of this name with elements of `type`, or with others that are converted to
  /// them. Throws `tensor_is_not_in_file` or `stored_tensor_differs`.
  [[nodiscard]] const stored_tensor& find(std::string_view name, element type,
                                          stored_elements elements = stored_elements::same) const&;
  /// Checks that a tensor has these extents, where `dyn` matches any.
  void require_extents(const stored_tensor& stored, const extents_desc& wanted) const;
  /// Reads contiguous elements of a tensor, whose bytes begin at offset `place` of all its bytes.
  virtual void read(const stored_tensor& stored, index_t place, std::span<std::byte> to) const = 0;

 protected:
  explicit tensor_source(std::string path) : path_(std::move(path)) {}
  tensor_source(const tensor_source&) = default;
  tensor_source(tensor_source&&) = default;
  tensor_source& operator=(const tensor_source&) = default;
  tensor_source& operator=(tensor_source&&) = default;

  void set_header(safetensors_header header) { header_ = std::move(header); }

 private:
  std::string path_;
  safetensors_header header_;
};

}  // namespace shardwise

#if !defined(SHARDWISE_COMPILED_FILES)
#include "shardwise/io/tensor_source_work.hpp"
#endif
