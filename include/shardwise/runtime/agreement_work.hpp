// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/plan/normal_form.hpp"
#include "shardwise/plan/pieces.hpp"
#include "shardwise/runtime/agreement.hpp"
#include "shardwise/runtime/lower.hpp"

namespace shardwise::internal {

/// Returns true for a step in which owners may exchange data, whoever owns which devices.
[[nodiscard]] inline bool is_exchange(const program_view& code, const step_desc& step) noexcept {
  if (step.kind != step_kind::collective) return false;
  const operation& what = code.what(step.root);
  if (what.id == operation_of<manual_operation>.id) return false;
  const tensor_desc& read = code.values[code.code[step.root].operands[0]];
  return rounds_of(seen_as(*code.mesh, {&what, code.how(step.root)}, read, step.result).step) > 0;
}

SHARDWISE_INLINE void agree_on(pool_state& home, text_view what, const tensor_desc& tensor,
                               std::uint64_t detail) {
  word_hash hash;
  hash.add(what);
  hash.add(home.mesh());
  hash.add(tensor);
  hash.add(detail);
  message_text words;
  words << what << " of " << to_text(home.mesh(), tensor) << " on " << home.mesh();
  home.link()->agree(hash.bits(), {words.c_str(), words.size()}, home.team());
}

SHARDWISE_INLINE agreement agreement_of(const pool_state& home, const lowered_program& program) {
  agreement out;
  if (home.link() == nullptr) return out;
  const program_view code = program.view();
  for (const step_desc& step : program.steps) {
    out.is_needed = out.is_needed || is_exchange(code, step);
    if (step.kind == step_kind::input) continue;
    if (!out.words.empty()) out.words << ", ";
    out.words << text_view(step.label) << " to " << to_text(home.mesh(), step.result);
  }
  out.words << " on " << home.mesh();
  if (out.is_needed) out.hash = hash_of(code);
  return out;
}

SHARDWISE_INLINE void agree_on(pool_state& home, const agreement& terms) {
  if (terms.is_needed)
    home.link()->agree(terms.hash, {terms.words.c_str(), terms.words.size()}, home.team());
}

}  // namespace shardwise::internal
