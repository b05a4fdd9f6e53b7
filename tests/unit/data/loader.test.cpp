// SPDX-License-Identifier: BSL-1.0
// Loaders: the order of samples, batches and their ends, positions, prefetching and its threads.
#include "support/catch.hpp"
#include "support/owners.hpp"
#include "support/refusal.hpp"
#include <shardwise/data.hpp>
#include <shardwise/shardwise.hpp>

#include <Eigen/Core>
#include <range/v3/view/iota.hpp>
#include <range/v3/view/transform.hpp>
#include <range/v3/view/zip.hpp>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};
template <class T, class Spec, index_t... N>
using tensor = sharded_tensor<T, extents<N...>, layout<pod, Spec>>;
template <index_t N>
using numbers = tensor<std::int32_t, P<none>, N>;
using any_number =
    sharded_tensor<std::int32_t, extents<dyn>, layout<pod, P<"data">, partial<>, uneven>>;

/// The samples 0, 1, 2, ...
auto count_up(index_t samples) {
  return ranges::views::iota(std::int32_t{0}, static_cast<std::int32_t>(samples));
}
template <class X>
std::vector<std::int32_t> values(const X& x) {
  const auto all = to_host(x);
  return {all.elements().begin(), all.elements().end()};
}
/// The batches that a loop over a loader receives, at most `most`.
template <class Loader>
std::vector<std::vector<std::int32_t>> received(Loader& loader, index_t most = 1000) {
  std::vector<std::vector<std::int32_t>> all;
  for (auto&& x : loader) {
    all.push_back(values(x));
    if (static_cast<index_t>(all.size()) == most) break;
  }
  return all;
}

index_t entries_of(const char* folder) {
  index_t count = 0;
  for ([[maybe_unused]] const auto& each : std::filesystem::directory_iterator(folder)) ++count;
  return count;
}
index_t threads_of_process() { return entries_of("/proc/self/task"); }

}  // namespace

TEST_CASE("a permutation has every item once, and each order is about as likely") {
  for (index_t count : {0, 1, 2, 3, 17, 100, 1000}) {
    const index_permutation order(random_key{3}, count);
    std::set<index_t> seen;
    for (index_t i = 0; i < count; ++i) seen.insert(order[i]);
    REQUIRE(static_cast<index_t>(seen.size()) == count);
    if (count > 0) REQUIRE((*seen.begin() == 0 && *seen.rbegin() == count - 1));
    std::vector<index_t> some(static_cast<std::size_t>(count / 2));
    order.items(count / 3, some);
    for (std::size_t i = 0; i < some.size(); ++i)
      REQUIRE(some[i] == order[count / 3 + static_cast<index_t>(i)]);
  }
  // 24 orders of four items, 200 times each if they are equally likely.
  std::map<std::vector<index_t>, int> times;
  for (std::uint64_t key = 0; key < 4800; ++key) {
    const index_permutation order(random_key{key}, 4);
    ++times[{order[0], order[1], order[2], order[3]}];
  }
  REQUIRE(times.size() == 24);
  double chi = 0;
  for (const auto& [order, n] : times) chi += (n - 200.0) * (n - 200.0) / 200.0;
  REQUIRE(chi < 49.7);  // one of a thousand, of 23 degrees
  constexpr index_permutation known(random_key{3}, 100);
  static_assert(known[0] >= 0 && known[0] < 100);
}

