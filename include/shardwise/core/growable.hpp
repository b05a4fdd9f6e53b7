// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"

#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <new>
#include <type_traits>
#include <utility>

namespace shardwise {

namespace detail {

/// Memory for elements, some of them in use, whose type only the functions on it know.
struct element_memory {
  void* data = nullptr;
  std::size_t size = 0;
  std::size_t room = 0;
};

/// Moves the elements, `bytes` bytes each, into memory for `room` of them, as bytes.
template <class Memory>
void move_to_larger(element_memory& from, std::size_t room, std::size_t bytes) {
  // More than there is fails like any other allocation.
  constexpr std::size_t most = static_cast<std::size_t>(-1);
  void* const to = Memory::allocate(room > most / bytes ? most : room * bytes);
  if (from.size > 0) std::memcpy(to, from.data, from.size * bytes);
  if (from.data != nullptr) Memory::free(from.data);
  from.data = to;
  from.room = room;
}

/// Reports the use of an element that is not there, and aborts.
[[noreturn]] void element_is_missing() noexcept;

}  // namespace detail

namespace internal {

/// Memory of the heap.
struct heap_memory {
  [[nodiscard]] static void* allocate(std::size_t bytes) { return ::operator new(bytes); }
  static void free(void* memory) noexcept { ::operator delete(memory); }
};

/// A sequence that grows, for the engine: what `std::vector` does, with less to compile.
///
/// Accessors are inlined before optimisation, and all trivially copyable types share the function
/// that allocates, so that a program pays little for each further element type. Elements must be
/// movable without exceptions if memory is to grow. As in `std::vector`, whatever
/// may grow it invalidates pointers to elements; a moved-from sequence is empty. The memory is that
/// of `Memory`, which aligns it as `new` does.
template <class T, class Memory = heap_memory>
class growable {
 public:
  using value_type = T;
  using iterator = T*;
  using const_iterator = const T*;

  growable() = default;
  /// Constructs `size` elements, value-initialised or equal to `item`.
  explicit growable(std::size_t size) : growable() {
    // Nothing moves, so that even elements that cannot move have their place.
    if (size == 0) return;
    memory_ = {Memory::allocate(size * sizeof(T)), 0, size};
    add(size);
  }
  growable(std::size_t size, const T& item) : growable() { resize(size, item); }
  growable(std::initializer_list<T> items) : growable() { append(items.begin(), items.end()); }
  template <class Iterator>
    requires(!std::is_integral_v<Iterator>)
  growable(Iterator first, Iterator last) : growable() { append(first, last); }
  growable(const growable& other) : growable() { append(other.begin(), other.end()); }
  [[gnu::always_inline]] growable(growable&& other) noexcept
      : memory_(std::exchange(other.memory_, detail::element_memory())) {}
  growable& operator=(const growable& other) {
    if (this != &other) assign(other.begin(), other.end());
    return *this;
  }
  growable& operator=(growable&& other) noexcept {
    growable had(std::move(other));
    swap(had);
    return *this;
  }
  ~growable() {
    destroy_from(0);
    if (memory_.data != nullptr) Memory::free(memory_.data);
  }

  [[gnu::always_inline]] void swap(growable& other) noexcept { std::swap(memory_, other.memory_); }

  [[nodiscard, gnu::always_inline]] std::size_t size() const noexcept { return memory_.size; }
  [[nodiscard, gnu::always_inline]] std::size_t capacity() const noexcept { return memory_.room; }
  [[nodiscard, gnu::always_inline]] bool empty() const noexcept { return memory_.size == 0; }
  [[nodiscard, gnu::always_inline]] T* data() noexcept { return static_cast<T*>(memory_.data); }
  [[nodiscard, gnu::always_inline]] const T* data() const noexcept {
    return static_cast<const T*>(memory_.data);
  }
  [[nodiscard, gnu::always_inline]] T* begin() noexcept { return data(); }
  [[nodiscard, gnu::always_inline]] T* end() noexcept { return data() + size(); }
  [[nodiscard, gnu::always_inline]] const T* begin() const noexcept { return data(); }
  [[nodiscard, gnu::always_inline]] const T* end() const noexcept { return data() + size(); }
  [[nodiscard, gnu::always_inline]] T& operator[](std::size_t i) noexcept {
    expect(i < size());
    return data()[i];
  }
  [[nodiscard, gnu::always_inline]] const T& operator[](std::size_t i) const noexcept {
    expect(i < size());
    return data()[i];
  }
  [[nodiscard, gnu::always_inline]] T& front() noexcept { return (*this)[0]; }
  [[nodiscard, gnu::always_inline]] const T& front() const noexcept { return (*this)[0]; }
  [[nodiscard, gnu::always_inline]] T& back() noexcept { return (*this)[size() - 1]; }
  [[nodiscard, gnu::always_inline]] const T& back() const noexcept { return (*this)[size() - 1]; }

