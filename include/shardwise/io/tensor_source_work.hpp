// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/io/tensor_source.hpp"

namespace shardwise {

namespace internal {

/// Elements and extents as in errors: `f32`, and `4, 8`.
[[nodiscard]] inline std::string stored_words(element type) {
  const text_view name = to_text(type);
  return {name.data(), name.size()};
}
[[nodiscard]] inline std::string stored_words(const extents_desc& extents) {
  std::string out;
  for (index_t extent : extents)
    out += (out.empty() ? "" : ", ") + (extent == dyn ? "?" : std::to_string(extent));
  return out;
}

}  // namespace internal

SHARDWISE_INLINE_FILES const stored_tensor& tensor_source::find(std::string_view name, element type,
                                                                stored_elements elements) const& {
  const stored_tensor* const found = find(name);
  if (found == nullptr)
    internal::fail_file(violation::tensor_is_not_in_file, path(), "'" + std::string(name) + "'");
  if (!found->other_shape.empty())
    internal::fail_file(violation::stored_tensor_differs, path(),
                        "'" + std::string(name) + "' has " +
                            std::to_string(found->other_shape.size()) +
                            " dimensions, and a tensor has at most " + std::to_string(max_rank));
  if (!found->is_loadable())
    internal::fail_file(violation::stored_tensor_differs, path(),
                        "'" + std::string(name) + "' has elements of " + found->other_type +
                            ", which no tensor has, not " + internal::stored_words(type));
  if (found->type != type && elements == stored_elements::same)
    internal::fail_file(
        violation::stored_tensor_differs, path(),
        "'" + std::string(name) + "' has elements of " + internal::stored_words(found->type) +
            ", not " + internal::stored_words(type) + "; stored_elements::converted converts them");
  return *found;
}

SHARDWISE_INLINE_FILES void tensor_source::require_extents(const stored_tensor& stored,
                                                           const extents_desc& wanted) const {
  bool same = stored.extents.size() == wanted.size();
  for (int d = 0; same && d < wanted.ssize(); ++d)
    same = wanted[d] == dyn || wanted[d] == stored.extents[d];
  if (!same)
    internal::fail_file(violation::stored_tensor_differs, path(),
                        "'" + stored.name + "' is [" + internal::stored_words(stored.extents) +
                            "], not [" + internal::stored_words(wanted) + "]");
}

}  // namespace shardwise