TEST_CASE("the samples that do not fill a batch are dropped, kept or padded") {
  const device_pool pool{pod{}};
  auto dropped = count_up(9) | batch(4, last_batch::dropped) | distribute<numbers<4>>(pool);
  CHECK(received(dropped) == std::vector<std::vector<std::int32_t>>{{0, 1, 2, 3}, {4, 5, 6, 7}});
  auto kept = count_up(9) | batch(4, last_batch::kept) | distribute<any_number>(pool);
  CHECK(received(kept) == std::vector<std::vector<std::int32_t>>{{0, 1, 2, 3}, {4, 5, 6, 7}, {8}});
  auto padded = count_up(9) | batch(4, last_batch::padded) |
                distribute<numbers<4>, tensor<float, P<"data">, 4>>(pool);
  std::vector<std::int32_t> all;
  float samples = 0;
  for (auto&& [x, mask] : padded) {
    for (std::int32_t each : values(x)) all.push_back(each);
    for (float each : to_host(mask).elements()) samples += each;
  }
  CHECK(all == std::vector<std::int32_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0});
  CHECK(samples == 9);
  auto none_at_all = count_up(0) | batch(4, last_batch::kept) | distribute<any_number>(pool);
  CHECK(received(none_at_all).empty());
  CHECK(none_at_all.state().epoch == 1);
}

TEST_CASE("samples are numbers, blocks, tuples, aggregates and maps") {
  struct picture {
    std::vector<std::uint8_t> pixels;
    std::uint8_t label;
  };
  const device_pool pool{pod{}};
  std::vector<picture> pictures;
  for (int i = 0; i < 4; ++i)
    pictures.push_back({{static_cast<std::uint8_t>(2 * i), static_cast<std::uint8_t>(2 * i + 1)},
                        static_cast<std::uint8_t>(i)});
  auto aggregates = pictures | batch(4, last_batch::dropped) |
                    distribute<tensor<float, P<"data", "model">, 4, 2>, numbers<4>>(pool);
  for (auto&& [x, y] : aggregates) {
    const auto host = to_host(x);
    for (index_t i = 0; i < 8; ++i) CHECK(host(i / 2, i % 2) == static_cast<float>(i));
    CHECK(values(y) == std::vector<std::int32_t>{0, 1, 2, 3});
  }
}

TEST_CASE("a dimension other than the first may count samples") {
  const device_pool pool{pod{}};
  const std::vector<std::vector<float>> samples{{0, 1}, {2, 3}, {4, 5}, {6, 7}};
  auto columns = samples | batch(4, last_batch::dropped, 1) |
                 distribute<tensor<float, P<"data", "model">, 2, 4>>(pool);
  for (auto&& x : columns) {
    const auto host = to_host(x);
    for (index_t i = 0; i < 8; ++i) CHECK(host(i % 2, i / 2) == static_cast<float>(i));
  }
}

TEST_CASE("rows of matrices and windows of texts are samples") {
  const device_pool pool{pod{}};
  using rows = tensor<float, P<"data", none>, 2, 3>;
  Eigen::MatrixXf matrix(4, 3);  // column-major
  for (int i = 0; i < 12; ++i) matrix(i / 3, i % 3) = static_cast<float>(i);
  const auto check = [&](auto loader, index_t first) {
    for (auto&& x : loader) {
      const auto host = to_host(x);
      for (index_t i = 0; i < 6; ++i) CHECK(host(i / 3, i % 3) == static_cast<float>(first + i));
      first += 6;
    }
    return first;
  };
  CHECK(check(rows_of(matrix) | batch(2, last_batch::dropped) | distribute<rows>(pool), 0) == 12);
  CHECK(check(rows_of(Eigen::MatrixXf(matrix)) | batch(2, last_batch::dropped) |
                  distribute<rows>(pool) | prefetch(),
              0) == 12);
  const auto host = to_host(distribute<tensor<float, P<none, none>, 4, 3>>(pool, matrix));
  CHECK(check(rows_of(host) | batch(2, last_batch::dropped) | distribute<rows>(pool), 0) == 12);
  const std::span<const float> elements = host.elements();
  CHECK(check(rows_of(elements, {3}) | batch(2, last_batch::dropped) | distribute<rows>(pool), 0) ==
        12);
  CHECK(refusal([&] { return rows_of(elements, {5}); }) == violation::host_size_differs);

  // Windows of three from 0, 4, 8 on, and the same one element further.
  auto pairs = ranges::views::zip(windows_of(elements, 3, 4), windows_of(elements, 3, 4, 1)) |
               batch(2, last_batch::dropped) | distribute<rows, rows>(pool);
  index_t batches = 0;
  for (auto&& [x, y] : pairs) {
    ++batches;
    CHECK(to_host(x)(1, 2) == 6);
    CHECK(to_host(y)(1, 2) == 7);
  }
  CHECK(batches == 1);
  CHECK(ranges::distance(windows_of(elements, 3, 4)) == 3);
  CHECK(ranges::distance(windows_of(elements, 3, 4, 1)) == 3);
  CHECK(ranges::distance(windows_of(elements, 3, 4, 2)) == 2);
  CHECK(ranges::distance(windows_of(elements, 13, 1)) == 0);
}

