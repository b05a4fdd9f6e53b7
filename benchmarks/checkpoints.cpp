// SPDX-License-Identifier: BSL-1.0
// Checkpoints of a gigabyte, beside one thread that writes or reads the same bytes, and steps
// beside a save.
#include "harness.hpp"
#include <shardwise/checkpoint.hpp>
#include <shardwise/nn.hpp>
#include <shardwise/optim.hpp>
#include <shardwise/shardwise.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <string>
#include <type_traits>
#include <unistd.h>
#include <vector>

using namespace shardwise;

namespace {

constexpr index_t side = 16384;
constexpr std::size_t bytes = side * side * sizeof(float);

/// A folder for the files, which is removed at the end.
struct folder {
  std::string path =
      (std::filesystem::temp_directory_path() / ("shardwise-bench-" + std::to_string(::getpid())))
          .string();
  folder() { std::filesystem::create_directories(path); }
  folder(const folder&) = delete;
  ~folder() { std::filesystem::remove_all(path); }
  [[nodiscard]] std::string operator/(const char* name) const { return path + '/' + name; }
};

void require_done(bool is_done) {
  if (is_done) return;
  std::perror("bench");
  std::exit(1);
}

/// One thread's plain calls.
void write_plainly(const std::string& path, const std::vector<std::byte>& from) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0666);
  require_done(file >= 0);
  for (std::size_t at = 0; at < from.size();) {
    const ssize_t done = ::write(file, from.data() + at, from.size() - at);
    require_done(done > 0);
    at += static_cast<std::size_t>(done);
  }
  require_done(::fsync(file) == 0 && ::close(file) == 0);
}
void read_plainly(const std::string& path, std::vector<std::byte>& to) {
  const int file = ::open(path.c_str(), O_RDONLY);
  require_done(file >= 0);
  for (std::size_t at = 0; at < to.size();) {
    const ssize_t done = ::read(file, to.data() + at, to.size() - at);
    require_done(done > 0);
    at += static_cast<std::size_t>(done);
  }
  require_done(::close(file) == 0);
}
/// Drops the files of a folder from the page cache.
void drop_pages(const std::string& folder) {
  for (const auto& each : std::filesystem::recursive_directory_iterator(folder)) {
    if (!each.is_regular_file()) continue;
    const int file = ::open(each.path().c_str(), O_RDONLY);
    require_done(file >= 0 && ::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED) == 0);
    require_done(::close(file) == 0);
  }
}

struct eight : mesh<axis<"x", 8>> {};
template <class Spec>
using table = sharded_tensor<float, extents<side, side>, layout<eight, Spec>>;

template <class Spec>
struct files {
  folder at;
  device_pool pool{eight{}};
  table<Spec> saved = iota<table<Spec>>(pool);
  std::vector<std::byte> memory{bytes, std::byte{1}};
};

template <class Spec>
void add_rows(std::vector<bench::row>& to, const std::string& how, double goal) {
  const auto all = std::make_shared<files<Spec>>();
  to.push_back({.name = "save 1 GiB, " + how,
                .yardstick = "write and fsync, one thread",
                .subject = [all] { save_checkpoint(all->at / "saved", all->saved); },
                .peer = [all] { write_plainly(all->at / "plain", all->memory); },
                .goal = goal,
                .rounds = 7,
                .prepare =
                    [all] {
                      std::filesystem::remove_all(all->at / "saved");
                      std::filesystem::remove(all->at / "plain");
                    }});
  const auto load = [all] { checkpoint(all->at / "saved").load(all->saved); };
  const auto read = [all] { read_plainly(all->at / "plain", all->memory); };
  const auto prepare = [all](bool is_cold) {
    if (!std::filesystem::exists(all->at / "saved")) save_checkpoint(all->at / "saved", all->saved);
    if (!std::filesystem::exists(all->at / "plain")) write_plainly(all->at / "plain", all->memory);
    if (is_cold) drop_pages(all->at.path);
  };
  for (const bool is_cold : {false, true})
    to.push_back({.name = "load 1 GiB, " + how + (is_cold ? ", cold" : ", warm"),
                  .yardstick = "read, one thread",
                  .subject = load,
                  .peer = read,
                  .goal = goal,
                  .rounds = 7,
                  .prepare = [prepare, is_cold] { prepare(is_cold); }});
}

struct single : mesh<axis<"data", 1>> {};
template <class Spec, index_t... N>
using tensor = sharded_tensor<float, extents<N...>, layout<single, Spec>>;
template <index_t In, index_t Out>
using dense = nn::linear<tensor<P<none, none>, In, Out>, tensor<P<none>, Out>>;

constexpr auto loss = [](const auto& m, const auto& x, const auto& wanted) {
  const auto apart = m(x) - wanted;
  return reshard<P<>>(mean(apart * apart));
};
constexpr optim::training_step learn{loss, optim::sgd{.momentum = 0.9}};

/// A training with much besides that is saved: its save lasts longer than the steps that are timed.
struct training {
  using model_type = nn::mlp<dense<784, 1024>, dense<1024, 10>, nn::with_relu>;
  using inputs = tensor<P<"data", none>, 512, 784>;
  using outputs = tensor<P<"data", none>, 512, 10>;
  struct everything {
    model_type model;
    optim::sgd_state<model_type> state;
    tensor<P<none, none>, side, side> more;
  };

  folder at;
  device_pool pool{single{}, 1};
  everything all = begin(pool);
  inputs x = ones<inputs>(pool);
  outputs wanted = zeros<outputs>(pool);
  compiled_step<std::remove_const_t<decltype(learn)>> train = step(learn);
  checkpoint_manager checkpoints{at.path, {.keep = {.last = 1}}};
  index_t saved = 0;

  static everything begin(const device_pool& pool) {
    auto model = nn::initialise<model_type>(pool, random_key{1});
    auto state = learn.optimizer.start(model);
    return {std::move(model), std::move(state), ones<tensor<P<none, none>, side, side>>(pool)};
  }
  void steps() {
    for (int i = 0; i < 40; ++i) bench::keep(train(all.model, all.state, 0.01F, x, wanted));
    sync(pool);
  }
};

const bench::add here([] {
  std::vector<bench::row> all;
  add_rows<P<"x", none>>(all, "rows", 0.9);
  add_rows<P<none, none>>(all, "replicated", 0.9);
  add_rows<P<none, "x">>(all, "columns", 0.6);
  const auto job = std::make_shared<training>();
  all.push_back({.name = "40 steps beside a save of 1 GiB",
                 .yardstick = "the steps alone",
                 .subject =
                     [job] {
                       job->checkpoints.save(++job->saved, job->all);
                       job->steps();
                     },
                 .peer = [job] { job->steps(); },
                 .goal = 1 / 1.05,
                 .rounds = 15,
                 .prepare = [job] { job->checkpoints.wait(); }});
  return all;
});

}  // namespace
