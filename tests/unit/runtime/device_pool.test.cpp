// SPDX-License-Identifier: BSL-1.0
#include "shardwise/engine/device_pool.hpp"

#include "support/catch.hpp"

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <chrono>
#include <cstddef>
#include <latch>
#include <limits>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
struct slice : mesh<axis<"data", dyn>, axis<"model", 2>> {
  using mesh::mesh;
};

std::size_t at(index_t i) { return static_cast<std::size_t>(i); }

/// Counts how often each task of a phase runs.
template <class Phase>
std::vector<int> runs(index_t count, const Phase& phase) {
  std::vector<int> times(at(count), 0);
  phase([&](index_t task) { ++times[at(task)]; });
  return times;
}

bool all_once(const std::vector<int>& times) {
  for (int n : times)
    if (n != 1) return false;
  return true;
}

/// Keeps a thread busy for a moment with work that the compiler cannot remove.
void linger() { std::this_thread::sleep_for(std::chrono::microseconds(200)); }

/// Waits until another thread sets the flag.
void wait_for(const std::atomic<bool>& sign) {
  while (!sign) std::this_thread::yield();
}

}  // namespace

TEST_CASE("a team runs every task once, whatever the numbers of tasks and threads") {
  for (unsigned threads : {1U, 2U, 3U, 8U}) {
    worker_team team(threads);
    CHECK(team.threads() == threads);
    for (index_t count : {0, 1, 2, 3, 7, 8, 64, 512, 1000})
      for (int repeat = 0; repeat < 20; ++repeat)
        REQUIRE(all_once(runs(count, [&](const auto& body) { team.run(count, body); })));
  }
}

TEST_CASE("whoever comes first or alone, every task of every range is taken once") {
  for (unsigned threads : {1U, 2U, 5U})
    for (index_t count : {1, 2, 5, 8, 100})
      for (std::size_t alone = 0; alone < threads; ++alone) {
        task_ranges ranges(threads);
        ranges.assign(3, 3 + count);
        CHECK(ranges.useful_threads() == std::min(index_t{threads}, count));
        const auto taken = runs(count, [&](const auto& body) {
          ranges.take_all(alone, [&](index_t from, index_t to) {
            for (index_t task = from; task < to; ++task) body(task - 3);
          });
        });
        CHECK(all_once(taken));
      }
}

TEST_CASE("a team has as many threads as there are cores unless it is told") {
  CHECK(core_set::available().size() >= 1);
  CHECK(worker_team().threads() == core_set::available().size());
}

TEST_CASE("what tasks write is visible to the caller and to the next phase") {
  worker_team team(2);
  std::vector<int> now(64, 0), next(64, 0);
  for (int phase = 0; phase < 2000; ++phase) {
    team.run(64, [&](index_t i) { next[at(i)] = now[at((i + 31) % 64)] + 1; });
    now.swap(next);
  }
  CHECK(now == std::vector<int>(64, 2000));
}

TEST_CASE("helpers take part again after they have slept") {
  worker_team team(2);
  for (int phase = 0; phase < 20; ++phase) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    // Both tasks wait for each other, so the phase ends only if two threads run it.
    std::latch both(2);
    team.run(2, [&](index_t) { both.arrive_and_wait(); });
  }
  SUCCEED();
}

TEST_CASE("the caller sleeps until a slow helper is done") {
  worker_team team(2);
  for (int phase = 0; phase < 10; ++phase) {
    const auto caller = std::this_thread::get_id();
    std::latch both(2);
    std::atomic<bool> finished = false;
    team.run(2, [&](index_t) {
      both.arrive_and_wait();
      if (std::this_thread::get_id() == caller) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      finished = true;
    });
    REQUIRE(finished);
  }
}

TEST_CASE("small work, a single task and a team of one run in the calling thread, in order") {
  const auto caller = std::this_thread::get_id();
  const auto in_order = [&](worker_team& team, index_t count, index_t work) {
    std::vector<index_t> order;
    bool elsewhere = false;
    team.run(
        count,
        [&](index_t task) {
          order.push_back(task);
          elsewhere = elsewhere || std::this_thread::get_id() != caller;
        },
        work);
    std::vector<index_t> expected(at(count));
    std::iota(expected.begin(), expected.end(), index_t{0});
    return order == expected && !elsewhere;
  };
  worker_team one(1), two(2);
  CHECK(in_order(two, 100, small_work));
  CHECK(in_order(two, 1, large_work));
  CHECK(in_order(one, 100, large_work));
}