TEST_CASE("tensors without types have the specs of their ranks, or of their keys") {
  const device_pool pool{pod{}};
  const std::vector<std::pair<std::vector<float>, std::int32_t>> samples{
      {{0, 1, 2}, 3}, {{4, 5, 6}, 7}, {{8, 9, 10}, 11}};
  auto by_rank = samples | batch(2, last_batch::padded) |
                 distribute(pool, input_sharding(spec_desc{{"data", ""}}));
  index_t batches = 0;
  for (auto&& [x, y, mask] : by_rank) {
    CHECK(x.layout().dims[0].size() == 1);
    CHECK(y.layout().dims[0].empty());
    CHECK(to_host(mask)(1) == (++batches < 2));
  }
  using sample_map = std::map<std::string, std::vector<float>>;
  const std::vector<sample_map> maps{{{"x", {1, 2}}, {"y", {3}}}, {{"x", {4, 5}}, {"y", {6}}}};
  const keyed_spec specs[] = {{"x", {{"data", ""}}}, {"y", {}, true}};
  auto by_key = maps | batch(2, last_batch::dropped) |
                distribute(pool, input_sharding(list_view<const keyed_spec>(specs)));
  for (auto&& tensors : by_key) {
    CHECK(tensors.size() == 2);
    CHECK(to_host(tensors.at("x"))(1, 0) == 4);
    CHECK(to_host(tensors.at("y"))(1, 0) == 6);
  }
  const auto with = [&](list_view<const keyed_spec> entries) {
    return refusal([&] {
      return maps | batch(2, last_batch::dropped) | distribute(pool, input_sharding(entries));
    });
  };
  CHECK(with(list_view<const keyed_spec>(specs, 1)) == violation::input_has_no_sharding);
  const keyed_spec more[] = {{"x", {{"data", ""}}}, {"y", {}, true}, {"z", {}, true}};
  CHECK(with(list_view<const keyed_spec>(more)) == violation::sharding_has_no_input);
  // The mask of padded batches has a key of its own.
  const std::vector<sample_map> masked{{{"x", {1}}, {"mask", {2}}}};
  const keyed_spec both[] = {{"x", {}, true}, {"mask", {}, true}};
  CHECK(refusal([&] {
          return masked | batch(2, last_batch::padded) |
                 distribute(pool, input_sharding(list_view<const keyed_spec>(both)));
        }) == violation::sample_differs);
  const keyed_spec three[] = {{"x", {{"data", ""}}}, {"y", {}, true}, {"mask", {{"data"}}}};
  auto padded = maps | batch(4, last_batch::padded) |
                distribute(pool, input_sharding(list_view<const keyed_spec>(three)));
  for (auto&& tensors : padded)
    CHECK(to_host(tensors.at("mask")).elements() == std::vector<float>{1, 1, 0, 0});
}

