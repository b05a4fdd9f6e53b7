// SPDX-License-Identifier: BSL-1.0
#pragma once

#if defined(SHARDWISE_GIVE_KERNELS)
#include "shardwise/kernel/kernel_set.hpp"
#endif
#include "shardwise/core/growable.hpp"

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>

namespace shardwise {

/// A source of temporary memory for the kernels of a thread. It is set by the code that runs their
/// tasks, so that the memory of one task is reused by the next.
struct scratch_source {
  /// A block of memory and its deleter.
  struct block {
    std::byte* data = nullptr;
    void* token = nullptr;
    void (*give_back)(void* token) noexcept = nullptr;
  };

  void* of = nullptr;
  /// Stores at least `bytes` of memory, aligned to 64, in `to`, a `block`. Throws `std::bad_alloc`.
  /// (Kernels in the namespace of an instruction set have another name for blocks.)
  void (*take)(void* of, std::size_t bytes, void* to) = nullptr;
};

/// Makes the calling thread use a source, which must outlive this object.
class scratch_scope {
 public:
  explicit scratch_scope(const scratch_source& from) noexcept : before_(slot()) { slot() = &from; }
  scratch_scope(const scratch_scope&) = delete;
  scratch_scope& operator=(const scratch_scope&) = delete;
  ~scratch_scope() { slot() = before_; }

  /// Returns the source of the calling thread; null if memory comes from the heap.
  [[nodiscard]] static const scratch_source* current() noexcept {
    return static_cast<const scratch_source*>(slot());
  }
  /// Returns the thread-local pointer to the source, which the engine writes and the instruction
  /// sets of the compiled library read.
  [[nodiscard]] static const void*& slot() noexcept {
#if defined(SHARDWISE_GIVE_KERNELS)
    return *shardwise_scratch_slot();
#else
    static thread_local const void* source = nullptr;
    return source;
#endif
  }

 private:
  const void* before_;
};

/// An allocator of such memory, which may be freed on any thread, with or without a source.
template <class T>
struct scratch_allocator {
  using value_type = T;

  scratch_allocator() = default;
  template <class U>
  constexpr scratch_allocator(const scratch_allocator<U>&) noexcept {}

  [[nodiscard]] T* allocate(std::size_t count) {
    const std::size_t bytes = room + count * sizeof(T);
    const scratch_source* const from = scratch_scope::current();
    scratch_source::block got;
    if (from != nullptr)
      from->take(from->of, bytes, &got);
    else
      got = from_heap(bytes);
    ::new (static_cast<void*>(got.data)) scratch_source::block(got);
    return static_cast<T*>(static_cast<void*>(got.data + room));
  }
  void deallocate(T* data, std::size_t) noexcept { give_back(data); }
  static void give_back(T* data) noexcept {
    void* const begin = static_cast<std::byte*>(static_cast<void*>(data)) - room;
    const scratch_source::block had = *static_cast<scratch_source::block*>(begin);
    had.give_back(had.token);
  }

  template <class U>
  [[nodiscard]] constexpr bool operator==(const scratch_allocator<U>&) const noexcept {
    return true;
  }

 private:
  /// A header before the elements identifies their owner.
  static constexpr std::size_t room = 64;
  static_assert(sizeof(scratch_source::block) <= room && alignof(T) <= room);

  [[nodiscard]] static scratch_source::block from_heap(std::size_t bytes) {
    constexpr std::align_val_t alignment{room};
    void* const data = ::operator new(bytes, alignment);
    return {static_cast<std::byte*>(data), data,
            [](void* token) noexcept { ::operator delete (token, std::align_val_t{room}); }};
  }
};

/// A sequence in such memory.
struct scratch_heap {
  [[nodiscard]] static void* allocate(std::size_t bytes) {
    return scratch_allocator<std::byte>().allocate(bytes);
  }
  static void free(void* memory) noexcept {
    scratch_allocator<std::byte>::give_back(static_cast<std::byte*>(memory));
  }
};
template <class T>
using scratch_vector = internal::growable<T, scratch_heap>;

/// Uninitialised elements in such memory.
template <class T>
struct scratch_deleter {
  void operator()(T* data) const noexcept { scratch_allocator<T>::give_back(data); }
};
template <class T>
using scratch_array = std::unique_ptr<T[], scratch_deleter<T>>;
template <class T>
[[nodiscard]] scratch_array<T> make_scratch(std::size_t count) {
  static_assert(std::is_trivially_copyable_v<T>);
  return scratch_array<T>(scratch_allocator<T>().allocate(count));
}

}  // namespace shardwise
