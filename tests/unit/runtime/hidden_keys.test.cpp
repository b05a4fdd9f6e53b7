// SPDX-License-Identifier: BSL-1.0
// What a query of attention does not attend to contributes nothing, even if it is infinite or NaN:
// to no result and to no cotangent, however heads and queries are split.
#include "support/catch.hpp"
#include <shardwise/shardwise.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

using namespace shardwise;

namespace {

using numbers = any_tensor<double>;
using host = host_tensor<double>;

struct pod : mesh<axis<"x", 2>, axis<"y", 2>> {};
constexpr index_t heads = 4, positions = 10, width = 3;
constexpr double no_number = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

/// The positions of one tensor that hold a number instead of those drawn for it.
struct strange {
  index_t begin = 0, end = 0;
  double number = 0;
};
struct inputs {
  index_t groups = heads;
  strange q{}, k{}, v{}, dy{};
};
/// Where heads and queries are split: the number of an axis, or -1.
struct splits {
  int heads = -1, queries = -1;
};

numbers place(const device_pool& pool, index_t all_heads, std::uint64_t seed, const strange& where,
              const splits& how) {
  std::vector<double> all;
  for (index_t h = 0; h < all_heads; ++h)
    for (index_t p = 0; p < positions; ++p)
      for (index_t e = 0; e < width; ++e) {
        const auto i = static_cast<index_t>(all.size());
        const double drawn = shardwise::uniform<double>(random_key{seed}, i) * 2 - 1;
        const bool is_strange = p >= where.begin && p < where.end && (e == 1 || p % 2 == 0);
        all.push_back(is_strange ? where.number : drawn);
      }
  layout_desc layout;
  layout.dims.resize(3);
  if (how.heads >= 0) layout.dims[0] = {static_cast<std::uint8_t>(how.heads)};
  if (how.queries >= 0) layout.dims[1] = {static_cast<std::uint8_t>(how.queries)};
  return distribute<double>(pool, all, {all_heads, positions, width}, layout);
}

/// The elements of the positions [Begin, End), to which nothing else may contribute.
template <index_t Begin, index_t End>
numbers part(const numbers& x) {
  layout_desc whole;
  whole.dims.resize(3);
  return slice_in_dim<1, Begin, End>(reshard(x, whole));
}

/// The result of attention and the cotangents of queries, keys and values, of the positions
/// [Begin, End), and the cotangents from the squares of these.
template <index_t Begin, index_t End, class Attend>
std::vector<host> outcome(const device_pool& pool, const inputs& in, const splits& how,
                          const Attend& attend) {
  const splits shared{how.heads, -1};
  const numbers q = place(pool, heads, 1, in.q, how), k = place(pool, in.groups, 2, in.k, shared),
                v = place(pool, in.groups, 3, in.v, shared), dy = place(pool, heads, 4, in.dy, how);
  const auto loss = [&](const auto& a, const auto& b, const auto& c) {
    return reshard(sum(attend(pool, a, b, c) * dy), layout_desc{});
  };
  std::vector<host> out{to_host(part<Begin, End>(attend(pool, q, k, v)))};
  const auto keep = [&](const auto& all) {
    const auto& [a, b, c] = all;
    for (const numbers& each : {numbers(a), numbers(b), numbers(c)})
      out.push_back(to_host(part<Begin, End>(each)));
  };
  keep(gradient<0, 1, 2>(loss)(q, k, v));
  keep(gradient<0, 1, 2>([&](const auto& a, const auto& b, const auto& c) {
    const auto [x, y, z] = gradient<0, 1, 2>(loss)(a, b, c);
    return sum(square(part<Begin, End>(x))) + sum(square(part<Begin, End>(y))) +
           sum(square(part<Begin, End>(z)));
  })(q, k, v));
  return out;
}

/// Compares with what zeros in place of infinities and NaN give, of the results at `compared`:
/// their bits on the same layout, and numbers on another one.
template <index_t Begin, index_t End, class Attend>
void check(const inputs& in, const Attend& attend, const std::vector<std::size_t>& compared) {
  const device_pool pool{pod{}};
  inputs finite = in;
  for (strange* each : {&finite.q, &finite.k, &finite.v, &finite.dy}) each->number = 0;
  const auto wanted = outcome<Begin, End>(pool, finite, {}, attend);
  for (const splits& how : {splits{}, splits{0, -1}, splits{-1, 1}, splits{0, 1}, splits{1, 0}}) {
    if (how.heads >= 0 && in.groups % 2 != 0) continue;
    CAPTURE(how.heads, how.queries);
    const auto found = outcome<Begin, End>(pool, in, how, attend);
    const auto alike = outcome<Begin, End>(pool, finite, how, attend);
    for (const std::size_t r : compared) {
      CAPTURE(r);
      CHECK(found[r] == alike[r]);
      for (std::size_t i = 0; i < found[r].elements().size(); ++i)
        CHECK(found[r].elements()[i] == Approx(wanted[r].elements()[i]).margin(1e-12));
    }
  }
}

/// All results of `outcome`.
const std::vector<std::size_t> every_result{0, 1, 2, 3, 4, 5, 6};

/// Two sets of positions that do not attend to each other: before the seventh, and the others.
bool is_apart(index_t i, index_t j) { return (i < 7) != (j < 7); }

}  // namespace