TEST_CASE("what does not fit is refused before the loop, or at its sample") {
  const device_pool pool{pod{}};
  CHECK(refusal([] { return batch(0, last_batch::kept); }) == violation::amount_is_out_of_range);
  CHECK(refusal([] { return prefetch({.loader_prefetch_size = 0}); }) ==
        violation::amount_is_out_of_range);
  CHECK(refusal([] { return prefetch({.device_prefetch_size = 0}); }) ==
        violation::amount_is_out_of_range);
  CHECK(refusal([&] {
          return count_up(8) | batch(2, last_batch::dropped) | distribute<numbers<4>>(pool);
        }) == violation::host_size_differs);
  CHECK(refusal([&] {
          return count_up(9) | batch(4, last_batch::kept) | distribute<numbers<4>>(pool);
        }) == violation::host_size_differs);
  // One row is not split in two equal parts.
  CHECK(refusal([&] {
          using exact_rows = sharded_tensor<std::int32_t, extents<dyn>, layout<pod, P<"data">>>;
          return count_up(9) | batch(4, last_batch::kept) | distribute<exact_rows>(pool);
        }) == violation::extent_is_not_divisible);
  const std::vector<std::vector<float>> unlike{{1, 2}, {3, 4}, {5}, {6, 7}};
  auto loader =
      unlike | batch(2, last_batch::dropped) | distribute<tensor<float, P<none, none>, 2, 2>>(pool);
  std::string words;
  try {
    for (auto&& x : loader) (void)x;
  } catch (const error& refused) {
    words = refused.what();
  }
  CHECK(words.find("sample_differs") == 0);
  CHECK(words.find("sample 2") != words.npos);
}

TEST_CASE("each epoch has an order of its own, the same for every mesh and number of threads") {
  struct line : mesh<axis<"data", 3>> {};
  const auto epochs = [](auto loader) {
    std::vector<std::vector<std::vector<std::int32_t>>> all;
    for (int epoch = 0; epoch < 3; ++epoch) all.push_back(received(loader));
    return all;
  };
  const device_pool pool{pod{}}, other{line{}};
  const auto samples = count_up(20);
  const auto key = random_key{11};
  const auto alone =
      epochs(samples | shuffle(key) | batch(6, last_batch::dropped) | distribute<numbers<6>>(pool));
  CHECK(alone[0] != alone[1]);
  CHECK(alone[1] != alone[2]);
  CHECK(
      alone ==
      epochs(samples | shuffle(key) | batch(6, last_batch::dropped) |
             distribute<sharded_tensor<std::int32_t, extents<6>, layout<line, P<"data">>>>(other)));
  for (index_t threads : {1, 4})
    CHECK(alone == epochs(samples | shuffle(key) | batch(6, last_batch::dropped) |
                          distribute<numbers<6>>(pool) |
                          prefetch({.host_to_device_transfer_threads = threads})));
  CHECK(alone != epochs(samples | shuffle(random_key{12}) | batch(6, last_batch::dropped) |
                        distribute<numbers<6>>(pool)));
}

TEST_CASE("random changes of samples depend on key, epoch and index alone") {
  const device_pool pool{pod{}};
  const auto change = [](std::int32_t, random_key key) {
    return static_cast<std::int32_t>(key.value & 0xFFFFFFU);
  };
  const auto samples = count_up(20) | augment(random_key{5}, change);
  auto plain = samples | batch(10, last_batch::dropped) | distribute<numbers<10>>(pool);
  auto ahead = samples | batch(10, last_batch::dropped) | distribute<numbers<10>>(pool) |
               prefetch({.host_to_device_transfer_threads = 4});
  auto shuffled = samples | shuffle(random_key{1}) | batch(10, last_batch::dropped) |
                  distribute<numbers<10>>(pool);
  const auto sorted = [](const std::vector<std::vector<std::int32_t>>& batches) {
    std::multiset<std::int32_t> all;
    for (const auto& each : batches) all.insert(each.begin(), each.end());
    return all;
  };
  std::set<std::int32_t> seen;
  for (int epoch = 0; epoch < 3; ++epoch) {
    const auto first = received(plain);
    CHECK(first == received(ahead));
    CHECK(sorted(first) == sorted(received(shuffled)));
    for (const auto& each : first) seen.insert(each.begin(), each.end());
  }
  CHECK(seen.size() == 60);
}

