// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/core/growable.hpp"
#include "shardwise/engine/agreement.hpp"
#include "shardwise/engine/lowered_program.hpp"
#include "shardwise/engine/pool_state.hpp"
#include "shardwise/plan/normal_form.hpp"

#include <algorithm>
#include <cstring>

namespace shardwise::internal {

/// Adds what identifies a tensor: the number of one that is made of data, the hash of the data if
/// owners check them, or the run and the step that computed it.
inline void add_origin(message_text& to, std::uint64_t origin) {
  const std::uint64_t high = origin >> 32U, low = origin & 0xFFFFFFFFU;
  if (high == 0)
    to << ", tensor " << low;
  else if (low % 2 == 0)
    to << ", tensor " << low / 2 << " with data of hash " << high;
  else
    to << ", result " << low / 2 << " of run " << high;
}

}  // namespace shardwise::internal

namespace shardwise::internal {

SHARDWISE_INLINE void record(pool_state& home, text_view what, const tensor_desc& tensor,
                             std::uint64_t origin, std::uint64_t detail) {
  word_hash hash;
  hash.add(what);
  hash.add(home.mesh());
  hash.add(tensor);
  hash.add(origin);
  hash.add(detail);
  message_text words;
  words << what << " of " << to_text(home.mesh(), tensor) << " on " << home.mesh();
  if (origin != 0) add_origin(words, origin);
  home.link()->record(hash.bits(), {words.c_str(), words.size()});
}

SHARDWISE_INLINE std::uint64_t hash_of_bytes(std::span<const std::byte> bytes) noexcept {
  word_hash hash;
  hash.add(bytes.size());
  while (!bytes.empty()) {
    std::uint64_t word = 0;
    const std::size_t size = std::min(bytes.size(), sizeof word);
    std::memcpy(&word, bytes.data(), size);
    hash.add(word);
    bytes = bytes.subspan(size);
  }
  return hash.bits();
}

SHARDWISE_INLINE void compare_data(tensor_node& made, const const_any_block& host) {
  const owner_link* const link = made.home()->link();
  if (link == nullptr || !link->checks()) return;
  growable<std::byte> packed(
      static_cast<std::size_t>(element_count(host.extents) * size_of(host.type)));
  if (!packed.empty())
    made.elements().copy(host, {packed.data(), host.type, host.extents, row_major(host.extents)});
  // Neither 0 in the upper half nor an odd number in the lower: see `origin_of_result`.
  made.set_origin((hash_of_bytes(packed) | std::uint64_t{1} << 63U) >> 32U << 32U |
                  (made.origin() << 1U & 0xFFFFFFFFU));
}

SHARDWISE_INLINE void describe_run(agreement& to, const pool_state& home,
                                   const lowered_program& program) {
  for (const step_desc& step : program.steps) {
    if (step.kind == step_kind::input) continue;
    if (!to.words.empty()) to.words << ", ";
    to.words << text_view(step.label) << " to " << to_text(home.mesh(), step.result);
  }
  to.words << " on " << home.mesh();
  to.hash = hash_of(program.view());
}

SHARDWISE_INLINE agreement agreement_of(const pool_state& home, const lowered_program& program) {
  agreement out;
  if (home.link() != nullptr) home.with_owners().describe(out, home, program);
  return out;
}

SHARDWISE_INLINE void record(pool_state& home, const agreement& terms,
                             std::span<const tensor_node* const> inputs) {
  word_hash hash;
  hash.add(terms.hash);
  for (const tensor_node* input : inputs) hash.add(input != nullptr ? input->origin() : 0);
  home.link()->record(hash.bits(), {terms.words.c_str(), terms.words.size()});
}

SHARDWISE_INLINE std::uint64_t origin_of_result(const pool_state& home, std::size_t step) noexcept {
  if (home.link() == nullptr) return 0;
  // Apart from the numbers of tensors that are made of data.
  return home.link()->recorded() << 32U | (step + 1) << 1U | 1U;
}

}  // namespace shardwise::internal
