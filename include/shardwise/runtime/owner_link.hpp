// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/error.hpp"
#include "shardwise/mesh/device_owners.hpp"
#include "shardwise/pool/worker_team.hpp"
#include "shardwise/runtime/transport.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace shardwise {

/// Another owner of the mesh has failed, or has been silent for too long: `owner 1: device 3: ...`.
/// Values that need its shards can no longer be computed.
class owner_error : public std::runtime_error {
 public:
  owner_error(index_t owner, const std::string& words);

  /// Returns the number of the owner that failed.
  [[nodiscard]] index_t owner() const noexcept { return owner_; }

 private:
  index_t owner_;
};

/// How a process shares the devices of a mesh with others.
///
///     device_pool mine(pod{}, owner_share{.owner_of = owners_in_turn(8, 2), .carrier = carrier});
struct owner_share {
  /// The owner of each device, by device. Every owner has at least one.
  std::vector<index_t> owner_of{};
  /// Carries messages to and from the other owners, and knows the number of this owner.
  std::shared_ptr<owner_transport> carrier{};
  /// How long an owner may be silent while another one waits for it.
  std::chrono::milliseconds patience{60'000};
  /// The maximum size of a message in bytes, and the maximum number of messages in flight to one
  /// owner; each at least 1.
  index_t message_bytes = 4_MiB;
  index_t in_flight = 4;
};

/// Returns the owner of each device in contiguous blocks: devices are in the order of their
/// numbers, and the first owner gets the first ones.
[[nodiscard]] std::vector<index_t> owners_in_blocks(index_t devices, index_t owners);
/// Returns the owner of each device, distributed round-robin.
[[nodiscard]] std::vector<index_t> owners_in_turn(index_t devices, index_t owners);

/// The data exchanged between this owner and the others since the last reset.
struct owner_traffic {
  /// The bytes of tensors' elements.
  index_t bytes_sent = 0;
  index_t bytes_received = 0;
  /// The number of times that owners agreed on what to run.
  index_t agreements = 0;

  friend bool operator==(const owner_traffic&, const owner_traffic&) = default;
};

/// The exchange of a machine with the other owners of its mesh. For the holder of the machine's
/// turn, except for reports.
///
/// A failure is final: once one owner has failed, everything that needs the others throws.
class owner_link {
 public:
  explicit owner_link(owner_share share);
  owner_link(const owner_link&) = delete;
  owner_link& operator=(const owner_link&) = delete;
  ~owner_link();

  [[nodiscard]] const device_owners& owners() const noexcept { return owners_; }
  [[nodiscard]] index_t self() const noexcept { return share_.carrier->self(); }
  /// Returns the data exchanged between the owners.
  [[nodiscard]] owner_traffic& traffic() noexcept { return traffic_; }

  /// The bytes for each owner, or from it; the entry of this owner is empty.
  using bytes_by_owner = std::vector<std::vector<std::byte>>;
  [[nodiscard]] bytes_by_owner nothing() const;
  /// Memory for the messages of an exchange, which the next one may use again.
  struct messages {
    bytes_by_owner out;
    bytes_by_owner in;

    /// Makes room for this many bytes to and from each owner. Only growth allocates.
    void resize(std::span<const index_t> sent, std::span<const index_t> wanted);
  };

  /// Begins an operation that all owners perform. `hash` identifies everything that determines the
  /// data exchanged next; if another owner's hash differs, the error shows what both are about to
  /// do.
  void agree(std::uint64_t hash, std::string_view words, const worker_team& team);

  /// Sends bytes to each owner, and receives as many from each as there is room for.
  void exchange(const bytes_by_owner& out, bytes_by_owner& in, const worker_team& team);

  /// Reports a failure of this owner to the others, unless the failure came from them. Any thread
  /// may call it.
  void report(const std::exception_ptr& thrown) noexcept;