TEST_CASE("work of every size is done") {
  worker_team team(2);
  for (index_t work : {index_t{0}, small_work, small_work + 1, work_worth_waking, large_work})
    for (int phase = 0; phase < 100; ++phase)
      REQUIRE(all_once(runs(16, [&](const auto& body) { team.run(16, body, work); })));
}

TEST_CASE("many phases that are not worth waking for, one by one, are together") {
  worker_team team(2);
  const auto caller = std::this_thread::get_id();
  std::atomic<bool> helped = false;
  while (!helped)
    team.run(
        16,
        [&](index_t) {
          linger();
          if (std::this_thread::get_id() != caller) helped = true;
        },
        work_worth_waking / 2);
  SUCCEED();
}

TEST_CASE("a run inside a task finishes, however deep") {
  for (unsigned threads : {1U, 2U, 4U}) {
    worker_team team(threads);
    std::atomic<int> leaves = 0;
    team.run(8, [&](index_t) {
      team.run(4, [&](index_t) { team.run(3, [&](index_t) { ++leaves; }); });
    });
    CHECK(leaves == 8 * 4 * 3);
  }
}

TEST_CASE("a run inside small work may use the helpers") {
  worker_team team(2);
  std::latch both(2);
  team.run(1, [&](index_t) { team.run(2, [&](index_t) { both.arrive_and_wait(); }); });
  SUCCEED();
}

TEST_CASE("four threads share one team") {
  worker_team team(2);
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> callers;
    for (int caller = 0; caller < 4; ++caller)
      callers.emplace_back([&] {
        for (int phase = 0; phase < 500; ++phase)
          if (!all_once(runs(37, [&](const auto& body) { team.run(37, body); }))) ++wrong;
      });
  }
  CHECK(wrong == 0);
}

TEST_CASE("a caller that finds the helpers busy does not wait for them") {
  worker_team team(2);
  std::atomic<bool> started = false, release = false;
  std::jthread first([&] {
    team.run(2, [&](index_t) {
      started = true;
      wait_for(release);
    });
  });
  wait_for(started);
  CHECK(all_once(runs(10, [&](const auto& body) { team.run(10, body); })));
  release = true;
}

TEST_CASE("more threads than cores make progress") {
  worker_team team(8 * core_set::available().size());
  for (int phase = 0; phase < 200; ++phase)
    REQUIRE(all_once(runs(64, [&](const auto& body) { team.run(64, body); })));
}

TEST_CASE("the exception of the lowest failing task arrives, and all tasks before it have run") {
  for (unsigned threads : {1U, 2U, 4U}) {
    worker_team team(threads);
    for (int repeat = 0; repeat < 50; ++repeat) {
      std::vector<std::atomic<int>> ran(100);
      std::string words;
      try {
        team.run(100, [&](index_t task) {
          ++ran[at(task)];
          if (task % 10 == 3) throw std::runtime_error(std::to_string(task));
        });
      } catch (const std::runtime_error& failure) {
        words = failure.what();
      }
      REQUIRE(words == "3");
      for (index_t task = 0; task < 3; ++task) REQUIRE(ran[at(task)] == 1);
    }
    CHECK(all_once(runs(100, [&](const auto& body) { team.run(100, body); })));
  }
}

TEST_CASE("an exception passes through nested runs") {
  worker_team team(2);
  const auto nested = [&] {
    team.run(4, [&](index_t) {
      team.run(4, [](index_t task) {
        if (task == 2) throw task;
      });
    });
  };
  CHECK_THROWS_AS(nested(), index_t);
}

