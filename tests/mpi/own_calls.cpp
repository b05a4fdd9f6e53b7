// SPDX-License-Identifier: BSL-1.0
// own_calls MODE: programs that call MPI themselves, or make many pools; 0 if what must hold holds.
#include <shardwise/mpi.hpp>
#include <shardwise/shardwise.hpp>

#include <mpi.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"data", 4>> {};
using X = sharded_tensor<float, extents<16, 4>, layout<pod, P<"data", none>>>;

// What outlives main.
std::unique_ptr<const device_pool> last_pool;
std::optional<X> last_tensor;

bool gives_sum(const device_pool& pool) {
  return to_host(reshard<P<>>(sum(iota<X>(pool))))() == 2016;
}

int level() {
  int given = 0;
  MPI_Query_thread(&given);
  return given;
}

/// The program initialises MPI and finalises it, and its pools and tensors live longer.
int finalises() {
  int given = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &given);
  for (const bool shares_memory : {true, false}) {
    last_pool.reset(new device_pool(distributed_pool(pod{}, {.shares_memory = shares_memory})));
    last_tensor = iota<X>(*last_pool);
    if (!gives_sum(*last_pool)) return 1;
    (void)to_host(reshard<P<none, none>>(*last_tensor));
  }
  MPI_Finalize();
  int is_over = 0;
  MPI_Finalized(&is_over);
  return is_over == 1 ? 0 : 1;
}

/// A static pool, and MPI that the library initialises and finalises.
int outlives() {
  last_pool.reset(new device_pool(distributed_pool(pod{})));
  last_tensor = iota<X>(*last_pool);
  return gives_sum(*last_pool) && level() >= MPI_THREAD_SERIALIZED ? 0 : 1;
}

/// A level of threads that is too low is an error that names both.
int needs_level() {
  int given = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &given);
  bool is_refused = false;
  try {
    (void)distributed_pool(pod{});
  } catch (const mpi_error& refused) {
    const std::string_view words = refused.what();
    is_refused = words.find("MPI_THREAD_FUNNELED") != words.npos &&
                 words.find("MPI_THREAD_SERIALIZED") != words.npos;
  }
  MPI_Finalize();
  // Some have no lower level than the one that is needed.
  return is_refused || given >= MPI_THREAD_SERIALIZED ? 0 : 1;
}

/// Pools need no communicators of their own, however many come and go.
int makes_pools() {
  for (int i = 0; i < 5000; ++i) {
    const device_pool pool = distributed_pool(pod{}, {.threads = 1});
    if (i % 500 == 0 && !gives_sum(pool)) return 1;
  }
  std::vector<std::unique_ptr<device_pool>> all;
  for (int i = 0; i < 3000; ++i)
    all.emplace_back(new device_pool(distributed_pool(pod{}, {.threads = 1})));
  for (const auto& pool : all)
    if (!gives_sum(*pool)) return 1;
  return 0;
}

/// The communication of the program is apart from that of the library.
int communicates() {
  int given = 0, self = 0, count = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &given);
  MPI_Comm_rank(MPI_COMM_WORLD, &self);
  MPI_Comm_size(MPI_COMM_WORLD, &count);
  if (given < MPI_THREAD_MULTIPLE) return MPI_Finalize();
  const device_pool pool = distributed_pool(pod{}, {.shares_memory = false});
  for (int i = 0; i < 200; ++i) {
    // Any tag of anyone: the library's messages are none of it.
    int next = self, from = -1;
    MPI_Status status;
    MPI_Sendrecv(&next, 1, MPI_INT, (self + 1) % count, 0, &from, 1, MPI_INT, MPI_ANY_SOURCE,
                 MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    if (from != (self + count - 1) % count || !gives_sum(pool)) return 1;
  }
  return MPI_Finalize();
}

}  // namespace

int main(int count, char* arguments[]) {
  const std::string_view mode = count > 1 ? arguments[1] : "";
  if (mode == "finalises") return finalises();
  if (mode == "outlives") return outlives();
  if (mode == "needs_level") return needs_level();
  if (mode == "makes_pools") return makes_pools();
  if (mode == "communicates") return communicates();
  std::fprintf(stderr, "no mode '%s'\n", count > 1 ? arguments[1] : "");
  return 2;
}