  /// Allocates memory for at least `room` elements.
  void reserve(std::size_t room) {
    if (room > memory_.room) move_to(room);
  }
  /// Appends an element, which arguments may refer to only if they are no elements of this.
  template <class... Arguments>
  T& emplace_back(Arguments&&... arguments) {
    if (size() == capacity()) grow();
    T* const made = ::new (static_cast<void*>(end())) T(std::forward<Arguments>(arguments)...);
    ++memory_.size;
    return *made;
  }
  /// Appends an element, which may be one of this.
  void push_back(const T& item) {
    T copy(item);
    emplace_back(std::move(copy));
  }
  void push_back(T&& item) requires(!std::is_trivially_copyable_v<T>) {
    T moved(std::move(item));
    emplace_back(std::move(moved));
  }
  void pop_back() noexcept {
    expect(!empty());
    destroy_from(size() - 1);
  }
  void clear() noexcept { destroy_from(0); }
  /// Shrinks, or grows by value-initialised elements.
  void resize(std::size_t size) {
    if (size < memory_.size) return destroy_from(size);
    reserve(size);
    add(size);
  }
  /// Shrinks, or grows by copies of `item`, which is no element of this.
  void resize(std::size_t size, const T& item) {
    if (size < memory_.size) return destroy_from(size);
    reserve(size);
    add(size, item);
  }
  /// Replaces the elements by `size` copies of `item`, or by those of a range; neither is in this.
  void assign(std::size_t size, const T& item) {
    clear();
    resize(size, item);
  }
  template <class Iterator>
    requires(!std::is_integral_v<Iterator>)
  void assign(Iterator first, Iterator last) {
    clear();
    append(first, last);
  }
  /// Appends the elements of a range that is not in this.
  template <class Iterator>
  void append(Iterator first, Iterator last) {
    if constexpr (requires { static_cast<std::size_t>(last - first); })
      reserve_more(static_cast<std::size_t>(last - first));
    if constexpr (std::is_trivially_copyable_v<T> &&
                  (std::is_same_v<Iterator, T*> || std::is_same_v<Iterator, const T*>)) {
      const auto count = static_cast<std::size_t>(last - first);
      if (count > 0) std::memcpy(static_cast<void*>(end()), first, count * sizeof(T));
      memory_.size += count;
    } else {
      for (; first != last; ++first) emplace_back(*first);
    }
  }
  /// Inserts an element before `before` and returns its place.
  T* insert(const T* before, T item) {
    std::size_t at = static_cast<std::size_t>(before - data());
    expect(at <= size());
    push_back(std::move(item));
    for (std::size_t i = size() - 1; i > at; --i) std::swap(data()[i], data()[i - 1]);
    return data() + at;
  }
  /// Removes one element, or those in [first, last), and returns the place of the next.
  T* erase(const T* at) noexcept { return erase(at, at + 1); }
  T* erase(const T* first, const T* last) noexcept {
    const std::size_t at = static_cast<std::size_t>(first - data());
    if (first == last) return data() + at;
    std::size_t to = at;
    for (auto from = static_cast<std::size_t>(last - data()); from < size(); ++from, ++to)
      data()[to] = std::move(data()[from]);
    destroy_from(to);
    return data() + at;
  }

  [[nodiscard]] friend bool operator==(const growable& a, const growable& b) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i)
      if (!(a[i] == b[i])) return false;
    return true;
  }

 private:
  /// Aborts where the standard library would: if it was asked to check its preconditions.
  [[gnu::always_inline]] static void expect(bool condition) noexcept {
    if constexpr (build_config::assertions)
      if (!condition) detail::element_is_missing();
  }

  /// Constructs elements up to `size`, for which there is room.
  template <class... Item>
  void add(std::size_t size, const Item&... item) {
    if constexpr (std::is_trivially_copyable_v<T>) {
      // Elements are not written over the size, whatever their type.
      T* const last = data() + size;
      for (T* at = end(); at != last; ++at) ::new (static_cast<void*>(at)) T(item...);
      memory_.size = size;
    } else {
      for (; memory_.size < size; ++memory_.size) ::new (static_cast<void*>(end())) T(item...);
    }
  }
  void destroy_from(std::size_t first) noexcept {
    if constexpr (!std::is_trivially_destructible_v<T>)
      for (std::size_t i = first; i < memory_.size; ++i) data()[i].~T();
    memory_.size = first;
  }
  void grow() { move_to(memory_.room < 4 ? 4 : 2 * memory_.room); }
  /// Makes room for `more` elements, so that many small additions take linear time.
  void reserve_more(std::size_t more) {
    const std::size_t wanted = size() + more;
    if (wanted > capacity()) move_to(wanted > 2 * capacity() ? wanted : 2 * capacity());
  }
  void move_to(std::size_t room) {
    static_assert(alignof(T) <= alignof(std::max_align_t));
    if constexpr (std::is_trivially_copyable_v<T>) {
      detail::move_to_larger<Memory>(memory_, room, sizeof(T));
    } else {
      static_assert(std::is_nothrow_move_constructible_v<T>);
      T* const to = static_cast<T*>(Memory::allocate(room * sizeof(T)));
      for (std::size_t i = 0; i < memory_.size; ++i) {
        ::new (static_cast<void*>(to + i)) T(std::move(data()[i]));
        data()[i].~T();
      }
      if (memory_.data != nullptr) Memory::free(memory_.data);
      memory_.data = to;
      memory_.room = room;
    }
  }

  detail::element_memory memory_;
};

}  // namespace internal

}  // namespace shardwise

#if !defined(SHARDWISE_COMPILED)
#include "shardwise/core/growable_work.hpp"
#endif
