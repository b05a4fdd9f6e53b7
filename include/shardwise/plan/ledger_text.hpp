// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/plan/ledger.hpp"

#include <concepts>
#include <cstddef>

namespace shardwise {

namespace internal {

/// Writes a byte count in its largest unit, such as `768 KiB`, or in bytes if it is not a round
/// number.
template <class Out>
constexpr void write_bytes(Out& out, index_t bytes) {
  constexpr text_view units[] = {" B", " KiB", " MiB", " GiB", " TiB"};
  unsigned unit = 0;
  while (unit < 4 && bytes >= 1024 && bytes % 1024 == 0) {
    bytes /= 1024;
    ++unit;
  }
  bounded_text<40> words;
  words << bytes << units[unit];
  out << text_view(words);
}

}  // namespace internal

namespace detail {

/// Writes how many collectives there are and what a device receives in them.
template <class Out>
constexpr void write_collectives(Out& out, index_t count, index_t bytes) {
  bounded_text<100> words;
  words << count << (count == 1 ? " collective, " : " collectives, ");
  write_bytes(words, bytes);
  out << text_view(words) << text_view(" received");
}

/// Writes the totals of a ledger in one line, without its end.
template <class Out>
constexpr void write_total(Out& out, const cost_ledger& total) {
  write_collectives(out, total.collectives(), total.bytes_moved());
  bounded_text<100> words;
  words << ", " << total.flops() << " flops, peak ";
  write_bytes(words, total.peak_bytes_per_device());
  out << text_view(words) << text_view(" per device");
}

/// Writes a ledger: the totals, and a line for each kind of collective and axis. The last line does
/// not end.
template <class Out>
constexpr void write_ledger(Out& out, const cost_ledger& ledger) {
  write_total(out, ledger);
  for (int k = 1; k < collective_count; ++k)
    for (const axis_desc& axis : ledger.mesh().axes) {
      const auto kind = static_cast<collective>(k);
      const index_t count = ledger.collectives(kind, axis.label);
      if (count == 0) continue;
      out << text_view("\n  ") << to_text(kind) << text_view(" over ") << text_view(axis.label)
          << text_view(": ");
      write_collectives(out, count, ledger.bytes_moved(kind, axis.label));
    }
}

}  // namespace detail

/// Prints a ledger: its totals, as `explain` does, and a line for each kind of collective and axis.
/// A collective over several axes is in the line of each. Slices, which move nothing, have no line.
///
///     std::cout << trace(mlp, abstract<X>(512), abstract<W>()) << '\n';
///
/// prints
///
///     1 collective, 1536 KiB received, 2147483648 flops, peak 6 MiB per device
///       all_reduce over model: 1 collective, 1536 KiB received
template <CharacterStream Stream, std::same_as<cost_ledger> Ledger>
Stream& operator<<(Stream& out, const Ledger& ledger) {
  detail::write_ledger(out, ledger);
  return out;
}
/// Writes the same in constant expressions.
template <std::size_t Capacity>
constexpr bounded_text<Capacity>& operator<<(bounded_text<Capacity>& out,
                                             const cost_ledger& ledger) {
  detail::write_ledger(out, ledger);
  return out;
}

}  // namespace shardwise