TEST_CASE("after a stop request no task starts") {
  worker_team team(2);
  team.request_stop();
  CHECK(team.stop_requested());
  int ran = 0;
  CHECK_THROWS_AS(team.run(8, [&](index_t) { ++ran; }), pool_stopped);
  CHECK_THROWS_AS(team.run(
                      8, [&](index_t) { ++ran; }, 1),
                  pool_stopped);
  CHECK(ran == 0);
  CHECK_NOTHROW(team.run(0, [&](index_t) { ++ran; }));
}

TEST_CASE("a stop request during a phase leaves out the tasks that have not started") {
  for (unsigned threads : {1U, 2U}) {
    worker_team team(threads);
    std::atomic<int> ran = 0;
    const auto stopping = [&] {
      team.run(1000, [&](index_t task) {
        ++ran;
        if (task == 0) team.request_stop();
        linger();
      });
    };
    CHECK_THROWS_AS(stopping(), pool_stopped);
    CHECK(ran < 1000);
  }
}

TEST_CASE("a stop token stops a team") {
  std::stop_source source;
  worker_team team(2, source.get_token());
  CHECK(all_once(runs(8, [&](const auto& body) { team.run(8, body); })));
  source.request_stop();
  CHECK_THROWS_AS(team.run(8, [](index_t) {}), pool_stopped);
}

TEST_CASE("a team that is destroyed waits for the phase that another thread runs") {
  for (index_t work : {small_work, large_work}) {
    auto team = std::make_unique<worker_team>(2U);
    worker_team& shared = *team;
    std::atomic<bool> started = false;
    std::atomic<int> ran = 0;
    std::jthread other([&] {
      shared.run(
          20,
          [&](index_t) {
            started = true;
            linger();
            ++ran;
          },
          work);
    });
    wait_for(started);
    team.reset();
    CHECK(ran == 20);
  }
}

TEST_CASE("a pool has the devices of its mesh") {
  const device_pool pool(pod{});
  CHECK(pool.devices() == 8);
  CHECK(pool.mesh() == pod::value);
  CHECK(pool.threads() == std::min(8U, core_set::available().size()));

  CHECK(device_pool(slice{3}).devices() == 6);
  CHECK(device_pool(slice{3}).mesh() == slice{3}.desc());
  CHECK(device_pool(pod::value).mesh() == pod::value);

  const device_pool line(5);
  CHECK(line.mesh() == mesh_desc{{axis_desc{"devices", 5}}});
  CHECK(device_pool(1).threads() == 1);
  CHECK(device_pool(1, 2).threads() == 2);
}

TEST_CASE("a negative number of threads is refused, in every constructor") {
  // Combined matchers refer to their parts.
  const std::string sentence = describe({.rule = violation::amount_is_out_of_range, .have = -1});
  const auto words =
      contains(sentence + "; the number of threads is 1 or more, or 0 to have it chosen");
  REQUIRE_THAT(sentence, contains("(-1 where 0 is needed)"));
  const int less = -1;
  CHECK_THROWS_WITH(worker_team(less), words);
  CHECK_THROWS_WITH(device_pool(2, less), words);
  CHECK_THROWS_WITH(device_pool(pod{}, less), words);
  CHECK_THROWS_WITH(device_pool(pod::value, owner_share{{0, 0, 0, 0, 0, 0, 0, 0}}, less), words);
  CHECK_THROWS_AS(worker_team(std::numeric_limits<index_t>::min()), error);
  CHECK_THROWS_WITH(worker_team(-4294967295), contains("-4294967295 where 0"));
  CHECK(worker_team(2U).threads() == 2);
}

TEST_CASE("a pool refuses a mesh that has no size") {
  CHECK_THROWS_AS(device_pool(0), error);
  CHECK_THROWS_AS(device_pool(-1), error);
  CHECK_THROWS_AS(device_pool(slice::value), error);
  CHECK_THROWS_AS(device_pool(mesh_desc{{axis_desc{"data", 0}}}), error);
}

TEST_CASE("512 devices run on two threads") {
  const device_pool pool(512, 2);
  CHECK(all_once(runs(512, [&](const auto& body) { pool.for_each_device(body); })));
  CHECK(all_once(runs(512, [&](const auto& body) { pool.for_each_device(body, 1000); })));
}

