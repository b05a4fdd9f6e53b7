// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/index.hpp"
#include "shardwise/process/shared_memory.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>
// Provides the durations of <chrono> without calendars and streams.
#include <thread>

namespace shardwise {

/// The purpose of a message.
enum class message_kind : std::uint32_t { agreement, pieces };

/// A stream of messages: those of one pool and one kind between two owners arrive in the order in
/// which they were sent.
struct message_stream {
  /// The number of a pool; 0 for values of host code.
  std::uint32_t channel = 0;
  message_kind kind = message_kind::pieces;

  friend auto operator<=>(const message_stream&, const message_stream&) = default;
};

/// Carries messages between the processes that run a program, the **owners** of meshes' devices:
/// contiguous bytes to and from an owner, in order for each stream, like MPI's `Isend` and `Irecv`
/// with a tag for each stream; and notes. Thread-safe.
///
/// A message is received into memory of exactly its size. If owners disagree about a size, it is
/// never done: they find out by what they agree on.
class owner_transport {
 public:
  /// A message in flight.
  using ticket = std::uint64_t;
  /// The most bytes of a message, and of a note.
  static constexpr index_t most_bytes = index_t{1} << 30;
  static constexpr std::size_t most_note_bytes = 3072;

  owner_transport() = default;
  owner_transport(const owner_transport&) = delete;
  owner_transport& operator=(const owner_transport&) = delete;
  virtual ~owner_transport() = default;

  /// Returns the number of owners, and the number of this one.
  [[nodiscard]] virtual index_t owners() const noexcept = 0;
  [[nodiscard]] virtual index_t self() const noexcept = 0;

  /// Begins to send; the bytes must not change until the message is done.
  [[nodiscard]] virtual ticket send(index_t to, message_stream in,
                                    std::span<const std::byte> bytes) = 0;
  /// Begins to receive; the bytes must not be accessed until the message is done.
  [[nodiscard]] virtual ticket receive(index_t from, message_stream in,
                                       std::span<std::byte> bytes) = 0;
  /// Returns true if a message has been sent or received; its ticket is no longer valid afterwards.
  [[nodiscard]] virtual bool is_done(ticket message) = 0;
  /// Gives up a message. Its bytes may still be read or written, so the transport keeps `memory`,
  /// which owns them, until it has finished with them.
  virtual void abandon(ticket message, std::shared_ptr<const void> memory) noexcept = 0;
  /// Returns when something may have arrived, at the latest after this time.
  virtual void wait(std::chrono::nanoseconds most) noexcept = 0;

  /// Sends a note of at most `most_note_bytes` without waiting; the bytes are copied. A note that
  /// cannot be sent is lost.
  virtual void tell(index_t to, std::span<const std::byte> note) noexcept = 0;
  /// Takes the next note that has arrived, and says who sent it; false if there is none.
  [[nodiscard]] virtual bool hear(index_t& from, std::vector<std::byte>& note) = 0;

  /// Returns memory of this process that others on its host can open; null if there is none. Each
  /// call makes a new one.
  [[nodiscard]] virtual std::unique_ptr<shared_memory> make_memory() = 0;
};

}  // namespace shardwise
