// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/host/factories.hpp"
#include "shardwise/io/tensor_source.hpp"

#include <optional>

namespace shardwise {

/// How a tensor is stored: in its own order of dimensions, or as a matrix whose rows become
/// columns, as PyTorch stores the weights of a linear module.
enum class stored_form : std::uint8_t { same, transposed };

namespace detail {

/// Where the elements of a tensor are in a stored one that has as many. Stored dimensions may be
/// split into several, and dimensions of size 1 may be added or left out: `[32 * 128, 4096]`,
/// transposed, is `[4096, 32, 128]`.
struct stored_view {
  const stored_tensor* stored = nullptr;
  extents_desc extents{};  ///< of the tensor
  /// The number of its first dimensions that are the columns of the stored matrix, which is
  /// transposed; 0 if it is not. A matrix of one column is not transposed, since this changes
  /// nothing.
  int columns = 0;
};

/// Returns the view of a stored tensor for a tensor of other extents, or nothing if its dimensions
/// cannot be split into those.
[[nodiscard]] std::optional<stored_view> view_stored(const stored_tensor& stored,
                                                     const extents_desc& extents, stored_form form);

/// Fills a part of a tensor from a source. Elements of another type are converted. Memory is
/// allocated for at most `most_buffered` bytes of elements at once, or one row.
void read_part(const tensor_source& source, const stored_view& view, const held_box& part,
               const any_block& block);

/// The bytes that are read at once where elements are converted or transposed.
inline constexpr index_t most_buffered = index_t{1} << 20;

}  // namespace detail

}  // namespace shardwise

#if !defined(SHARDWISE_COMPILED_FILES)
#include "shardwise/io/stored_part_work.hpp"
#endif