TEST_CASE("an exception names the device and keeps the original") {
  const device_pool pool(pod{}, 2);
  const auto failing = [&](const auto& thrown) {
    pool.for_each_device([&](index_t device) {
      if (device == 3 || device == 6) throw thrown;
    });
  };
  try {
    failing(std::out_of_range("no such shard"));
    FAIL("nothing arrived");
  } catch (const device_error& failure) {
    CHECK(failure.device() == 3);
    CHECK(std::string(failure.what()) == "device 3: no such shard");
    CHECK_THROWS_AS(failure.rethrow_nested(), std::out_of_range);
    CHECK_THROWS_AS(std::rethrow_if_nested(failure), std::out_of_range);
  }
  try {
    failing(error({.rule = violation::host_size_differs, .have = 5, .want = 6}));
    FAIL("nothing arrived");
  } catch (const device_error& failure) {
    CHECK(std::string(failure.what()).find("device 3: host_size_differs: ") == 0);
    CHECK_THROWS_AS(failure.rethrow_nested(), error);
  }
  CHECK_THROWS_AS(failing(42), device_error);
}

TEST_CASE("a pool that is stopped says so") {
  std::stop_source source;
  const device_pool pool(8, 2, source.get_token());
  CHECK_FALSE(pool.stop_requested());
  source.request_stop();
  CHECK(pool.stop_requested());
  CHECK_THROWS_AS(pool.for_each_device([](index_t) {}), pool_stopped);

  const device_pool other(8, 2);
  const auto nested = [&] {
    other.for_each_device([&](index_t) { pool.for_each_device([](index_t) {}); });
  };
  CHECK_THROWS_AS(nested(), pool_stopped);
  other.request_stop();
  CHECK_THROWS_AS(other.for_each_device([](index_t) {}), pool_stopped);
}

TEST_CASE("a machine outlives its pool") {
  std::shared_ptr<pool_state> state;
  {
    const device_pool pool(pod{}, 2);
    state = pool.state();
  }
  CHECK(state->mesh() == pod::value);
  CHECK(all_once(runs(8, [&](const auto& body) { state->for_each_device(body); })));
}

TEST_CASE("a pool may be destroyed while another thread uses it") {
  auto pool = std::make_unique<device_pool>(16, 2U);
  const device_pool& shared = *pool;
  std::atomic<bool> started = false;
  std::atomic<int> ran = 0;
  std::jthread other([&] {
    shared.for_each_device([&](index_t) {
      started = true;
      linger();
      ++ran;
    });
  });
  wait_for(started);
  pool.reset();
  other.join();
  CHECK(ran == 16);
}

TEST_CASE("devices may allocate, and what they hold is accounted") {
  const device_pool pool(64, 2);
  pool_state& state = *pool.state();
  for (int phase = 0; phase < 3; ++phase)
    pool.for_each_device([&](index_t device) {
      arena_block& block = state.storage().allocate(1000 * (device + 1));
      state.memory().charge(device, 1000 * (device + 1));
      block.data[0] = std::byte{1};
      if (device % 2 == 0) state.memory().charge(device, -1000 * (device + 1));
      memory_arena::release(block);
    });
  CHECK(state.storage().allocated_bytes() == 0);
  CHECK(state.memory().held(0) == 0);
  CHECK(state.memory().peak(0) == 1000);
  CHECK(state.memory().held(63) == 3 * 64000);
  CHECK(state.memory().peak() == 3 * 64000);
  state.memory().charge(63, -3 * 64000);
  state.memory().reset_peaks();
  CHECK(state.memory().peak(63) == 0);
}

TEST_CASE("all threads of a phase round as its caller does") {
  worker_team team(4);
  const int before = std::fegetround();
  for (const int mode : {FE_UPWARD, FE_TONEAREST, FE_DOWNWARD}) {
    std::fesetround(mode);
    std::vector<int> modes(64, -1);
    team.run(64, [&](index_t task) {
      modes[at(task)] = std::fegetround();
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    });
    std::fesetround(before);
    REQUIRE(std::all_of(modes.begin(), modes.end(), [&](int found) { return found == mode; }));
  }
}
