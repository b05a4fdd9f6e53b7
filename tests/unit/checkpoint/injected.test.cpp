// SPDX-License-Identifier: BSL-1.0
// Calls of the system that fail, do less than asked, or are the last of a process.
#include "support/catch.hpp"
#include "support/child.hpp"
#include "support/injected_calls.hpp"
#include "support/watched.hpp"
#include "unit/checkpoint/used_folder.hpp"
#include <shardwise/checkpoint/checkpoint_manager.hpp>
#include <shardwise/shardwise.hpp>

#include <csignal>
#include <cstddef>

using namespace shardwise;
using namespace support;

TEST_CASE("a process that is killed at any of its calls loses nothing that was complete") {
  for (const bool in_background : {true, false}) {
    int status = -1;
    for (long n = 0; status != 0; n += is_watched ? 7 : 1) {
      CAPTURE(in_background, n);
      const used_folder folder("checkpoint-killed");
      const shared_value<index_t> complete(1);
      status = run_child([&] {
        injected_calls calls;
        calls.death = n;
        train(folder.path(), in_background, *complete);
      });
      REQUIRE((status == 0 || status == 128 + SIGKILL));
      REQUIRE(n < 2000);
      folder.require_sound(*complete, 3);
    }
    REQUIRE(status == 0);
  }
}

TEST_CASE("a save that failed at any of its calls can be repeated by the same manager") {
  bool more = true;
  for (long n = 0; more; n += is_watched ? 7 : 1) {
    CAPTURE(n);
    const used_folder folder("checkpoint-repeated");
    {
      const device_pool pool(where().mesh, 1);
      checkpoint_manager checkpoints(folder.path(), options());
      saved_state state = state_of(pool, 0);
      REQUIRE(checkpoints.restore(state)->step == 1);
      bool failed = false;
      {
        injected_calls calls;
        calls.first_failure = n;
        calls.last_failure = n;
        try {
          checkpoints.save(2, state_of(pool, 2));
          checkpoints.wait();
        } catch (const error&) {
          failed = true;
        }
        more = calls.calls > n;
      }
      REQUIRE(checkpoints.latest_step() == (failed ? 1 : 2));
      REQUIRE(checkpoints.save(2, state_of(pool, 2)) == failed);
      checkpoints.wait();
      REQUIRE(checkpoints.latest_step() == 2);
      checkpoints.finish();
    }
    folder.require_sound(2, 2);
  }
}

TEST_CASE("calls that do less than asked, or are interrupted, are repeated") {
  for (const std::size_t most : {1U, 7U, 1000U, 1U << 30U})
    for (const bool interrupts : {false, true}) {
      CAPTURE(most, interrupts);
      const used_folder folder("checkpoint-short");
      index_t complete = 1;
      {
        injected_calls calls;
        calls.most = most;
        calls.interrupts = interrupts;
        train(folder.path(), true, complete);
        // Also what reads them.
        const device_pool pool(where().mesh, 1);
        saved_state loaded = state_of(pool, 0);
        const checkpoint saved(folder.path() + "/step-3");
        saved.load(loaded);
        REQUIRE(bytes_of(loaded) == bytes_of(state_of(pool, 3)));
        REQUIRE(saved.verify().empty());
        REQUIRE(calls.calls > 100);
      }
      folder.require_sound(3, 3);
      REQUIRE(complete == 3);
    }
}
