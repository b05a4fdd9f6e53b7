// SPDX-License-Identifier: BSL-1.0
// Several owners of one mesh: which devices they own, how data is distributed, and what happens
// when one of them fails.
#include "support/catch.hpp"
#include "support/owners.hpp"
#include <shardwise/host/distribute_from.hpp>
#include <shardwise/host/from_shards.hpp>

#include <atomic>
#include <new>
#include <numeric>
#include <stdexcept>
#include <string>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};
using X = sharded_tensor<float, extents<dyn, 4>, layout<pod, P<"data", none>>>;
using U = sharded_tensor<float, extents<dyn, 4>, layout<pod, P<"data", none>, partial<>, uneven>>;
using Y = sharded_tensor<float, extents<dyn, 4>, layout<pod, P<none, "model">>>;
using Z = sharded_tensor<float, extents<dyn, 4>, layout<pod, P<"data", "model">>>;

const std::vector<index_t> halves{0, 0, 1, 1};
const std::vector<index_t> thirds{0, 1, 2, 1};

std::vector<float> counted(index_t count) {
  std::vector<float> all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), 0.0F);
  return all;
}

bool contains(const std::string& words, const std::string& part) {
  return words.find(part) != std::string::npos;
}

/// Returns what each owner throws if owner 1 fails in the given way.
template <class Program>
std::vector<std::string> failures(const std::vector<index_t>& owner_of, const Program& program,
                                  std::chrono::milliseconds patience = std::chrono::seconds(60)) {
  return support::words_of(support::run_owners(
      pod::value, owner_of, program, [&](owner_share& share) { share.patience = patience; }));
}

index_t self(const device_pool& pool) { return pool.state()->link()->self(); }

}  // namespace

TEST_CASE("an owner has the shards, and the memory, of its devices") {
  support::run_all_owners(pod::value, thirds, [](const device_pool& pool) {
    const X x = distribute<X>(pool, counted(32));
    std::vector<index_t> own;
    for (index_t d = 0; d < 4; ++d)
      if (thirds[static_cast<std::size_t>(d)] == self(pool)) own.push_back(d);
    const auto mine = shards(x);
    if (mine.size() != own.size()) throw std::logic_error("shards");
    for (std::size_t i = 0; i < own.size(); ++i) {
      const index_t d = own[i];
      const bool is_right = mine[i].device() == d && mine[i].elements().size() == 16 &&
                            mine[i].elements()[0] == (d < 2 ? 0.0F : 16.0F) &&
                            local(x, d).elements().data() == mine[i].elements().data();
      if (!is_right) throw std::logic_error("shard");
    }
    for (index_t d = 0; d < 4; ++d) {
      const bool is_own = std::find(own.begin(), own.end(), d) != own.end();
      if (pool.state()->memory().held(d) != (is_own ? 64 : 0)) throw std::logic_error("memory");
      if (is_own) continue;
      try {
        (void)local(x, d);
        throw std::logic_error("local");
      } catch (const error& refusal) {
        if (refusal.code() != violation::device_is_elsewhere) throw;
      }
    }
    std::atomic<index_t> calls{0};
    pool.for_each_device(
        [&](index_t d) { calls += thirds[static_cast<std::size_t>(d)] == self(pool) ? 1 : 100; });
    if (calls != static_cast<index_t>(own.size())) throw std::logic_error("devices");
  });
}

TEST_CASE("with one owner a pool is like any other") {
  const device_pool pool(pod{}, owner_share{.owner_of = {0, 0, 0, 0}});
  REQUIRE(pool.state()->link() == nullptr);
  REQUIRE(to_host(distribute<X>(pool, counted(16))).elements()[5] == 5.0F);
  REQUIRE(pool.traffic() == owner_traffic{});
  REQUIRE_THROWS_AS((device_pool(pod{}, owner_share{.owner_of = {0, 0, 1, 0}})), error);
  REQUIRE_THROWS_AS((device_pool(pod{}, owner_share{.owner_of = {0, 0}})), error);
}

TEST_CASE("data come from all owners, from one, or from each its own part") {
  const std::vector<float> host = counted(20);
  for (const support::ownership& each : support::ownerships(4))
    support::run_all_owners(
        pod::value, each.owner_of,
        [&](const device_pool& pool) {
          const index_t owners = pool.state()->link()->owners().count();
          const U all = distribute<U>(pool, host);
          for (index_t giver = 0; giver < owners; ++giver) {
            const U one = distribute_from<U>(pool, giver,
                                             self(pool) == giver ? host : std::vector<float>(), 5);
            if (to_host(one) != to_host(all)) throw std::logic_error("one");
          }
          layout_desc pending = layout_of(pod::value, spec_desc{{"", "data"}}, {"model"});
          const auto terms = distribute_from<float>(
              pool, 1, self(pool) == 1 ? std::span<const float>(host) : std::span<const float>(),
              {5, 4}, pending);
          const auto value = to_host(reshard(terms, spec_desc{{"", ""}}));
          if (!std::equal(value.begin(), value.end(), host.begin()))
            throw std::logic_error("pending");
          std::vector<std::vector<float>> blocks;
          for (index_t d : pool.state()->own_devices())
            blocks.emplace_back(host.begin() + (d < 2 ? 0 : 12), host.begin() + (d < 2 ? 12 : 20));
          if (to_host(from_own_shards<U>(pool, blocks, 5)) != to_host(all))
            throw std::logic_error("own");
          if (to_host(normal<U>(pool, random_key{7}, 5)) !=
              to_host(normal<U>(pool, random_key{7}, 5)))
            throw std::logic_error("random");
        },
        each.settings);
}

