// SPDX-License-Identifier: BSL-1.0
// A pool that the processes of a program share, here threads of one process, and one without
// others.
#include "support/catch.hpp"
#include <shardwise/engine/distributed_pool.hpp>
#include <shardwise/pool/cores.hpp>
#include <shardwise/process/leave.hpp>
#include <shardwise/process/spawn.hpp>
#include <shardwise/shardwise.hpp>

#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
using X = sharded_tensor<float, extents<16, 4>, layout<pod, P<"data", "model">>>;

std::vector<index_t> own(const device_pool& pool) {
  const auto& devices = pool.state()->own_devices();
  return {devices.begin(), devices.end()};
}

/// Calls `f()` in `n` processes and returns what was said in each, in any order.
template <class F>
std::multiset<std::string> say(index_t n, const F& f, spawn_options how = {}) {
  std::mutex mutex;
  std::multiset<std::string> said;
  spawn(
      n,
      [&] {
        const std::string words = f();
        const std::lock_guard lock(mutex);
        said.insert(words);
      },
      how);
  return said;
}
std::string text(const std::vector<index_t>& all) {
  std::string out;
  for (index_t each : all) out += std::to_string(each) + ' ';
  return out;
}

}  // namespace

TEST_CASE("without other processes a distributed pool is a pool of all devices") {
  const device_pool pool = distributed_pool(pod{});
  REQUIRE(pool.state()->link() == nullptr);
  REQUIRE(pool.devices() == 8);
  // What only other processes matter for has no effect.
  const device_pool listed =
      distributed_pool(pod{}, {.owner_of = owners_in_turn(8, 2), .threads = 3, .checks = true});
  REQUIRE(listed.threads() == 3);
  REQUIRE(own(listed).size() == 8);
  REQUIRE(to_host(reshard<P<>>(sum(iota<X>(pool))))() == 2016);
  const auto alone = say(1, [] { return text(own(distributed_pool(pod{}))); });
  REQUIRE(alone.count("0 1 2 3 4 5 6 7 ") == 1);
}

TEST_CASE("a distributed pool has its part of the devices: blocks, or as a list says") {
  REQUIRE(say(2, [] { return text(own(distributed_pool(pod{}))); }) ==
          std::multiset<std::string>{"0 1 2 3 ", "4 5 6 7 "});
  REQUIRE(say(3, [] { return text(own(distributed_pool(pod::value))); }) ==
          std::multiset<std::string>{"0 1 2 ", "3 4 5 ", "6 7 "});
  REQUIRE(say(2, [] {
            return text(own(distributed_pool(pod{}, {.owner_of = owners_in_turn(8, 2)})));
          }) == std::multiset<std::string>{"0 2 4 6 ", "1 3 5 7 "});
}

TEST_CASE("processes that are bound to different cores have those of all together") {
  const core_set cores = core_set::available();
  if (cores.size() < 2) return;
  const auto hub = std::make_shared<thread_hub>(2);
  std::vector<std::shared_ptr<process_group>> groups;
  int core = core_set::current();
  for (index_t i = 0; i < 2; ++i)
    std::thread([&] {
      // The second process may not use a core that the first one may.
      cores.stay_off(core);
      core = core_set::current();
      groups.push_back(std::make_shared<process_group>(std::make_shared<thread_transport>(hub, i)));
    }).join();
  for (const auto& group : groups) {
    REQUIRE(group->host_count() == 2);
    REQUIRE(group->host_cores().size() == cores.size());
  }
}

TEST_CASE("a program in several processes has the values of one, read in place or sent") {
  for (const bool shares_memory : {true, false}) {
    const auto program = [] {
      const device_pool pool = distributed_pool(pod{});
      const X x = iota<X>(pool);
      const auto moved = reshard<P<"model", none>>(x * 2.0F);
      return std::to_string(to_host(reshard<P<>>(sum(moved)))()) + ' ' +
             std::to_string(to_host(moved)(15, 3));
    };
    const std::string one = program();
    for (index_t n : {2, 3, 8})
      REQUIRE(say(n, program, {.shares_memory = shares_memory}).count(one) ==
              static_cast<std::size_t>(n));
  }
}

TEST_CASE("a pool of several processes says how it exchanges data, and when it gives up") {
  for (const bool shares_memory : {true, false})
    spawn(2, [&] {
      const device_pool pool = distributed_pool(pod{}, {.shares_memory = shares_memory});
      (void)to_host(iota<X>(pool));
      const bool sent = pool.traffic().bytes_sent > 0;
      if (sent == shares_memory || (pool.traffic().bytes_read > 0) != shares_memory)
        throw std::logic_error("the wrong way");
    });
  REQUIRE_THROWS_WITH(spawn(9, [] { (void)distributed_pool(pod{}); }),
                      contains("there are more owners than own a device"));
}

TEST_CASE("a process that leaves says why to those that wait for it") {
  const auto thrown = spawn_all(3, [] {
    const device_pool pool = distributed_pool(pod{});
    const X x = iota<X>(pool);
    (void)to_host(x);
    if (current_group::get()->index() == 1) return leave("has no more data");
    (void)to_host(reshard<P<>>(sum(x)));
  });
  REQUIRE(thrown[1] == nullptr);
  for (std::size_t i : {0U, 2U})
    REQUIRE_THROWS_WITH(std::rethrow_exception(thrown[i]), contains("owner 1: has no more data"));
  // A program of one process has nobody to tell.
  leave("nobody hears this");
}
