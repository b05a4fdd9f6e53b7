// SPDX-License-Identifier: BSL-1.0
// Segments whose bytes a transport cannot count are sent in several messages. Nothing has so much
// memory here: messages are only counted.
#include "support/catch.hpp"
#include <shardwise/process/owner_link.hpp>
#include <shardwise/process/thread_transport.hpp>

#include <algorithm>
#include <memory>
#include <mutex>
#include <numeric>
#include <thread>
#include <vector>

using namespace shardwise;

namespace {

/// The sizes of what was sent and received.
struct message_sizes {
  std::vector<std::size_t> sent{};
  std::vector<std::size_t> received{};
};

/// Carries what owners agree on between threads, and says of all other messages that they are done.
class counting_transport : public thread_transport {
 public:
  using thread_transport::thread_transport;

  [[nodiscard]] ticket send(index_t to, message_stream in,
                            std::span<const std::byte> bytes) override {
    if (in.kind != message_kind::pieces) return thread_transport::send(to, in, bytes);
    sizes.sent.push_back(bytes.size());
    return done;
  }
  [[nodiscard]] ticket receive(index_t from, message_stream in,
                               std::span<std::byte> bytes) override {
    if (in.kind != message_kind::pieces) return thread_transport::receive(from, in, bytes);
    sizes.received.push_back(bytes.size());
    return done;
  }
  [[nodiscard]] bool is_done(ticket message) override {
    return message == done || thread_transport::is_done(message);
  }

  message_sizes sizes;

 private:
  static constexpr ticket done = ~ticket{0};
};

/// Exchanges two segments of this size between two owners and returns the messages of the first.
message_sizes exchange(std::size_t bytes, index_t message_bytes) {
  const auto hub = std::make_shared<thread_hub>(2, false);
  message_sizes of_first;
  std::vector<std::thread> threads;
  for (index_t self = 0; self < 2; ++self)
    threads.emplace_back([&, self] {
      const auto carrier = std::make_shared<counting_transport>(hub, self);
      owner_link link({.owner_of = {0, 1},
                       .group = std::make_shared<process_group>(carrier),
                       .message_bytes = message_bytes},
                      "a test");
      // Addresses that nobody reads or writes.
      std::byte here{};
      const std::span<std::byte> all(&here, bytes);
      const owner_link::outgoing out{1 - self, all};
      const owner_link::incoming in{1 - self, all};
      link.exchange(std::vector(2, out), std::vector(2, in),
                    [] { return std::shared_ptr<const void>(); });
      if (self == 0) of_first = carrier->sizes;
    });
  for (std::thread& thread : threads) thread.join();
  return of_first;
}

std::size_t total(const std::vector<std::size_t>& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), std::size_t{0});
}

}  // namespace

TEST_CASE("more bytes than an int counts are sent in messages that it counts") {
  for (const std::size_t bytes : {(std::size_t{1} << 31) + 8, (std::size_t{1} << 32) + 8}) {
    // The limit of what a program asks for, and that of transports, whatever it asks for.
    for (const index_t most : {64_MiB, owner_transport::most_bytes, index_t{1} << 40}) {
      const auto largest = static_cast<std::size_t>(std::min(most, owner_transport::most_bytes));
      const message_sizes sizes = exchange(bytes, most);
      for (const auto& each : {sizes.sent, sizes.received}) {
        REQUIRE(total(each) == 2 * bytes);
        REQUIRE(each.size() == 2 * (bytes / largest + 1));
        REQUIRE(*std::max_element(each.begin(), each.end()) == largest);
      }
      REQUIRE(largest <= std::size_t{1} << 30);
    }
  }
}
