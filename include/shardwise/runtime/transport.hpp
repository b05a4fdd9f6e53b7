// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/index.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
// Brings the durations of <chrono>, without calendars and streams.
#include <thread>

namespace shardwise {

/// What a message is about; messages of one kind between two owners arrive in the order in which
/// they were sent.
enum class message_kind : int { agreement, pieces };

/// What an owner told the others before it failed; of nobody where no owner has failed.
struct owner_report {
  static constexpr index_t nobody = -1;

  index_t owner = nobody;
  std::string words{};

  [[nodiscard]] bool is_failure() const noexcept { return owner != nobody; }
};

/// Carries messages between the owners of a mesh: contiguous bytes to and from an owner, each kind
/// in order, as MPI's `Isend` and `Irecv` do with a tag for each kind. Used by one thread at a
/// time.
///
/// A message is received into memory of exactly its size; the engine agrees on sizes beforehand.
class transport {
 public:
  /// A message on its way.
  using ticket = std::uint64_t;

  transport() = default;
  transport(const transport&) = delete;
  transport& operator=(const transport&) = delete;
  virtual ~transport() = default;

  /// The number of owners, and which of them this one is.
  [[nodiscard]] virtual index_t owners() const noexcept = 0;
  [[nodiscard]] virtual index_t self() const noexcept = 0;

  /// Begins to send; the bytes stay as they are until the message is done or cancelled.
  [[nodiscard]] virtual ticket send(index_t to, message_kind kind,
                                    std::span<const std::byte> bytes) = 0;
  /// Begins to receive; nobody touches the bytes until the message is done or cancelled.
  [[nodiscard]] virtual ticket receive(index_t from, message_kind kind,
                                       std::span<std::byte> bytes) = 0;
  /// True if a message has been sent or received; its ticket is then no longer valid.
  [[nodiscard]] virtual bool is_done(ticket message) = 0;
  /// Gives a message up, whose bytes are free then.
  virtual void cancel(ticket message) noexcept = 0;
  /// Returns when something may have arrived, at the latest after this time.
  virtual void wait(std::chrono::nanoseconds most) noexcept = 0;

  /// Tells every other owner that this one has failed; never waits for them.
  virtual void report(std::string_view words) noexcept = 0;
  /// The first failure that another owner has told, if any has.
  [[nodiscard]] virtual owner_report reported() = 0;
};

}  // namespace shardwise
