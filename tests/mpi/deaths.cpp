// SPDX-License-Identifier: BSL-1.0
// deaths FOLDER VICTIM CALL: goes on from the newest checkpoint in a folder and saves the next
// three steps, the last one kept. Process VICTIM is killed before the call of the system with the
// number CALL, or never if no process has that number.
//
// The file FOLDER.complete has the last step that a run before knew to be complete. Ends with 3 if
// that is lost, or elements are not those of the step.
#include "support/injected_calls.hpp"
#include <shardwise/checkpoint.hpp>
#include <shardwise/mpi.hpp>
#include <shardwise/shardwise.hpp>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"x", 6>> {};
using Rows = sharded_tensor<float, extents<60, 7>, layout<pod, P<"x", none>>>;
using Whole = sharded_tensor<double, extents<11>, layout<pod, P<none>>>;
struct model {
  Rows rows;
  Whole whole;
};

model model_of(const device_pool& pool, index_t step) {
  return {iota<Rows>(pool) + static_cast<float>(step),
          iota<Whole>(pool) * static_cast<double>(step)};
}
bool are_equal(const model& a, const model& b) {
  return to_host(a.rows) == to_host(b.rows) && to_host(a.whole) == to_host(b.whole);
}

/// Goes on from the newest checkpoint, which is not before a step, and saves the next ones. Returns
/// the last step, or -1 if what was complete is lost.
index_t train(const device_pool& pool, const std::string& folder, index_t known, index_t steps) {
  checkpoint_manager checkpoints(folder, {.keep = {.last = 1}, .tell = [](const std::string&) {}});
  model state = model_of(pool, 0);
  const auto found = checkpoints.restore(state);
  const index_t first = found ? found->step : 0;
  if (first < known || !are_equal(state, model_of(pool, first))) return -1;
  const index_t last = first + steps;
  for (index_t step = first + 1; step <= last; ++step) {
    if (!checkpoints.save(step, model_of(pool, step))) return -1;
    checkpoints.wait();
    if (process_index() == 0) std::ofstream(folder + ".complete") << step << std::endl;
  }
  checkpoints.finish();
  return checkpoints.all_steps() == std::vector<index_t>{last} ? last : -1;
}

int run(const std::string& folder, index_t victim, long call) {
  const device_pool pool = distributed_pool(pod{}, {.threads = 1});
  index_t known = 0;
  std::ifstream(folder + ".complete") >> known;
  // What the last death has left is found, and gone after a save: all deaths begin alike.
  known = train(pool, folder, broadcast(known), 1);
  if (known < 0) return 3;
  support::injected_calls calls;
  if (process_index() == victim) calls.death = call;
  return train(pool, folder, known, 2) == known + 2 ? 0 : 3;
}

}  // namespace

int main(int count, char* arguments[]) {
  if (count < 4) return 2;
  try {
    return run(arguments[1], std::atol(arguments[2]), std::atol(arguments[3]));
  } catch (const std::exception& failure) {
    std::printf("process %d: %s\n", static_cast<int>(process_index()), failure.what());
    return 1;
  }
}
