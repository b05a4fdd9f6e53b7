// SPDX-License-Identifier: BSL-1.0
// Several owners of one mesh in one process: each has its own thread, and a queue to each other
// owner.
#pragma once

#include <shardwise/shardwise.hpp>

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

namespace support {

using namespace shardwise;

/// The messages of one kind from one owner to another, in order. Their memory is reused.
class message_queue {
 public:
  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
  [[nodiscard]] const std::vector<std::byte>& front() const noexcept { return slots_[first_]; }
  void push(std::span<const std::byte> bytes) {
    if (count_ == slots_.size()) reserve(2 * count_ + 1, 0);
    slots_[(first_ + count_++) % slots_.size()].assign(bytes.begin(), bytes.end());
  }
  void pop() noexcept {
    first_ = (first_ + 1) % slots_.size();
    --count_;
  }
  /// Reserves memory for messages of this size.
  void reserve(std::size_t messages, std::size_t bytes) {
    std::rotate(slots_.begin(), slots_.begin() + static_cast<std::ptrdiff_t>(first_), slots_.end());
    first_ = 0;
    slots_.resize(std::max(messages, slots_.size()));
    for (std::vector<std::byte>& each : slots_) each.reserve(bytes);
  }

 private:
  std::vector<std::vector<std::byte>> slots_;
  std::size_t first_ = 0;
  std::size_t count_ = 0;
};

/// The shared state of the owners of a mesh: the messages in flight, and the first failure that
/// each has been told.
struct owner_queues {
  explicit owner_queues(index_t count) : owners(count) {}

  const index_t owners;
  std::mutex mutex;
  std::condition_variable changed;
  /// By sender, receiver and kind, in order.
  std::map<std::tuple<index_t, index_t, message_kind>, message_queue> messages;
  std::map<index_t, owner_report> reports;

  /// Reserves memory for this number of messages in flight between any two owners, each of this
  /// size, so that none allocates.
  void reserve(std::size_t count, std::size_t bytes) {
    for (index_t from = 0; from < owners; ++from)
      for (index_t to = 0; to < owners; ++to)
        for (const message_kind kind : {message_kind::agreement, message_kind::pieces})
          if (from != to) messages[{from, to, kind}].reserve(count, bytes);
  }
};

/// The transport of one owner. Messages are copied when they are sent; receives are completed in
/// the order in which they began.
class queue_transport : public owner_transport {
 public:
  queue_transport(std::shared_ptr<owner_queues> queues, index_t self)
      : queues_(std::move(queues)), self_(self) {
    open_.reserve(64);
  }

  index_t owners() const noexcept override { return queues_->owners; }
  index_t self() const noexcept override { return self_; }

  ticket send(index_t to, message_kind kind, std::span<const std::byte> bytes) override {
    const std::lock_guard lock(queues_->mutex);
    queues_->messages[{self_, to, kind}].push(bytes);
    queues_->changed.notify_all();
    return next_++;
  }
  ticket receive(index_t from, message_kind kind, std::span<std::byte> bytes) override {
    open_.push_back({next_, from, kind, bytes});
    return next_++;
  }
  bool is_done(ticket message) override {
    const auto at = find(message);
    if (at == open_.end()) return true;
    const wanted& want = *at;
    // Messages are matched in the order in which they are requested.
    for (auto earlier = open_.begin(); earlier != at; ++earlier)
      if (earlier->from == want.from && earlier->kind == want.kind) return false;
    const std::lock_guard lock(queues_->mutex);
    auto& queue = queues_->messages[{want.from, self_, want.kind}];
    if (queue.empty()) return false;
    if (queue.front().size() != want.bytes.size()) std::terminate();
    std::copy(queue.front().begin(), queue.front().end(), want.bytes.begin());
    queue.pop();
    open_.erase(at);
    return true;
  }
  void cancel(ticket message) noexcept override {
    if (const auto at = find(message); at != open_.end()) open_.erase(at);
  }
  void wait(std::chrono::nanoseconds most) noexcept override {
    std::unique_lock lock(queues_->mutex);
    queues_->changed.wait_for(lock, most);
  }
  void report(std::string_view words) noexcept override {
    const std::lock_guard lock(queues_->mutex);
    for (index_t other = 0; other < queues_->owners; ++other)
      if (other != self_) queues_->reports.emplace(other, owner_report{self_, std::string(words)});
    queues_->changed.notify_all();
  }
  owner_report reported() override {
    const std::lock_guard lock(queues_->mutex);
    const auto at = queues_->reports.find(self_);
    if (at == queues_->reports.end()) return {};
    return at->second;
  }

