// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/index.hpp"
#include "shardwise/core/inplace_vector.hpp"

#include <cstdint>

namespace shardwise {

/// Which device sends to which if each device of a group receives from at most one other, by
/// positions in the group: pairs, a ring, a line whose ends receive nothing, the reverse order, or
/// a broadcast.
///
///     position_moves::ring(1).heard_by(0, 4);                   // 3
///     position_moves::line(1).heard_by(0, 4);                   // -1: nobody
class position_moves {
 public:
  enum class form : std::uint8_t { pairs, ring, line, root, mirror };
  /// One position sends to another.
  struct pair {
    index_t from = 0;
    index_t to = 0;
  };
  /// The highest number of pairs; the other forms have no limit.
  static constexpr int most_pairs = 20;
  static constexpr index_t most_positions = 1 << 15;
  using list = inplace_vector<pair, most_pairs + 1>;

  constexpr position_moves() = default;
  [[nodiscard]] static constexpr position_moves pairs(const list& all) noexcept {
    position_moves out;
    out.pairs_ = all;
    return out;
  }
  [[nodiscard]] static constexpr position_moves ring(index_t by) noexcept {
    return {form::ring, by};
  }
  [[nodiscard]] static constexpr position_moves line(index_t by) noexcept {
    return {form::line, by};
  }
  [[nodiscard]] static constexpr position_moves mirror() noexcept { return {form::mirror, 0}; }
  [[nodiscard]] static constexpr position_moves root(index_t position) noexcept {
    return {form::root, position};
  }
  /// Returns the moves in which one position keeps its value and the others receive nothing.
  [[nodiscard]] static constexpr position_moves only(index_t position) noexcept {
    list one;
    one.push_back({position, position});
    return pairs(one);
  }

  /// Returns the position from which a position of a group of `count` receives, or -1.
  [[nodiscard]] constexpr index_t heard_by(index_t position, index_t count) const noexcept {
    if (form_ == form::root) return by_;
    if (form_ == form::mirror) return count - 1 - position;
    if (form_ == form::ring) return ((position - by_) % count + count) % count;
    if (form_ == form::line) {
      const index_t from = position - by_;
      return from < 0 || from >= count ? -1 : from;
    }
    for (const pair& one : pairs_)
      if (one.to == position) return one.from;
    return -1;
  }
  /// True if all positions are in a group of `count`, and each is at most once a source and at most
  /// once a target of pairs.
  [[nodiscard]] constexpr bool fit(index_t count) const noexcept {
    if (form_ == form::root) return by_ >= 0 && by_ < count;
    if (pairs_.ssize() > most_pairs) return false;
    for (int i = 0; i < pairs_.ssize(); ++i) {
      const pair& one = pairs_[i];
      if (one.from < 0 || one.to < 0 || one.from >= count || one.to >= count ||
          one.from >= most_positions || one.to >= most_positions)
        return false;
      for (int j = 0; j < i; ++j)
        if (pairs_[j].from == one.from || pairs_[j].to == one.to) return false;
    }
    return true;
  }
  /// Returns the reverse: every sender receives from its receiver.
  [[nodiscard]] constexpr position_moves reversed() const noexcept {
    position_moves out = *this;
    if (form_ != form::root) out.by_ = -by_;
    for (pair& one : out.pairs_) one = {one.to, one.from};
    return out;
  }
  [[nodiscard]] constexpr form kind() const noexcept { return form_; }
  /// Returns by how many positions a ring or a line moves, or the root.
  [[nodiscard]] constexpr index_t by() const noexcept { return by_; }

  /// Write to and read from a list of integers, after others.
  template <class Integers>
  constexpr void write(Integers& to) const noexcept {
    to.push_back(static_cast<index_t>(form_));
    to.push_back(by_);
    for (int i = 0; i < pairs_.ssize() && i < most_pairs; i += 2)
      to.push_back(packed(i) + 1 + (i + 1 < pairs_.ssize() ? (packed(i + 1) + 1) << 32 : 0));
  }
  template <class Integers>
  [[nodiscard]] static constexpr position_moves read(const Integers& from, int begin) noexcept {
    position_moves out(static_cast<form>(from[begin]), from[begin + 1]);
    for (int i = begin + 2; i < from.ssize(); ++i)
      for (index_t two = from[i]; two != 0; two >>= 32) {
        const index_t one = (two & 0xFFFFFFFF) - 1;
        out.pairs_.push_back({one >> 16, one & 0xFFFF});
      }
    return out;
  }

 private:
  constexpr position_moves(form how, index_t by) noexcept : form_(how), by_(by) {}
  [[nodiscard]] constexpr index_t packed(int i) const noexcept {
    return pairs_[i].from << 16 | pairs_[i].to;
  }

  form form_ = form::pairs;
  index_t by_ = 0;
  list pairs_{};
};

}  // namespace shardwise
