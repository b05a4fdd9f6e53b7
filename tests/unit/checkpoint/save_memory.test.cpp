// SPDX-License-Identifier: BSL-1.0
// What saves and loads cost in memory.
#include "support/catch.hpp"
#include "support/injected_calls.hpp"
#include "support/requests.hpp"
#include "support/temporary.hpp"
#include <shardwise/checkpoint.hpp>
#include <shardwise/shardwise.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>

using namespace shardwise;
using namespace support;

namespace {

struct quarters : mesh<axis<"x", 4>> {};
constexpr index_t side = 2048, bytes = 2 * side * side * 4;
template <class Spec>
using square = sharded_tensor<float, extents<side, side>, layout<quarters, Spec>>;
using by_rows = square<P<"x", none>>;
using by_columns = square<P<none, "x">>;
struct model {
  by_rows rows;
  by_columns columns;
};
model model_of(const device_pool& pool) { return {iota<by_rows>(pool), iota<by_columns>(pool)}; }

/// A step that writes over the model in place.
constexpr auto add_one = [](by_rows& rows, by_columns& columns) {
  rows += 1.0F;
  columns += 1.0F;
};

/// Writes of data that wait until they may go on, and see how much memory there is.
struct watched_writes : injected_calls {
  explicit watched_writes(const device_pool& pool) {
    before_write = [this, &pool](const std::string& path) {
      if (!path.ends_with(".safetensors")) return;
      for (int i = 0; !is_open && i < 10'000; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      const index_t now = pool.state()->storage().allocated_bytes();
      for (index_t before = most; before < now && !most.compare_exchange_weak(before, now);) {
      }
    };
  }
  std::atomic<bool> is_open{true};
  std::atomic<index_t> most{0};
};

}  // namespace

TEST_CASE("a blocking save and a load take little memory beside the tensors") {
  const temporary_folder folder("checkpoint-memory");
  const device_pool pool(quarters{}, 2);
  model state = model_of(pool);
  sync(state.rows, state.columns);
  const index_t held = pool.state()->storage().allocated_bytes();
  REQUIRE(held >= bytes);
  {
    watched_writes calls(pool);
    const long begun = requested_bytes;
    save_checkpoint(folder.path(), state);
    // Names, lists and headers; the limit of a save is 64 MiB.
    REQUIRE(requested_bytes - begun < 4_MiB);
    REQUIRE(calls.most == held);
  }
  REQUIRE(pool.state()->storage().allocated_bytes() == held);
  // Rows are read where they belong, whatever they replace goes at once.
  const checkpoint saved(folder.path());
  const long begun = requested_bytes;
  saved.load(state);
  REQUIRE(requested_bytes - begun < 4_MiB);
  REQUIRE(pool.state()->storage().allocated_bytes() == held);
  REQUIRE(to_host(state.columns)(side - 1, side - 1) == static_cast<float>(side * side - 1));
}

TEST_CASE("a save in the background takes at most one more copy, and steps are steady after it") {
  const temporary_folder folder("checkpoint-memory-background");
  const device_pool pool(quarters{}, 1);
  watched_writes calls(pool);
  checkpoint_manager checkpoints(folder.path(), {.tell = [](const std::string&) {}});
  model state = model_of(pool);
  auto compiled = step(add_one);
  const auto train = [&] {
    compiled(state.rows, state.columns);
    sync(state.rows, state.columns);
  };
  const memory_arena& memory = pool.state()->storage();
  for (int i = 0; i < 3; ++i) train();
  const index_t held = memory.allocated_bytes();
  for (index_t number = 1; number <= 2; ++number) {
    calls.is_open = false;
    const long begun = requested_bytes;
    REQUIRE(checkpoints.save(number, state));
    index_t most = 0;
    for (int i = 0; i < 4; ++i) {
      train();
      most = std::max(most, memory.allocated_bytes());
    }
    calls.is_open = true;
    checkpoints.wait();
    REQUIRE(most > held);  // they were written to other memory
    REQUIRE(most <= held + bytes);
    REQUIRE(calls.most <= held + bytes);
    REQUIRE(requested_bytes - begun < 4_MiB);
    // It is given back, and steps write in place again.
    REQUIRE(memory.allocated_bytes() == held);
    const auto* const place = state.rows.share()->shard(0).data();
    const index_t mapped = memory.system_allocations();
    for (int i = 0; i < 2; ++i) train();
    REQUIRE(state.rows.share()->shard(0).data() == place);
    REQUIRE(memory.system_allocations() == mapped);
    REQUIRE(memory.allocated_bytes() == held);
    REQUIRE(checkpoint(checkpoints.path(number)).verify().empty());
  }
}