TEST_CASE("random numbers are those of one owner") {
  const device_pool alone(pod{});
  const auto expected = to_host(normal<U>(alone, random_key{9}, 7));
  support::run_all_owners(pod::value, thirds, [&](const device_pool& pool) {
    if (to_host(normal<U>(pool, random_key{9}, 7)) != expected) throw std::logic_error("random");
  });
}

TEST_CASE("what a device function throws reaches every owner, with the names of both") {
  for (const auto& owner_of : {halves, thirds}) {
    const auto words = failures(owner_of, [](const device_pool& pool) {
      const X x = generate<X>(
          pool,
          [&](const global_index& at) {
            if (self(pool) == 1 && at[0] == 3) throw std::runtime_error("broken on purpose");
            return 1.0F;
          },
          4);
      (void)to_host(x);
    });
    REQUIRE(contains(words[1], "broken on purpose"));
    REQUIRE(contains(words[1], "device 3: ") != contains(words[1], "device 2: "));
    for (std::size_t owner = 0; owner < words.size(); ++owner)
      if (owner != 1) {
        REQUIRE(contains(words[owner], "owner 1: device "));
        REQUIRE(contains(words[owner], "broken on purpose"));
      }
  }
}

TEST_CASE("a stop, and memory that is not there, reach every owner") {
  const auto stopped = failures(halves, [](const device_pool& pool) {
    const X x = distribute<X>(pool, counted(16));
    if (self(pool) == 1) pool.request_stop();
    (void)to_host(reshard<P<none, "model">>(x));
  });
  REQUIRE(contains(stopped[1], "stopped"));
  REQUIRE(contains(stopped[0], "owner 1: the device pool was stopped"));

  const auto starved = failures(thirds, [](const device_pool& pool) {
    const X x = distribute<X>(pool, counted(16));
    pool.for_each_device([&](index_t) {
      if (self(pool) == 1) throw std::bad_alloc();
    });
    (void)to_host(x);
  });
  REQUIRE(contains(starved[1], "bad_alloc"));
  REQUIRE(contains(starved[0], "owner 1: device "));
  REQUIRE(contains(starved[2], "bad_alloc"));
}

TEST_CASE("an owner that waits is stopped by its own request") {
  const auto words = failures(halves, [](const device_pool& pool) {
    const X x = distribute<X>(pool, counted(16));
    if (self(pool) == 1) return std::this_thread::sleep_for(std::chrono::milliseconds(500));
    std::jthread later([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      pool.request_stop();
    });
    (void)to_host(x);
  });
  REQUIRE(contains(words[0], "stopped"));
  REQUIRE(words[1].empty());
}

TEST_CASE("owners that run different programs are told what both run") {
  const auto sizes = failures(halves, [](const device_pool& pool) {
    const X x = distribute<X>(pool, counted(self(pool) == 1 ? 24 : 16));
    (void)to_host(reshard<P<none, "model">>(x));
  });
  for (const std::string& words : sizes) {
    REQUIRE(contains(words, "owners_differ"));
    REQUIRE(contains(words, "f32[4, 4@model]"));
    REQUIRE(contains(words, "f32[6, 4@model]"));
    REQUIRE(contains(words, "owner 0 runs"));
  }
  const auto order = failures(thirds, [](const device_pool& pool) {
    const X x = distribute<X>(pool, counted(16));
    const Y y = distribute<Y>(pool, counted(16));
    if (self(pool) == 2) {
      (void)to_host(y);
      (void)to_host(x);
    } else {
      (void)to_host(x);
      (void)to_host(y);
    }
  });
  for (const std::string& words : order) REQUIRE(contains(words, "owners_differ"));
  const auto values = failures(halves, [](const device_pool& pool) {
    const X x = distribute<X>(pool, counted(16));
    (void)to_host(reshard<P<none, "model">>(x * (self(pool) == 1 ? 2.0F : 3.0F)));
  });
  for (const std::string& words : values) REQUIRE(contains(words, "owners_differ"));
  for (const std::string& words : sizes) REQUIRE(contains(words, "on mesh(data=2, model=2)"));
}

TEST_CASE("owners that share the devices otherwise are told so") {
  for (const bool shares_memory : {true, false}) {
    const auto thrown = spawn_all(
        2,
        [&] {
          const auto group = current_group::get();
          const device_pool pool(
              pod{}, owner_share{.owner_of = group->index() == 0 ? halves : owners_in_turn(4, 2),
                                 .group = group,
                                 .shares_memory = shares_memory});
          (void)to_host(distribute<Z>(pool, counted(16)));
        },
        {.shares_memory = shares_memory});
    for (const std::exception_ptr& each : thrown)
      REQUIRE_THAT(support::words_of(each), ::contains("lists of owners"));
  }
}

