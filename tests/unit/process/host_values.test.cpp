// SPDX-License-Identifier: BSL-1.0
// Values of host code among the processes of a program, which are threads here.
#include "support/catch.hpp"
#include "support/owners.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <iostream>
#include <limits>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"x", 4>> {};
struct rates {
  float first;
  int steps;

  friend bool operator==(const rates&, const rates&) = default;
};

void require(bool holds, const std::string& words) {
  if (!holds) throw std::logic_error(words);
}
template <class F>
std::vector<std::string> failures(index_t n, const F& f) {
  return support::words_of(spawn_all(n, f));
}

/// Reads what is printed while it lives.
class printed {
 public:
  printed() : before_(std::cout.rdbuf(text_.rdbuf())) {}
  printed(const printed&) = delete;
  printed& operator=(const printed&) = delete;
  ~printed() { std::cout.rdbuf(before_); }
  [[nodiscard]] std::string words() const { return text_.str(); }

 private:
  std::ostringstream text_;
  std::streambuf* before_;
};

}  // namespace

TEST_CASE("a program of one process exchanges nothing") {
  REQUIRE(process_index() == 0);
  REQUIRE(process_count() == 1);
  REQUIRE(host_process_index() == 0);
  REQUIRE(host_process_count() == 1);
  REQUIRE(rendezvous("alone", "payload") == std::vector<std::string>{"payload"});
  REQUIRE(broadcast(3.5) == 3.5);
  REQUIRE_THROWS_WITH(broadcast(3.5, 1), ::contains("owner_is_out_of_range"));
  require_equal("rate", 0.1);
  REQUIRE(mesh_reduce("loss", 2, [](const std::vector<int>& all) { return all.size(); }) == 1);
  const double before = agreed_seconds();
  REQUIRE(agreed_seconds() >= before);
  const printed out;
  print_once("loss ", 0.5, " after ", 3);
  REQUIRE(out.words() == "loss 0.5 after 3\n");
}

TEST_CASE("processes know their numbers, and one prints") {
  for (const bool shares_memory : {true, false}) {
    const printed out;
    spawn(3,
          [&] {
            require(process_count() == 3, "count");
            const auto all = rendezvous("indices", std::to_string(process_index()));
            require(all == std::vector<std::string>{"0", "1", "2"}, "indices");
            require(host_process_count() == (shares_memory ? 3 : 1), "host count");
            require(host_process_index() == (shares_memory ? process_index() : 0), "host index");
            print_once("process ", process_index());
          },
          {.shares_memory = shares_memory});
    REQUIRE(out.words() == "process 0\n");
  }
}

TEST_CASE("a rendezvous gives the payloads of all, each time") {
  spawn(4, [] {
    for (int time = 0; time < 100; ++time) {
      const index_t self = process_index();
      const auto all = rendezvous("save", std::string(static_cast<std::size_t>(self * time), 'x'));
      for (std::size_t i = 0; i < all.size(); ++i)
        require(all[i] == std::string(i * static_cast<std::size_t>(time), 'x'), "payload");
    }
  });
}

TEST_CASE("processes that come to different rendezvous are told both") {
  for (const std::string& words : failures(3, [] {
         const auto all = rendezvous(process_index() == 1 ? "load" : "save", "payload");
         throw std::logic_error("a payload was handed out");
       })) {
    REQUIRE_THAT(words, ::contains("owners_differ"));
    REQUIRE_THAT(words, ::contains("owner 1 runs rendezvous \"load\""));
    REQUIRE_THAT(words, ::contains("runs rendezvous \"save\""));
  }
}

TEST_CASE("a rendezvous with a time names all who are missing") {
  const auto words = failures(4, [] {
    if (process_index() % 2 == 1) return std::this_thread::sleep_for(std::chrono::seconds(1));
    (void)rendezvous("save", "", std::chrono::milliseconds(200));
  });
  for (const std::size_t owner : {0U, 2U}) {
    REQUIRE_THAT(words[owner], ::contains("owner 1: has not come in time to rendezvous \"save\""));
    REQUIRE_THAT(words[owner], ::contains("nor has owner 3"));
  }
  REQUIRE(words[1].empty());
  // Who waits without a time ends as soon as somebody leaves.
  const auto begin = std::chrono::steady_clock::now();
  const auto left = failures(3, [] {
    if (process_index() == 2) throw std::runtime_error("no such file");
    (void)rendezvous("save");
  });
  for (const std::size_t owner : {0U, 1U}) REQUIRE_THAT(left[owner], ::contains("no such file"));
  REQUIRE(std::chrono::steady_clock::now() - begin < std::chrono::seconds(10));
}

TEST_CASE("a process at a rendezvous and one that reads a tensor do not wait for each other") {
  const auto words = failures(2, [] {
    const device_pool pool(
        pod{}, owner_share{.owner_of = owners_in_turn(4, 2), .group = current_group::get()});
    const auto x = iota<sharded_tensor<float, extents<8>, layout<pod, P<"x">>>>(pool);
    if (process_index() == 0) (void)to_host(x);
    (void)rendezvous("save");
  });
  REQUIRE((words[0] + words[1]).find("mesh(x=4)") != std::string::npos);
  for (const std::string& each : words) REQUIRE_FALSE(each.empty());
}

