// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/layout/layout_desc.hpp"

#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace shardwise {

/// The dimensions of a reduction as a value, for dimensions that are known only at run time. The
/// functions that take them count negative ones from the end.
///
///     sum(x, over{0, 2})         // the first and the third
///     sum(x, over{-1})           // the last
///     sum(x, over(numbers))      // a range of integers; an empty one reduces nothing
class over {
 public:
  template <std::integral... Dims>
    requires(sizeof...(Dims) > 0)
  explicit constexpr over(Dims... dims) noexcept { (add(static_cast<index_t>(dims)), ...); }
  template <class List>
    requires std::integral<std::remove_cvref_t<decltype(*std::declval<const List&>().begin())>>
  explicit constexpr over(const List& dims) noexcept {
    for (const auto dim : dims) add(static_cast<index_t>(dim));
  }
  /// Returns the dimensions whose bits are set.
  [[nodiscard]] static constexpr over of_bits(unsigned bits) noexcept {
    over dims;
    for (int d = 0; d < 32; ++d)
      if ((bits >> d & 1U) != 0) dims.add(d);
    return dims;
  }
  /// Returns every dimension of a tensor of this rank.
  [[nodiscard]] static constexpr over all(int rank) noexcept { return of_bits((1U << rank) - 1U); }

  /// Returns the same dimensions of a tensor of this rank, all counted from the first. Those that
  /// it does not have are kept, for `judge` to show.
  [[nodiscard]] constexpr over from_front(int rank) const noexcept {
    if (least_ >= 0) return *this;
    over out = of_bits(bits_);
    if (least_ < -rank) out.least_ = least_;
    if (greatest_ >= rank) out.greatest_ = greatest_;
    for (int d = -1; d >= -rank; --d)
      if ((bits_from_end_ >> -d & 1U) != 0) out.add(counted_from_front(d, rank));
    if (repeated_ != none_repeated) out.repeated_ = counted_from_front(repeated_, rank);
    return out;
  }

  /// Checks that a tensor of this rank has all of these dimensions, and that each is named once.
  [[nodiscard]] constexpr diagnosis judge(int rank) const noexcept {
    if (least_ >= 0 && greatest_ < rank)
      return repeated_ == none_repeated
                 ? diagnosis{}
                 : diagnosis{.rule = violation::dimension_is_repeated, .dim = repeated_};
    return {.rule = violation::dimension_is_out_of_range,
            .have = least_ < 0 ? least_ : greatest_,
            .want = rank};
  }
  [[nodiscard]] constexpr unsigned bits() const noexcept { return bits_; }
  /// Returns how many elements of a tensor are reduced to one.
  [[nodiscard]] constexpr index_t count(const extents_desc& extents) const noexcept {
    index_t product = 1;
    for (int d = 0; d < extents.ssize(); ++d)
      if ((bits_ >> d & 1U) != 0) product *= extents[d];
    return product;
  }

 private:
  constexpr over() = default;
  constexpr void add(index_t dim) noexcept {
    if (dim < least_) least_ = dim;
    if (dim > greatest_) greatest_ = dim;
    if (dim < -index_t{max_rank} || dim >= index_t{max_rank}) return;
    unsigned& named = dim < 0 ? bits_from_end_ : bits_;
    const unsigned bit = 1U << (dim < 0 ? -dim : dim);
    if ((named & bit) != 0) repeated_ = static_cast<int>(dim);
    named |= bit;
  }

  static constexpr int none_repeated = -max_rank - 1;
  unsigned bits_ = 0;
  /// Bit `n` for the `n`th dimension from the end.
  unsigned bits_from_end_ = 0;
  index_t least_ = 0;
  index_t greatest_ = -1;
  int repeated_ = none_repeated;
};

}  // namespace shardwise
