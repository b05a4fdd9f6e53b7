// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/inplace_vector.hpp"
#include "shardwise/notation/reader.hpp"

namespace shardwise {

/// The highest number of dimensions of a tile assignment: those of a tensor and of the groups.
inline constexpr int max_tile_dims = 16;
/// The highest number of devices of a tile assignment; only listed devices take memory.
inline constexpr index_t max_tile_devices = index_t{1} << 30;

/// Sizes, major to minor; their product is at most `max_tile_devices`.
using tile_dims = inplace_vector<index_t, max_tile_dims>;

/// The product of the sizes.
[[nodiscard]] constexpr index_t tile_count(const tile_dims& dims) noexcept {
  index_t n = 1;
  for (index_t dim : dims) n *= dim;
  return n;
}

/// A borrowed list of devices, which must outlive the view. An empty view stands for 0, 1, 2, ...
class device_view {
 public:
  constexpr device_view() = default;
  constexpr device_view(const index_t* data, index_t size) noexcept : data_(data), size_(size) {}
  /// Views the devices of an array, a vector, or a `tile_list`.
  template <class List>
    requires requires(const List& list) {
      { list.data() } -> std::convertible_to<const index_t*>;
      { list.size() } -> std::convertible_to<std::size_t>;
    }
  constexpr device_view(const List& list) noexcept
      : data_(list.data()), size_(static_cast<index_t>(list.size())) {}

  [[nodiscard]] constexpr index_t size() const noexcept { return size_; }
  [[nodiscard]] constexpr bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] constexpr const index_t* data() const noexcept { return data_; }
  /// Returns the device at a position.
  [[nodiscard]] constexpr index_t operator[](index_t i) const noexcept {
    return empty() ? i : data_[i];
  }

 private:
  const index_t* data_ = nullptr;
  index_t size_ = 0;
};

/// True if the devices are 0, 1, 2, ...
[[nodiscard]] constexpr bool is_plain(device_view devices) noexcept {
  for (index_t i = 0; i < devices.size(); ++i)
    if (devices[i] != i) return false;
  return true;
}

/// True if both have the same devices in the same order; an empty view is 0, 1, 2, ...
[[nodiscard]] constexpr bool same_devices(device_view a, device_view b) noexcept {
  const index_t count = a.size() > b.size() ? a.size() : b.size();
  if (!a.empty() && !b.empty() && a.size() != b.size()) return false;
  for (index_t i = 0; i < count; ++i)
    if (a[i] != b[i]) return false;
  return true;
}

/// Memory of the caller that parsers fill with lists of devices.
///
///     std::vector<index_t> memory(4096);
///     device_buffer devices(memory.data(), 4096);
class device_buffer {
 public:
  /// Has no room: parsers then reject lists.
  constexpr device_buffer() = default;
  constexpr device_buffer(index_t* data, index_t capacity) noexcept
      : data_(data), capacity_(capacity) {}

  [[nodiscard]] constexpr index_t room() const noexcept { return capacity_ - size_; }
  /// Allocates `count` elements, or returns null if there is no room for them.
  [[nodiscard]] constexpr index_t* take(index_t count) noexcept {
    if (count > room()) return nullptr;
    index_t* const first = data_ + size_;
    size_ += count;
    return first;
  }
  /// Releases the elements allocated last.
  constexpr void give_back(index_t count) noexcept { size_ -= count; }

 private:
  index_t* data_ = nullptr;
  index_t capacity_ = 0;
  index_t size_ = 0;
};

namespace detail {
/// Finishes a parse that began with `room` in the buffer: after a failure, resets the value and
/// releases what the parse has allocated.
template <class Read>
[[nodiscard]] constexpr parse_verdict end_reading(text_reader& in, Read& read,
                                                  device_buffer& buffer, index_t room) noexcept {
  const parse_verdict verdict = in.finish();
  if (!verdict.ok()) {
    read = Read{};
    buffer.give_back(room - buffer.room());
  }
  return verdict;
}
}  // namespace detail

/// A buffer with its own memory, for constant expressions and small meshes.
///
///     tile_list<8> memory;
///     parse_hlo("{devices=[2,2]0,2,1,3}", memory.buffer);
template <std::size_t Capacity>
struct tile_list {
  index_t memory[Capacity]{};
  device_buffer buffer{memory, index_t{Capacity}};

