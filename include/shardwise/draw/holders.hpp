// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/draw/parts.hpp"

namespace shardwise::detail {

/// A set of positions with equal distances along each of several levels, major to minor: the
/// devices that hold a block. It has as few levels as possible.
///
/// A position is the number of a device, or the index of its number in a list of devices.
class device_set {
 public:
  /// Creates a set of one device.
  constexpr explicit device_set(index_t first, const index_t* names = nullptr) noexcept
      : first_(first), names_(names) {}
  /// Creates the set of devices that differ from `first` along `axes`, which must be in mesh order.
  constexpr device_set(const mesh_desc& mesh, const axis_list& axes, index_t first,
                       const index_t* names = nullptr) noexcept
      : first_(first), names_(names) {
    for (std::uint8_t a : axes) {
      index_t distance = 1;
      for (int minor = a + 1; minor < mesh.rank(); ++minor) distance *= mesh.size(minor);
      add_level(mesh.size(a), distance);
    }
  }

  /// Repeats the set `count` times, as a level below the existing ones.
  constexpr void add_level(index_t count, index_t distance) noexcept {
    if (count == 1) return;
    if (!levels_.empty() && levels_.back().distance == count * distance)
      levels_[levels_.size() - 1] = {levels_.back().count * count, distance};
    else
      levels_.push_back({count, distance});
  }

  [[nodiscard]] constexpr index_t count() const noexcept {
    index_t n = 1;
    for (const level& l : levels_) n *= l.count;
    return n;
  }
  /// Returns the `position`th element of the set; elements are in ascending order.
  [[nodiscard]] constexpr index_t place(index_t position) const noexcept {
    index_t place = first_;
    for (int i = levels_.ssize() - 1; i >= 0; --i) {
      place += position % levels_[i].count * levels_[i].distance;
      position /= levels_[i].count;
    }
    return place;
  }
  /// Returns the device at a position.
  [[nodiscard]] constexpr index_t operator[](index_t position) const noexcept {
    return names_ == nullptr ? place(position) : names_[place(position)];
  }
  /// Returns the same set, moved to another first element.
  [[nodiscard]] constexpr device_set at(index_t first) const noexcept {
    device_set moved = *this;
    moved.first_ = first;
    return moved;
  }

  /// Writes the devices: `0-63`, `0,4,8..60`, `0-3 16-19 .. 112-115`; for a list, the first two and
  /// the last.
  template <std::size_t N>
  constexpr void write(bounded_text<N>& out) const noexcept {
    if (names_ != nullptr && !are_numbers()) {
      out << (*this)[0] << ' ' << (*this)[1] << " .. " << (*this)[count() - 1];
      return;
    }
    index_t runs = 1;
    for (int i = 0; i + 1 < levels_.ssize(); ++i) runs *= levels_[i].count;
    const index_t length = count() / runs;
    for (index_t r = 0; r < runs; ++r) {
      if (r > 0) out << ' ';
      if (runs > 3 && r == 2) {
        out << ".. ";
        r = runs - 1;
      }
      write_run(out, r * length, length);
    }
  }

 private:
  struct level {
    index_t count = 1;
    index_t distance = 1;
  };

  // Returns true if the devices of a list have the same distances as their positions.
  [[nodiscard]] constexpr bool are_numbers() const noexcept {
    for (index_t i = 0, n = count(); i < n; ++i)
      if ((*this)[i] - (*this)[0] != place(i) - place(0)) return false;
    return true;
  }
  template <std::size_t N>
  constexpr void write_run(bounded_text<N>& out, index_t begin, index_t length) const noexcept {
    const index_t last = (*this)[begin + length - 1];
    out << (*this)[begin];
    if (length > 2 && levels_.back().distance == 1) {
      out << '-' << last;
      return;
    }
    for (index_t i = 1; i < length && (i < 3 || length <= 4); ++i) out << ',' << (*this)[begin + i];
    if (length > 4) out << ".." << last;
  }

  index_t first_;
  const index_t* names_ = nullptr;
  inplace_vector<level, 2 * max_axes> levels_{};
};

/// The devices that hold a block: its replicas and, for each of them, the devices whose terms are
/// added to its value. Terms are in sums of `sum` terms each; if there are several sums, the
/// program itself decides what to do with them (manual sharding).
struct holders {
  device_set replicas;
  device_set terms;
  index_t sum = terms.count();
  /// A text instead, if the devices are unknown.
  text_view words{};

  [[nodiscard]] constexpr index_t devices() const noexcept {
    return replicas.count() * terms.count();
  }
  /// Returns the terms of one replica.
  [[nodiscard]] constexpr device_set terms_of(index_t replica) const noexcept {
    return terms.at(replicas.place(replica));
  }
};

/// The numbers of a block's parts, one for each dimension.
using part_numbers = inplace_vector<index_t, max_rank>;

/// Returns the devices that hold the block of these parts; the mesh must not have an explicit
/// order. `names` lists the device at each position, if not 0, 1, ... The terms of a sum are
/// adjacent, and manual values are separate.
[[nodiscard]] constexpr holders holders_of(const mesh_desc& mesh, const layout_desc& layout,
                                           const part_numbers& parts,
                                           const index_t* names = nullptr) noexcept {
  coordinates where;
  where.resize(mesh.axes.size());
  for (int d = 0; d < layout.rank(); ++d) place_part(mesh, layout.dims[d], parts[d], where);
  const index_t first = mesh.device(where);
  axis_list free;
  for (std::uint8_t a = 0; a < mesh.rank(); ++a)
    if (layout.dim_of(a) < 0 && ((layout.pending | layout.manual) >> a & 1) == 0) free.push_back(a);
  axis_list apart = layout.manual_axes();
  for (std::uint8_t a : layout.pending_axes()) apart.push_back(a);
  return {device_set(mesh, free, first, names), device_set(mesh, apart, first, names),
          mesh.parts(layout.pending_axes())};
}

/// Writes the terms of one replica, joined by `+`: `0+1+2+3`, or `0+1+..+63` for many; sums that
/// the program keeps separate are joined by `/`: `0+1/2+3`.
template <std::size_t N>
constexpr void write_terms(bounded_text<N>& out, const holders& who, index_t replica,
                           index_t most) noexcept {
  const device_set terms = who.terms_of(replica);
  const index_t n = terms.count();
  for (index_t t = 0; t < n; ++t) {
    const char joint = t % who.sum == 0 ? '/' : '+';
    if (t > 0) out << joint;
    if (n > most && t == 2) {
      out << ".." << joint;
      t = n - 1;
    }
    out << terms[t];
  }
}

/// Writes the devices that hold a block: each device if there are at most `most`, with `0 4` for
/// replicas and `0+1` for terms; otherwise ranges.
template <std::size_t N>
constexpr void write_holders(bounded_text<N>& out, const holders& who, index_t most) noexcept {
  if (!who.words.empty()) return void(out << who.words);
  const index_t n = who.replicas.count();
  if (who.devices() > most && who.terms.count() == 1) return who.replicas.write(out);
  for (index_t r = 0; r < n; ++r) {
    if (r > 0) out << ' ';
    if (who.devices() > most && n > 2 && r == 1) {
      out << ".. ";
      r = n - 1;
    }
    write_terms(out, who, r, who.devices() > most ? 4 : most);
  }
}

/// The text of a block's holders.
using cell_text = bounded_text<120>;

}  // namespace shardwise::detail
