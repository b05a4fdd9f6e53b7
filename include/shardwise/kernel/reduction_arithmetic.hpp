// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/index.hpp"
#include "shardwise/kernel/function_kernels.hpp"
#include "shardwise/kernel/pointwise_kernel.hpp"
#include "shardwise/kernel/reduction_identity.hpp"
#include "shardwise/spec/reduction.hpp"

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <limits>
#include <type_traits>

namespace shardwise {

namespace detail {
/// How many rows are reduced at once, and how many partial results of one level are combined into
/// one of the next: rounding errors grow with the logarithm of the number of rows.
inline constexpr int radix = 8;

/// The elements of a run that are reduced in registers before their lanes are stored.
template <class T>
inline constexpr index_t leaf = 16 * step<T>;

/// The maximum number of elements of a run that are reduced one by one.
inline constexpr index_t short_run = 16;

/// The number of adjacent results that are computed together: one page.
template <class T>
inline constexpr std::size_t neighbours = 4096 / sizeof(T);

/// A reduction as functions on rows, so that a prologue is compiled once for all reductions.
template <class T>
struct reducer {
  T identity;
  /// Reduces `count` consecutive runs, each of at most `radix` leaves of elements.
  void (*runs)(const T* from, index_t count, index_t n, T identity, T* out);
  /// The same without the last stage: `lanes[i]` reduces the elements i, i + step, i + 2 step, ...
  void (*lanes)(const T* from, index_t n, T identity, T* lanes);
  /// `into[i]` reduces the i-th elements of all rows, in pairs.
  void (*rows)(const T* const (&rows)[radix], T* into, index_t n);
  /// `into[i] = reduce(into[i], x)`, where `x` is the result of `rows`.
  void (*rows_onto)(const T* const (&rows)[radix], T* into, index_t n);
  /// `into[i] = reduce(first[i], second[i])`.
  void (*pair)(const T* first, const T* second, T* into, index_t n);
};

/// What a reduction takes from an element: itself, or its square.
template <bool Squares, class P>
[[nodiscard]] P taken(const P& x) noexcept {
  if constexpr (Squares)
    return rounded(kernel<functions::square>::run(x));
  else
    return x;
}

/// The lanes of one step while they are reduced: elements of later steps are combined with those of
/// earlier ones, then packets in pairs, then the halves of a packet.
template <class T, class Function, bool Squares = false>
struct reduced_lanes {
  using P = typename vector_of<T>::type;
  static constexpr index_t width = sizeof(P) / sizeof(T);
  static constexpr std::size_t packets = vector_of<T>::packets;
  P sums[packets];

  /// Integers are reduced in loops that compilers vectorise, floating-point numbers by unrolled
  /// packets.
  template <class F>
  static void each(F f) {
    if constexpr (width == 1)
      for (std::size_t u = 0; u < packets; ++u) f(u);
    else
      for_each_index<packets>([&]<std::size_t U>() { f(U); });
  }
  [[nodiscard]] static P load(const T* from, std::size_t u) {
    return taken<Squares>(packet::ploadu<P>(from + static_cast<index_t>(u) * width));
  }

  reduced_lanes(const T* from, index_t n, T identity) noexcept {
    if (n >= step<T>)
      each([&](std::size_t u) { sums[u] = load(from, u); });
    else
      each([&](std::size_t u) { sums[u] = packet::pset1<P>(identity); });
    index_t done = n >= step<T> ? step<T> : 0;
    for (; done + step<T> <= n; done += step<T>)
      each([&](std::size_t u) { sums[u] = kernel<Function>::run(sums[u], load(from + done, u)); });
    if (done == n) return;
    // Lanes without an element get the identity, since the sign of a zero would be visible.
    if constexpr (width == 1) {
      T padded[step<T>];
      std::fill_n(padded, step<T>, identity);
      std::copy_n(from + done, n - done, padded);
      each([&](std::size_t u) { sums[u] = kernel<Function>::run(sums[u], load(padded, u)); });
    } else {
      each([&](std::size_t u) {
        const index_t begin = std::min(done + static_cast<index_t>(u) * width, n);
        const P last = done > 0 ? load_last(from + begin, n - begin, identity)
                                : load_some(from + begin, n - begin, identity);
        sums[u] = kernel<Function>::run(sums[u], taken<Squares>(last));
      });
    }
  }
  /// Loads the next packet of `n` elements, which may be fewer than a packet, or none.
  [[nodiscard]] static P load_some(const T* from, index_t n, T identity) {
    if (n >= width) return packet::ploadu<P>(from);
    if (n <= 0) return packet::pset1<P>(identity);
    T padded[static_cast<std::size_t>(width)];
    std::fill_n(padded, width, identity);
    std::copy_n(from, n, padded);
    return packet::ploadu<P>(padded);
  }
  /// The same if enough elements precede these for a whole packet, which is faster than copying a
  /// few.
  [[nodiscard]] static P load_last(const T* from, index_t n, T identity) {
    if (n >= width) return packet::ploadu<P>(from);
    if (n <= 0) return packet::pset1<P>(identity);
    T padded[2 * static_cast<std::size_t>(width)];
    packet::pstoreu(padded, packet::ploadu<P>(from + n - width));
    packet::pstoreu(padded + width, packet::pset1<P>(identity));
    return packet::ploadu<P>(padded + width - n);
  }

