// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/index.hpp"
#include "shardwise/tensor/arena.hpp"

#include <cstddef>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>

namespace shardwise {

/// The elements of one shard, shared by every device that holds the same shard: a handle that is
/// cheap to copy and keeps the memory and its arena alive.
///
/// A new buffer has one owner, who may write; after the first copy the elements no longer change.
/// Different threads may create and destroy copies at the same time.
///
///     buffer<float> x(*arena, 1024);             // not initialised
///     std::fill_n(x.writable(), x.size(), 1.0F);
///     buffer<float> replica = x;                 // the same memory
///     replica.detach();                          // copy on write
template <class T>
class shard_buffer {
  static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= shard_alignment);

 public:
  using value_type = T;

  /// A buffer without elements.
  shard_buffer() = default;

  /// Creates a buffer of `size` uninitialised elements. Throws `out_of_memory` if there is no
  /// memory for them, or if `size` is negative or too large.
  shard_buffer(memory_arena& from, index_t size) : size_(size) {
    if (size == 0) return;
    constexpr auto width = static_cast<index_t>(sizeof(T));
    if (size < 0 || size > size_class::largest / width) internal::fail_for_memory(size, width);
    block_ = &from.allocate(bytes_of(size));
    data_ = static_cast<T*>(static_cast<void*>(block_->data));
  }

  shard_buffer(const shard_buffer& other) noexcept
      : block_(other.block_), data_(other.data_), size_(other.size_) {
    if (block_ != nullptr) memory_arena::retain(*block_);
  }
  shard_buffer(shard_buffer&& other) noexcept { swap(other); }
  shard_buffer& operator=(shard_buffer other) noexcept {
    swap(other);
    return *this;
  }
  ~shard_buffer() {
    if (block_ != nullptr) memory_arena::release(*block_);
  }

  void swap(shard_buffer& other) noexcept {
    std::swap(block_, other.block_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }

  [[nodiscard]] index_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }

  /// Returns the elements, aligned to 64 bytes (to 2 MiB from that size on); null if there are
  /// none.
  [[nodiscard]] const T* data() const noexcept { return data_; }
  [[nodiscard]] const T* begin() const noexcept { return data_; }
  [[nodiscard]] const T* end() const noexcept { return data_ + size_; }
  [[nodiscard]] const T& operator[](index_t i) const noexcept { return data_[i]; }
  [[nodiscard]] std::span<const T> view() const noexcept {
    return {data_, static_cast<std::size_t>(size_)};
  }

  /// Returns the elements for writing; only for the single owner: `unique()` is a precondition.
  [[nodiscard]] T* writable() noexcept { return data_; }

  /// Returns true if no other handle shares the elements, so that they may be written. A borrowed
  /// handle does not know: ask the handle that it was made from.
  [[nodiscard]] bool unique() const noexcept {
    return block_ == nullptr || block_->owners.load(std::memory_order_acquire) == 1;
  }

  /// Returns true if both handles hold the same memory, as replicas do.
  [[nodiscard]] bool shares(const shard_buffer& other) const noexcept {
    return block_ != nullptr && block_ == other.block_;
  }

  /// Returns a handle of the same memory that does not own it, which is cheaper to make. The memory
  /// must outlive the handle.
  [[nodiscard]] shard_buffer borrowed() const noexcept {
    shard_buffer view;
    view.data_ = data_;
    view.size_ = size_;
    return view;
  }

  /// Returns the same memory as bytes.
  [[nodiscard]] shard_buffer<std::byte> as_bytes() const noexcept {
    shard_buffer<std::byte> bytes;
    if (block_ != nullptr) memory_arena::retain(*block_);
    bytes.block_ = block_;
    bytes.data_ = static_cast<std::byte*>(static_cast<void*>(data_));
    bytes.size_ = bytes_of(size_);
    return bytes;
  }

  /// Makes this handle the single owner, of a copy if the elements are shared.
  void detach() {
    if (unique()) return;
    shard_buffer copy(*block_->home, size_);
    std::memcpy(copy.data_, data_, static_cast<std::size_t>(size_) * sizeof(T));
    swap(copy);
  }

 private:
  template <class U>
  friend class shard_buffer;

  [[nodiscard]] static constexpr index_t bytes_of(index_t size) noexcept {
    return size * static_cast<index_t>(sizeof(T));
  }

  arena_block* block_ = nullptr;
  T* data_ = nullptr;
  index_t size_ = 0;
};

}  // namespace shardwise
