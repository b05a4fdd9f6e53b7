// SPDX-License-Identifier: BSL-1.0
// Calls of the system that fail.
#include "support/catch.hpp"
#include "support/injected_calls.hpp"
#include "support/watched.hpp"
#include "unit/checkpoint/used_folder.hpp"
#include <shardwise/shardwise.hpp>

#include <cerrno>
#include <string>

using namespace shardwise;
using namespace support;

TEST_CASE("a call that fails is an error that names a file, and nothing complete is lost") {
  // A fault that passes, and a disk that stays full.
  for (const bool once : {true, false}) {
    bool more = true;
    for (long n = 0; more; n += is_watched ? 7 : 1) {
      CAPTURE(once, n);
      const used_folder folder("checkpoint-failing");
      index_t complete = 1;
      std::string thrown;
      {
        injected_calls calls;
        calls.error = once ? EIO : ENOSPC;
        calls.first_failure = n;
        if (once) calls.last_failure = n;
        try {
          train(folder.path(), n % 2 == 0, complete);
        } catch (const error& failure) {
          thrown = failure.what();
        }
        more = calls.calls > n;
      }
      if (thrown.empty()) {
        // What fails is a call that removes or closes something.
        REQUIRE(complete == 3);
      } else {
        REQUIRE_THAT(thrown, contains(folder.path()));
      }
      folder.require_sound(complete, 3);
    }
  }
}