 private:
  struct wanted {
    ticket number;
    index_t from;
    message_kind kind;
    std::span<std::byte> bytes;
  };

  [[nodiscard]] std::vector<wanted>::iterator find(ticket message) noexcept {
    return std::find_if(open_.begin(), open_.end(),
                        [&](const wanted& each) { return each.number == message; });
  }

  std::shared_ptr<owner_queues> queues_;
  index_t self_;
  ticket next_ = 0;
  std::vector<wanted> open_;
};

/// Calls `program(pool)` for each owner of a mesh, each in a thread of its own with its part of the
/// devices, and returns what each threw. `change(share)` may set other limits. Up to 16 messages in
/// flight between two owners, of `reserved` bytes each, do not allocate.
template <class Program>
std::vector<std::exception_ptr> run_owners(
    const mesh_desc& mesh, const std::vector<index_t>& owner_of, const Program& program,
    const std::function<void(owner_share&)>& change = [](owner_share&) {},
    std::size_t reserved = 0) {
  const index_t owners = device_owners(owner_of).count();
  const auto queues = std::make_shared<owner_queues>(owners);
  if (reserved > 0) queues->reserve(16, reserved);
  std::vector<std::exception_ptr> thrown(static_cast<std::size_t>(owners));
  std::vector<std::unique_ptr<device_pool>> pools;
  for (index_t owner = 0; owner < owners; ++owner) {
    owner_share share{.owner_of = owner_of,
                      .carrier = std::make_shared<queue_transport>(queues, owner)};
    change(share);
    pools.push_back(std::make_unique<device_pool>(mesh, std::move(share), 2));
  }
  std::vector<std::thread> threads;
  for (index_t owner = 0; owner < owners; ++owner)
    threads.emplace_back([&, owner] {
      const auto at = static_cast<std::size_t>(owner);
      try {
        program(*pools[at]);
      } catch (...) {
        thrown[at] = std::current_exception();
      }
    });
  for (std::thread& thread : threads) thread.join();
  return thrown;
}

/// The same for programs that must not throw: the first exception is rethrown.
template <class Program>
void run_all_owners(
    const mesh_desc& mesh, const std::vector<index_t>& owner_of, const Program& program,
    const std::function<void(owner_share&)>& change = [](owner_share&) {},
    std::size_t reserved = 0) {
  for (const std::exception_ptr& thrown : run_owners(mesh, owner_of, program, change, reserved))
    if (thrown) std::rethrow_exception(thrown);
}

/// Ways to assign the devices of a mesh to owners: in blocks, in turn, and in an arbitrary order.
inline std::vector<std::vector<index_t>> ownerships(index_t devices) {
  std::vector<std::vector<index_t>> all;
  for (index_t owners : {2, 3}) {
    if (owners > devices) continue;
    all.push_back(owners_in_blocks(devices, owners));
    all.push_back(owners_in_turn(devices, owners));
    std::vector<index_t> mixed;
    for (index_t d = 0; d < devices; ++d) mixed.push_back((d * d + d / 2) % owners);
    if (device_owners(mixed).count() == owners) all.push_back(mixed);
  }
  return all;
}

}  // namespace support
