// SPDX-License-Identifier: BSL-1.0
#include "shardwise/kernel/element_runs.hpp"

#include "shardwise/layout/element.hpp"
#include "support/catch.hpp"

#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <vector>

using namespace shardwise;

namespace {

/// Elements at a stride, which are gathered without reading beyond the last one.
template <class T>
void check_gather(index_t stride) {
  for (index_t count = 0; count < 140; ++count) {
    const index_t span = count == 0 ? 0 : (count - 1) * (stride < 0 ? -stride : stride) + 1;
    // Of exactly this size, so that sanitizers detect reads beyond the end.
    const auto from = std::make_unique<T[]>(static_cast<std::size_t>(span));
    for (index_t i = 0; i < span; ++i)
      from[static_cast<std::size_t>(i)] = static_cast<T>(static_cast<float>(i % 113));
    const T* const first = from.get() + (stride < 0 && span > 0 ? span - 1 : 0);
    std::vector<T> to(static_cast<std::size_t>(count) + 2, static_cast<T>(127.0F));
    gather_elements(first, stride, count, to.data() + 1);
    index_t wrong = 0;
    for (index_t i = 0; i < count; ++i)
      wrong += to[static_cast<std::size_t>(i) + 1] == first[i * stride] ? 0 : 1;
    CAPTURE(count, stride, sizeof(T));
    CHECK(wrong == 0);
    CHECK(to.front() == static_cast<T>(127.0F));
    CHECK(to.back() == static_cast<T>(127.0F));
  }
}

}  // namespace

TEST_CASE("Elements of every size are gathered at every stride") {
  for (const index_t stride : {-3, -2, -1, 0, 1, 2, 3}) {
    check_gather<std::uint8_t>(stride);
    check_gather<bfloat16>(stride);
    check_gather<float>(stride);
    check_gather<std::int32_t>(stride);
    check_gather<double>(stride);
    check_gather<std::int64_t>(stride);
  }
}

TEST_CASE("Runs are copied wherever source and target are in their pages") {
  std::vector<int> memory(20000);
  std::iota(memory.begin(), memory.end(), 0);
  for (const index_t apart : {0, 1, 3, 16, 63, 64, 1023})
    for (const index_t count : {0, 1, 511, 512, 513, 1536, 2700, 8191, 8192, 9000}) {
      std::vector<int> target(14000, -1);
      // The same offset in a page as the source, plus a number of elements.
      const auto begin = reinterpret_cast<std::uintptr_t>(memory.data()) % 4096;
      const auto here = reinterpret_cast<std::uintptr_t>(target.data()) % 4096;
      const auto first = static_cast<index_t>((4096 + begin - here) % 4096 / sizeof(int)) + apart;
      int* const to = target.data() + first;
      copy_run(memory.data(), count, to);
      CHECK(std::memcmp(to, memory.data(), static_cast<std::size_t>(count) * sizeof(int)) == 0);
      CHECK((first == 0 || to[-1] == -1));
      CHECK(to[count] == -1);
    }
}
