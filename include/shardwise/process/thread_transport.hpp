// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/process/transport.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace shardwise {

/// What owners that are threads of one process share: the messages and the notes in flight.
class thread_hub {
 public:
  /// `shares_memory` says whether owners can read each other's memory; if not, they send messages,
  /// like owners on different hosts. Up to 16 messages in flight between two owners, of `reserved`
  /// bytes each, allocate nothing.
  explicit thread_hub(index_t owners, bool shares_memory = true, std::size_t reserved = 0)
      : owners_(owners),
        reserved_(reserved),
        notes_(at(owners), std::vector<message_queue>(at(owners))) {
    for (auto& of_receiver : notes_)
      for (message_queue& from : of_receiver)
        if (reserved > 0) from.reserve(owner_transport::most_note_bytes);
    if (shares_memory) remains_ = std::make_shared<process_memory::remains>();
  }

  [[nodiscard]] index_t owners() const noexcept { return owners_; }

 private:
  friend class thread_transport;

  [[nodiscard]] static std::size_t at(index_t owner) noexcept {
    return static_cast<std::size_t>(owner);
  }

  /// The messages of a stream from one owner to another, in order. Their memory is reused.
  class message_queue {
   public:
    [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
    [[nodiscard]] const std::vector<std::byte>& front() const noexcept { return slots_[first_]; }
    void push(std::span<const std::byte> bytes) {
      if (count_ == slots_.size()) {
        std::rotate(slots_.begin(), slots_.begin() + static_cast<std::ptrdiff_t>(first_),
                    slots_.end());
        first_ = 0;
        slots_.resize(2 * count_ + 1);
      }
      slots_[(first_ + count_++) % slots_.size()].assign(bytes.begin(), bytes.end());
    }
    void reserve(std::size_t bytes) {
      slots_.resize(16);
      for (std::vector<std::byte>& each : slots_) each.reserve(bytes);
    }
    void pop() noexcept {
      first_ = (first_ + 1) % slots_.size();
      --count_;
    }

   private:
    std::vector<std::vector<std::byte>> slots_;
    std::size_t first_ = 0;
    std::size_t count_ = 0;
  };
  [[nodiscard]] message_queue& messages(index_t from, index_t to, message_stream in) {
    const auto [at, is_new] = messages_.try_emplace({from, to, in});
    if (is_new && reserved_ > 0) at->second.reserve(reserved_);
    return at->second;
  }

  index_t owners_;
  std::size_t reserved_;
  std::shared_ptr<process_memory::remains> remains_;
  std::mutex mutex_;
  std::condition_variable changed_;
  /// By sender, receiver and stream.
  std::map<std::tuple<index_t, index_t, message_stream>, message_queue> messages_;
  /// By receiver and sender.
  std::vector<std::vector<message_queue>> notes_;
};

/// The transport of an owner that is a thread of this process, like the others. Messages are copied
/// when they are sent; receives of a stream are completed in the order in which they began.
class thread_transport : public owner_transport {
 public:
  thread_transport(std::shared_ptr<thread_hub> hub, index_t self)
      : hub_(std::move(hub)), self_(self) {
    open_.reserve(64);
  }

  [[nodiscard]] index_t owners() const noexcept override { return hub_->owners(); }
  [[nodiscard]] index_t self() const noexcept override { return self_; }

  [[nodiscard]] ticket send(index_t to, message_stream in,
                            std::span<const std::byte> bytes) override {
    const std::lock_guard lock(hub_->mutex_);
    hub_->messages(self_, to, in).push(bytes);
    hub_->changed_.notify_all();
    return next_++;
  }
  [[nodiscard]] ticket receive(index_t from, message_stream in,
                               std::span<std::byte> bytes) override {
    const std::lock_guard lock(hub_->mutex_);
    open_.push_back({next_, from, in, bytes});
    return next_++;
  }
  [[nodiscard]] bool is_done(ticket message) override {
    const std::lock_guard lock(hub_->mutex_);
    const auto at = find(message);
    if (at == open_.end()) return true;
    const wanted& want = *at;
    for (auto earlier = open_.begin(); earlier != at; ++earlier)
      if (earlier->from == want.from && earlier->in == want.in) return false;
    auto& queue = hub_->messages(want.from, self_, want.in);
    // A message of another size is for another program.
    if (queue.empty() || queue.front().size() != want.bytes.size()) return false;
    std::copy(queue.front().begin(), queue.front().end(), want.bytes.begin());
    queue.pop();
    open_.erase(at);
    return true;
  }
  void abandon(ticket message, std::shared_ptr<const void>) noexcept override {
    const std::lock_guard lock(hub_->mutex_);
    if (const auto at = find(message); at != open_.end()) open_.erase(at);
  }
  void wait(std::chrono::nanoseconds most) noexcept override {
    std::unique_lock lock(hub_->mutex_);
    hub_->changed_.wait_for(lock, most);
  }
  void tell(index_t to, std::span<const std::byte> note) noexcept override {
#if defined(__cpp_exceptions)
    try {
#endif
      const std::lock_guard lock(hub_->mutex_);
      hub_->notes_[thread_hub::at(to)][thread_hub::at(self_)].push(note);
      hub_->changed_.notify_all();
#if defined(__cpp_exceptions)
    } catch (...) {
      // There is no memory: the note is lost.
    }
#endif
  }
  [[nodiscard]] bool hear(index_t& from, std::vector<std::byte>& note) override {
    const std::lock_guard lock(hub_->mutex_);
    for (index_t sender = 0; sender < owners(); ++sender) {
      auto& notes = hub_->notes_[thread_hub::at(self_)][thread_hub::at(sender)];
      if (notes.empty()) continue;
      from = sender;
      note = notes.front();
      notes.pop();
      return true;
    }
    return false;
  }
  [[nodiscard]] std::unique_ptr<shared_memory> make_memory() override {
    if (hub_->remains_ == nullptr) return nullptr;
    return std::make_unique<process_memory>(hub_->remains_);
  }

 private:
  struct wanted {
    ticket number;
    index_t from;
    message_stream in;
    std::span<std::byte> bytes;
  };

  [[nodiscard]] std::vector<wanted>::iterator find(ticket message) noexcept {
    return std::find_if(open_.begin(), open_.end(),
                        [&](const wanted& each) { return each.number == message; });
  }

  std::shared_ptr<thread_hub> hub_;
  index_t self_;
  ticket next_ = 0;
  std::vector<wanted> open_;
};

}  // namespace shardwise