TEST_CASE("a state counts what a loop has received, and another loader goes on from it") {
  const device_pool pool{pod{}};
  const auto make = [&](index_t samples, index_t size) {
    return count_up(samples) | shuffle(random_key{3}) | batch(size, last_batch::dropped) |
           distribute<any_number>(pool) | prefetch();
  };
  auto whole = make(100, 2);
  const auto all = received(whole);
  CHECK((whole.state().epoch == 1 && whole.state().batches == 0));

  // 30 batches are received, then 10 by another loader; a third begins with number 40.
  auto first = make(100, 2);
  CHECK(first.state().batches == 0);
  auto begin = received(first, 30);
  CHECK(first.state().batches == 30);
  auto second = make(100, 2);
  second.resume(first.state());
  CHECK(second.state() == first.state());
  for (auto& each : received(second, 10)) begin.push_back(each);
  CHECK(second.state().batches == 40);
  auto third = make(100, 2);
  third.resume(second.state());
  for (auto& each : received(third)) begin.push_back(each);
  CHECK(begin == all);
  // The epochs that follow are whole.
  CHECK(received(third).size() == 50);
  CHECK(received(third).size() == 50);
  CHECK(third.state().epoch == 3);

  // After the last batch comes the next epoch, whole.
  auto next = make(100, 2);
  next.resume(whole.state());
  CHECK(next.state() == whole.state());
  CHECK(received(next) == received(whole));
  // A loop that is left is followed by the next epoch.
  (void)received(next, 3);
  CHECK(next.state().batches == 3);
  CHECK(received(next).size() == 50);
  CHECK(next.state().epoch == 4);

  CHECK(refusal([&] { make(98, 2).resume(first.state()); }) == violation::loader_state_differs);
  CHECK(refusal([&] { make(100, 4).resume(first.state()); }) == violation::loader_state_differs);
  auto running = make(100, 2);
  const auto at = running.begin();
  CHECK(refusal([&] { running.resume(first.state()); }) == violation::loader_state_differs);
  CHECK(refusal([&] { (void)running.begin(); }) == violation::loader_state_differs);
}

TEST_CASE("a state is metadata of a file, and read back") {
  for (const std::optional<random_key> key : {std::optional<random_key>(), {random_key{~0ULL}}}) {
    const loader_state state{3, 40, {100, 2, remaining_samples::padded, key}};
    CHECK(loader_state_of(to_metadata(state)) == state);
  }
  auto damaged = to_metadata(loader_state{});
  damaged["loader.batches"] = "1x";
  CHECK(refusal([&] { return loader_state_of(damaged); }) == violation::text_is_malformed);
  damaged.erase("loader.batches");
  CHECK(refusal([&] { return loader_state_of(damaged); }) == violation::text_is_malformed);
}

TEST_CASE("an exception of the data set arrives at the batch of its sample") {
  const device_pool pool{pod{}};
  const auto failing = count_up(40) | ranges::views::transform([](std::int32_t i) {
                         if (i == 17) throw std::out_of_range("element 17");
                         return i;
                       });
  const index_t before = threads_of_process();
  auto loader = failing | batch(4, last_batch::dropped) | distribute<numbers<4>>(pool) | prefetch();
  index_t batches = 0;
  std::string words;
  try {
    for (auto&& x : loader) {
      (void)x;
      ++batches;
    }
  } catch (const std::out_of_range& thrown) {
    words = thrown.what();
  }
  CHECK(batches == 4);
  CHECK(words == "element 17");
  CHECK(threads_of_process() == before);
}

