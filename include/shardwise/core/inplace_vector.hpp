// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace shardwise {

/// A sequence of at most `Capacity` elements without allocation, usable in constant expressions.
///
/// Elements past `size()` keep their default value, so comparing whole objects compares the
/// sequences. Pushing past the capacity is a contract violation, and a compile error in a constant
/// expression; check `full()` where the number of elements comes from outside.
template <class T, std::size_t Capacity>
class inplace_vector {
  static_assert(Capacity < 65536);

 public:
  using value_type = T;

  constexpr inplace_vector() = default;

  /// Constructs from a braced list, which must fit.
  template <class... U>
    requires(sizeof...(U) > 0 && sizeof...(U) <= Capacity && (... && std::is_convertible_v<U, T>))
  constexpr inplace_vector(const U&... items)
      : items_{static_cast<T>(items)...}, size_(sizeof...(U)) {}

  [[nodiscard]] static constexpr std::size_t capacity() noexcept { return Capacity; }
  [[nodiscard, gnu::always_inline]] constexpr std::size_t size() const noexcept { return size_; }
  [[nodiscard, gnu::always_inline]] constexpr int ssize() const noexcept {
    return static_cast<int>(size_);
  }
  [[nodiscard, gnu::always_inline]] constexpr bool empty() const noexcept { return size_ == 0; }
  [[nodiscard, gnu::always_inline]] constexpr bool full() const noexcept {
    return size_ == Capacity;
  }

  template <std::integral Index>
  [[gnu::always_inline]] constexpr T& operator[](Index i) noexcept {
    return items_[static_cast<std::size_t>(i)];
  }
  template <std::integral Index>
  [[gnu::always_inline]] constexpr const T& operator[](Index i) const noexcept {
    return items_[static_cast<std::size_t>(i)];
  }

  [[nodiscard, gnu::always_inline]] constexpr const T& back() const noexcept {
    return items_[size_ - 1];
  }
  [[nodiscard, gnu::always_inline]] constexpr T* begin() noexcept { return items_; }
  [[nodiscard, gnu::always_inline]] constexpr T* end() noexcept { return items_ + size_; }
  [[nodiscard, gnu::always_inline]] constexpr const T* begin() const noexcept { return items_; }
  [[nodiscard, gnu::always_inline]] constexpr const T* end() const noexcept {
    return items_ + size_;
  }

  constexpr void push_back(const T& item) noexcept { items_[size_++] = item; }
  constexpr void push_back(T&& item) noexcept requires(!std::is_trivially_copyable_v<T>) {
    items_[size_++] = std::move(item);
  }
  constexpr void pop_back() noexcept { items_[--size_] = T{}; }
  constexpr void clear() noexcept {
    while (size_ > 0) pop_back();
  }
  /// Grows with default elements or shrinks to `size` elements.
  constexpr void resize(std::size_t size) noexcept {
    while (size_ > size) pop_back();
    size_ = static_cast<std::uint16_t>(size);
  }

  /// Returns the position of the first element equal to `item`, or -1.
  [[nodiscard]] constexpr int find(const T& item) const noexcept {
    for (std::size_t i = 0; i < size_; ++i)
      if (items_[i] == item) return static_cast<int>(i);
    return -1;
  }
  [[nodiscard]] constexpr bool contains(const T& item) const noexcept { return find(item) >= 0; }

  /// Returns true if this sequence is a prefix of `other`.
  [[nodiscard]] constexpr bool is_prefix_of(const inplace_vector& other) const noexcept {
    if (size_ > other.size_) return false;
    for (std::size_t i = 0; i < size_; ++i)
      if (!(items_[i] == other.items_[i])) return false;
    return true;
  }

  friend constexpr bool operator==(const inplace_vector& a, const inplace_vector& b) noexcept {
    return a.size_ == b.size_ && a.is_prefix_of(b);
  }

 private:
  T items_[Capacity]{};
  std::uint16_t size_ = 0;
};

}  // namespace shardwise
