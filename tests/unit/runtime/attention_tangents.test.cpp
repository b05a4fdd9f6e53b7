// SPDX-License-Identifier: BSL-1.0
// Tangents of attention and of its gradient under several layouts, for each kind of mask and for
// shared heads, compared with central differences.
#include "support/catch.hpp"
#include <shardwise/shardwise.hpp>

#include <cstdint>
#include <utility>
#include <vector>

using namespace shardwise;

namespace {

using numbers = any_tensor<double>;
using several = std::vector<numbers>;

struct pod : mesh<axis<"x", 2>, axis<"y", 2>> {};
constexpr double step = 1e-5;

/// The axes that split heads and queries, or -1.
struct splits {
  int heads, queries;
};
layout_desc layout_of(int rank, const splits& how) {
  layout_desc out;
  out.dims.resize(static_cast<std::size_t>(rank));
  out.uneven = true;
  if (how.heads >= 0) out.dims[0] = {static_cast<std::uint8_t>(how.heads)};
  if (how.queries >= 0) out.dims[1] = {static_cast<std::uint8_t>(how.queries)};
  return out;
}

/// Numbers at a point, moved by a multiple of a direction.
numbers place(const device_pool& pool, const extents_desc& extents, const layout_desc& layout,
              std::uint64_t seed, double at, double along) {
  index_t count = 1;
  for (const index_t size : extents) count *= size;
  std::vector<double> all;
  for (index_t i = 0; i < count; ++i)
    all.push_back(at * (shardwise::uniform<double>(random_key{seed}, i) * 2 - 1) +
                  along * (shardwise::uniform<double>(random_key{seed + 10}, i) * 2 - 1));
  return distribute<double>(pool, all, extents, layout);
}

void require_slope(const numbers& found, const numbers& above, const numbers& below) {
  const auto here = to_host(found), high = to_host(above), low = to_host(below);
  REQUIRE(here.extents() == high.extents());
  for (std::size_t i = 0; i < here.elements().size(); ++i) {
    const double slope = (high.elements()[i] - low.elements()[i]) / (2 * step);
    REQUIRE(here.elements()[i] == Approx(slope).epsilon(1e-5).margin(1e-6));
  }
}

/// Compares the tangents of `attend(pool, operands)`, whose operands are queries, keys, values and,
/// if it has extents, a mask of numbers; and those of the gradient of its weighted sum.
template <class F>
void check(const F& attend, const extents_desc& mask = {}) {
  const device_pool pool{pod{}};
  for (const auto& [groups, width] : {std::pair<index_t, index_t>{4, 3}, {2, 3}, {2, 2}})
    for (const splits& how :
         {splits{-1, -1}, splits{0, -1}, splits{-1, 1}, splits{0, 1}, splits{1, 0}}) {
      CAPTURE(groups, width, how.heads, how.queries);
      const auto make = [&, groups = groups, width = width](double at, double along) {
        const layout_desc keys = layout_of(3, {how.heads, -1});
        several out{place(pool, {4, 5, 3}, layout_of(3, how), 1, at, along),
                    place(pool, {groups, 6, 3}, keys, 2, at, along),
                    place(pool, {groups, 6, width}, keys, 3, at, along)};
        if (!mask.empty())
          out.push_back(place(pool, mask, layout_of(mask.ssize(), {-1, -1}), 4, at, along));
        return out;
      };
      const several at = make(1, 0), along = make(0, 1), above = make(1, step),
                    below = make(1, -step);
      const auto f = [&](const several& x) { return numbers(attend(pool, x)); };
      require_slope(jvp(f, at, along).second, f(above), f(below));
      const numbers weights = place(pool, {4, 5, width}, layout_of(3, how), 5, 1, 0);
      const auto slopes =
          gradient([&](const several& x) { return reshard(sum(f(x) * weights), layout_desc{}); });
      const several bends = jvp(slopes, at, along).second, high = slopes(above),
                    low = slopes(below);
      for (std::size_t k = 0; k < bends.size(); ++k) require_slope(bends[k], high[k], low[k]);
    }
}

}  // namespace

TEST_CASE("tangents of attention are slopes under every layout") {
  check([](const device_pool&, const several& x) { return attention(x[0], x[1], x[2]); });
  check([](const device_pool&, const several& x) {
    return attention<attends::to_earlier>(x[0], x[1], x[2]);
  });
}

TEST_CASE("tangents of attention with a mask, or from a position, are slopes") {
  check([](const device_pool& pool, const several& x) {
    const numbers drawn = place(pool, {5, 6}, layout_of(2, {-1, -1}), 30, 1, 0);
    return attention(x[0], x[1], x[2], drawn > -0.3);
  });
  check([](const device_pool& pool, const several& x) {
    const any_tensor<std::int32_t> start =
        distribute<std::int32_t>(pool, std::vector<std::int32_t>{1}, {}, layout_desc{});
    return attention<attends::to_earlier>(x[0], x[1], x[2], start);
  });
}

TEST_CASE("tangents of attention and of numbers that its mask adds are slopes") {
  const auto added = [](const device_pool&, const several& x) {
    return attention(x[0], x[1], x[2], x[3]);
  };
  check(added, {5, 6});
  check(added, {4, 1, 6});
  check([](const device_pool&,
           const several& x) { return attention<attends::to_earlier>(x[0], x[1], x[2], x[3]); },
        {4, 5, 1});
}

TEST_CASE("tangents of attention whose elements are narrow are near those of wide ones") {
  const device_pool pool{pod{}};
  const auto f = [](const auto& x) { return attention<attends::to_earlier>(x, x * x, x); };
  const numbers x = place(pool, {4, 5, 3}, layout_of(3, {0, -1}), 1, 1, 0),
                v = place(pool, {4, 5, 3}, layout_of(3, {0, -1}), 1, 0, 1);
  const auto wide = to_host(jvp(f, x, v).second);
  const auto narrow = to_host(cast<double>(jvp(f, cast<bfloat16>(x), cast<bfloat16>(v)).second));
  for (std::size_t i = 0; i < wide.elements().size(); ++i)
    CHECK(narrow.elements()[i] == Approx(wide.elements()[i]).margin(0.1));
}