TEST_CASE("a device function that fails in a loop ends all of its threads") {
  const device_pool pool{pod{}};
  const index_t before = threads_of_process();
  auto loader =
      count_up(100) | batch(2, last_batch::dropped) | distribute<numbers<2>>(pool) | prefetch();
  const auto fail_on_third = [&] {
    index_t batches = 0;
    for (auto&& x : loader) {
      (void)x;
      if (++batches == 3)
        pool.for_each_device([](index_t device) {
          if (device == 1) throw std::runtime_error("fails");
        });
    }
  };
  CHECK_THROWS_AS(fail_on_third(), device_error);
  CHECK(threads_of_process() == before);
  CHECK(received(loader).size() == 50);
}

TEST_CASE("a loop that fails at its first batch loses none of what was resumed") {
  const device_pool pool{pod{}};
  bool fails = true;
  const auto failing = count_up(12) | ranges::views::transform([&](std::int32_t i) {
                         if (fails && i == 4) throw std::runtime_error("not yet");
                         return i;
                       });
  auto loader = failing | batch(4, last_batch::dropped) | distribute<numbers<4>>(pool) | prefetch();
  loader.resume({0, 1, {12, 4}});
  CHECK_THROWS_AS(received(loader), std::runtime_error);
  fails = false;
  CHECK(received(loader) == std::vector<std::vector<std::int32_t>>{{4, 5, 6, 7}, {8, 9, 10, 11}});
}

TEST_CASE("a loop may be left at any time, and ends all of its threads") {
  const device_pool pool{pod{}};
  const index_t before = threads_of_process();
  for (index_t size : {1, 8})
    for (index_t received_before = 0; received_before < 5; ++received_before) {
      auto loader = count_up(100) | batch(2, last_batch::dropped) | distribute<numbers<2>>(pool) |
                    prefetch({.loader_prefetch_size = size,
                              .device_prefetch_size = size,
                              .host_to_device_transfer_threads = 2});
      try {
        index_t batches = 0;
        for (auto&& x : loader) {
          (void)x;
          if (batches++ == received_before) throw std::runtime_error("leaves");
        }
      } catch (const std::runtime_error&) {
      }
      CHECK(threads_of_process() == before);
      CHECK(loader.progress().batches == received_before + 1);
    }
}

TEST_CASE("loops that are left early leave nothing behind") {
  const device_pool pool{pod{}};
  auto loader = count_up(100) | batch(2, last_batch::dropped) | distribute<numbers<2>>(pool) |
                prefetch({.loader_prefetch_size = 2, .device_prefetch_size = 2});
  const index_t threads = entries_of("/proc/self/task"), files = entries_of("/proc/self/fd");
  for (int i = 0; i < 200; ++i) (void)received(loader, 1);
  CHECK(entries_of("/proc/self/task") == threads);
  CHECK(entries_of("/proc/self/fd") == files);
  CHECK(loader.state() == loader_state{199, 1, {100, 2}});
}

TEST_CASE("what is read ahead is bounded") {
  const device_pool pool{pod{}};
  std::atomic<index_t> read{0};
  const auto counted = count_up(1000) | ranges::views::transform([&](std::int32_t i) {
                         ++read;
                         return i;
                       });
  auto loader = counted | batch(2, last_batch::dropped) | distribute<numbers<2>>(pool) |
                prefetch({.loader_prefetch_size = 2, .device_prefetch_size = 3});
  auto at = loader.begin();
  for (int i = 0; i < 3; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    // The one that was received, those in the queues, and one in the hands of each thread.
    CHECK(read <= 2 * (1 + i + 2 + 3 + 2));
    ++at;
  }
  CHECK(loader.progress().batches == 4);
  CHECK(loader.progress().bytes == 4 * 2 * 4);
}

