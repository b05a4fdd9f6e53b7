// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/growable.hpp"
#include "shardwise/engine/reached_nodes.hpp"
#include "shardwise/plan/normal_form.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace shardwise::internal {

/// Everything that a lowered graph depends on, as words: two graphs with equal words have the same
/// program, planned alike. The words contain addresses of shard tables, which the owner of a key
/// must hold.
class graph_key {
 public:
  graph_key() = default;
  graph_key(const reached_nodes& reached, std::span<tensor_node* const> roots) {
    words_.reserve(16 * reached.pending().size() + 4 * reached.ready().size());
    for (const reached_node& at : reached.ready()) {
      add(*at.node);
      add(at.is_free ? 1U : 0U);
    }
    for (const reached_node& at : reached.pending()) {
      add(*at.node);
      const pending_node& task = *at.node->task();
      const node_work& work = task.work();
      is_complete_ = is_complete_ && !work.loop && task.failure() == nullptr;
      add_address(work.what);
      add_address(work.kernel.each.run);
      add((at.is_held ? 1U : 0U) | (at.node->named() ? 2U : 0U) | task.operands().size() << 2U |
          work.numbers.size() << 8U | (work.how != nullptr ? 1U : 0U) << 16U);
      for (const node_ptr& operand : task.operands())
        add(static_cast<std::uint64_t>(operand->number) << 1U | (operand->ready() ? 1U : 0U));
      for (const number_operand& each : work.numbers) {
        add(static_cast<std::uint64_t>(each.place) << 8U | static_cast<std::uint64_t>(each.type));
        add(each.bits);
      }
      if (work.how != nullptr) add(*work.how);
    }
    for (const tensor_node* root : roots)
      add(static_cast<std::uint64_t>(root->number) << 1U | (root->ready() ? 1U : 0U));
    word_hash hash;
    for (const std::uint64_t word : words_) hash.add(word);
    hash_ = hash.bits();
  }

  /// Returns false for a graph whose program cannot be remembered: it has compiled loops, whose
  /// expressions are not compared, or failures.
  [[nodiscard]] bool is_complete() const noexcept { return is_complete_; }
  [[nodiscard]] std::uint64_t hash() const noexcept { return hash_; }
  friend bool operator==(const graph_key& a, const graph_key& b) noexcept {
    return a.hash_ == b.hash_ && a.words_ == b.words_;
  }

 private:
  void add(std::uint64_t word) { words_.push_back(word); }
  template <class T>
  void add_address(T* at) {
    add(std::bit_cast<std::uintptr_t>(at));
  }
  void add(const tensor_node& node) {
    add_address(&node.where());
    add_address(&node.elements());
  }
  void add(const attributes& how) {
    add(how.integers.size() | how.words.size() << 8U | how.batches.size() << 16U |
        static_cast<std::uint64_t>(how.kind) << 24U);
    for (const index_t each : how.integers) add(static_cast<std::uint64_t>(each));
    add(std::bit_cast<std::uint64_t>(how.number));
    add_address(how.each);
    for (const std::uint8_t each : how.batches) add(each);
    for (std::size_t i = 0; i < how.words.size(); ++i)
      add(static_cast<unsigned char>(text_view(how.words)[i]));
  }

  growable<std::uint64_t> words_;
  std::uint64_t hash_ = 0;
  bool is_complete_ = true;
};

}  // namespace shardwise::internal
