// SPDX-License-Identifier: BSL-1.0
// Host data that a tensor owns, and that are copied to the devices when it is used.
#include "support/catch.hpp"
#include "support/owners.hpp"
#include "support/refusal.hpp"
#include <shardwise/shardwise.hpp>

#include <Eigen/Core>

#include <memory>
#include <thread>
#include <utility>
#include <vector>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"x", 4>> {};
template <class Spec>
using matrix = sharded_tensor<float, extents<8, 4>, layout<pod, Spec>>;
using Everywhere = matrix<P<none, none>>;
using Rows = matrix<P<"x", none>>;
constexpr index_t bytes = 8 * 4 * 4;

/// Elements that count how often they are copied.
struct counted_data {
  std::vector<float> elements;
  int* copies;

  counted_data(std::vector<float> all, int& counter) : elements(std::move(all)), copies(&counter) {}
  counted_data(const counted_data& other) : elements(other.elements), copies(other.copies) {
    ++*copies;
  }
  counted_data(counted_data&&) noexcept = default;
  counted_data& operator=(const counted_data&) = delete;
  ~counted_data() = default;

  [[nodiscard]] const float* begin() const { return elements.data(); }
  [[nodiscard]] const float* end() const { return elements.data() + elements.size(); }
};

std::vector<float> numbers() {
  std::vector<float> all;
  for (int i = 0; i < 32; ++i) all.push_back(static_cast<float>(i));
  return all;
}

/// The bytes that a device holds, which is what has been uploaded.
index_t held(const device_pool& pool, index_t device = 0) {
  return pool.state()->memory().held(device);
}

}  // namespace

TEST_CASE("data that are moved in are uploaded once, in the layout that is marked first") {
  const device_pool pool(pod{}, 2);
  int copies = 0;
  {
    const Everywhere whole =
        distribute_when_used<Everywhere>(pool, counted_data(numbers(), copies));
    REQUIRE(whole.extents() == extents_desc{8, 4});
    REQUIRE(held(pool) == 0);
    const Rows rows = mark_sharding<P<"x", none>>(whole);
    REQUIRE(held(pool) == 0);
    REQUIRE(to_host(rows)(5, 2) == 22.0F);
    REQUIRE(held(pool) == bytes / 4);  // its rows, and never the whole
    REQUIRE(to_host(rows * 2.0F)(7, 3) == 62.0F);
    REQUIRE(held(pool) == bytes / 4);
    REQUIRE(pool.counters().peak_bytes_per_device() <= bytes / 2);  // rows, and twice the rows
    REQUIRE(pool.counters().collectives() == 0);
  }
  REQUIRE(copies == 0);
  REQUIRE(held(pool) == 0);
}

TEST_CASE("shared data are given up when they are uploaded") {
  const device_pool pool(pod{}, 2);
  const auto data = std::make_shared<const std::vector<float>>(numbers());
  const Everywhere whole = distribute_when_used<Everywhere>(pool, data);
  const any_tensor<float> any = whole;
  REQUIRE(data.use_count() == 2);  // one node
  const any_tensor<float> columns = mark_sharding(any, spec_desc{{"", "x"}});
  REQUIRE(data.use_count() == 3);
  REQUIRE(to_host(columns)(1, 3) == 7.0F);
  REQUIRE(held(pool) == bytes / 4);
  REQUIRE(data.use_count() == 2);
  // The first use without a mark: as the tensor is.
  REQUIRE(to_host(Everywhere(whole + 1.0F))(0, 0) == 1.0F);
  REQUIRE(held(pool) >= bytes + bytes / 4);
  REQUIRE(data.use_count() == 1);
  // From here on a mark cuts what is there.
  REQUIRE(to_host(mark_sharding<P<"x", none>>(whole))(7, 0) == 28.0F);
}

TEST_CASE("every use of waiting data uploads them") {
  const device_pool pool(pod{}, 2);
  const auto waiting = [&] { return distribute_when_used<Rows>(pool, numbers()); };
  {
    const Rows x = waiting();
    sync(x);
    REQUIRE(held(pool) == bytes / 4);
  }
  {
    const Rows x = waiting();
    sync(pool);  // computes what is pending, and this is not
    REQUIRE(held(pool) == 0);
    REQUIRE(local(x, 3).elements()[0] == 24.0F);
  }
  {
    const Rows x = waiting();
    REQUIRE(shards(x)[1].elements()[0] == 8.0F);
  }
  {
    Rows x = waiting();
    x += 1.0F;
    const Rows y = x;
    REQUIRE(to_host(y)(0, 0) == 1.0F);
  }
  {
    const auto loss = [](const auto& w) { return reshard<P<>>(sum(w * w)); };
    const auto g = gradient(loss)(waiting());
    REQUIRE(to_host(g)(7, 3) == 62.0F);
  }
  {
    auto twice = step([](const auto& w) { return Rows(w + w); });
    for (int turn = 0; turn < 3; ++turn) REQUIRE(to_host(twice(waiting()))(7, 3) == 62.0F);
  }
  {
    const auto columns = reshard<P<none, "x">>(waiting());
    REQUIRE(to_host(columns)(7, 3) == 31.0F);
    REQUIRE(pool.counters().collectives() == 0);
  }
  {
    // Two threads use it at once.
    const Rows x = waiting();
    std::vector<std::thread> threads;
    std::atomic<int> right{0};
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] { right += to_host(x)(7, 3) == 31.0F ? 1 : 0; });
    for (std::thread& each : threads) each.join();
    REQUIRE(right == 4);
  }
  // Never used.
  (void)waiting();
  REQUIRE(held(pool) == 0);
}

TEST_CASE("waiting data are checked at once, and data by reference are copied at once") {
  const device_pool pool(pod{}, 2);
  REQUIRE(refusal([&] { return distribute_when_used<Rows>(pool, std::vector<float>(31)); }) ==
          violation::host_size_differs);
  REQUIRE(refusal([&] {
            return distribute_when_used<Rows>(pool, std::shared_ptr<const std::vector<float>>());
          }) == violation::host_size_differs);
  using Open = sharded_tensor<float, extents<dyn, 4>, layout<pod, P<"x", none>>>;
  Eigen::MatrixXf columns(12, 4);
  for (Eigen::Index i = 0; i < columns.size(); ++i) columns.data()[i] = static_cast<float>(i);
  const Open y = distribute_when_used<Open>(pool, std::move(columns));
  REQUIRE(y.extents() == extents_desc{12, 4});
  REQUIRE(to_host(y)(1, 2) == 25.0F);

  for (const index_t count : {8, 1000}) {
    using V = sharded_tensor<float, extents<dyn>, layout<pod, P<none>>>;
    std::vector<float> source(static_cast<std::size_t>(count), 3.0F);
    const V x = distribute<V>(pool, source);
    source.assign(source.size(), -1.0F);
    REQUIRE(to_host(x)(static_cast<int>(count) - 1) == 3.0F);
  }
}

TEST_CASE("owners of one mesh upload waiting data in the order of their program") {
  support::run_all_owners(pod::value, {0, 0, 1, 1}, [](const device_pool& pool) {
    const Everywhere whole = distribute_when_used<Everywhere>(pool, numbers());
    const Rows rows = mark_sharding<P<"x", none>>(whole);
    if (to_host(rows + rows)(7, 3) != 62.0F) throw std::logic_error("other values");
  });
}