TEST_CASE("a pool that is stopped ends a loop") {
  const device_pool pool{pod{}};
  auto loader = count_up(1000) | batch(2, last_batch::dropped) | distribute<numbers<2>>(pool) |
                prefetch({.device_prefetch_size = 1});
  index_t batches = 0;
  CHECK_THROWS_AS(
      [&] {
        for (auto&& x : loader) {
          (void)x;
          if (++batches == 2) pool.request_stop();
        }
      }(),
      std::exception);
  CHECK(batches <= 5);
}

#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
TEST_CASE("a program may exit inside a loop") {
  const auto begin = std::chrono::steady_clock::now();
  const pid_t child = fork();
  if (child == 0) {
    const device_pool pool{pod{}, 1};
    auto loader =
        count_up(1000) | batch(2, last_batch::dropped) | distribute<numbers<2>>(pool) | prefetch();
    for (auto&& x : loader) {
      (void)x;
      std::exit(42);
    }
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 42);
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(10));
}
#endif

TEST_CASE("every process reads only the samples of its rows, and the batches are the same") {
  using row = sharded_tensor<std::int32_t, extents<8>, layout<pod, P<"data">>>;
  const device_pool pool{pod{}};
  const auto order = count_up(20) | shuffle(random_key{9}) | batch(8, last_batch::dropped);
  auto whole = order | distribute<row>(pool);
  const auto alone = received(whole);
  std::atomic<index_t> read{0};
  support::run_all_owners(pod::value, {0, 0, 1, 1}, [&](const device_pool& part) {
    const auto counted = count_up(20) | ranges::views::transform([&](std::int32_t i) {
                           ++read;
                           return i;
                         });
    for (const bool is_ahead : {false, true}) {
      auto loader =
          counted | shuffle(random_key{9}) | batch(8, last_batch::dropped) | distribute<row>(part);
      if (is_ahead) loader = std::move(loader) | prefetch();
      if (received(loader) != alone) throw std::logic_error("other samples");
    }
  });
  // Each owner has half of the rows of two batches, twice.
  CHECK(read == 2 * 2 * 2 * 4);
}

TEST_CASE("processes have equally many batches, and the states of one are those of all") {
  struct line : mesh<axis<"data", 3>> {};
  using row =
      sharded_tensor<std::int32_t, extents<dyn>, layout<line, P<"data">, partial<>, uneven>>;
  using mask = sharded_tensor<float, extents<dyn>, layout<line, P<"data">, partial<>, uneven>>;
  const auto order = count_up(145) | shuffle(random_key{2});
  const device_pool whole{line{}};
  auto alone = order | batch(48, last_batch::kept) | distribute<row>(whole);
  const auto all = received(alone);
  for (const std::vector<index_t>& owner_of :
       {std::vector<index_t>{0, 1, 2}, std::vector<index_t>{1, 0, 1}})
    support::run_all_owners(line::value, owner_of, [&](const device_pool& pool) {
      const auto require = [](bool holds) {
        if (!holds) throw std::logic_error("other batches");
      };
      auto dropped = order | batch(48, last_batch::dropped) | distribute<row>(pool) | prefetch();
      require(received(dropped).size() == 3);
      // The last batch has one row, which a single process holds.
      auto kept = order | batch(48, last_batch::kept) | distribute<row>(pool) | prefetch();
      require(received(kept, 2) == std::vector(all.begin(), all.begin() + 2));
      require(kept.state() ==
              loader_state{0, 2, {145, 48, remaining_samples::kept, random_key{2}}});
      auto resumed = order | batch(48, last_batch::kept) | distribute<row>(pool) | prefetch();
      resumed.resume(kept.state());
      require(received(resumed) == std::vector(all.begin() + 2, all.end()));
      auto padded =
          order | batch(48, last_batch::padded) | distribute<row, mask>(pool) | prefetch();
      float samples = 0;
      for (auto&& [x, real] : padded) samples += to_host(reshard<P<>>(sum<0>(real)))();
      require(samples == 145);
    });
}