TEST_CASE("a value of one process reaches all") {
  spawn(3, [] {
    const auto self = static_cast<int>(process_index());
    for (index_t from = 0; from < 3; ++from) {
      const auto giver = static_cast<int>(from);
      require(broadcast(self, from) == giver, "number");
      require(broadcast(rates{0.5F * static_cast<float>(self), self}, from) ==
                  rates{0.5F * static_cast<float>(giver), giver},
              "struct");
      const auto text = [](int of) { return std::string(static_cast<std::size_t>(of) * 3, 'a'); };
      require(broadcast(text(self), from) == text(giver), "text");
      const auto list = [](int of) {
        return std::vector<double>(static_cast<std::size_t>(of) * 100'000, 0.25 * of);
      };
      require(broadcast(list(self), from) == list(giver), "list");
    }
  });
  for (const std::string& words : failures(2, [] { (void)broadcast(1, process_index()); }))
    REQUIRE_THAT(words,
                 ::contains("broadcast from process 0") && ::contains("broadcast from process 1"));
  for (const std::string& words : failures(2, [] { (void)broadcast(1, 2); }))
    REQUIRE_THAT(words, ::contains("owner_is_out_of_range"));
  static_assert(HostValue<std::vector<rates>>);
  static_assert(!HostValue<const char*>);
  static_assert(!HostValue<std::string_view>);
  static_assert(!HostValue<std::vector<std::string>>);
  static_assert(!HostValue<std::vector<int*>>);
  static_assert(!ComparableHostValue<long double>);
  static_assert(ComparableHostValue<std::vector<double>>);
}

TEST_CASE("values that must be equal are shown if they are not") {
  spawn(3, [] {
    require_equal("rate", 0.1);
    require_equal("nothing", std::numeric_limits<float>::quiet_NaN());
    require_equal("name", std::string("run 7"));
    require_equal("sizes", std::vector<index_t>{1, 2, 3});
  });
  for (const std::string& words :
       failures(3, [] { require_equal("rate", process_index() == 1 ? 0.25 : 0.5); }))
    REQUIRE_THAT(words, ::contains("owners_differ") &&
                            ::contains("\"rate\" is 0.5 on process 0, 2; 0.25 on process 1"));
  for (const std::string& words : failures(
           2, [] { require_equal("sizes", std::vector<int>(process_index() == 1 ? 9U : 2U, 4)); }))
    REQUIRE_THAT(words, ::contains("{4, 4} on process 0; {4, 4, 4, 4, 4, 4, 4, 4, ...}"));
  // An error is no failure: the processes still exchange values.
  spawn(2, [] {
    try {
      require_equal("zero", process_index() == 0 ? 0.0F : -0.0F);
      throw std::logic_error("zeros differ in their bits");
    } catch (const error&) {
    }
    require(broadcast(7) == 7, "broadcast");
  });
}

TEST_CASE("a reduction of host values takes those of all in the order of the processes") {
  // Sums that depend on the order of their terms.
  const std::vector<float> terms{1.0F, 1e8F, -1e8F};
  const auto sum = [](const std::vector<float>& all) {
    float total = 0;
    for (const float each : all) total += each;
    return total;
  };
  spawn(3, [&] {
    const auto self = static_cast<std::size_t>(process_index());
    require(mesh_reduce("loss", terms[self], sum) == sum(terms), "sum");
    const auto longest = [](const std::vector<std::string>& all) {
      return std::max_element(all.begin(), all.end())->size();
    };
    require(mesh_reduce("words", std::string(self, 'w'), longest) == 2, "words");
  });
}

TEST_CASE("clocks agree") {
  std::mutex mutex;
  std::vector<std::vector<double>> times;
  spawn(3, [&] {
    std::vector<double> mine;
    for (int i = 0; i < 20; ++i) mine.push_back(agreed_seconds());
    require(std::is_sorted(mine.begin(), mine.end()) && mine.front() < mine.back(), "steady");
    const std::lock_guard lock(mutex);
    times.push_back(mine);
  });
  for (const auto& each : times) REQUIRE(each == times[0]);
}

TEST_CASE("a signal to one process ends the loops of all in one step") {
  for (const int signal : {SIGINT, SIGTERM}) {
    static volatile std::sig_atomic_t reached = 0;
    reached = 0;
    const auto mine = [](int) { reached = reached + 1; };
    const auto before = std::signal(signal, mine);
    std::mutex mutex;
    std::vector<int> steps;
    spawn(3, [&] {
      stop_signals stop;
      (void)rendezvous("watching");
      int step = 0;
      for (; !stop.requested(); ++step)
        if (process_index() == 2 && step == 5) std::raise(signal);
      require(stop.requested(), "for good");
      (void)rendezvous("end");
      const std::lock_guard lock(mutex);
      steps.push_back(step);
    });
    for (const int each : steps) REQUIRE(each == steps[0]);
    REQUIRE((steps[0] == 5 || steps[0] == 6));
    REQUIRE(reached == 0);
    // What was there before is there again.
    std::raise(signal);
    REQUIRE(reached == 1);
    std::signal(signal, before);
  }
}

TEST_CASE("a second signal does what it did before the first") {
  static volatile std::sig_atomic_t reached = 0;
  const auto before = std::signal(SIGTERM, [](int) { reached = reached + 1; });
  {
    stop_signals stop;
    REQUIRE_FALSE(stop.requested());
    std::raise(SIGTERM);
    REQUIRE(stop.requested());
    REQUIRE(reached == 0);
    std::raise(SIGTERM);
    REQUIRE(reached == 1);
  }
  stop_signals again;
  REQUIRE_FALSE(again.requested());
  std::signal(SIGTERM, before);
}
