// SPDX-License-Identifier: BSL-1.0
// What owners read of a tensor: on one of them, and with checks of what they have alike.
#include "support/catch.hpp"
#include "support/owners.hpp"
#include <shardwise/host/from_shards.hpp>

#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};
using X = sharded_tensor<float, extents<dyn, 4>, layout<pod, P<"data", none>, partial<>, uneven>>;
using Y = sharded_tensor<float, extents<4, 4>, layout<pod, P<none, "model">>>;
using R = sharded_tensor<float, extents<4, 4>, layout<pod, P<none, none>>>;

const std::vector<index_t> halves{0, 0, 1, 1};

std::vector<float> counted(index_t count) {
  std::vector<float> all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), 0.0F);
  return all;
}
void require(bool holds, const std::string& words) {
  if (!holds) throw std::logic_error(words);
}
index_t self(const device_pool& pool) { return pool.state()->link()->self(); }

/// Returns what the owners of halves of the devices throw, which read each other's memory or send
/// messages, and check what they have alike.
template <class Program>
std::vector<std::string> failures(bool shares_memory, const Program& program, bool checks = true) {
  return support::words_of(
      support::run_owners(pod::value, halves, program, [&](owner_share& share) {
        share.shares_memory = shares_memory;
        share.checks = checks;
      }));
}

}  // namespace

TEST_CASE("a tensor is gathered on one owner only") {
  const device_pool alone(pod{});
  const auto expected = to_host(distribute<X>(alone, counted(20)));
  REQUIRE(to_host_on(0, distribute<X>(alone, counted(20))) == expected);
  REQUIRE_THROWS_WITH(to_host_on(1, distribute<X>(alone, counted(20))),
                      ::contains("owner_is_out_of_range"));
  for (const support::ownership& each : support::ownerships(4))
    support::run_all_owners(
        pod::value, each.owner_of,
        [&](const device_pool& pool) {
          const owner_link& link = *pool.state()->link();
          const X x = distribute<X>(pool, counted(20));
          for (index_t reader = 0; reader < link.owners().count(); ++reader) {
            const owner_traffic before = pool.traffic();
            const auto read = to_host_on(reader, x);
            require(read.has_value() == (link.self() == reader), "reader");
            if (read) require(*read == expected, "elements");
            const owner_traffic after = pool.traffic();
            if (!read)
              require(after.bytes_received == before.bytes_received &&
                          after.bytes_read == before.bytes_read,
                      "an owner that does not read has received elements");
          }
          // A run-time layout, and a tensor that is computed for the read.
          const auto any = distribute<float>(pool, counted(20), {5, 4}, spec_desc{{"", "model"}});
          const auto read = to_host_on(1, any * 2.0F);
          if (read) require((*read)(4, 3) == 38.0F, "any");
          require(to_host(x) == expected, "all");
          bool is_refused = false;
          try {
            (void)to_host_on(link.owners().count(), x);
          } catch (const error& refusal) {
            is_refused = refusal.code() == violation::owner_is_out_of_range;
          }
          require(is_refused, "range");
        },
        each.settings);
}

TEST_CASE("owners that read on different owners are told so") {
  for (const bool shares_memory : {true, false})
    for (const std::string& words : failures(shares_memory, [](const device_pool& pool) {
           (void)to_host_on(self(pool), distribute<X>(pool, counted(16)));
         }))
      REQUIRE_THAT(words, ::contains("owners_differ") && ::contains("to_host_on(0) of f32[4") &&
                              ::contains("to_host_on(1) of f32[4"));
}

TEST_CASE("data that owners give differently is found where the tensor is used") {
  const auto given = [](const device_pool& pool) {
    std::vector<float> data = counted(16);
    if (self(pool) == 1) data[3] = -0.5F;
    return data;
  };
  for (const bool shares_memory : {true, false}) {
    const auto read = [&](const device_pool& pool) {
      (void)to_host(distribute<X>(pool, given(pool)));
    };
    for (const std::string& words : failures(shares_memory, read))
      REQUIRE_THAT(words, ::contains("owners_differ") && ::contains("tensor 1 with data of hash"));
    for (const std::string& words : failures(shares_memory, [&](const device_pool& pool) {
           const auto any = distribute<float>(pool, given(pool), {4, 4}, spec_desc{{"", "model"}});
           sync(any * 2.0F);
           (void)to_host(distribute<X>(pool, counted(16)));
         }))
      REQUIRE_THAT(words, ::contains("owners_differ") && ::contains("other tensors or numbers"));
    // Equal data pass, in any form; and nothing is compared unless that is asked for.
    for (const std::string& words : failures(shares_memory, [](const device_pool& pool) {
           (void)to_host(distribute<X>(pool, counted(16)));
           (void)to_host(
               distribute<Y>(pool, {{1, 2, 3, 4}, {1, 2, 3, 4}, {0, 0, 0, 0}, {5, 5, 5, 5}}));
           (void)to_host(distribute<X>(pool, std::vector<float>()));
         }))
      REQUIRE(words.empty());
    for (const std::string& words : failures(shares_memory, read, false)) REQUIRE(words.empty());
  }
}

TEST_CASE("replicas that differ between owners are found where they are read") {
  const auto made = [](const device_pool& pool) {
    std::vector<std::vector<float>> blocks;
    for (index_t d : pool.state()->own_devices())
      blocks.emplace_back(8, d % 2 == 1 && self(pool) == 1 ? 2.0F : 1.0F);
    return from_own_shards<Y>(pool, blocks);
  };
  for (const bool shares_memory : {true, false}) {
    for (const std::string& words :
         failures(shares_memory, [&](const device_pool& pool) { (void)to_host(made(pool)); }))
      REQUIRE_THAT(words,
                   ::contains("replicas_differ") &&
                       ::contains("shard 1 of f32[4, 4@model] on mesh(data=2, model=2)") &&
                       ::contains("differs between owner 0, device 1, and owner 1, device 3"));
    for (const std::string& words : failures(
             shares_memory, [&](const device_pool& pool) { (void)to_host(made(pool)); }, false))
      REQUIRE(words.empty());
    for (const std::string& words : failures(shares_memory, [](const device_pool& pool) {
           (void)to_host(ones<R>(pool));
           (void)to_host(normal<Y>(pool, random_key{3}));
           (void)to_host_on(1, reshard<P<none, none>>(normal<X>(pool, random_key{4}, 5)));
         }))
      REQUIRE(words.empty());
  }
}
