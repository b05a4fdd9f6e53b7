// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/core/index.hpp"
#include "shardwise/core/text.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace shardwise {

/// What an owner has run and read in one pool: a running hash of everything, which owners compare,
/// and the names of the last events, for what they say if it differs.
class run_history {
 public:
  /// How much has been run, and its hash.
  struct summary {
    std::uint64_t events = 0;
    std::uint64_t running = 0;

    friend bool operator==(const summary&, const summary&) = default;
  };
  /// A name, cut to a length that every note has room for.
  using name = std::array<char, 320>;

  /// Adds an event.
  void record(std::uint64_t hash, std::string_view words) noexcept {
    done_.running = ((done_.running ^ hash) + 0x9E3779B97F4A7C15U) * 0xBF58476D1CE4E5B9U;
    done_.running ^= done_.running >> 29U;
    event& now = events_[done_.events++ % remembered];
    now.running = done_.running;
    copy(words, now.words);
  }

  [[nodiscard]] const summary& done() const noexcept { return done_; }
  /// Returns the name of the last event; empty if there is none.
  [[nodiscard]] std::string_view last() const noexcept {
    return done_.events > 0 ? events_[(done_.events - 1) % remembered].words.data() : "";
  }
  /// Returns the last events as text, which another owner reads with `difference`.
  [[nodiscard]] std::string text() const;
  /// Returns what two owners ran where their histories part: `owner 0 runs ...; owner 1 runs ...`.
  [[nodiscard]] message_text difference(index_t self, index_t other,
                                        const std::optional<std::string>& theirs) const;

  /// Returns the begin of a text as a name.
  [[nodiscard]] static name cut(std::string_view words) noexcept {
    name out{};
    copy(words, out);
    return out;
  }

 private:
  static void copy(std::string_view words, name& to) noexcept {
    const std::size_t size = std::min(words.size(), to.size() - 1);
    std::copy_n(words.begin(), size, to.begin());
    to[size] = '\0';
  }

  static constexpr std::size_t remembered = 32;
  struct event {
    std::uint64_t running = 0;
    name words{};
  };

  summary done_;
  std::array<event, remembered> events_{};
};

}  // namespace shardwise

#if !defined(SHARDWISE_COMPILED)
#include "shardwise/process/run_history_work.hpp"
#endif