TEST_CASE("keys and values that a mask hides contribute nothing, whatever they are") {
  layout_desc whole;
  whole.dims.resize(2);
  std::vector<double> seen, added;
  for (index_t i = 0; i < positions; ++i)
    for (index_t j = 0; j < positions; ++j) {
      seen.push_back(is_apart(i, j) ? 0 : 1);
      added.push_back(is_apart(i, j) ? -inf : 0.25);
    }
  for (const index_t groups : {heads, heads / 2})
    for (const double number : {no_number, inf, -inf}) {
      CAPTURE(groups, number);
      const strange late{7, positions, number};
      for (const inputs& in : {inputs{groups, late, late, late, late}, inputs{groups, {}, late},
                               inputs{groups, {}, {}, late}, inputs{groups, {}, {}, {}, late}}) {
        check<0, 7>(
            in,
            [&](const device_pool& pool, const auto& q, const auto& k, const auto& v) {
              const numbers mask = distribute<double>(pool, seen, {positions, positions}, whole);
              return attention(q, k, v, mask > 0.5);
            },
            every_result);
        check<0, 7>(
            in,
            [&](const device_pool& pool, const auto& q, const auto& k, const auto& v) {
              const numbers mask = distribute<double>(pool, added, {positions, positions}, whole);
              return attention(q, k, v, mask);
            },
            every_result);
      }
    }
}

TEST_CASE("later keys and values contribute nothing to earlier queries, whatever they are") {
  const auto causal = [](const device_pool&, const auto& q, const auto& k, const auto& v) {
    return attention<attends::to_earlier>(q, k, v);
  };
  for (const double number : {no_number, inf}) {
    const strange late{7, positions, number};
    // Later queries attend to all keys, and change their cotangents.
    check<0, 7>({heads, {}, late, late}, causal, {0, 1});
    check<0, 7>({heads, {}, {}, late}, causal, {0, 1});
    check<0, 7>({heads / 2, {}, late, {}}, causal, {0, 1});
  }
}

TEST_CASE("earlier queries contribute nothing to the cotangents of later keys and values") {
  const auto causal = [](const device_pool&, const auto& q, const auto& k, const auto& v) {
    return attention<attends::to_earlier>(q, k, v);
  };
  for (const double number : {no_number, inf}) {
    const strange early{0, 3, number};
    check<3, positions>({heads, early, {}, {}, early}, causal, {0, 1, 2, 3});
    check<3, positions>({heads, early}, causal, {0, 1, 2, 3});
    check<3, positions>({heads / 2, {}, {}, {}, early}, causal, {0, 1, 2, 3});
  }
}
