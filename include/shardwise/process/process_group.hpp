// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/error.hpp"
#include "shardwise/core/growable.hpp"
#include "shardwise/pool/cores.hpp"
#include "shardwise/process/transport.hpp"

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace shardwise {

/// The failure that an owner has reported; its owner is `nobody` if none has failed.
struct owner_report {
  static constexpr index_t nobody = -1;

  index_t owner = nobody;
  std::string words{};

  [[nodiscard]] bool is_failure() const noexcept { return owner != nobody; }
};

/// The processes that run one program together, as one of them sees them: their number, which of
/// them share its host, and what they tell each other beside messages: that they are alive, that
/// they have failed, that they have left.
///
/// A thread of the group tells the others that this process is alive, and hears the same of them,
/// however busy the program is. Thread-safe.
class process_group {
 public:
  /// How often a process says that it is alive.
  static constexpr std::chrono::milliseconds pulse{100};
  /// The channel of all pools, that of values of host code, and the next one of a pool.
  static constexpr std::uint32_t every_channel = ~std::uint32_t{0};
  static constexpr std::uint32_t host_channel = 0;
  static constexpr std::uint32_t next_channel = every_channel - 1;

  explicit process_group(std::shared_ptr<owner_transport> carrier);
  process_group(const process_group&) = delete;
  process_group& operator=(const process_group&) = delete;
  /// Tells the others that this process has left.
  ~process_group();

  [[nodiscard]] index_t index() const noexcept { return carrier_->self(); }
  [[nodiscard]] index_t count() const noexcept { return carrier_->owners(); }
  [[nodiscard]] owner_transport& carrier() const noexcept { return *carrier_; }

  /// The processes whose memory this one can open, itself included, and its number among them.
  /// Waits until all processes have started, for at most `patience`.
  [[nodiscard]] index_t host_count(std::chrono::milliseconds patience = std::chrono::minutes(1));
  [[nodiscard]] index_t host_index(std::chrono::milliseconds patience = std::chrono::minutes(1));
  /// Returns the cores that these processes may use together; a launcher may bind each to others.
  [[nodiscard]] core_set host_cores() const;
  /// Returns true if the memory of an owner has been opened.
  [[nodiscard]] bool shares_memory(index_t owner) const noexcept;
  /// Says, once and for all processes of this machine, that they cannot open each other's memory,
  /// if that is so.
  void say_if_apart();
  /// Returns the memory of this process that others can read; null if there is none.
  [[nodiscard]] const std::shared_ptr<shared_memory>& memory() const noexcept { return memory_; }
  /// Returns true once every process has said where its memory is.
  [[nodiscard]] bool has_met() const noexcept { return met_.load(std::memory_order_acquire); }

  /// Numbers a pool; every process makes its pools in the same order. `meetings` counts how often
  /// the pool has met the others.
  [[nodiscard]] std::uint32_t open_channel(const std::atomic<std::uint64_t>& meetings,
                                           std::chrono::milliseconds patience,
                                           std::uint32_t channel = next_channel);
  /// Returns the least time for which a pool waits for a process that gives no sign of life.
  [[nodiscard]] std::chrono::milliseconds patience() const;
  /// Tells the others that a pool of this process no longer exists.
  void close_channel(std::uint32_t channel, std::string_view words) noexcept;
  /// Keeps a block of the shared memory until all others have left the pool that read it.
  void retire(std::uint32_t channel, void* block, std::size_t bytes) noexcept;

  /// Tells every other process that this one has failed in a pool.
  void report(std::uint32_t channel, std::string_view words) noexcept;
  /// Tells every other process that this one takes part in nothing more.
  void leave(std::string_view words) noexcept;
  /// Tells a process that this one waits for it, at a meeting of a pool.
  void say_waiting(index_t to, std::uint32_t channel, std::string_view where) noexcept;
  /// Tells a process what this one has run.
  void say_history(index_t to, std::uint32_t channel, std::string_view words) noexcept;

  /// Returns what is kept as long as this group: the first call makes it with `make(*this)`.
  template <class T>
  [[nodiscard]] T& kept(std::shared_ptr<T> (*make)(process_group&)) {
    const std::lock_guard lock(kept_mutex_);
    if (kept_ == nullptr) kept_ = make(*this);
    return *static_cast<T*>(kept_.get());
  }

  /// Reads what has been told.
  void listen() noexcept;
  /// Returns the first failure that was told of a pool, or of all.
  [[nodiscard]] owner_report failure(std::uint32_t channel) const;
  /// Returns the last words of an owner that has left a pool before this meeting. What it had sent
  /// may arrive shortly after its words, so they count only after a moment.
  [[nodiscard]] std::optional<std::string> departed(index_t owner, std::uint32_t channel,
                                                    std::uint64_t meeting) const;
  /// Returns where else an owner waits for this process, which waits for it at this meeting of a
  /// pool: neither will ever come.
  [[nodiscard]] std::optional<std::string> waits_elsewhere(index_t owner, std::uint32_t channel,
                                                           std::uint64_t meeting) const;
  /// Returns what an owner said that it has run in a pool, if it has.
  [[nodiscard]] std::optional<std::string> history_of(index_t owner, std::uint32_t channel) const;
  /// Returns for how long an owner has given no sign of life.
  [[nodiscard]] std::chrono::milliseconds silence_of(index_t owner) const;

 private:
  using clock = std::chrono::steady_clock;
  enum class note_kind : std::uint32_t { hello, alive, failed, left, waits, history };
  /// The begin of every note; words, or numbers, follow.
  struct note_head {
    note_kind kind = note_kind::alive;
    std::uint32_t channel = every_channel;
    std::uint64_t number = 0;
  };
  /// What follows a `hello`.
  struct greeting {
    memory_address memory{};
    std::uint64_t heart = 0;
    core_set cores = core_set::available();
  };
  /// How far a process has come in a pool.
  struct progress {
    std::uint64_t channel = 0;
    std::uint64_t meetings = 0;
  };
  struct departure {
    std::uint64_t meetings = 0;
    std::string words;
    clock::time_point heard{};
  };
  /// What another process has run: words of several notes.
  struct history {
    std::string words;
    bool is_whole = false;
  };
  struct waiting {
    progress at;
    std::string words;
    internal::growable<progress> elsewhere;
  };
  /// What is known of another process.
  struct member {
    bool has_greeted = false;
    std::atomic<bool> shares_memory{false};
    bool is_of_this_machine = false;
    const std::atomic<std::uint64_t>* heart = nullptr;
    std::uint64_t beats = 0;
    clock::time_point heard{};
    core_set cores = core_set::available();
    std::map<std::uint32_t, departure> departures{};
    std::map<std::uint32_t, history> histories{};
    std::optional<waiting> waits{};
  };

  /// A block of the shared memory that the others may read until they have left its pool.
  struct retired_block {
    std::uint32_t channel = 0;
    void* block = nullptr;
    std::size_t bytes = 0;
  };

  [[nodiscard]] const member& of(index_t owner) const noexcept {
    return members_[static_cast<std::size_t>(owner)];
  }
  void tell(index_t to, const note_head& head, std::string_view words) noexcept;
  void tell_all(const note_head& head, std::string_view words) noexcept;
  void hear(index_t from, std::span<const std::byte> note);
  void greet(index_t from, const greeting& said);
  void beat();
  void sweep() noexcept;
  [[nodiscard]] bool wait_until_met(std::chrono::milliseconds patience);

  std::shared_ptr<owner_transport> carrier_;
  std::shared_ptr<shared_memory> memory_;
  std::atomic<std::uint64_t>* heart_ = nullptr;
  std::atomic<bool> met_{false};
  std::atomic<bool> has_left_{false};
  bool has_said_if_apart_ = false;
  mutable std::mutex mutex_;
  internal::growable<member> members_;
  std::map<std::uint32_t, const std::atomic<std::uint64_t>*> channels_;
  std::map<std::uint32_t, owner_report> failures_;
  internal::growable<retired_block> retired_;
  std::chrono::milliseconds patience_ = std::chrono::minutes(1);
  std::uint32_t next_channel_ = host_channel + 1;
  std::vector<std::byte> note_;
  clock::time_point last_beat_{};
  std::condition_variable ends_;
  bool is_ending_ = false;
  std::thread pulse_;
  std::mutex kept_mutex_;
  std::shared_ptr<void> kept_;
};

}  // namespace shardwise

#if !defined(SHARDWISE_COMPILED)
#include "shardwise/process/process_group_work.hpp"
#endif
