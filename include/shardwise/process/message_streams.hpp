// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/function_view.hpp"
#include "shardwise/core/growable.hpp"
#include "shardwise/process/transport.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <span>

namespace shardwise {

/// The messages that one pool exchanges with each other owner: segments of bytes, which are sent
/// and received in order, in messages of a limited size.
class message_streams {
 public:
  message_streams(index_t owners, index_t message_bytes, index_t in_flight)
      : message_bytes_(static_cast<std::size_t>(message_bytes)),
        in_flight_(static_cast<std::size_t>(in_flight)) {
    for (auto& by_owner : sent_) by_owner.resize(at(owners));
    for (auto& by_owner : received_) by_owner.resize(at(owners));
    for (auto& by_owner : sent_)
      for (auto& to : by_owner) to.open.reserve(in_flight_);
    for (auto& by_owner : received_)
      for (auto& from : by_owner) from.open.reserve(in_flight_);
  }

  /// Adds bytes to what is sent to an owner, and memory for what is received from one.
  void send(index_t to, message_kind kind, std::span<const std::byte> bytes) {
    sent_[of(kind)][at(to)].rest.push_back(bytes);
  }
  void receive(index_t from, message_kind kind, std::span<std::byte> bytes) {
    received_[of(kind)][at(from)].rest.push_back(bytes);
  }

  /// Returns true if something is still to be exchanged with an owner.
  [[nodiscard]] bool is_open(index_t owner) const noexcept {
    for (std::size_t k = 0; k < sent_.size(); ++k)
      if (!sent_[k][at(owner)].is_done() || !received_[k][at(owner)].is_done()) return true;
    return false;
  }

  /// Begins messages to and from an owner, and ends those that have arrived; returns true if there
  /// were any. Calls `agreed(owner)` when the last one of its kind has come.
  bool proceed(owner_transport& carrier, std::uint32_t channel, index_t owner,
               const function_view<void(index_t)>& agreed) {
    bool moved = false;
    for (const message_kind kind : {message_kind::agreement, message_kind::pieces}) {
      auto& from = received_[of(kind)][at(owner)];
      auto& to = sent_[of(kind)][at(owner)];
      const message_stream in{channel, kind};
      from.begin(message_bytes_, in_flight_,
                 [&](auto bytes) { return carrier.receive(owner, in, bytes); });
      to.begin(message_bytes_, in_flight_,
               [&](auto bytes) { return carrier.send(owner, in, bytes); });
      if (from.settle(carrier)) {
        moved = true;
        if (kind == message_kind::agreement && from.is_done()) agreed(owner);
      }
      moved = to.settle(carrier) || moved;
    }
    return moved;
  }

  /// Forgets what has been exchanged.
  void clear() noexcept {
    for_all([](auto& each) { each.clear(); });
  }
  /// Gives up everything in flight; `memory()` returns what owns its bytes.
  void abandon(owner_transport& carrier,
               const function_view<std::shared_ptr<const void>()>& memory) {
    std::shared_ptr<const void> kept;
    for_all([&](auto& each) {
      for (owner_transport::ticket message : each.open) {
        if (kept == nullptr) kept = memory();
        carrier.abandon(message, kept);
      }
      each.open.clear();
      each.clear();
    });
  }

 private:
  /// Messages to one owner, or from it: the segments in order, and the messages in flight.
  template <class Byte>
  struct stream {
    internal::growable<std::span<Byte>> rest{};
    std::size_t next = 0;
    internal::growable<owner_transport::ticket> open{};

    [[nodiscard]] bool is_done() const noexcept { return next == rest.size() && open.empty(); }
    void clear() noexcept {
      rest.clear();
      next = 0;
    }
    template <class Begin>
    void begin(std::size_t message_bytes, std::size_t in_flight, const Begin& begin_message) {
      while (next < rest.size() && open.size() < in_flight) {
        std::span<Byte>& now = rest[next];
        const std::size_t size = std::min(now.size(), message_bytes);
        if (size > 0) open.push_back(begin_message(now.first(size)));
        now = now.subspan(size);
        if (now.empty()) ++next;
      }
    }
    /// Removes completed messages; returns true if there were any.
    bool settle(owner_transport& carrier) {
      std::size_t done = 0;
      while (done < open.size() && carrier.is_done(open[done])) ++done;
      open.erase(open.begin(), open.begin() + static_cast<std::ptrdiff_t>(done));
      return done > 0;
    }
  };

  [[nodiscard]] static std::size_t at(index_t owner) noexcept {
    return static_cast<std::size_t>(owner);
  }
  [[nodiscard]] static std::size_t of(message_kind kind) noexcept {
    return static_cast<std::size_t>(kind);
  }
  template <class F>
  void for_all(const F& f) {
    for (auto& by_owner : sent_)
      for (auto& to : by_owner) f(to);
    for (auto& by_owner : received_)
      for (auto& from : by_owner) f(from);
  }

  std::size_t message_bytes_;
  std::size_t in_flight_;
  /// By kind and owner.
  std::array<internal::growable<stream<const std::byte>>, 2> sent_;
  std::array<internal::growable<stream<std::byte>>, 2> received_;
};

}  // namespace shardwise
