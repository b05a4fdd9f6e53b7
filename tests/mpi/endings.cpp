// SPDX-License-Identifier: BSL-1.0
// endings MODE PATIENCE MARK: process 1 ends a program of several processes in some way, or differs
// from the others, after 20 steps. Every process says what it found, and how long after that: the
// file MARK has the time. PATIENCE is that of the pool, in milliseconds. In the mode `lost_link`
// all go on until the link between them is cut, and say it in the files MARK.0, MARK.1, ...
#include <shardwise/mpi.hpp>
#include <shardwise/shardwise.hpp>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <unistd.h>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"data", 4>> {};
struct other_pod : mesh<axis<"data", 2>, axis<"model", 2>> {};
template <class Pod>
using tensor_on = sharded_tensor<float, extents<64, 64>, layout<Pod, P<"data", none>>>;
using X = tensor_on<pod>;

double now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// The moment at which process 1 ended or differed.
struct mark {
  std::string file;

  void set() const { std::ofstream(file) << std::fixed << now() << std::endl; }
  [[nodiscard]] double seconds_since() const {
    double then = now();
    std::ifstream(file) >> then;
    return now() - then;
  }
};

/// Ends process 1, or makes it differ from the others. Returns true if its program goes on.
bool end(const std::string& mode, const device_pool& pool, X& x,
         std::chrono::milliseconds patience) {
  if (mode == "host_exception") throw std::runtime_error("broken in host code");
  if (mode == "device_exception")
    (void)to_host(generate<X>(pool, [](const global_index&) -> float {
      throw std::runtime_error("broken on a device");
    }));
  if (mode == "early_return") return false;
  if (mode == "leave") {
    leave("has no more data");
    return false;
  }
  if (mode == "exit") std::exit(0);
  if (mode == "quick_exit") _exit(3);
  if (mode == "abort") std::abort();
  if (mode == "killed") std::raise(SIGKILL);
  if (mode == "stopped") std::raise(SIGSTOP);
  if (mode == "other_program") (void)to_host(reshard<P<none, "data">>(relu(x)));
  if (mode == "other_arithmetic") x = x * 2.0F;
  if (mode == "long_loop") std::this_thread::sleep_for(2 * patience);
  return true;
}

void run(const std::string& mode, std::chrono::milliseconds patience, const mark& when) {
  const bool differs = current_group::get()->index() == 1;
  if (mode == "no_pool" && differs) return when.set();
  if (mode == "other_pool" && differs) {
    when.set();
    const device_pool pool = distributed_pool(other_pod{}, {.threads = 1, .patience = patience});
    (void)to_host(normal<tensor_on<other_pod>>(pool, random_key{1}));
    return;
  }
  const device_pool pool = distributed_pool(pod{}, {.threads = 1, .patience = patience});
  X x = normal<X>(pool, random_key{1});
  auto turn = step([](const auto& a, const auto& rate) {
    return reshard<P<"data", none>>(reshard<P<none, "data">>(a) * rate);
  });
  for (int i = 0; i < 40 || mode == "lost_link"; ++i) {
    if (i == 20 && differs) {
      when.set();
      if (!end(mode, pool, x, patience)) return;
    } else if (i == 20 && mode == "device_exception") {
      (void)to_host(generate<X>(pool, [](const global_index&) { return 1.0F; }));
    }
    x = turn(x, differs && i >= 20 && mode == "other_number" ? 1.25F : 1.5F);
    sync(x);
  }
  (void)to_host(x);
}

}  // namespace

int main(int count, char* arguments[]) {
  if (count < 4) return 2;
  const mark when{arguments[3]};
  const std::chrono::milliseconds patience{std::atol(arguments[2])};
  std::string mode = arguments[1];
  // An exception that nobody catches.
  const bool is_uncaught = mode.starts_with("uncaught_");
  if (is_uncaught) mode = mode.substr(mode.find('_') + 1);
  const auto self = static_cast<int>(current_group::get()->index());
  if (mode == "lost_link" &&
      std::freopen((when.file + "." + std::to_string(self)).c_str(), "w", stdout) == nullptr)
    return 2;
  const auto say = [&](const char* words) {
    std::printf("process %d after %.2f s: %s\n", self, when.seconds_since(), words);
    std::fflush(stdout);
  };
  if (is_uncaught) {
    run(mode, patience, when);
    return 0;
  }
  try {
    run(mode, patience, when);
    say("well");
  } catch (const std::exception& failure) {
    say(failure.what());
    return 1;
  }
}
