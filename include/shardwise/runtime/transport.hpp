// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/index.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
// Provides the durations of <chrono> without calendars and streams.
#include <thread>

namespace shardwise {

/// The purpose of a message; messages of one kind between two owners arrive in the order in which
/// they were sent.
enum class message_kind : int { agreement, pieces };

/// The report that an owner sent before it failed; its owner is `nobody` if none has failed.
struct owner_report {
  static constexpr index_t nobody = -1;

  index_t owner = nobody;
  std::string words{};

  [[nodiscard]] bool is_failure() const noexcept { return owner != nobody; }
};

/// Carries messages between the owners of a mesh: contiguous bytes to and from an owner, in order
/// for each kind, like MPI's `Isend` and `Irecv` with a tag for each kind. Used by one thread at a
/// time.
///
/// A message is received into memory of exactly its size; the engine agrees on sizes in advance.
class owner_transport {
 public:
  /// A message in flight.
  using ticket = std::uint64_t;

  owner_transport() = default;
  owner_transport(const owner_transport&) = delete;
  owner_transport& operator=(const owner_transport&) = delete;
  virtual ~owner_transport() = default;

  /// Returns the number of owners, and the number of this one.
  [[nodiscard]] virtual index_t owners() const noexcept = 0;
  [[nodiscard]] virtual index_t self() const noexcept = 0;

  /// Begins to send; the bytes must not change until the message is done or cancelled.
  [[nodiscard]] virtual ticket send(index_t to, message_kind kind,
                                    std::span<const std::byte> bytes) = 0;
  /// Begins to receive; the bytes must not be accessed until the message is done or cancelled.
  [[nodiscard]] virtual ticket receive(index_t from, message_kind kind,
                                       std::span<std::byte> bytes) = 0;
  /// Returns true if a message has been sent or received; its ticket is no longer valid afterwards.
  [[nodiscard]] virtual bool is_done(ticket message) = 0;
  /// Cancels a message, whose bytes may be reused afterwards.
  virtual void cancel(ticket message) noexcept = 0;
  /// Returns when something may have arrived, at the latest after this time.
  virtual void wait(std::chrono::nanoseconds most) noexcept = 0;

  /// Reports to every other owner that this one has failed, without waiting for them.
  virtual void report(std::string_view words) noexcept = 0;
  /// Returns the first failure that another owner has reported, if any.
  [[nodiscard]] virtual owner_report reported() = 0;
};

}  // namespace shardwise
