// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/nn/state_entry.hpp"

namespace shardwise {

namespace internal {

SHARDWISE_INLINE std::string state_name(std::string_view prefix, const leaf_path& path) {
  if (path.size() >= 120)
    fail({.rule = violation::stored_tensor_differs},
         "the path of a tensor must have fewer than 120 characters");
  std::string name(prefix);
  if (!name.empty() && !path.empty()) name += '.';
  return name.append(path.data(), path.size());
}

SHARDWISE_INLINE std::vector<std::byte> gathered_bytes(tensor_node& owner) {
  require_readable(owner);
  const tensor_desc& tensor = owner.tensor();
  const index_t count = element_count(tensor.extents), width = size_of(tensor.type);
  std::vector<std::byte> whole;
  with_memory_for(count, width, [&] { whole.resize(static_cast<std::size_t>(count * width)); });
  gather_into(owner, whole.data());
  return whole;
}

SHARDWISE_INLINE void fail_elements(const std::string& name, element have, element want) {
  fail({.rule = violation::stored_tensor_differs},
       message_text() << "'" << name << "' has elements of " << to_text(have) << ", not "
                      << to_text(want));
}

}  // namespace internal

namespace detail {

/// Returns elements and extents as in errors: `f32[4, 8]`.
[[nodiscard]] inline message_text elements_and_extents(const tensor_desc& tensor) {
  message_text out;
  out << to_text(tensor.type) << '[';
  for (int d = 0; d < tensor.extents.ssize(); ++d) out << (d == 0 ? "" : ", ") << tensor.extents[d];
  return out << ']';
}

}  // namespace detail

SHARDWISE_INLINE node_ptr state_entry::value_of(const const_state_entry& from) const {
  node_ptr source = from.share();
  const node_ptr own = share();
  const tensor_desc &have = source->tensor(), &want = own->tensor();
  if (have.type != want.type || have.extents != want.extents) {
    message_text apart;
    apart << "'" << name() << "' is " << detail::elements_and_extents(want) << ", not "
          << detail::elements_and_extents(have);
    fail({.rule = violation::stored_tensor_differs}, apart);
  }
  if (source->home() == own->home()) {
    source->name();
    if (have.layout == want.layout) return source;
    require(check_reshard(own->where().mesh(), have.layout, want.layout), name());
    return reshard_node_of(source, want.layout);
  }
  const std::vector<std::byte> whole = internal::gathered_bytes(*source);
  const const_any_block host{whole.data(), have.type, have.extents, row_major(have.extents)};
  return filled([&](const held_box& part, const any_block& block) {
    internal::copy_any_part(host, part, block, own->elements());
  });
}

SHARDWISE_INLINE node_ptr
state_entry::filled(function_view<void(const held_box&, const any_block&)> fill) const {
  const node_ptr own = share();
  return internal::make_any_filled(own->home(), own->tensor(), own->elements(), fill);
}

SHARDWISE_INLINE void state_entry::replace(node_ptr value) const {
  value->name();
  internal::set_node(*written_, std::move(value));
}

}  // namespace shardwise