  void store(T* lanes) const noexcept {
    each([&](std::size_t u) { packet::pstoreu(lanes + static_cast<index_t>(u) * width, sums[u]); });
  }
  /// Combines the second half of some values with the first until one is left, and returns it.
  template <std::size_t N, class U>
  [[nodiscard]] static U halve(U (&values)[N]) noexcept {
    for (std::size_t half = N / 2; half > 0; half /= 2)
      for (std::size_t i = 0; i < half; ++i)
        values[i] = kernel<Function>::run(values[i], values[i + half]);
    return values[0];
  }
  [[nodiscard]] T finish() noexcept {
    T numbers[sizeof(P) / sizeof(T)];
    packet::pstoreu(numbers, halve(sums));
    return halve(numbers);
  }
};

/// Reduces up to `radix` leaves: their lanes in pairs, with the bits of a `cascade` of them.
template <class T, class Function, bool Squares = false>
[[nodiscard]] T reduce_leaves(const T* from, index_t n, T identity) noexcept {
  using reduced = reduced_lanes<T, Function, Squares>;
  const auto leaf_at = [&](index_t begin) {
    return reduced(from + begin, std::min(leaf<T>, n - begin), identity);
  };
  const auto onto = [](reduced& sum, const reduced& more) {
    reduced::each(
        [&](std::size_t u) { sum.sums[u] = kernel<Function>::run(sum.sums[u], more.sums[u]); });
  };
  const auto pair_at = [&](index_t begin) {
    reduced sum = leaf_at(begin);
    if (begin + leaf<T> < n) onto(sum, leaf_at(begin + leaf<T>));
    return sum;
  };
  const auto four_at = [&](index_t begin) {
    reduced sum = pair_at(begin);
    if (begin + 2 * leaf<T> < n) onto(sum, pair_at(begin + 2 * leaf<T>));
    return sum;
  };
  reduced sum = four_at(0);
  if (4 * leaf<T> < n) onto(sum, four_at(4 * leaf<T>));
  // As a cascade does, which begins with the identity: the sum of -0 and -0 is 0.
  reduced::each([&](std::size_t u) {
    sum.sums[u] = kernel<Function>::run(packet::pset1<typename reduced::P>(identity), sum.sums[u]);
  });
  if constexpr (step < T >> short_run) return sum.finish();
  T lanes[step<T>];
  sum.store(lanes);
  T total = identity;
  for (const T& lane : lanes) total = kernel<Function>::run(total, lane);
  return total;
}

template <class T, class Function, bool Squares = false>
[[nodiscard]] T reduce_run(const T* from, index_t n, T identity) noexcept {
  constexpr index_t part = radix * leaf<T>;
  if (n > part) {
    T sum = identity;
    for (index_t at = 0; at < n; at += part)
      sum = kernel<Function>::run(
          sum, reduce_run<T, Function, Squares>(from + at, std::min(part, n - at), identity));
    return sum;
  }
  if (n > leaf<T>) return reduce_leaves<T, Function, Squares>(from, n, identity);
  if (n > short_run) return reduced_lanes<T, Function, Squares>(from, n, identity).finish();
  T sum = identity;
  for (index_t i = 0; i < n; ++i) sum = kernel<Function>::run(sum, taken<Squares>(from[i]));
  return sum;
}

/// True for a function whose scalar version takes longer than gathering the elements of a packet.
template <class Function>
inline constexpr bool is_slow_on_scalars =
    std::same_as<Function, functions::maximum> || std::same_as<Function, functions::minimum>;

/// Reduces as many consecutive runs as a packet has lanes, whose last stages are computed side by
/// side; the packet only determines the type.
template <class Function, bool Squares, class P, class T>
void reduce_side_by_side(const P&, const T* from, index_t n, T identity, T* out) noexcept {
  constexpr int width = sizeof(P) / sizeof(T);
  packet::PacketBlock<P, width> lanes;
  for (index_t k = 0; k < width; ++k) {
    reduced_lanes<T, Function, Squares> run(from + k * n, n, identity);
    lanes.packet[k] = run.halve(run.sums);
  }
  packet::ptranspose(lanes);
  packet::pstoreu(out, reduced_lanes<T, Function>::halve(lanes.packet));
}

/// Reduces `count` consecutive runs, with the bits of `reduce_run`.
template <class T, class Function, bool Squares = false>
void reduce_each_run(const T* from, index_t count, index_t n, T identity, T* out) noexcept {
  using P = typename vector_of<T>::type;
  constexpr index_t width = sizeof(P) / sizeof(T);
  index_t r = 0;
  if constexpr (width > 1 && is_slow_on_scalars<Function>)
    for (; n <= short_run && r + width <= count; r += width) {
      P sums = packet::pset1<P>(identity);
      for (index_t i = 0; i < n; ++i)
        sums = kernel<Function>::run(sums, packet::pgather<T, P>(from + r * n + i, n));
      packet::pstoreu(out + r, sums);
    }
  if constexpr (width > 1)
    for (; n > short_run && n <= leaf<T> && r + width <= count; r += width)
      reduce_side_by_side<Function, Squares>(P{}, from + r * n, n, identity, out + r);
  for (; r < count; ++r) out[r] = reduce_run<T, Function, Squares>(from + r * n, n, identity);
}

template <class T, class Function>
void reduce_lanes(const T* from, index_t n, T identity, T* lanes) noexcept {
  reduced_lanes<T, Function>(from, n, identity).store(lanes);
}

/// If requested, combines the result with `into` in the same pass, so that a row is read and
/// written once.
template <class T, class Function, bool Onto = false, bool Squares = false>
void reduce_rows(const T* const (&rows)[radix], T* into, index_t n) noexcept {
  using P = typename vector_of<T>::type;
  constexpr index_t width = sizeof(P) / sizeof(T);
  const auto f = [](const auto& a, const auto& b) { return kernel<Function>::run(a, b); };
  // Copies in registers: as far as the compiler knows, a packet that is stored may overwrite
  // `rows`.
  const T* const row[radix] = {rows[0], rows[1], rows[2], rows[3],
                               rows[4], rows[5], rows[6], rows[7]};
  const auto reduce = [&](auto load) {
    const auto reduced = f(f(f(load(row[0]), load(row[1])), f(load(row[2]), load(row[3]))),
                           f(f(load(row[4]), load(row[5])), f(load(row[6]), load(row[7]))));
    if constexpr (Onto)
      return f(load(into), reduced);
    else
      return reduced;
  };
  index_t i = 0;
  if constexpr (width > 1)
    for (; i + width <= n; i += width)
      packet::pstoreu(into + i, reduce([i](const T* from) {
                        // In a register, because a maximum uses its operands twice, and g++ would
                        // load them twice.
                        return rounded(taken<Squares>(packet::ploadu<P>(from + i)));
                      }));
  for (; i < n; ++i) into[i] = reduce([i](const T* from) { return taken<Squares>(from[i]); });
}

/// `into` may be `first`.
template <class T, class Function>
void reduce_pair(const T* first, const T* second, T* into, index_t n) noexcept {
  using P = typename vector_of<T>::type;
  constexpr index_t width = sizeof(P) / sizeof(T);
  index_t i = 0;
  if constexpr (width > 1)
    for (; i + width <= n; i += width)
      packet::pstoreu(into + i, kernel<Function>::run(packet::ploadu<P>(first + i),
                                                      packet::ploadu<P>(second + i)));
  for (; i < n; ++i) into[i] = kernel<Function>::run(first[i], second[i]);
}

template <reduction Kind>
struct function_of_reduction;
template <>
struct function_of_reduction<reduction::sum> : std::type_identity<functions::add> {};
template <>
struct function_of_reduction<reduction::product> : std::type_identity<functions::multiply> {};
template <>
struct function_of_reduction<reduction::max> : std::type_identity<functions::maximum> {};
template <>
struct function_of_reduction<reduction::min> : std::type_identity<functions::minimum> {};

/// A reduction that is known where it is compiled: programs contain no other for it.
template <class T, reduction Kind, class F = typename function_of_reduction<Kind>::type>
inline constexpr reducer<T> reducer_with{identity_of<T>(Kind),    reduce_each_run<T, F>,
                                         reduce_lanes<T, F>,      reduce_rows<T, F>,
                                         reduce_rows<T, F, true>, reduce_pair<T, F>};

template <class T>
[[nodiscard]] const reducer<T>& reducer_of(reduction kind) noexcept {
  switch (kind) {
    case reduction::sum:
      return reducer_with<T, reduction::sum>;
    case reduction::product:
      return reducer_with<T, reduction::product>;
    case reduction::max:
      return reducer_with<T, reduction::max>;
    case reduction::min:
      return reducer_with<T, reduction::min>;
  }
  return reducer_with<T, reduction::sum>;
}

}  // namespace detail

}  // namespace shardwise
