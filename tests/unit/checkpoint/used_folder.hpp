// SPDX-License-Identifier: BSL-1.0
// A folder of a manager, to which something happens.
#pragma once

#include "support/catch.hpp"
#include "support/checkpoints.hpp"
#include "support/injected_calls.hpp"
#include "support/temporary.hpp"
#include <shardwise/checkpoint/checkpoint.hpp>
#include <shardwise/checkpoint/checkpoint_manager.hpp>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace support {

inline const placement& where() {
  static const placement of_all = placements()[3];
  return of_all;
}

/// A state of a few pieces, whose elements depend on the step; zeros for step 0.
inline saved_state state_of(const device_pool& pool, index_t step) {
  return make_state(pool, where(), static_cast<std::uint64_t>(step), 3);
}

inline manager_options options(bool in_background = true) {
  return {.every_steps = 1,
          .keep = {.last = 1},
          .in_background = in_background,
          .tell = [](const std::string&) {}};
}

/// A folder with a complete checkpoint of step 1, and things that no manager has written.
class used_folder {
 public:
  explicit used_folder(const std::string& name) : folder_(name) {
    const injected_calls quick;
    const device_pool pool(where().mesh, 1);
    checkpoint_manager first(path(), options());
    first.save(1, state_of(pool, 1));
    first.finish();
    std::filesystem::copy(first.path(1), path() + "/a copy",
                          std::filesystem::copy_options::recursive);
    folder_.write("notes.txt", "of a person");
  }

  [[nodiscard]] const std::string& path() const { return folder_.path(); }
  [[nodiscard]] std::vector<std::string> names() const { return folder_.names(); }

  /// Requires that a new manager finds a complete checkpoint of one of these steps, names what is
  /// not complete, can save the next step, and has removed nothing of others then.
  void require_sound(index_t least, index_t most) const {
    std::vector<std::string> unfinished = names();
    std::erase_if(unfinished, [](const auto& name) { return !name.ends_with(".unfinished"); });
    const injected_calls quick;
    const device_pool pool(where().mesh, 1);
    checkpoint_manager after(path(), options());
    for (const std::string& name : unfinished)
      REQUIRE(std::any_of(after.told().begin(), after.told().end(), [&](const std::string& line) {
        return line.find(path() + "/" + name) != line.npos;
      }));
    saved_state loaded = state_of(pool, 0);
    const auto found = after.restore(loaded);
    REQUIRE(found);
    REQUIRE(found->step >= least);
    REQUIRE(found->step <= most);
    REQUIRE(bytes_of(loaded) == bytes_of(state_of(pool, found->step)));
    const index_t next = found->step + 1;
    REQUIRE(after.save(next, state_of(pool, next)));
    after.finish();
    REQUIRE(names() == std::vector<std::string>{".lock", "a copy", "notes.txt",
                                                "step-" + std::to_string(next)});
    REQUIRE(folder_.read("notes.txt") == "of a person");
    checkpoint(path() + "/a copy").load(loaded);
    REQUIRE(bytes_of(loaded) == bytes_of(state_of(pool, 1)));
  }

 private:
  temporary_folder folder_;
};

/// Goes on from step 1 to step 3, and says which step is complete.
inline void train(const std::string& folder, bool in_background, index_t& complete) {
  const device_pool pool(where().mesh, 1);
  checkpoint_manager checkpoints(folder, options(in_background));
  saved_state state = state_of(pool, 0);
  const auto found = checkpoints.restore(state);
  require(found && found->step == 1, "another step is restored");
  for (const index_t step : {2, 3}) {
    require(checkpoints.save(step, state_of(pool, step)), "it is not saved");
    checkpoints.wait();
    complete = step;
  }
  checkpoints.finish();
}

}  // namespace support
