// SPDX-License-Identifier: BSL-1.0
// Several owners of one mesh in one process: each in a thread of its own, with a queue to each.
#pragma once

#include <shardwise/shardwise.hpp>

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace support {

using namespace shardwise;

/// What the owners of a mesh share: the messages that are on their way, and the first failure that
/// each has been told.
struct owner_queues {
  explicit owner_queues(index_t count) : owners(count) {}

  const index_t owners;
  std::mutex mutex;
  std::condition_variable changed;
  /// By sender, receiver and kind, in order.
  std::map<std::tuple<index_t, index_t, message_kind>, std::deque<std::vector<std::byte>>> messages;
  std::map<index_t, owner_report> reports;
};

/// One owner's end. Sends are copied at once; receives wait for their turn, in the order in which
/// they were begun.
class queue_transport : public transport {
 public:
  queue_transport(std::shared_ptr<owner_queues> queues, index_t self)
      : queues_(std::move(queues)), self_(self) {}

  index_t owners() const noexcept override { return queues_->owners; }
  index_t self() const noexcept override { return self_; }

  ticket send(index_t to, message_kind kind, std::span<const std::byte> bytes) override {
    const std::lock_guard lock(queues_->mutex);
    queues_->messages[{self_, to, kind}].emplace_back(bytes.begin(), bytes.end());
    queues_->changed.notify_all();
    return next_++;
  }
  ticket receive(index_t from, message_kind kind, std::span<std::byte> bytes) override {
    open_.emplace(next_, wanted{from, kind, bytes});
    return next_++;
  }
  bool is_done(ticket message) override {
    const auto at = open_.find(message);
    if (at == open_.end()) return true;
    const wanted& want = at->second;
    // Messages are matched in the order in which they are asked for.
    for (const auto& [earlier, other] : open_)
      if (earlier < message && other.from == want.from && other.kind == want.kind) return false;
    const std::lock_guard lock(queues_->mutex);
    auto& queue = queues_->messages[{want.from, self_, want.kind}];
    if (queue.empty()) return false;
    if (queue.front().size() != want.bytes.size()) std::terminate();
    std::copy(queue.front().begin(), queue.front().end(), want.bytes.begin());
    queue.pop_front();
    open_.erase(at);
    return true;
  }
  void cancel(ticket message) noexcept override { open_.erase(message); }
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
    index_t from;
    message_kind kind;
    std::span<std::byte> bytes;
  };

  std::shared_ptr<owner_queues> queues_;
  index_t self_;
  ticket next_ = 0;
  std::map<ticket, wanted> open_;
};

/// Calls `program(pool)` for each owner of a mesh, each in a thread of its own with its part of the
/// devices, and returns what each threw. `change(share)` may set other limits.
template <class Program>
std::vector<std::exception_ptr> run_owners(
    const mesh_desc& mesh, const std::vector<index_t>& owner_of, const Program& program,
    const std::function<void(owner_share&)>& change = [](owner_share&) {}) {
  const index_t owners = device_owners(owner_of).count();
  const auto queues = std::make_shared<owner_queues>(owners);
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

/// The same where none of them may throw: the first exception is thrown here.
template <class Program>
void run_all_owners(
    const mesh_desc& mesh, const std::vector<index_t>& owner_of, const Program& program,
    const std::function<void(owner_share&)>& change = [](owner_share&) {}) {
  for (const std::exception_ptr& thrown : run_owners(mesh, owner_of, program, change))
    if (thrown) std::rethrow_exception(thrown);
}

/// Ways to give the devices of a mesh to owners: blocks, in turn, and in an order of their own.
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
