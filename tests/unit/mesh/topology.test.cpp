// SPDX-License-Identifier: BSL-1.0
#include "support/catch.hpp"
#include <shardwise/mesh/machines.hpp>

#include <deque>
#include <map>
#include <vector>

using namespace shardwise;

namespace {

// The smallest number of links between two positions of an axis, found by walking.
index_t walked(const topology_axis& axis, index_t from, index_t to) {
  std::map<index_t, index_t> distance{{from, 0}};
  std::deque<index_t> next{from};
  while (!distance.count(to)) {
    const index_t here = next.front();
    next.pop_front();
    std::vector<index_t> reached{here - 1, here + 1};
    if (axis.wraps()) reached = {(here + axis.size - 1) % axis.size, (here + 1) % axis.size};
    for (index_t there : reached)
      if (there >= 0 && there < axis.size && distance.emplace(there, distance[here] + 1).second)
        next.push_back(there);
  }
  return distance[to];
}

}  // namespace

TEST_CASE("hops on an axis are the shortest walk, and none is longer than the diameter") {
  for (index_t size = 1; size <= 9; ++size)
    for (index_t wrap_multiple : {0, 1, 4}) {
      const topology_axis axis{.size = size, .wrap_multiple = wrap_multiple};
      index_t farthest = 0;
      for (index_t from = 0; from < size; ++from)
        for (index_t to = 0; to < size; ++to) {
          CAPTURE(size, wrap_multiple, from, to);
          CHECK(axis.hops(from, to) == walked(axis, from, to));
          farthest = std::max(farthest, axis.hops(from, to));
        }
      CHECK(axis.diameter() == farthest);
    }
}

TEST_CASE("machines have the figures of their source") {
  struct figures {
    text_view label;
    index_t devices;
    index_t per_host;
    double one_way;
    double memory_bytes;
    double memory_bytes_per_second;
    double flops_bf16;
    double flops_8bit;
    double network;
  };
  const figures facts[] = {
      {"tpu_v3", 32 * 32, 8, 100e9, 32e9, 900e9, 140e12, 140e12, 25e9},
      {"tpu_v4p", 16 * 16 * 16, 4, 45e9, 32e9, 1200e9, 275e12, 275e12, 25e9},
      {"tpu_v5p", 16 * 20 * 28, 4, 90e9, 96e9, 2800e9, 459e12, 918e12, 25e9},
      {"tpu_v5e", 16 * 16, 8, 45e9, 16e9, 810e9, 197e12, 394e12, 25e9},
      {"tpu_v6e", 16 * 16, 8, 90e9, 32e9, 1600e9, 920e12, 1840e12, 25e9},
      {"a100", 8, 8, 300e9, 0, 2000e9, 310e12, 620e12, 0},
      {"h100", 8, 8, 450e9, 80e9, 3400e9, 990e12, 2000e12, 400e9},
      {"h200", 8, 8, 450e9, 141e9, 4800e9, 990e12, 2000e12, 0},
      {"b200", 8, 8, 900e9, 192e9, 8000e9, 2300e12, 4500e12, 400e9},
      {"gb200_nvl72", 72, 72, 900e9, 0, 0, 0, 0, 3600e9},
  };
  CHECK(std::size(facts) == std::size(machines::all));
  for (const figures& fact : facts) {
    CAPTURE(fact.label.data());
    const topology* machine = machines::find(fact.label);
    REQUIRE(machine != nullptr);
    CHECK(machine->devices() == fact.devices);
    CHECK(machine->devices_per_host() == fact.per_host);
    for (const topology_axis& axis : machine->axes) {
      CHECK(axis.way.one_way() == Approx(fact.one_way));
      const bool torus = machine->kind != device_kind::gpu;
      CHECK(axis.wraps() == torus);
      CHECK(axis.bytes_per_second() == Approx((torus ? 2 : 1) * fact.one_way));
    }
    CHECK(machine->memory_bytes == Approx(fact.memory_bytes));
    CHECK(machine->memory_bytes_per_second == Approx(fact.memory_bytes_per_second));
    CHECK(machine->flops_bf16 == Approx(fact.flops_bf16));
    CHECK(machine->flops_8bit == Approx(fact.flops_8bit));
    CHECK(machine->network.one_way() == Approx(fact.network));
  }
  CHECK(machines::find("abacus") == nullptr);
  CHECK(machines::b200.flops_4bit == Approx(9000e12));
  CHECK(machines::tpu_v6e.host_bytes_per_second == Approx(32e9));
  CHECK(machines::tpu_v5p.host_bytes_per_second == Approx(15e9));
}
