// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/host/distribute_when_used.hpp"

namespace shardwise::internal {

SHARDWISE_INLINE void waiting_node::evaluate() {
  const std::lock_guard lock(guard_);
  if (ready()) return;
  const node_ptr made = make_any_filled(home(), tensor(), elements(),
                                        [&](const held_box& part, const any_block& block) {
                                          copy_any_part(host_, part, block, elements());
                                        });
  compare_data(*made, host_);
  take_memory_of(*made);
  set_origin(made->origin());
  set_ready();
  owner_.reset();
}

SHARDWISE_INLINE node_ptr waiting_node::placed_as(const layout_desc& layout) {
  const std::lock_guard lock(guard_);
  tensor_desc target = tensor();
  if (ready() || target.layout == layout) return nullptr;
  // Pending terms and manual axes are made by operations.
  const auto is_plain = [](const layout_desc& of) { return of.pending == 0 && of.manual == 0; };
  if (!is_plain(target.layout) || !is_plain(layout)) return nullptr;
  target.layout = layout;
  if (!check_known(home()->mesh(), layout, target.extents).ok()) return nullptr;
  return std::make_shared<waiting_node>(home(), home()->place(target), elements(), owner_, host_);
}

}  // namespace shardwise::internal