TEST_CASE("an owner that gives no sign of life is named in time, and stays so") {
  /// Says nothing, like a process that was stopped, or one behind a broken link.
  struct mute_transport : thread_transport {
    using thread_transport::thread_transport;
    void tell(index_t, std::span<const std::byte>) noexcept override {}
  };
  const auto begin = std::chrono::steady_clock::now();
  const auto hub = std::make_shared<thread_hub>(2, false);
  const auto alive = std::make_shared<process_group>(std::make_shared<thread_transport>(hub, 0));
  const auto silent = std::make_shared<process_group>(std::make_shared<mute_transport>(hub, 1));
  const device_pool pool(pod{},
                         owner_share{.owner_of = halves,
                                     .group = alive,
                                     .patience = std::chrono::milliseconds(300),
                                     .shares_memory = false},
                         2);
  const X x = distribute<X>(pool, counted(16));
  for (int time = 0; time < 2; ++time)
    REQUIRE_THROWS_WITH(to_host(x), "owner 1: silent for 300 ms");
  REQUIRE(std::chrono::steady_clock::now() - begin < std::chrono::seconds(30));
}

TEST_CASE("an owner that is busy for longer than the others are patient ends nothing") {
  for (const bool shares_memory : {true, false})
    support::run_all_owners(
        pod::value, halves,
        [&](const device_pool& pool) {
          const X x = distribute<X>(pool, counted(16));
          if (self(pool) == 1) std::this_thread::sleep_for(std::chrono::milliseconds(1500));
          if (to_host(x).size() != 16) throw std::logic_error("elements are missing");
        },
        [&](owner_share& share) {
          share.patience = std::chrono::milliseconds(500);
          share.shares_memory = shares_memory;
        });
}

TEST_CASE("programs that are prepared run on all owners, and what they cost is that of one") {
  constexpr auto recorded = trace_program(
      [](const auto& x) { return reshard<P<none, none>>(sum<0>(relu(x) * 2.0F, keep_dims)); },
      abstract<sharded_tensor<float, extents<8, 4>, layout<pod, P<"data", none>>>>());
  using T = sharded_tensor<float, extents<8, 4>, layout<pod, P<"data", none>>>;
  const prepared_program ready = prepare<float>(recorded);
  const device_pool alone(pod{});
  const auto expected = to_host(run<float>(ready, distribute<T>(alone, counted(32))));
  alone.reset_counters();
  (void)to_host(run<float>(ready, distribute<T>(alone, counted(32))));
  const index_t moved = alone.counters().bytes_moved();
  support::run_all_owners(pod::value, halves, [&](const device_pool& pool) {
    const T x = distribute<T>(pool, counted(32));
    pool.reset_counters();
    if (to_host(run<float>(ready, x)) != expected) throw std::logic_error("bits");
    if (pool.counters().bytes_moved() != moved) throw std::logic_error("ledger");
    // In two rounds, half of a sum of 4 numbers, then the other half after the addition; in one,
    // the terms of all 4.
    const owner_traffic crossed = pool.traffic();
    const bool reads = pool.state()->link()->is_room();
    if ((reads ? crossed.bytes_read : crossed.bytes_received) != 16)
      throw std::logic_error("traffic");
    if ((reads ? crossed.bytes_received : crossed.bytes_read) != 0)
      throw std::logic_error("traffic");
  });
}

TEST_CASE("devices have owners, and messages have bytes") {
  REQUIRE(owners_in_turn(4, 3) == std::vector<index_t>{0, 1, 2, 0});
  REQUIRE_THROWS_WITH(owners_in_turn(4, 0), ::contains("devices have at least one owner"));
  REQUIRE_THROWS_WITH(owners_in_blocks(4, -1), ::contains("devices have at least one owner"));
  for (const bool counts_bytes : {true, false})
    for (const std::exception_ptr& thrown : support::run_owners(
             pod::value, halves, [](const device_pool&) {},
             [&](owner_share& share) {
               (counts_bytes ? share.message_bytes : share.in_flight) = 0;
             }))
      REQUIRE(contains(support::words_of(thrown), "amount_is_out_of_range"));
  // Of three owners, the last has no device.
  for (const std::exception_ptr& thrown : spawn_all(3, [] {
         const device_pool pool(pod::value,
                                owner_share{.owner_of = halves, .group = current_group::get()});
       })) {
    REQUIRE(contains(support::words_of(thrown), "owner_is_out_of_range"));
    REQUIRE(contains(support::words_of(thrown), "more owners than own a device"));
  }
}

TEST_CASE("an owner may wait for ever") {
  const auto words = failures(
      halves,
      [](const device_pool& pool) {
        const X x = distribute<X>(pool, counted(16));
        if (to_host(x).size() != 16) throw std::logic_error("elements are missing");
      },
      std::chrono::milliseconds::max());
  for (const std::string& each : words) REQUIRE(each.empty());
}
