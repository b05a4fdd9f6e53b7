// SPDX-License-Identifier: BSL-1.0
// Blocks that leave the memory of their shard are noticed, in the functions that make blocks too.
#include "support/catch.hpp"
#include <shardwise/engine/read_part.hpp>
#include <shardwise/shardwise.hpp>

#include <array>
#include <cstddef>
#include <cstdio>

#if !defined(NDEBUG) && __has_include(<sys/wait.h>)
#include <csignal>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

using namespace shardwise;

namespace {

/// Twelve numbers, and whether a block of them, from `offset` on, stays within them.
struct memory {
  std::array<float, 12> numbers{};

  [[nodiscard]] bool holds(index_t offset, const inplace_vector<index_t, max_rank>& extents,
                           const inplace_vector<index_t, max_rank>& strides) const {
    const const_any_block block{numbers.data() + offset, element::f32, extents, strides};
    return internal::is_within(block, numbers.data(), sizeof(numbers));
  }
};

}  // namespace

TEST_CASE("a block is in memory if its first and its last element are") {
  const memory of;
  CHECK(of.holds(0, {3, 4}, {4, 1}));
  CHECK(of.holds(0, {}, {}));
  CHECK(of.holds(11, {}, {}));
  CHECK(of.holds(2, {3, 2}, {4, 1}));
  // Turned around, and repeated.
  CHECK(of.holds(11, {3, 4}, {-4, -1}));
  CHECK(of.holds(3, {3, 4}, {4, -1}));
  CHECK(of.holds(8, {100, 4}, {0, 1}));
  // Without elements.
  CHECK(of.holds(12, {0, 4}, {4, 1}));
  CHECK(internal::is_within(const_any_block{nullptr, element::f32, {0}, {1}}, nullptr, 0));
}

TEST_CASE("a block that begins or ends elsewhere is not in memory") {
  const memory of;
  CHECK(!of.holds(1, {3, 4}, {4, 1}));
  CHECK(!of.holds(12, {}, {}));
  CHECK(!of.holds(0, {4, 4}, {4, 1}));
  CHECK(!of.holds(0, {3, 4}, {5, 1}));
  CHECK(!of.holds(10, {3, 4}, {-4, -1}));
  CHECK(!of.holds(0, {2}, {-1}));
  CHECK(!of.holds(0, {3, 4}, {4}));
  const const_any_block before{of.numbers.data(), element::f32, {1}, {1}};
  CHECK(!internal::is_within(before, of.numbers.data() + 1, 4));
  const const_any_block nowhere{nullptr, element::f32, {1}, {1}};
  CHECK(!internal::is_within(nowhere, of.numbers.data(), sizeof(of.numbers)));
  // Elements of another size.
  const const_any_block wide{of.numbers.data(), element::f64, {12}, {1}};
  CHECK(!internal::is_within(wide, of.numbers.data(), sizeof(of.numbers)));
}

#if !defined(NDEBUG) && __has_include(<sys/wait.h>)
namespace {

struct pod : mesh<axis<"x", 2>> {};

/// Returns true if a call stops a process of its own by an `assert`.
template <class F>
bool stops(const F& call) {
  const pid_t child = fork();
  if (child == 0) {
    const rlimit no_dump{0, 0};
    (void)setrlimit(RLIMIT_CORE, &no_dump);
    (void)std::signal(SIGABRT, SIG_DFL);
    if (std::freopen("/dev/null", "w", stderr) == nullptr) _exit(1);
    call();
    _exit(0);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

}  // namespace

TEST_CASE("builds without NDEBUG stop where a wrong block is made") {
  const device_pool pool{pod{}};
  using X = sharded_tensor<float, extents<4, 6>, layout<pod, P<"x", none>>>;
  const X x = full<X>(pool, 1.0F);
  sync(x);
  const tensor_node& node = *x.share();
  scratch_vector<std::byte> gathered;
  const auto view_of = [&](const extents_desc& result, index_t rows) {
    const held_box want{held_range{{0, rows}, {}, 0}, held_range{{0, 6}, {}, 0}};
    (void)shardwise::detail::broadcast_view(node, 0, result, want, gathered);
  };
  CHECK(!stops([&] { view_of({4, 6}, 2); }));
  // The other rows are on another device.
  CHECK(stops([&] { view_of({4, 6}, 3); }));
  const index_box wider{index_range{0, 2}, index_range{0, 7}};
  CHECK(stops([&] { (void)node.part_held_by(0, wider); }));
}
#endif
