// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/rule/factor_rule.hpp"

namespace shardwise::detail {

/// Returns the greatest common divisor of two positive numbers.
[[nodiscard]] constexpr index_t greatest_divisor(index_t a, index_t b) noexcept {
  while (b != 0) {
    const index_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

/// Finds the factors that the dimensions of a reshape share. Works inwards from both ends, each
/// time taking the largest common factor of what is left of the next dimensions of operand and
/// result.
class reshape_factors {
 public:
  /// With `whole_only`, dimensions are shared unchanged or not at all, which takes the fewest
  /// factors.
  constexpr reshape_factors(const extents_desc& from, const extents_desc& to,
                            bool whole_only) noexcept
      : from_{from, from, 0, from.ssize()}, to_{to, to, 0, to.ssize()}, whole_only_(whole_only) {
    walk_from_front();
    walk_from_back();
    meet();
  }

  /// Returns true if a rule has room for the factors.
  [[nodiscard]] constexpr bool fit() const noexcept {
    const int products = from_.products() + to_.products();
    return from_.fits() && to_.fits() && products <= max_rank &&
           sizes_.ssize() + products + from_.lone() <= max_factors;
  }
  [[nodiscard]] constexpr factor_rule rule() const noexcept {
    factor_rule made;
    made.law = linearity::structural;
    for (index_t size : sizes_) (void)add(made, size);
    made.operands.push_back(from_.map(made, true));
    made.result = to_.map(made, false);
    return made;
  }

 private:
  static constexpr int most = 4 * max_rank;
  using factors = inplace_vector<std::uint8_t, most>;

  [[nodiscard]] static constexpr std::uint8_t add(factor_rule& made, index_t size) noexcept {
    made.factors.push_back(factor_kind::pass_through);
    made.sizes.push_back(size);
    return static_cast<std::uint8_t>(made.factors.ssize() - 1);
  }

  /// The dimensions of one side: what is left of each, and the factors found before and after that,
  /// the latter in reverse order. The dimensions from `begin` to `end` are not finished.
  struct side {
    extents_desc extents{};
    extents_desc left{};
    int begin = 0;
    int end = 0;
    factors major[max_rank]{};
    factors minor[max_rank]{};

    [[nodiscard]] constexpr bool is_done() const noexcept { return begin == end; }
    [[nodiscard]] constexpr int count(int d) const noexcept {
      return major[d].ssize() + minor[d].ssize();
    }
    /// Return the number of dimensions with several factors, and of those with none.
    [[nodiscard]] constexpr int products() const noexcept {
      int n = 0;
      for (int d = 0; d < extents.ssize(); ++d) n += count(d) > 1 ? 1 : 0;
      return n;
    }
    [[nodiscard]] constexpr int lone() const noexcept {
      int n = 0;
      for (int d = 0; d < extents.ssize(); ++d) n += count(d) == 0 ? 1 : 0;
      return n;
    }
    [[nodiscard]] constexpr bool fits() const noexcept {
      for (int d = 0; d < extents.ssize(); ++d)
        if (count(d) > max_rank) return false;
      return true;
    }
    /// Returns the factor of each dimension. A dimension of size 1 without factors is broadcast, or
    /// gets a factor of its own if `named`.
    [[nodiscard]] constexpr factor_map map(factor_rule& made, bool named) const noexcept {
      factor_map out;
      for (int d = 0; d < extents.ssize(); ++d) {
        composite_factor product;
        for (std::uint8_t f : major[d]) product.parts.push_back(f);
        for (int k = minor[d].ssize() - 1; k >= 0; --k) product.parts.push_back(minor[d][k]);
        if (product.parts.size() == 1) {
          out.push_back(product.parts[0]);
        } else if (product.parts.empty()) {
          out.push_back(named ? add(made, extents[d]) : repeated);
        } else {
          product.whole = add(made, extents[d]);
          made.composites.push_back(product);
          out.push_back(product.whole);
        }
      }
      return out;
    }
  };

  [[nodiscard]] constexpr std::uint8_t factor(index_t size) noexcept {
    sizes_.push_back(size);
    return static_cast<std::uint8_t>(sizes_.ssize() - 1);
  }
  /// What is left of a dimension becomes a factor that only its side has.
  constexpr void keep(side& of, int d) noexcept {
    if (of.left[d] != 1) of.major[d].push_back(factor(of.left[d]));
  }

  constexpr void walk_from_front() noexcept {
    while (!from_.is_done() && !to_.is_done()) {
      const int i = from_.begin;
      const int j = to_.begin;
      index_t& a = from_.left[i];
      index_t& b = to_.left[j];
      if (a == dyn || b == dyn) return;
      const bool equal = a == b;
      if (!equal && (a == 1 || b == 1)) {
        ++(a == 1 ? from_ : to_).begin;
        continue;
      }
      if (!equal && (whole_only_ || a == 0 || b == 0)) return;
      const index_t size = equal ? a : greatest_divisor(a, b);
      if (equal || size > 1) {
        const std::uint8_t shared = factor(size);
        from_.major[i].push_back(shared);
        to_.major[j].push_back(shared);
      }
      if (equal) {
        ++from_.begin;
        ++to_.begin;
        continue;
      }
      a /= size;
      b /= size;
      if (a != 1 && b != 1 && !keep_group()) return;
    }
  }
  /// Gives each side factors of its own for dimensions that have nothing in common, up to where
  /// both have as many elements; returns false if there is no such position.
  [[nodiscard]] constexpr bool keep_group() noexcept {
    int i = from_.begin;
    int j = to_.begin;
    index_t a = from_.left[i];
    index_t b = to_.left[j];
    while (a != b) {
      const side& shorter = a < b ? from_ : to_;
      int& at = a < b ? i : j;
      if (++at == shorter.end || shorter.left[at] <= 0) return false;
      (a < b ? a : b) *= shorter.left[at];
    }
    for (; from_.begin <= i; ++from_.begin) keep(from_, from_.begin);
    for (; to_.begin <= j; ++to_.begin) keep(to_, to_.begin);
    return true;
  }
  constexpr void walk_from_back() noexcept {
    while (!from_.is_done() && !to_.is_done()) {
      const int i = from_.end - 1;
      const int j = to_.end - 1;
      index_t& a = from_.left[i];
      index_t& b = to_.left[j];
      if (a == dyn || b == dyn) return;
      const bool equal = a == b;
      if (!equal && (a == 1 || b == 1)) {
        --(a == 1 ? from_ : to_).end;
        continue;
      }
      if (!equal && (whole_only_ || a == 0 || b == 0)) return;
      const index_t size = equal ? a : greatest_divisor(a, b);
      if (size != a && size != b) return;
      const std::uint8_t shared = factor(size);
      from_.minor[i].push_back(shared);
      to_.minor[j].push_back(shared);
      if (equal) {
        --from_.end;
        --to_.end;
        continue;
      }
      a /= size;
      b /= size;
    }
  }
  /// A single dimension of unknown size corresponds to all that is left of the other side.
  constexpr void meet() noexcept {
    const auto is_open = [](const side& of) {
      return of.end == of.begin + 1 && of.left[of.begin] == dyn;
    };
    const bool shared = !whole_only_ && (is_open(from_) || is_open(to_));
    if (!shared) {
      for (; !from_.is_done(); ++from_.begin) keep(from_, from_.begin);
      for (; !to_.is_done(); ++to_.begin) keep(to_, to_.begin);
      return;
    }
    side& one = is_open(to_) ? to_ : from_;
    side& other = is_open(to_) ? from_ : to_;
    for (int d = other.begin; d < other.end; ++d) {
      const std::uint8_t f = factor(other.left[d]);
      one.major[one.begin].push_back(f);
      other.major[d].push_back(f);
    }
  }

  side from_;
  side to_;
  bool whole_only_;
  inplace_vector<index_t, most> sizes_{};
};

}  // namespace shardwise::detail
