// SPDX-License-Identifier: BSL-1.0
// Saves in the background: what they write while a program goes on, and how programs end.
#include "support/catch.hpp"
#include "support/child.hpp"
#include "support/injected_calls.hpp"
#include "support/temporary.hpp"
#include <shardwise/checkpoint/checkpoint_manager.hpp>
#include <shardwise/shardwise.hpp>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace shardwise;
using namespace support;

namespace {

struct pair : mesh<axis<"d", 2>> {};
using W = sharded_tensor<float, extents<64, 4>, layout<pair, P<"d", none>>>;
struct model {
  W w;
};

manager_options silent(manager_options options = {}) {
  options.tell = [](const std::string&) {};
  return options;
}
void sleep(int milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

/// Data are written slowly, if a number of milliseconds is given, or when the program has gone on.
struct slow_calls : injected_calls {
  explicit slow_calls(int milliseconds = 0) {
    before_write = [this, milliseconds](const std::string& path) {
      if (!path.ends_with(".safetensors")) return;
      for (int i = 0; milliseconds == 0 && !is_open && i < 10'000; ++i) sleep(1);
      if (milliseconds > 0)
        sleep(milliseconds);
      else if (!is_open)
        is_late = true;
    };
  }
  /// The program has gone on, and it did not come to that before the data had to be written.
  std::atomic<bool> is_open{false}, is_late{false};
};

float number_saved(const std::string& folder, const device_pool& pool) {
  model state{zeros<W>(pool)};
  checkpoint(folder).load(state);
  const auto host = to_host(state.w);
  for (const float each : host.elements()) REQUIRE(each == host.elements()[0]);
  return host.elements()[0];
}

constexpr auto doubled = [](const auto& w) { return w * 2.0F; };
constexpr auto double_in_place = [](W& w) { w *= 2.0F; };

}  // namespace

TEST_CASE("a save in the background has the values at its begin, whatever overwrites them") {
  const device_pool pool(pair::value, 1);
  const temporary_folder other("background-other");
  save_checkpoint(other.path(), model{full<W>(pool, 2.0F)});
  auto compiled = step(doubled);
  auto in_place = step(double_in_place);
  const std::vector<std::pair<const char*, std::function<void(model&)>>> ways{
      {"in place", [](model& state) { state.w *= 2.0F; }},
      {"by assignment", [&](model& state) { state_dict(state)["w"].assign(full<W>(pool, 2.0F)); }},
      {"by donation", [](model& state) { state.w = doubled(std::move(state.w)); }},
      {"by a step", [&](model& state) { state.w = compiled(std::move(state.w)); }},
      {"by a step in place", [&](model& state) { in_place(state.w); }},
      {"by several",
       [&](model& state) {
         for (int i = 0; i < 3; ++i) state.w = compiled(state.w);
         state.w *= 0.25F;
       }},
      {"by a load", [&](model& state) { checkpoint(other.path()).load(state); }},
      {"by its end", [&](model& state) { state = model{full<W>(pool, 2.0F)}; }},
  };
  for (const auto& [name, overwrite] : ways) {
    CAPTURE(name);
    const temporary_folder folder("background-values");
    slow_calls calls;
    checkpoint_manager checkpoints(folder.path(), silent());
    model state{full<W>(pool, 1.0F)};
    for (index_t step = 1; step <= 3; ++step) {
      calls.is_open = false;
      REQUIRE(checkpoints.save(step, state));
      overwrite(state);
      sync(state.w);
      REQUIRE(to_host(state.w)(63, 3) == 2.0F);
      calls.is_open = true;
      checkpoints.wait();
      REQUIRE(!calls.is_late);
      REQUIRE(number_saved(checkpoints.path(step), pool) == 1.0F);
      state = model{full<W>(pool, 1.0F)};
    }
  }
}

TEST_CASE("training goes on while files are written, and the next save waits or is skipped") {
  const device_pool pool(pair::value, 1);
  for (const busy_save busy : {busy_save::waits, busy_save::is_skipped}) {
    const temporary_folder folder("background-busy");
    slow_calls calls;
    checkpoint_manager checkpoints(folder.path(), silent({.when_busy = busy}));
    model state{full<W>(pool, 1.0F)};
    REQUIRE(checkpoints.save(1, state));
    for (int i = 0; i < 5; ++i) {
      state.w *= 2.0F;
      sync(state.w);
    }
    calls.is_open = busy == busy_save::waits;
    const bool is_saved = checkpoints.save(2, state);
    calls.is_open = true;
    REQUIRE(is_saved == (busy == busy_save::waits));
    checkpoints.wait();
    REQUIRE(checkpoints.save(3, state));
    checkpoints.wait();
    REQUIRE(checkpoints.all_steps() ==
            (is_saved ? std::vector<index_t>{1, 2, 3} : std::vector<index_t>{1, 3}));
    REQUIRE(number_saved(checkpoints.path(1), pool) == 1.0F);
    REQUIRE(number_saved(checkpoints.path(3), pool) == 32.0F);
    REQUIRE(!calls.is_late);
  }
}

TEST_CASE("what is superseded goes after its successor is complete") {
  const device_pool pool(pair::value, 1);
  const temporary_folder folder("background-superseded");
  injected_calls calls;
  std::atomic<int> looked{0}, absent{0};
  checkpoint_manager checkpoints(folder.path(), silent({.keep = {.last = 1}}));
  const model state{full<W>(pool, 1.0F)};
  REQUIRE(checkpoints.save(500, state));
  checkpoints.wait();
  calls.before_write = [&](const std::string&) {
    ++looked;
    if (!std::filesystem::exists(checkpoints.path(500) + "/checkpoint.json")) ++absent;
    // What is written has no name yet.
    if (std::filesystem::exists(checkpoints.path(1000))) ++absent;
  };
  REQUIRE(checkpoints.save(1000, state));
  checkpoints.wait();
  REQUIRE(looked > 3);
  REQUIRE(absent == 0);
  REQUIRE(!std::filesystem::exists(checkpoints.path(500)));
  REQUIRE(checkpoint(checkpoints.path(1000)).verify().empty());
}

TEST_CASE("a program that ends at once has saved, and one whose save failed says so") {
  // The status of a child is 1 if an exception leaves its program.
  for (const bool fails : {false, true}) {
    CAPTURE(fails);
    const temporary_folder folder("background-end");
    const int status = run_child([&] {
      slow_calls calls(50);
      if (fails) calls.failing_path = "part-1";
      const device_pool pool(pair::value, 1);
      checkpoint_manager checkpoints(folder.path(), silent());
      checkpoints.save(7, model{full<W>(pool, 7.0F)});
    });
    REQUIRE(status == (fails ? 1 : 0));
    const device_pool pool(pair::value, 1);
    checkpoint_manager found(folder.path(), silent());
    REQUIRE(found.latest_step() == (fails ? std::optional<index_t>() : 7));
    REQUIRE(found.told().empty());
    if (!fails) REQUIRE(number_saved(found.path(7), pool) == 7.0F);
  }
}

TEST_CASE("an exception that leaves a program lets the save that was begun be completed") {
  const temporary_folder folder("background-exception");
  const device_pool pool(pair::value, 1);
  slow_calls calls(50);
  const auto run = [&] {
    checkpoint_manager checkpoints(folder.path(), silent());
    checkpoints.save(7, model{full<W>(pool, 7.0F)});
    throw std::runtime_error("of the program");
  };
  REQUIRE_THROWS_WITH(run(), "of the program");
  checkpoint_manager found(folder.path(), silent());
  REQUIRE(found.latest_step() == 7);
  REQUIRE(number_saved(found.path(7), pool) == 7.0F);
}

#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
TEST_CASE("a program that exits inside a save has saved") {
  const temporary_folder folder("background-exit");
  const int status = run_child([&] {
    auto* const calls = new slow_calls(50);  // used until the end of the program
    const device_pool pool(pair::value, 1);
    checkpoint_manager checkpoints(folder.path(), silent());
    checkpoints.save(7, model{full<W>(pool, 7.0F)});
    calls->first_failure = injected_calls::never;
    std::exit(42);
  });
  REQUIRE(status == 42);
  const device_pool pool(pair::value, 1);
  checkpoint_manager found(folder.path(), silent());
  REQUIRE(found.latest_step() == 7);
  REQUIRE(number_saved(found.path(7), pool) == 7.0F);
}
#endif

TEST_CASE("a program that is told to end saves at the next call of its manager") {
  const temporary_folder folder("background-signal");
  /// Trains until it is told to end; returns how the process ends.
  const auto train = [&](const std::function<void()>& before_loop,
                         const std::function<void(index_t, injected_calls&)>& in_step) {
    return run_child([&] {
      slow_calls calls(20);
      const device_pool pool(pair::value, 1);
      checkpoint_manager checkpoints(folder.path(),
                                     silent({.every_steps = 10, .keep = {.last = 1}}));
      checkpoints.on_signal();
      model state{zeros<W>(pool)};
      index_t step = 0;
      if (const auto found = checkpoints.restore(state)) step = found->step;
      before_loop();
      while (!checkpoints.stop_requested() && step < 1000) {
        state.w = full<W>(pool, static_cast<float>(++step));
        in_step(step, calls);
        checkpoints.save(step, state);
      }
      checkpoints.finish();
    });
  };
  const auto require_saved = [&](index_t step) {
    const device_pool pool(pair::value, 1);
    checkpoint_manager found(folder.path(), silent());
    REQUIRE(found.all_steps() == std::vector<index_t>{step});
    REQUIRE(number_saved(found.path(step), pool) == static_cast<float>(step));
  };
  const auto nothing = [] {};
  const auto told_at = [](index_t when) {
    return [when](index_t step, injected_calls&) {
      if (step == when) (void)std::raise(SIGTERM);
    };
  };
  // In the midst of an interval, and beside a save that is written in the background.
  for (const index_t step : {14, 21}) {
    REQUIRE(train(nothing, told_at(step)) == 0);
    require_saved(step);
  }
  // Before the first step: what is restored is there already.
  REQUIRE(train([] { (void)std::raise(SIGTERM); }, told_at(0)) == 0);
  require_saved(21);
  // A second signal ends the process as it would without a manager, here while the data of the
  // last save are written. What is complete stays.
  REQUIRE(train(nothing, [](index_t step, injected_calls& calls) {
            if (step != 25) return;
            (void)std::raise(SIGTERM);
            calls.before_write = [](const std::string&) { (void)std::raise(SIGTERM); };
          }) == 128 + SIGTERM);
  REQUIRE(std::filesystem::exists(folder.path() + "/step-25.unfinished"));
  require_saved(21);
}
