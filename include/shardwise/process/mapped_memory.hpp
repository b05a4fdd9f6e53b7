// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/growable.hpp"
#include "shardwise/core/index.hpp"
#include "shardwise/process/free_ranges.hpp"
#include "shardwise/process/shared_memory.hpp"
#include "shardwise/tensor/system_memory.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

namespace shardwise {

/// Memory of this process in a file without a name that the other processes of the host map for
/// reading; an owner finds the file through `/proc`. Linux only.
///
/// The file has as many addresses as the machine has memory, and grows and shrinks with what is
/// taken. Pages are reserved before they are given out: where there is no memory, `take` returns
/// null, and no access ends the process. Thread-safe.
class mapped_memory : public shared_memory {
 public:
  /// Blocks from this size on are returned to the system when they are given back. Smaller ones
  /// share pages, which are reserved in steps.
  static constexpr std::size_t large_bytes = std::size_t{64} << 10;
  static constexpr std::size_t step_bytes = std::size_t{1} << 20;

  /// Returns the addresses that each of `owners` can reserve, so that one process can map them all.
  [[nodiscard]] static std::size_t most_bytes(index_t owners) noexcept;
  /// Creates the memory of one of `owners`, of at most `bytes`; null if the system does not permit
  /// it.
  [[nodiscard]] static std::unique_ptr<mapped_memory> create(index_t owners, std::size_t bytes);
  [[nodiscard]] static std::unique_ptr<mapped_memory> create(index_t owners) {
    return create(owners, most_bytes(owners));
  }
  ~mapped_memory() override;

  [[nodiscard]] void* take(std::size_t bytes) noexcept override;
  void give_back(void* block, std::size_t bytes) noexcept override;
  [[nodiscard]] memory_address address() const noexcept override { return address_; }
  [[nodiscard]] bool open(index_t owner, const memory_address& at) noexcept override;
  [[nodiscard]] std::uint64_t offset_of(const void* own) const noexcept override {
    return own == nullptr ? 0
                          : static_cast<std::uint64_t>(static_cast<const std::byte*>(own) - own_);
  }
  [[nodiscard]] const std::byte* at(index_t owner, std::uint64_t offset) const noexcept override {
    const std::byte* const base = others_[static_cast<std::size_t>(owner)].begin;
    return (base != nullptr ? base : own_) + offset;
  }
  /// The file lives as long as somebody maps it.
  void retire(void*, std::size_t) noexcept override {}
  [[nodiscard]] bool is_gone(index_t owner) const noexcept override;

  /// Returns the bytes of the file that are reserved now.
  [[nodiscard]] std::size_t reserved_bytes() const noexcept;

 private:
  /// The memory of another owner, and a file that becomes readable when its process ends.
  struct mapping {
    const std::byte* begin = nullptr;
    std::size_t bytes = 0;
    int process = -1;
  };

  mapped_memory(int file, std::byte* own, std::size_t bytes, index_t owners);

  [[nodiscard]] static constexpr bool is_large(std::size_t bytes) noexcept {
    return bytes >= large_bytes;
  }
  [[nodiscard]] void* take_large(std::size_t bytes);
  [[nodiscard]] void* take_small(std::size_t bytes);

  int file_;
  std::byte* own_;
  std::size_t bytes_;
  memory_address address_{};
  internal::growable<mapping> others_;
  std::mutex mutex_;
  /// Addresses without pages, and the free parts of steps.
  free_ranges large_;
  free_ranges small_;
};

}  // namespace shardwise

#if !defined(SHARDWISE_COMPILED)
#include "shardwise/process/mapped_memory_work.hpp"
#endif
