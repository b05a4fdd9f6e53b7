// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/index.hpp"

#include <concepts>
#include <cstddef>
#include <type_traits>

namespace shardwise {

/// A view of contiguous elements owned by someone else: `std::span` without its includes.
///
/// It converts from arrays and from anything with `data()` and `size()`. Functions whose results
/// have any size write them through one into memory of the caller, at compile time and at run time
/// alike.
///
///     index_t memory[8];
///     list_view<index_t> order = memory;
template <class T>
class list_view {
 public:
  constexpr list_view() = default;
  constexpr list_view(T* data, std::size_t size) noexcept : data_(data), size_(size) {}
  template <std::size_t N>
  constexpr list_view(T (&array)[N]) noexcept : data_(array), size_(N) {}
  template <class List>
    requires requires(List& list) {
      { list.data() } -> std::convertible_to<T*>;
      { list.size() } -> std::convertible_to<std::size_t>;
    }
  constexpr list_view(List&& list) noexcept : data_(list.data()), size_(list.size()) {}

  [[nodiscard]] constexpr T* data() const noexcept { return data_; }
  [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }
  [[nodiscard]] constexpr index_t ssize() const noexcept { return static_cast<index_t>(size_); }
  [[nodiscard]] constexpr bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] constexpr T* begin() const noexcept { return data_; }
  [[nodiscard]] constexpr T* end() const noexcept { return data_ + size_; }
  template <std::integral Index>
  constexpr T& operator[](Index i) const noexcept {
    return data_[static_cast<std::size_t>(i)];
  }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace shardwise
