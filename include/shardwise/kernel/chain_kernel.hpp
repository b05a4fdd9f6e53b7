// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/chain_link.hpp"
#include "shardwise/kernel/packet_lanes.hpp"
#include "shardwise/kernel/pointwise_kernel.hpp"

#include <algorithm>
#include <cstddef>

namespace shardwise {

namespace detail {

/// Operations on the vectors of a piece, all of which stay in registers: compilers are asked to
/// unroll these loops, since otherwise the values would be an array in memory.
template <class T, class Lanes>
struct piece_arithmetic {
  using vector = typename Lanes::vector;
  using values = vector[Lanes::count];

  [[gnu::always_inline]] static void load(const running_link& link, index_t at,
                                          values& to) noexcept {
    const T* from = begin(link, at);
#pragma GCC unroll 8
    for (std::size_t u = 0; u < Lanes::count; ++u) Lanes::load(from + u * Lanes::size, to[u]);
  }
  [[gnu::always_inline]] static void store(const values& from, T* to) noexcept {
#pragma GCC unroll 8
    for (std::size_t u = 0; u < Lanes::count; ++u) Lanes::store(from[u], to + u * Lanes::size);
  }
  template <class F>
  [[gnu::always_inline]] static void combine(F function, const running_link& link, index_t at,
                                             values& a) noexcept {
    const T* from = begin(link, at);
#pragma GCC unroll 8
    for (std::size_t u = 0; u < Lanes::count; ++u) {
      vector b;
      Lanes::load(from + u * Lanes::size, b);
      Lanes::run(function, a[u], b);
    }
  }
  template <class F>
  [[gnu::always_inline]] static void combine_reversed(F function, const running_link& link,
                                                      index_t at, values& b) noexcept {
    const T* from = begin(link, at);
#pragma GCC unroll 8
    for (std::size_t u = 0; u < Lanes::count; ++u) {
      vector a;
      Lanes::load(from + u * Lanes::size, a);
      Lanes::run(function, a, b[u]);
      b[u] = a;
    }
  }
  template <class F>
  [[gnu::always_inline]] static void change(F function, values& a) noexcept {
#pragma GCC unroll 8
    for (std::size_t u = 0; u < Lanes::count; ++u) Lanes::run(function, a[u]);
  }

  /// Returns the elements of a link from number `at` on.
  [[gnu::always_inline]] static T* begin(const running_link& link, index_t at) noexcept {
    return static_cast<T*>(link.at) + link.move * at;
  }
};

/// Computes pieces of a chain: intermediate values stay in registers. Each function is applied to
/// several vectors, which makes the cost of selecting the function negligible.
template <class T>
struct chain_run {
  const running_link* links;
  int count;
  T* out;
  index_t n;

  template <class Lanes>
  [[gnu::always_inline]] void operator()(Lanes) const noexcept {
    constexpr auto piece = static_cast<index_t>(Lanes::count * Lanes::size);
    for (index_t at = 0; at < n; at += piece) run_piece<Lanes>(at, out + at);
  }

 private:
  template <class Lanes>
  [[gnu::always_inline]] void run_piece(index_t at, T* to) const noexcept {
    namespace f = functions;
    using with = piece_arithmetic<T, Lanes>;
    typename with::values values;
    with::load(links[0], at, values);
    for (int k = 1; k < count; ++k) {
      const running_link& link = links[k];
      switch (link.what) {
        case chain_link::first:
          with::load(link, at, values);
          break;
        case chain_link::keep:
          with::store(values, with::begin(link, at));
          break;
        case chain_link::add:
          with::combine(f::add{}, link, at, values);
          break;
        case chain_link::subtract:
          with::combine(f::subtract{}, link, at, values);
          break;
        case chain_link::subtract_from:
          with::combine_reversed(f::subtract{}, link, at, values);
          break;
        case chain_link::multiply:
          with::combine(f::multiply{}, link, at, values);
          break;
        case chain_link::divide:
          with::combine(f::divide{}, link, at, values);
          break;
        case chain_link::divide_into:
          with::combine_reversed(f::divide{}, link, at, values);
          break;
        case chain_link::maximum:
          with::combine(f::maximum{}, link, at, values);
          break;
        case chain_link::minimum:
          with::combine(f::minimum{}, link, at, values);
          break;
        case chain_link::negate:
          with::change(f::negate{}, values);
          break;
        case chain_link::abs:
          with::change(f::abs{}, values);
          break;
        case chain_link::square:
          with::change(f::square{}, values);
          break;
        case chain_link::relu:
          with::change(f::relu{}, values);
          break;
      }
    }
    with::store(values, to);
  }
};

/// The chain on packets of the width that the program was compiled for.
template <class T>
[[gnu::noinline, gnu::flatten]] void run_narrow_chain(const chain_run<T>& run) noexcept {
  run(packet_lanes<T>{});
}

/// A number of elements that consists of whole pieces for vectors of any width.
template <class T>
inline constexpr std::size_t chain_piece = std::max(std::size_t{32},
                                                    sizeof(typename vector_of<T>::type)) *
                                           8 / sizeof(T);

/// Computes whole pieces. A process always uses vectors of the same width.
template <class T>
void run_pieces(const running_link* links, int count, T* out, index_t n) noexcept {
  const chain_run<T> run{links, count, out, n};
  if (!with_wide_lanes<T>(run)) run_narrow_chain(run);
}

/// Returns true if a link keeps a value, or reads one that the chain keeps.
[[nodiscard]] inline bool is_kept(const running_link* links, int number) noexcept {
  return std::any_of(links, links + number + 1, [&](const running_link& before) {
    return before.what == chain_link::keep && before.at == links[number].at;
  });
}

}  // namespace detail

/// A chain of functions of `T`: the bits are those of its functions applied one by one, whatever
/// the position of an element.
template <class T>
void run_chain(const void* first, int count, void* out, index_t n) {
  const auto* const links = static_cast<const running_link*>(first);
  constexpr std::size_t size = detail::chain_piece<T>;
  constexpr auto piece = static_cast<index_t>(size);
  T* const to = static_cast<T*>(out);
  const index_t rest = n % piece;
  if (rest == 0) return detail::run_pieces<T>(links, count, to, n);
  // The last elements are computed first, in a separate piece that ends with them: if `out` is an
  // operand, nothing that it needs has been overwritten yet.
  const index_t begin = std::max(n - piece, index_t{0});
  T padded[most_chain_links][size];
  T results[size];
  running_link last[most_chain_links];
  for (int k = 0; k < count; ++k) {
    last[k] = links[k];
    if (links[k].move == 0) continue;
    T* const from = static_cast<T*>(links[k].at) + begin;
    last[k].at = from;
    if (n >= piece || detail::is_kept(links, k)) continue;
    // Filled with an element of the operand, which raises no floating-point exception of its own.
    std::fill(std::copy_n(from, n, padded[k]), padded[k] + size, *from);
    last[k].at = padded[k];
  }
  detail::run_pieces<T>(last, count, results, piece);
  detail::run_pieces<T>(links, count, to, n - rest);
  std::copy_n(results + (n - rest - begin), rest, to + (n - rest));
}

}  // namespace shardwise
