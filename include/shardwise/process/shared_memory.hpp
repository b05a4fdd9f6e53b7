// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/growable.hpp"
#include "shardwise/core/index.hpp"
#include "shardwise/tensor/memory_source.hpp"
#include "shardwise/tensor/system_memory.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

namespace shardwise {

/// How a process finds the memory of another one on its host. The meaning is that of the class of
/// the memory; all zeros is memory that no other process can open. The last number identifies the
/// machine; 0 if it is unknown.
using memory_address = std::array<std::uint64_t, 5>;

/// Memory of this process which the other owners on its host read in place. An offset into the
/// memory of an owner means the same to all of them.
///
/// Owners meet by flags in this memory, so its atomic variables work between processes.
class shared_memory : public memory_source {
 public:
  /// Returns the address of the memory of this process, for the others.
  [[nodiscard]] virtual memory_address address() const noexcept = 0;
  /// Opens the memory of another owner; false if it is not on this host, or may not be opened.
  [[nodiscard]] virtual bool open(index_t owner, const memory_address& at) noexcept = 0;

  /// Returns the offset of something in the memory of this process; 0 for a null pointer.
  [[nodiscard]] virtual std::uint64_t offset_of(const void* own) const noexcept = 0;
  /// Returns what is at an offset in the memory of an owner that has been opened, or of this one.
  [[nodiscard]] virtual const std::byte* at(index_t owner, std::uint64_t offset) const noexcept = 0;
  /// Keeps a block that other owners may still read, after the memory's own end too.
  virtual void retire(void* block, std::size_t bytes) noexcept = 0;
  /// Returns true if the process of an owner whose memory was opened no longer exists.
  [[nodiscard]] virtual bool is_gone(index_t owner) const noexcept = 0;
};

/// The memory of an owner that is a thread of this process, like the others: an offset is an
/// address.
class process_memory : public shared_memory {
 public:
  /// What owners may still read of those that have ended; it lives as long as one of the owners.
  class remains {
   public:
    remains() = default;
    remains(const remains&) = delete;
    remains& operator=(const remains&) = delete;
    ~remains() {
      for (const auto& [block, bytes] : blocks_) internal::return_memory(block, bytes);
    }
    void keep(void* block, std::size_t bytes) {
      const std::lock_guard lock(mutex_);
      blocks_.emplace_back(block, bytes);
    }

   private:
    std::mutex mutex_;
    internal::growable<std::pair<void*, std::size_t>> blocks_;
  };

  explicit process_memory(std::shared_ptr<remains> of_all) : remains_(std::move(of_all)) {}

  [[nodiscard]] void* take(std::size_t bytes) noexcept override {
    return internal::take_memory(bytes);
  }
  void give_back(void* block, std::size_t bytes) noexcept override {
    internal::return_memory(block, bytes);
  }
  [[nodiscard]] memory_address address() const noexcept override {
    return {reinterpret_cast<std::uintptr_t>(remains_.get())};
  }
  [[nodiscard]] bool open(index_t, const memory_address& at) noexcept override {
    return at == address();
  }
  [[nodiscard]] std::uint64_t offset_of(const void* own) const noexcept override {
    return reinterpret_cast<std::uintptr_t>(own);
  }
  [[nodiscard]] const std::byte* at(index_t, std::uint64_t offset) const noexcept override {
    return std::bit_cast<const std::byte*>(static_cast<std::uintptr_t>(offset));
  }
  void retire(void* block, std::size_t bytes) noexcept override { remains_->keep(block, bytes); }
  [[nodiscard]] bool is_gone(index_t) const noexcept override { return false; }

 private:
  std::shared_ptr<remains> remains_;
};

}  // namespace shardwise