 private:
  /// What owners send each other before any other data.
  struct card {
    std::uint64_t owners = 0;
    std::uint64_t run = 0;
    std::uint64_t hash = 0;
    std::array<char, 400> words{};

    [[nodiscard]] text_view text() const noexcept {
      return {words.data(), std::string_view(words.data()).size()};
    }
    friend bool operator==(const card& a, const card& b) noexcept {
      return a.owners == b.owners && a.run == b.run && a.hash == b.hash;
    }
  };
  [[nodiscard]] static std::array<char, 400> cut(std::string_view words) noexcept;
  /// Adds a number to the hash of what must be equal for all owners from the start.
  void add(std::uint64_t number) noexcept {
    owners_hash_ = (owners_hash_ ^ number) * 1099511628211U;
  }

  /// Messages to one owner, or from it: the remaining bytes, and the messages in flight.
  template <class Byte>
  struct stream {
    std::span<Byte> rest{};
    std::vector<owner_transport::ticket> open{};

    [[nodiscard]] bool is_done() const noexcept { return rest.empty() && open.empty(); }
    template <class Begin>
    void begin(const owner_share& share, const Begin& begin_message) {
      while (!rest.empty() && static_cast<index_t>(open.size()) < share.in_flight) {
        const std::size_t size =
            std::min(rest.size(), static_cast<std::size_t>(share.message_bytes));
        open.push_back(begin_message(rest.first(size)));
        rest = rest.subspan(size);
      }
    }
    /// Removes completed messages; returns true if there were any.
    bool settle(owner_transport& carrier) {
      std::size_t done = 0;
      while (done < open.size() && carrier.is_done(open[done])) ++done;
      open.erase(open.begin(), open.begin() + static_cast<std::ptrdiff_t>(done));
      return done > 0;
    }
    void cancel(owner_transport& carrier) noexcept {
      for (owner_transport::ticket message : open) carrier.cancel(message);
      open.clear();
    }
  };

  [[nodiscard]] static std::size_t at(index_t owner) noexcept {
    return static_cast<std::size_t>(owner);
  }

  void carry(const bytes_by_owner& out, bytes_by_owner& in, message_kind kind,
             const worker_team& team);

  [[noreturn]] static void throw_failure(const owner_report& failed);

  owner_share share_;
  device_owners owners_;
  owner_traffic traffic_;
  std::uint64_t owners_hash_ = 14695981039346656037U;
  /// The number of agreements so far, and the messages of the last one.
  std::uint64_t run_ = 0;
  messages cards_;
  /// What remains of the messages in flight, by owner.
  std::vector<stream<const std::byte>> sent_;
  std::vector<stream<std::byte>> received_;
  /// Guards the members below, and the carrier: a failure may be reported while the holder of the
  /// turn waits.
  std::mutex mutex_;
  std::atomic<int> reporters_{0};
  owner_report failed_;
};

namespace internal {

/// Calls `run`; if it throws, calls `failed(exception)` before the exception propagates.
template <class Run, class Failed>
void run_guarded(const Run& run, [[maybe_unused]] const Failed& failed) {
#if defined(__cpp_exceptions)
  try {
    run();
  } catch (...) {
    failed(std::current_exception());
    throw;
  }
#else
  run();
#endif
}

/// Calls `run`, and ignores its exceptions.
template <class Run>
void run_quietly(const Run& run) noexcept {
#if defined(__cpp_exceptions)
  try {
    run();
  } catch (...) {
  }
#else
  run();
#endif
}

/// Calls `run`, and reports a failure to all owners of the mesh, if there are others.
template <class Run>
void run_for_owners(owner_link* link, const Run& run) {
  if (link == nullptr) return run();
  run_guarded(run, [&](const std::exception_ptr& thrown) { link->report(thrown); });
}

}  // namespace internal
}  // namespace shardwise

#if !defined(SHARDWISE_COMPILED)
#include "shardwise/runtime/owner_link_work.hpp"
#endif
