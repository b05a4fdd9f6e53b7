// SPDX-License-Identifier: BSL-1.0
#include <shardwise/core/nest.hpp>

#include <array>
#include <memory>
#include <optional>
#include <vector>

using namespace shardwise;

namespace {

/// A substitute for a tensor: not default-constructible, and constructible from other types.
struct leaf {
  int number;
  leaf() = delete;
  constexpr explicit leaf(int n) noexcept : number(n) {}
};
struct leaves {
  template <class T>
  static constexpr bool is = std::is_same_v<T, leaf>;
};

struct empty {};
struct linear {
  leaf weight;
  leaf bias_;
};
template <class T>
struct model {
  linear first;
  T second;
  std::array<linear, 2> many;
  int steps = 0;
};
struct closed {
  explicit closed(int);
};
struct wide {
  int a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa, bb, cc, dd,
      ee, ff;
};
struct too_wide {
  wide first;
  int a[33];
};

static_assert(member_count<empty> == 0 && member_count<linear> == 2);
static_assert(member_count<model<linear>> == 4 && member_count<wide> == 32);
static_assert(Aggregate<empty> && Aggregate<linear> && Aggregate<model<leaf>>);
static_assert(!Aggregate<closed> && !Aggregate<int> && !Aggregate<std::array<int, 2>>);
static_assert(member_names<linear>[0] == "weight" && member_names<linear>[1] == "bias_");
static_assert(member_names<model<leaf>>[3] == "steps" && member_names<wide>[31] == "ff");

constexpr int sum_of_leaves = [] {
  const model<std::tuple<leaf, linear>> nest{{leaf(1), leaf(2)},
                                             {leaf(3), {leaf(4), leaf(5)}},
                                             {linear{leaf(6), leaf(7)}, linear{leaf(8), leaf(9)}}};
  int sum = 0;
  for_each_leaf<leaves>(nest,
                        [&](const leaf& one, const leaf_path&) { sum = 10 * sum + one.number; });
  return sum;
}();
static_assert(sum_of_leaves == 123456789);

constexpr leaf_path last_path = [] {
  const model<linear> nest{
      {leaf(1), leaf(2)}, {leaf(3), leaf(4)}, {linear{leaf(6), leaf(7)}, linear{leaf(8), leaf(9)}}};
  leaf_path last;
  for_each_leaf<leaves>(nest, [&](const leaf&, const leaf_path& path) { last = path; });
  return last;
}();
static_assert(text_view(last_path) == "many.1.bias_");

/// Members that exist only at run time compile too.
[[maybe_unused]] void walk(const std::vector<model<std::optional<leaf>>>& models,
                           const std::unique_ptr<linear>& one) {
  for_each_leaf<leaves>(models, [](const leaf&, const leaf_path&) {});
  for_each_leaf<leaves>(one, [](const leaf&, const leaf_path&) {});
}

}  // namespace
