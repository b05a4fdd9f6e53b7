// SPDX-License-Identifier: BSL-1.0
// How the run of several owners ends if one of them fails, leaves, or does something else: every
// owner says who and what, and none waits.
#include "support/catch.hpp"
#include "support/owners.hpp"

#include <chrono>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};
struct line : mesh<axis<"x", 4>> {};
using X = sharded_tensor<float, extents<8, 4>, layout<pod, P<"data", none>>>;
using V = sharded_tensor<float, extents<8>, layout<line, P<"x">>>;

const std::vector<index_t> halves{0, 0, 1, 1};
const std::vector<index_t> thirds{0, 1, 2, 1};

X counted(const device_pool& pool) {
  std::vector<float> all(32);
  std::iota(all.begin(), all.end(), 0.0F);
  return distribute<X>(pool, all);
}
index_t self(const device_pool& pool) { return pool.state()->link()->self(); }

/// What the owners of a run threw, and how they exchanged data.
struct ending {
  std::vector<std::string> words;
  bool shares_memory;
};

/// Runs `program(pool)` with two owners and with three, which read each other's memory or send
/// messages.
template <class Program>
std::vector<ending> endings(const Program& program) {
  std::vector<ending> all;
  for (const auto& owner_of : {halves, thirds})
    for (const bool shares_memory : {true, false}) {
      const auto begin = std::chrono::steady_clock::now();
      ending now{{}, shares_memory};
      for (const std::exception_ptr& thrown :
           support::run_owners(pod::value, owner_of, program,
                               [&](owner_share& share) { share.shares_memory = shares_memory; }))
        now.words.push_back(support::words_of(thrown));
      // Far less than the patience of owners.
      REQUIRE(std::chrono::steady_clock::now() - begin < std::chrono::seconds(10));
      all.push_back(std::move(now));
    }
  return all;
}

/// Requires that all owners but owner 1 name it, with what it says.
template <class Program>
void names_owner_1(const std::string& what, const Program& program) {
  for (const ending& run : endings(program))
    for (std::size_t owner = 0; owner < run.words.size(); ++owner) {
      INFO("owner " << owner << " of " << run.words.size() << ", "
                    << (run.shares_memory ? "reads" : "messages"));
      if (owner != 1) REQUIRE_THAT(run.words[owner], ::contains("owner 1: ") && ::contains(what));
    }
}

/// Requires that all owners throw `owners_differ` with these words.
template <class Program>
void all_differ(const std::string& one, const std::string& other, const Program& program) {
  for (const ending& run : endings(program))
    for (const std::string& words : run.words) {
      INFO((run.shares_memory ? "reads" : "messages"));
      REQUIRE_THAT(words, ::contains("owners_differ") && ::contains(one) && ::contains(other));
    }
}

}  // namespace

TEST_CASE("an exception on a device ends all owners") {
  names_owner_1("broken on purpose", [](const device_pool& pool) {
    const X x = counted(pool);
    pool.for_each_device([&](index_t d) {
      if (d == 3 && self(pool) == 1) throw std::runtime_error("broken on purpose");
    });
    (void)to_host(x);
  });
}

TEST_CASE("an exception in host code ends all owners") {
  names_owner_1("no such file", [](const device_pool& pool) {
    const X x = counted(pool);
    (void)to_host(x);
    if (self(pool) == 1) throw std::runtime_error("no such file");
    (void)to_host(x);
  });
}

TEST_CASE("an owner that takes fewer steps is named with how many it took") {
  names_owner_1("after 10 ", [](const device_pool& pool) {
    const X x = counted(pool);
    const int steps = self(pool) == 1 ? 10 : 11;
    for (int s = 0; s < steps; ++s) (void)to_host(x);
  });
}

TEST_CASE("an owner may leave with words") {
  names_owner_1("its loader has no more data", [](const device_pool& pool) {
    const X x = counted(pool);
    (void)to_host(x);
    if (self(pool) == 1) return current_group::get()->leave("its loader has no more data");
    (void)to_host(x);
  });
}

TEST_CASE("an owner that once waited in a pool of the past is waited for") {
  for (const bool shares_memory : {true, false}) {
    const auto program = [&] {
      const auto is_late = [](index_t owner) {
        if (process_index() == owner) std::this_thread::sleep_for(std::chrono::milliseconds(300));
      };
      for (const index_t late : {1, 0}) {
        const auto pool = distributed_pool(pod{}, {.shares_memory = shares_memory});
        const X x = counted(pool);
        is_late(late);
        (void)to_host(x);
      }
    };
    REQUIRE_NOTHROW(spawn(2, program));
  }
}

