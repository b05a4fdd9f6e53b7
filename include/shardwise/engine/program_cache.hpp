// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/growable.hpp"
#include "shardwise/engine/graph_key.hpp"
#include "shardwise/engine/lower.hpp"
#include "shardwise/engine/program_run.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

namespace shardwise::internal {

/// A program of a graph that can run any number of times.
struct remembered_program {
  graph_key key;
  lowered_graph graph;
  /// The tables whose addresses are in the key.
  growable<shard_table_ptr> tables;
  program_steps steps;
  /// Orders programs by their last run.
  std::uint64_t used = 0;

  remembered_program(pool_state& home, graph_key of, const reached_nodes& reached,
                     lowered_graph lowered)
      : key(std::move(of)),
        graph(std::move(lowered)),
        steps(home, graph.program, charges::devices) {
    for (const reached_node& at : reached.ready()) tables.push_back(at.node->share_where());
    for (const reached_node& at : reached.pending()) tables.push_back(at.node->share_where());
  }
};

/// A program that was prepared, on one machine.
struct prepared_steps {
  std::shared_ptr<const lowered_program> program;
  program_steps steps;
  std::uint64_t used = 0;

  prepared_steps(pool_state& home, std::shared_ptr<const lowered_program> of)
      : program(std::move(of)), steps(home, *program, charges::devices) {}
};

/// The programs that ran last in a pool. If the same graph is requested again, such as the same
/// calls on tensors of the same types, nothing is lowered, planned or looked up. For the holder of
/// the machine's turn.
class program_cache {
 public:
  /// Graphs with more nodes are not remembered: they take much longer to run than to plan.
  static constexpr std::size_t most_nodes = 256;
  static constexpr std::size_t most_programs = 16;

  /// Returns the program of a graph; null for one that is not to be remembered, such as one that is
  /// requested for the first time.
  [[nodiscard]] remembered_program* find_or_keep(pool_state& home, const reached_nodes& reached,
                                                 std::span<tensor_node* const> roots) {
    // With other owners, the messages of a program are its own.
    if (home.link() != nullptr || reached.pending().size() > most_nodes) return nullptr;
    graph_key key(reached, roots);
    for (const auto& each : programs_)
      if (each->key == key) {
        ++hits_;
        return use(*each);
      }
    ++misses_;
    if (!key.is_complete() || !has_met(key)) return nullptr;
    return keep(programs_, std::make_unique<remembered_program>(home, std::move(key), reached,
                                                                lower(reached, roots, false)));
  }
  /// Returns the steps of a prepared program; null if they are not to be remembered.
  [[nodiscard]] program_steps* find_or_keep(pool_state& home,
                                            const std::shared_ptr<const lowered_program>& program) {
    if (home.link() != nullptr) return nullptr;
    for (const auto& each : prepared_)
      if (each->program == program) return &use(*each)->steps;
    return &keep(prepared_, std::make_unique<prepared_steps>(home, program))->steps;
  }

  /// Returns how many graphs were requested that were remembered, and that were not.
  [[nodiscard]] std::uint64_t hits() const noexcept { return hits_; }
  [[nodiscard]] std::uint64_t misses() const noexcept { return misses_; }
  /// Returns how many programs of graphs are remembered.
  [[nodiscard]] std::size_t size() const noexcept { return programs_.size(); }

 private:
  /// Returns true if a graph with the hash of this key has run recently: most run only once.
  [[nodiscard]] bool has_met(const graph_key& key) noexcept {
    std::uint64_t& place = met_[key.hash() % met_.size()];
    return std::exchange(place, key.hash()) == key.hash();
  }

  template <class Program>
  [[nodiscard]] Program* use(Program& at) noexcept {
    at.used = ++time_;
    return &at;
  }
  /// Adds a program, in place of the one that has not run for the longest time if there are many.
  template <class Program>
  Program* keep(growable<std::unique_ptr<Program>>& all, std::unique_ptr<Program> made) {
    if (all.size() < most_programs) {
      all.push_back(std::move(made));
      return use(*all.back());
    }
    const auto oldest = std::min_element(
        all.begin(), all.end(), [](const auto& a, const auto& b) { return a->used < b->used; });
    *oldest = std::move(made);
    return use(**oldest);
  }

  growable<std::unique_ptr<remembered_program>> programs_;
  growable<std::unique_ptr<prepared_steps>> prepared_;
  std::uint64_t time_ = 0;
  std::uint64_t hits_ = 0;
  std::uint64_t misses_ = 0;
  /// The hashes of graphs that ran, where their remainders are.
  std::array<std::uint64_t, 64> met_{};
};

}  // namespace shardwise::internal
