// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/layout/layout_desc.hpp"
#include "shardwise/mesh/list_view.hpp"

namespace shardwise {

/// The sharding of one tensor of a batch: its key, and a spec, or nothing if it is replicated.
struct keyed_spec {
  text_view key{};
  spec_desc spec{};
  bool replicated = false;
};

/// The sharding of a batch for a data loader: one spec for every tensor of its rank, or a spec for
/// each key. PyTorch/XLA has it as `ShardingSpec` and `input_sharding`.
///
/// Specs and keys are borrowed.
///
///     constexpr input_sharding rows(spec_desc{{"data", ""}});
///     rows.layout_of(pod::value, "x", 2).layout.dims[0];         // {0}
///     rows.layout_of(pod::value, "lengths", 1).layout.dims[0];   // {}: replicated
class input_sharding {
 public:
  /// Uses one spec; tensors of another rank are replicated.
  explicit constexpr input_sharding(const spec_desc& spec) noexcept : one_(spec) {}
  /// Uses a spec for each key.
  explicit constexpr input_sharding(list_view<const keyed_spec> by_key) noexcept
      : by_key_(by_key), keyed_(true) {}

  /// Returns true if the spec for a key, or the one spec, applies to tensors of this rank.
  [[nodiscard]] constexpr bool can_apply(text_view key, int rank) const noexcept {
    if (!keyed_) return one_.rank() == rank;
    const keyed_spec* const found = find(key);
    return found != nullptr && (found->replicated || found->spec.rank() == rank);
  }

  /// Returns the layout of the tensor with this key; the key is empty if the batch is a single
  /// tensor. Checks that every key has an entry, that its spec has the rank of the tensor, and what
  /// `resolve` checks.
  [[nodiscard]] constexpr resolved_layout layout_of(const mesh_desc& mesh, text_view key, int rank,
                                                    policy_desc policy = exact{}) const noexcept {
    const keyed_spec* const found = keyed_ ? find(key) : nullptr;
    if (keyed_ && found == nullptr)
      return {{}, {.rule = violation::input_has_no_sharding, .axis = short_name(key)}};
    if (!keyed_ && one_.rank() != rank) return whole(rank, policy);
    if (keyed_ && found->replicated) return whole(rank, policy);
    const spec_desc& spec = keyed_ ? found->spec : one_;
    if (spec.rank() != rank)
      return {{}, {.rule = violation::rank_differs_from_spec, .have = spec.rank(), .want = rank}};
    return resolve(mesh, spec, {}, policy);
  }
  /// Checks that every entry has one of the keys of a batch.
  [[nodiscard]] constexpr diagnosis check_keys(list_view<const text_view> keys) const noexcept {
    for (const keyed_spec& entry : by_key_) {
      bool is_there = false;
      for (text_view key : keys) is_there = is_there || key == entry.key;
      if (!is_there)
        return {.rule = violation::sharding_has_no_input, .axis = short_name(entry.key)};
    }
    return {};
  }

 private:
  [[nodiscard]] constexpr const keyed_spec* find(text_view key) const noexcept {
    for (const keyed_spec& entry : by_key_)
      if (entry.key == key) return &entry;
    return nullptr;
  }
  [[nodiscard]] static constexpr resolved_layout whole(int rank, policy_desc policy) noexcept {
    resolved_layout replicated;
    replicated.layout.dims.resize(static_cast<std::size_t>(rank));
    replicated.layout.uneven = policy.is_uneven;
    return replicated;
  }

  spec_desc one_{};
  list_view<const keyed_spec> by_key_{};
  bool keyed_ = false;
};

}  // namespace shardwise