  constexpr tile_list() = default;
  tile_list(const tile_list&) = delete;
  tile_list& operator=(const tile_list&) = delete;
};

/// An order of the devices 0 to n-1: reshaped row-major to these sizes, and transposed.
///
///     // <=[2,3]T(1,0): 0 3 1 4 2 5
///     static_assert(iota_order{{2, 3}, {1, 0}}.at(1) == 3);
struct iota_order {
  tile_dims sizes{};
  inplace_vector<std::uint8_t, max_tile_dims> order{};

  [[nodiscard]] constexpr index_t count() const noexcept { return tile_count(sizes); }

  /// Returns the stride, in device numbers, of dimension `d` of the box.
  [[nodiscard]] constexpr index_t stride(int d) const noexcept {
    index_t n = 1;
    for (int i = sizes.ssize() - 1; i > d; --i) n *= sizes[i];
    return n;
  }
  /// Returns the device at a position.
  [[nodiscard]] constexpr index_t at(index_t position) const noexcept {
    index_t device = 0;
    for (int k = order.ssize() - 1; k >= 0; --k) {
      const int d = order[k];
      device += position % sizes[d] * stride(d);
      position /= sizes[d];
    }
    return device;
  }
  /// Returns the position of a device.
  [[nodiscard]] constexpr index_t find(index_t device) const noexcept {
    index_t position = 0;
    for (std::uint8_t d : order) position = position * sizes[d] + device / stride(d) % sizes[d];
    return position;
  }

  friend constexpr bool operator==(const iota_order&, const iota_order&) = default;
};

/// Returns the identity order of the devices 0 to `count` - 1: `<=[count]`.
[[nodiscard]] constexpr iota_order plain_order(index_t count) noexcept { return {{count}, {0}}; }

/// Returns the canonical form of an order, in which it is printed: without sizes of 1 and without
/// pairs of dimensions that stay adjacent.
///
///     static_assert(canonical(iota_order{{2, 8, 4}, {2, 0, 1}}) == iota_order{{16, 4}, {1, 0}});
[[nodiscard]] constexpr iota_order canonical(const iota_order& given) noexcept {
  int next[max_tile_dims]{};  // the dimension that follows this one in both orders, or -1
  bool follows[max_tile_dims]{};
  inplace_vector<std::uint8_t, max_tile_dims> order;
  for (std::uint8_t d : given.order)
    if (given.sizes[d] != 1) order.push_back(d);
  int after[max_tile_dims]{};  // the next dimension whose size is not 1
  for (int d = given.sizes.ssize() - 1, following = d + 1; d >= 0; --d) {
    after[d] = following;
    if (given.sizes[d] != 1) following = d;
  }
  for (int& n : next) n = -1;
  for (int k = 0; k + 1 < order.ssize(); ++k)
    if (after[order[k]] == order[k + 1]) {
      next[order[k]] = order[k + 1];
      follows[order[k + 1]] = true;
    }
  iota_order result;
  std::uint8_t number[max_tile_dims]{};
  for (int d = 0; d < given.sizes.ssize(); ++d) {
    if (given.sizes[d] == 1 || follows[d]) continue;
    index_t size = 1;
    for (int part = d; part >= 0; part = next[part]) size *= given.sizes[part];
    number[d] = static_cast<std::uint8_t>(result.sizes.size());
    result.sizes.push_back(size);
  }
  for (std::uint8_t d : order)
    if (!follows[d]) result.order.push_back(number[d]);
  return result.sizes.empty() ? plain_order(1) : result;
}

/// The device of each tile. Tiles are numbered row-major in `dims`; devices are given by a list or,
/// if the list is empty, by an order.
struct tile_assignment {
  tile_dims dims{};
  iota_order order{};
  device_view list{};

  [[nodiscard]] constexpr bool is_list() const noexcept { return !list.empty(); }
  [[nodiscard]] constexpr index_t count() const noexcept { return tile_count(dims); }
  /// Returns the device of a tile.
  [[nodiscard]] constexpr index_t at(index_t tile) const noexcept {
    return is_list() ? list[tile] : order.at(tile);
  }
  /// Returns the tile of a device; searches a list linearly.
  [[nodiscard]] constexpr index_t find(index_t device) const noexcept {
    if (!is_list()) return order.find(device);
    for (index_t i = 0; i < list.size(); ++i)
      if (list[i] == device) return i;
    return -1;
  }
};

}  // namespace shardwise
