// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/checkpoint/checkpoint_writer_work.hpp"
#include "shardwise/checkpoint/save_checkpoint.hpp"
#include "shardwise/core/config.hpp"
#include "shardwise/io/safetensors_work.hpp"
#include "shardwise/process/host_values.hpp"
#include "shardwise/process/run_result.hpp"

#include <string>
#include <utility>

namespace shardwise::detail {

SHARDWISE_INLINE_FILES checkpoint_snapshot hold_state(const const_state_view& state,
                                                      std::map<std::string, std::string> metadata) {
  checkpoint_snapshot held{{}, std::move(metadata), {}};
  for (const const_state_entry& each : state) {
    const node_ptr& node = each.share();
    internal::require_readable(*node);
    if (node->tensor().layout.has_halo())
      internal::fail_file(
          violation::file_is_not_writable, each.name(),
          "its devices hold halos, whose elements would be saved twice: reshard it first");
    node->evaluate();
    held.tensors.push_back({internal::stored_name(each.name()), node});
  }
  return held;
}

SHARDWISE_INLINE_FILES void write_checkpoint(std::string folder, checkpoint_snapshot held) {
  internal::require_whole_path(violation::file_is_not_writable, folder);
  while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
  const checkpoint_writer writer(std::move(folder), std::move(held), process_index(),
                                 process_count());
  const auto together = [&](const char* step, function_view<void()> run) {
    internal::run_together(std::string(step) + " of checkpoint \"" + writer.folder() + '"', run);
  };
  together("begin", [&] {
    if (writer.is_first()) writer.begin();
  });
  together("parts", [&] { writer.write_part({writer.team()}); });
  together("end", [&] {
    if (writer.is_first()) writer.commit();
  });
}

}  // namespace shardwise::detail
