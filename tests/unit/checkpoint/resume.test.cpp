// SPDX-License-Identifier: BSL-1.0
// Trainings that are killed, and go on from their checkpoints.
#include "support/catch.hpp"
#include "support/temporary.hpp"
#include <shardwise/checkpoint.hpp>
#include <shardwise/data.hpp>
#include <shardwise/nn.hpp>
#include <shardwise/optim.hpp>
#include <shardwise/process/spawn.hpp>
#include <shardwise/shardwise.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <csignal>
#include <map>
#include <ratio>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace shardwise;
using support::temporary_folder;

namespace {

struct pod : mesh<axis<"data", dyn>, axis<"model", dyn>> {
  using mesh::mesh;
};
template <class Spec, index_t... N>
using tensor = sharded_tensor<float, extents<N...>, layout<pod, Spec>>;
using batch_of_rows = tensor<P<"data", none>, 4, 4>;
using number = scalar<float, pod>;

/// Two layers with dropout between them.
struct network {
  nn::linear<tensor<P<none, "model">, 4, 16>, tensor<P<"model">, 16>> up;
  nn::linear<tensor<P<"model", none>, 16, 4>, tensor<P<none>, 4>, P<"data", none>> down;

  constexpr auto operator()(const auto& x, const auto& seed) const {
    return down(nn::dropout<std::ratio<1, 4>>{}(relu(up(x)), seed));
  }
};
constexpr auto loss = [](const auto& m, const auto& x, const auto& seed) {
  return reshard<P<>>(nn::mse(m(x, seed), sin(x)));
};
constexpr optim::training_step learn{loss, optim::adamw{.weight_decay = 0.01}, 1.0};

struct everything {
  network model;
  optim::adam_state<network> moments;
};

using row = std::array<float, 4>;
constexpr index_t rows_of_all = 12;  // three batches an epoch

/// The rows that are trained on: the first element is the number of the row.
std::vector<row> all_rows() {
  std::vector<row> all;
  for (int i = 0; i < static_cast<int>(rows_of_all); ++i) {
    const auto at = static_cast<float>(i);
    all.push_back({at, std::sin(at), std::cos(3 * at), 0.125F * at});
  }
  return all;
}

/// How a training is run, and when it is killed.
struct setting {
  pod mesh{2, 2};
  index_t processes = 1;
  index_t threads = 1;
};
struct length {
  index_t last = 0;     ///< the number of steps
  index_t killed = -1;  ///< after so many
  index_t every = 3;    ///< steps from one save to the next
};

/// What the steps of a run were, by their numbers.
struct taken_steps {
  index_t first = 0;
  std::vector<float> losses{};
  std::vector<double> rates{};
  std::vector<std::vector<int>> batches{};
};

/// The rate of a step: a cosine over 100 steps, times 0.1 from the fourth epoch on.
double rate_of(index_t step) {
  constexpr optim::warmup_cosine wave{.peak = 0.02, .warmup = 5, .steps = 100};
  constexpr optim::decay_by_steps by_epoch{.first = 1, .factor = 0.1, .period = 4};
  return wave(step) * by_epoch(step / 3);
}

/// Trains in one process, which may be one of several, and goes on from the newest checkpoint.
taken_steps train(const device_pool& pool, const std::string& folder, const length& wanted) {
  checkpoint_manager checkpoints(
      folder,
      {.every_steps = wanted.every, .keep = {.last = 2}, .tell = [](const std::string&) {}});
  const auto model = nn::initialise<network>(pool, random_key{3});
  everything all{model, learn.optimizer.start(model)};
  // One that goes on would draw other numbers, did it not load the key.
  random_key seed{checkpoints.latest_step() ? 99U : 17U};
  taken_steps out;
  loader_state place;
  if (const auto found = checkpoints.restore(all)) {
    out.first = found->step;
    seed = metadata_number<random_key>(found->metadata, "seed");
    place = loader_state_of(found->metadata);
  }
  // Made after the state was loaded.
  const std::vector<row> rows = all_rows();
  auto loader = rows | shuffle(random_key{5}) | batch(4, last_batch::dropped) |
                distribute<batch_of_rows>(pool) | prefetch();
  if (out.first > 0) loader.resume(place);
  auto learn_step = step(learn);
  index_t at = out.first;
  while (at < wanted.last)
    for (auto&& x : loader) {
      if (at == wanted.killed) std::raise(SIGKILL);
      const auto host = to_host(reshard<P<none, none>>(x));
      std::vector<int> numbers;
      for (index_t i = 0; i < 4; ++i) numbers.push_back(static_cast<int>(host(i, 0)));
      out.batches.push_back(numbers);
      out.rates.push_back(rate_of(at));
      const number now = learn_step(all.model, all.moments, static_cast<float>(rate_of(at)), x,
                                    seed.fold_in(static_cast<std::uint64_t>(at)));
      out.losses.push_back(to_host(now)());
      std::map<std::string, std::string> metadata = to_metadata(loader.state());
      metadata["seed"] = metadata_text(seed);
      checkpoints.save(++at, all, {.metadata = metadata});
      if (at == wanted.last) break;
    }
  checkpoints.finish();
  return out;
}

/// The same in all processes of a setting.
taken_steps run(const std::string& folder, const setting& where, const length& wanted) {
  if (where.processes == 1) return train(device_pool(where.mesh, where.threads), folder, wanted);
  taken_steps out;
  spawn(where.processes, [&] {
    taken_steps mine =
        train(distributed_pool(where.mesh, {.threads = where.threads}), folder, wanted);
    if (process_index() == 0) out = std::move(mine);
  });
  return out;
}

/// Runs a training in another process, which kills itself.
void run_and_kill(const std::string& folder, const setting& where, const length& wanted) {
  const pid_t child = ::fork();
  if (child == 0) {
    (void)run(folder, where, wanted);
    ::_exit(1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFSIGNALED(status));
  REQUIRE(WTERMSIG(status) == SIGKILL);
}

template <class T>
std::vector<T> from(const std::vector<T>& all, index_t first) {
  return {all.begin() + first, all.end()};
}

/// Checks that the steps of a run that went on are those of the whole one.
void check_goes_on(const taken_steps& whole, const taken_steps& rest) {
  CHECK(rest.losses == from(whole.losses, rest.first));
  CHECK(rest.rates == from(whole.rates, rest.first));
  CHECK(rest.batches == from(whole.batches, rest.first));
}

}  // namespace

TEST_CASE("a killed training goes on with the losses of the uninterrupted one, to the last bit") {
  const temporary_folder whole_folder("whole");
  const length whole_length{.last = 20};
  const taken_steps whole = run(whole_folder.path(), {}, whole_length);
  REQUIRE(whole.first == 0);
  REQUIRE(whole.losses.size() == 20);
  REQUIRE(whole.losses.back() < whole.losses.front());

  const std::vector<setting> settings{{.threads = 1},
                                      {.threads = 2},
                                      {.threads = 3},
                                      {.processes = 2, .threads = 1},
                                      {.processes = 2, .threads = 2}};
  for (std::size_t i = 0; i < settings.size(); ++i) {
    // Begun with one number of processes and threads, killed twice, and ended with another.
    const setting &first = settings[i], &second = settings[(i + 1) % settings.size()];
    INFO("processes " << first.processes << ", threads " << first.threads);
    const temporary_folder folder("killed");
    run_and_kill(folder.path(), first, {.last = 20, .killed = 7});
    run_and_kill(folder.path(), second, {.last = 20, .killed = 14});
    const taken_steps rest = run(folder.path(), first, whole_length);
    // The last save may have been killed, but not the one before, which the next one waits for.
    CHECK(rest.first >= 9);
    CHECK(rest.first % 3 == 0);
    check_goes_on(whole, rest);
  }
}

TEST_CASE("a training goes on with another mesh, with the same losses within 1e-5") {
  const temporary_folder whole_folder("whole"), folder("begun");
  const length begun{.last = 30, .every = 10}, whole_length{.last = 50, .every = 10};
  const taken_steps whole = run(whole_folder.path(), {}, whole_length);
  (void)run(folder.path(), {}, begun);
  for (const setting& where :
       {setting{.mesh = pod{4, 1}}, setting{.mesh = pod{1, 4}}, setting{.mesh = pod{1, 1}},
        setting{.mesh = pod{4, 2}, .processes = 2}}) {
    const temporary_folder copy("copy");
    std::filesystem::copy(folder.path(), copy.path(), std::filesystem::copy_options::recursive);
    const taken_steps rest = run(copy.path(), where, whole_length);
    REQUIRE(rest.first == 30);
    REQUIRE(rest.losses.size() == 20);
    CHECK(rest.batches == from(whole.batches, 30));
    for (std::size_t i = 0; i < rest.losses.size(); ++i)
      CHECK(std::abs(rest.losses[i] - whole.losses[30 + i]) <= 1e-5F * whole.losses[30 + i]);
  }
}

TEST_CASE("three runs of one epoch take each batch once, and nothing is left after the last") {
  const temporary_folder folder("epochs"), whole_folder("whole");
  const taken_steps whole = run(whole_folder.path(), {}, {.last = 9});
  for (const index_t epoch : {0, 1, 2}) {
    const taken_steps part = run(folder.path(), {}, {.last = 3 * epoch + 3});
    CHECK(part.first == 3 * epoch);
    REQUIRE(part.batches.size() == 3);
    std::vector<int> seen;
    for (std::size_t i = 0; i < 3; ++i) {
      CHECK(part.batches[i] == whole.batches[static_cast<std::size_t>(3 * epoch) + i]);
      CHECK(part.losses[i] == whole.losses[static_cast<std::size_t>(3 * epoch) + i]);
      seen.insert(seen.end(), part.batches[i].begin(), part.batches[i].end());
    }
    std::sort(seen.begin(), seen.end());
    CHECK(seen == std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  }
  const taken_steps none_left = run(folder.path(), {}, {.last = 9});
  CHECK(none_left.first == 9);
  CHECK(none_left.losses.empty());
}

TEST_CASE("schedules go on where they stopped") {
  const temporary_folder whole_folder("whole"), folder("stopped");
  const taken_steps whole = run(whole_folder.path(), {}, {.last = 60, .every = 15});
  (void)run(folder.path(), {}, {.last = 6, .every = 6});    // after the second epoch
  (void)run(folder.path(), {}, {.last = 45, .every = 15});  // in the middle of the wave
  const taken_steps rest = run(folder.path(), {}, {.last = 60, .every = 15});
  CHECK(rest.first == 45);
  check_goes_on(whole, rest);
}