TEST_CASE("owners that read two tensors of one type in other orders are told so") {
  all_differ("tensor 1", "tensor 2", [](const device_pool& pool) {
    const X x = counted(pool), y = counted(pool);
    const bool is_first = self(pool) != 1;
    (void)to_host(is_first ? x : y);
    (void)to_host(is_first ? y : x);
  });
  // Results too, which are computed in other orders.
  all_differ("runs", "owner 1", [](const device_pool& pool) {
    const X x = counted(pool);
    const X twice = x * 2.0F, thrice = x * 3.0F;
    const bool is_first = self(pool) != 1;
    (void)to_host(is_first ? twice : thrice);
    (void)to_host(is_first ? thrice : twice);
  });
}

TEST_CASE("owners that give a step other numbers are told so") {
  for (const int when : {0, 4})
    all_differ("2", "3", [&](const device_pool& pool) {
      const X x = counted(pool);
      auto scaled =
          step([](const auto& v, const auto& by) { return reshard<P<none, none>>(v * by); });
      for (int s = 0; s < 6; ++s)
        (void)to_host(scaled(x, self(pool) == 1 && s == when ? 2.0F : 3.0F));
    });
}

TEST_CASE("a program that differs is named after many others, if it is not too old") {
  const auto program = [](int others) {
    return [others](const device_pool& pool) {
      const X x = counted(pool);
      if (self(pool) == 1)
        sync(X(shardwise::exp(x)));
      else
        sync(X(relu(x)));
      for (int i = 0; i < others; ++i) sync(X(x * 2.0F));
      (void)to_host(x);
    };
  };
  all_differ("relu", "exp", program(20));
  all_differ("before the last 32 programs", "owner 1 runs", program(200));
}

TEST_CASE("a program without messages that differs is found at the next exchange") {
  all_differ("relu", "exp", [](const device_pool& pool) {
    const X x = counted(pool);
    if (self(pool) == 1)
      sync(X(shardwise::exp(x)));
    else
      sync(X(relu(x)));
    (void)to_host(x);
  });
  all_differ("runs exp", "runs to_host", [](const device_pool& pool) {
    const X x = counted(pool);
    if (self(pool) == 1) sync(X(shardwise::exp(x)));
    (void)to_host(x);
  });
}

TEST_CASE("a pool that only one owner makes is found where it is used") {
  for (const ending& run : endings([](const device_pool& pool) {
         const X x = counted(pool);
         if (self(pool) != 1) return (void)to_host(x);
         const owner_link& link = *pool.state()->link();
         const device_pool other(line{},
                                 owner_share{.owner_of = owners_in_turn(4, link.owners().count()),
                                             .group = current_group::get(),
                                             .shares_memory = link.shares_memory()});
         (void)to_host(iota<V>(other));
       })) {
    for (std::size_t owner = 0; owner < run.words.size(); ++owner) {
      INFO("owner " << owner << ' ' << (run.shares_memory ? "reads" : "messages"));
      REQUIRE_THAT(run.words[owner], ::contains("mesh(x=4)"));
      if (owner != 1) REQUIRE_THAT(run.words[owner], ::contains("mesh(data=2, model=2)"));
    }
  }
}

TEST_CASE("pools that owners make in other orders are told so") {
  for (const bool shares_memory : {true, false}) {
    const auto thrown =
        spawn_all(2,
                  [] {
                    const auto group = current_group::get();
                    const auto make = [&](const mesh_desc& mesh) {
                      return device_pool(mesh, owner_share{.owner_of = halves, .group = group});
                    };
                    const bool is_first = group->index() == 0;
                    const device_pool one = make(is_first ? pod::value : line::value);
                    const device_pool two = make(is_first ? line::value : pod::value);
                    const device_pool& with_pod = is_first ? one : two;
                    (void)to_host(counted(with_pod));
                  },
                  {.shares_memory = shares_memory});
    for (const std::exception_ptr& each : thrown)
      REQUIRE_THAT(support::words_of(each), ::contains("pool 1") && ::contains("pool 2"));
  }
}
