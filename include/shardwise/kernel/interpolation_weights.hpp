// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/index.hpp"
#include "shardwise/kernel/scratch_memory.hpp"
#include "shardwise/operation/interpolated_positions.hpp"

#include <algorithm>
#include <cstddef>
#include <span>

namespace shardwise::detail {

/// The weights with which each result along a dimension is a sum of elements, in the order of the
/// elements. Weights that are 0 are left out: what a result does not depend on may be infinite.
template <class C>
class interpolation_weights {
 public:
  struct term {
    index_t from = 0;
    C weight{};
  };

  /// The weights of the new elements, or of the transposed map: which new elements depend on each
  /// element, and how.
  interpolation_weights(const interpolated_positions& positions, bool is_transposed)
      : begins_(static_cast<std::size_t>(is_transposed ? positions.size : positions.new_size) + 1) {
    const auto for_each_term = [&](const auto& f) {
      for (index_t i = 0; i < positions.new_size; ++i) {
        inplace_vector<term, 4> terms;
        add_terms(positions, i, terms);
        for (const term& one : terms) is_transposed ? f(one.from, term{i, one.weight}) : f(i, one);
      }
    };
    // Counted first, then stored behind those of the results before.
    for_each_term([&](index_t result, const term&) { ++begins_[at(result) + 1]; });
    for (std::size_t i = 1; i < begins_.size(); ++i) begins_[i] += begins_[i - 1];
    terms_.resize(begins_.back());
    scratch_vector<std::size_t> ends(begins_.begin(), begins_.end() - 1);
    for_each_term([&](index_t result, const term& one) { terms_[ends[at(result)]++] = one; });
  }

  [[nodiscard]] std::span<const term> of(index_t result) const noexcept {
    const std::size_t begin = begins_[at(result)];
    return {terms_.data() + begin, begins_[at(result) + 1] - begin};
  }

 private:
  [[nodiscard]] static constexpr std::size_t at(index_t i) noexcept {
    return static_cast<std::size_t>(i);
  }
  /// Adds up the weights of each element.
  static void add_terms(const interpolated_positions& positions, index_t i,
                        inplace_vector<term, 4>& terms) {
    index_t last = -1;
    double weight = 0;
    const auto finish = [&] {
      if (const auto rounded = static_cast<C>(weight); rounded != C{0})
        terms.push_back({last, rounded});
    };
    positions.for_each_weight(i, [&](index_t from, double more) {
      if (from != last) finish();
      weight = from == last ? weight + more : more;
      last = from;
    });
    finish();
  }

  scratch_vector<std::size_t> begins_;
  scratch_vector<term> terms_;
};

}  // namespace shardwise::detail
