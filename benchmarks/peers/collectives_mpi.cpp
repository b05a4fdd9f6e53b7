// SPDX-License-Identifier: BSL-1.0
// Collectives between the processes of a host, beside those of MPI on the same bytes and beside
// copies that are written by hand over shared memory: the limit. Run by `./run bench --with-peers`.
// Processes of different hosts are measured beside the link between them: the least bytes as one
// message in one direction.
//
// Each row has the time of the slowest process; rounds of all ways follow each other, and ratios
// are medians over the rounds.
#include <shardwise/mpi.hpp>
#include <shardwise/shardwise.hpp>

#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

using namespace shardwise;

namespace {

int self = 0;
int count = 1;

std::size_t at(int process) { return static_cast<std::size_t>(process); }

/// Memory of this size for each process, which all of them see.
class window {
 public:
  explicit window(std::size_t bytes) : part_(at(count)) {
    void* own = nullptr;
    MPI_Win_allocate_shared(static_cast<MPI_Aint>(bytes), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &own,
                            &win_);
    for (int p = 0; p < count; ++p) {
      MPI_Aint size = 0;
      int unit = 0;
      MPI_Win_shared_query(win_, p, &size, &unit, &part_[at(p)]);
    }
    std::memset(own, 0, bytes);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  window(const window&) = delete;
  window& operator=(const window&) = delete;
  ~window() { MPI_Win_free(&win_); }

  [[nodiscard]] float* floats(int process) const { return static_cast<float*>(part_[at(process)]); }

 private:
  MPI_Win win_ = MPI_WIN_NULL;
  std::vector<void*> part_;
};

/// Meetings by flags.
class meetings {
 public:
  void meet() {
    flag(self).store(++turn_, std::memory_order_release);
    for (int p = 0; p < count; ++p)
      for (int poll = 0; flag(p).load(std::memory_order_acquire) < turn_; ++poll)
        if (poll < 2000 && count <= 2)
          relax();
        else
          std::this_thread::yield();
  }

 private:
  [[nodiscard]] std::atomic<std::uint32_t>& flag(int p) const {
    return *reinterpret_cast<std::atomic<std::uint32_t>*>(flags_.floats(p));
  }

  window flags_{4096};
  std::uint32_t turn_ = 0;
};

/// Adds the terms of all processes in pairs, in blocks that stay in the cache.
void add_all(float* to, const window& terms, std::size_t first, std::size_t size) {
  constexpr std::size_t most = 2048;
  for (std::size_t i = 0; i < size; i += most) {
    const std::size_t n = std::min(most, size - i);
    float* const out = to + i;
    const float* const a = terms.floats(0) + first + i;
    const float* const b = terms.floats(1) + first + i;
    for (std::size_t k = 0; k < n; ++k) out[k] = a[k] + b[k];
    for (int p = 2; p < count; ++p) {
      const float* const c = terms.floats(p) + first + i;
      for (std::size_t k = 0; k < n; ++k) out[k] += c[k];
    }
  }
}

struct way {
  const char* name;
  std::function<void()> run;
  int calls = 1;
  std::vector<double> seconds{};
};

double median(std::vector<double> all) {
  std::sort(all.begin(), all.end());
  return all[all.size() / 2];
}

/// Measures all ways in turn, and prints one row. The second is what ratios refer to.
void measure(std::string_view what, std::size_t bytes, std::vector<way> ways, int rounds = 15) {
  for (way& each : ways)
    for (int i = 0; i < 3; ++i) each.run();
  double begin = 0;
  // All get the same time: a single call of a fast way beside a slow one would be mostly noise.
  for (way& each : ways) {
    MPI_Barrier(MPI_COMM_WORLD);
    begin = MPI_Wtime();
    for (int i = 0; i < 3; ++i) each.run();
    const double once = std::max((MPI_Wtime() - begin) / 3, 1e-7);
    const double seconds = bytes > (8U << 20U) ? 0.15 : 0.02;
    each.calls = std::clamp(static_cast<int>(seconds / once), 1, 4000);
    MPI_Bcast(&each.calls, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  for (int r = 0; r < rounds; ++r)
    for (way& each : ways) {
      MPI_Barrier(MPI_COMM_WORLD);
      begin = MPI_Wtime();
      for (int i = 0; i < each.calls; ++i) each.run();
      const double mine = (MPI_Wtime() - begin) / each.calls;
      double most = 0;
      MPI_Allreduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
      each.seconds.push_back(most);
    }
  if (self != 0) return;
  std::printf("  %-15.*s %9zu B", static_cast<int>(what.size()), what.data(), bytes);
  for (std::size_t i = 0; i < ways.size(); ++i) {
    std::vector<double> ratios;
    for (std::size_t r = 0; r < at(rounds); ++r)
      ratios.push_back(ways[1].seconds[r] / ways[i].seconds[r]);
    std::printf("  %s %.1f us", ways[i].name, 1e6 * median(ways[i].seconds));
    if (i != 1) std::printf(" (%.2fx)", median(ratios));
  }
  std::printf("\n");
  std::fflush(stdout);
}

template <class X>
void compute(const X& x) {
  sync(x);
}

void latencies(const device_pool& pool, const mesh_desc& mesh, meetings& by_hand) {
  const std::vector<float> ones(4, 1.0F);
  const auto tiny = distribute(pool, std::span<const float>(ones), extents_desc{4},
                               layout_of(mesh, spec_desc{{""}}, {"d"}));
  auto reduce = step([](const auto& x) { return reshard(x, spec_desc{{""}}); });
  auto local = step([](const auto& x) { return x * 2.0F; });
  measure("latency", 16,
          {{"step that reduces", [&] { compute(reduce(tiny)); }},
           {"MPI_Allreduce",
            [] {
              const float term[4] = {1, 1, 1, 1};
              float sum[4];
              MPI_Allreduce(term, sum, 4, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
            }},
           {"the same lazily", [&] { compute(reshard(tiny, spec_desc{{""}})); }},
           {"step without messages", [&] { compute(local(tiny)); }},
           {"flags", [&] { by_hand.meet(); }},
           {"MPI_Barrier", [] { MPI_Barrier(MPI_COMM_WORLD); }}});
}

/// The collectives of `bytes` bytes a process between two hosts with one process each.
void between_hosts(const device_pool& pool, const mesh_desc& mesh, std::size_t bytes) {
  std::vector<float> from(bytes / sizeof(float), 0.5F), to(from.size());
  const auto part = static_cast<int>(from.size() / 2);
  const auto cross = [&](std::size_t least) {
    const int size = static_cast<int>(least);
    if (self == 0)
      MPI_Send(from.data(), size, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    else
      MPI_Recv(to.data(), size, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  };
  const auto run = [&](const char* name, const layout_desc& before, const layout_desc& after,
                       std::size_t least, const std::function<void()>& peer) {
    const auto x =
        distribute(pool, std::span<const float>(from), {static_cast<index_t>(from.size())}, before);
    auto go = step([after](const auto& value) { return reshard(value, after); });
    measure(name, bytes,
            {{"step", [&] { compute(go(x)); }}, {"link", [&] { cross(least); }}, {"MPI", peer}}, 5);
  };
  const layout_desc pending = layout_of(mesh, spec_desc{{""}}, {"d"});
  const layout_desc whole = layout_of(mesh, spec_desc{{""}});
  const layout_desc split = layout_of(mesh, spec_desc{{"d"}});
  run("all_reduce", pending, whole, bytes,
      [&] { MPI_Allreduce(from.data(), to.data(), 2 * part, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD); });
  run("reduce_scatter", pending, split, bytes / 2, [&] {
    MPI_Reduce_scatter_block(from.data(), to.data(), part, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  });
  run("all_gather", split, whole, bytes / 2, [&] {
    MPI_Allgather(from.data(), part, MPI_FLOAT, to.data(), part, MPI_FLOAT, MPI_COMM_WORLD);
  });
}

/// One collective of `bytes` bytes a process.
void collectives(const device_pool& pool, const mesh_desc& mesh, meetings& by_hand,
                 std::size_t bytes, std::string_view only) {
  const std::size_t n = bytes / sizeof(float), part = n / at(count), mine = at(self) * part;
  const int numbers = static_cast<int>(n), numbers_of_part = static_cast<int>(part);
  std::vector<float> from(n), to(n);
  for (std::size_t i = 0; i < n; ++i) from[i] = static_cast<float>(i % 97) * 0.01F;
  const window in(bytes), out(bytes);
  std::memcpy(in.floats(self), from.data(), bytes);
  float* const result = out.floats(self);
  const layout_desc pending = layout_of(mesh, spec_desc{{""}}, {"d"});
  const layout_desc whole = layout_of(mesh, spec_desc{{""}});
  const layout_desc split = layout_of(mesh, spec_desc{{"d"}});
  const auto run = [&](std::string_view name, const extents_desc& extents,
                       const layout_desc& before, const layout_desc& after,
                       std::vector<way> others) {
    if (!only.empty() && only != name) return;
    std::vector<float> host(static_cast<std::size_t>(element_count(extents)), 0.5F);
    const auto x = distribute(pool, std::span<const float>(host), extents, before);
    host = {};
    auto go = step([after](const auto& value) { return reshard(value, after); });
    others.insert(others.begin(), {"step", [&] { compute(go(x)); }});
    others.push_back({"lazily", [&] { compute(reshard(x, after)); }});
    measure(name, bytes, std::move(others));
  };
  const extents_desc flat{static_cast<index_t>(n)};
  const auto others = [&](const auto& f) {
    for (int p = 0; p < count; ++p)
      if (p != self) f(p, at(p) * part);
  };
  run("all_reduce", flat, pending, whole,
      {{"MPI",
        [&] {
          MPI_Allreduce(from.data(), to.data(), numbers, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        }},
       {"by hand", [&] {
          by_hand.meet();
          add_all(result + mine, in, mine, part);
          by_hand.meet();
          others([&](int p, std::size_t first) {
            std::memcpy(result + first, out.floats(p) + first, part * sizeof(float));
          });
          by_hand.meet();
        }}});
  run("reduce_scatter", flat, pending, split,
      {{"MPI",
        [&] {
          MPI_Reduce_scatter_block(from.data(), to.data(), numbers_of_part, MPI_FLOAT, MPI_SUM,
                                   MPI_COMM_WORLD);
        }},
       {"by hand", [&] {
          by_hand.meet();
          add_all(result, in, mine, part);
          by_hand.meet();
        }}});
  run("all_gather", flat, split, whole,
      {{"MPI",
        [&] {
          MPI_Allgather(from.data(), numbers_of_part, MPI_FLOAT, to.data(), numbers_of_part,
                        MPI_FLOAT, MPI_COMM_WORLD);
        }},
       {"by hand", [&] {
          by_hand.meet();
          for (int p = 0; p < count; ++p)
            std::memcpy(result + at(p) * part, in.floats(p), part * sizeof(float));
          by_hand.meet();
        }}});
  run("all_to_all", {index_t{count}, static_cast<index_t>(n)},
      layout_of(mesh, spec_desc{{"d", ""}}), layout_of(mesh, spec_desc{{"", "d"}}),
      {{"MPI",
        [&] {
          MPI_Alltoall(from.data(), numbers_of_part, MPI_FLOAT, to.data(), numbers_of_part,
                       MPI_FLOAT, MPI_COMM_WORLD);
        }},
       {"by hand", [&] {
          by_hand.meet();
          for (int p = 0; p < count; ++p)
            std::memcpy(result + at(p) * part, in.floats(p) + mine, part * sizeof(float));
          by_hand.meet();
        }}});
}

void on_one_host(const device_pool& pool, const mesh_desc& mesh, std::span<char*> words) {
  meetings by_hand;
  const std::string_view only = words.empty() ? "" : words[0];
  std::vector<std::size_t> sizes;
  for (std::size_t i = 1; i < words.size(); ++i)
    sizes.push_back(std::strtoul(words[i], nullptr, 10));
  if (sizes.empty()) sizes = {4U << 10U, 64U << 10U, 1U << 20U, 64U << 20U};
  if (only.empty() || only == "latency") latencies(pool, mesh, by_hand);
  for (std::size_t bytes : sizes)
    collectives(pool, mesh, by_hand, bytes, only == "all" ? "" : only);
}

}  // namespace

/// collectives_mpi [--messages] [COLLECTIVE [BYTES...]]: with `--messages` the processes of a host
/// do not share memory, as if they were on different hosts. Two processes of different hosts run
/// the collectives of 16 MiB.
int main(int arguments, char** words) {
  // This program calls MPI beside the library, whose thread tells that the process is alive.
  int level = 0;
  MPI_Init_thread(&arguments, &words, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &self);
  MPI_Comm_size(MPI_COMM_WORLD, &count);
  {
    const mesh_desc mesh{{axis_desc{"d", index_t{count}}}};
    std::size_t first = 1;
    const bool by_messages = arguments > 1 && std::string_view(words[1]) == "--messages";
    first += by_messages ? 1 : 0;
    const auto pool = distributed_pool(mesh, {.threads = 1, .shares_memory = !by_messages});
    if (count == 2 && host_process_count() == 1)
      between_hosts(pool, mesh, 16U << 20U);
    else
      on_one_host(pool, mesh, std::span(words, static_cast<std::size_t>(arguments)).subspan(first));
  }
  MPI_Finalize();
  return 0;
}
