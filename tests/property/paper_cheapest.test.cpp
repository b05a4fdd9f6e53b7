// SPDX-License-Identifier: BSL-1.0
// Reshards beside the cheapest sequences of collectives, found by a search of all of them.
#include "support/catch.hpp"
#include "support/paper.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>
#include <utility>

using namespace paper;

namespace {

/// All layouts of a tensor that every layout splits evenly, and the collectives between them:
/// slices, all-to-alls and gathers of any number of minor axes, and permutations of shards. The
/// costs are the elements that a device receives.
class all_ways {
 public:
  all_ways(mesh_desc mesh, int rank)
      : mesh_(std::move(mesh)), layouts_(layouts(mesh_.rank(), rank)) {
    for (int d = 0; d < rank; ++d) extents_.push_back(2 * mesh_.devices());
    for (const layout_desc& from : layouts_) {
      sizes_.push_back(largest_shard_size(mesh_, from, extents_));
      steps_.emplace_back();
      for (std::size_t to = 0; to < layouts_.size(); ++to)
        if (const index_t cost = price(from, layouts_[to]); cost >= 0)
          steps_.back().push_back({to, cost});
    }
  }

  [[nodiscard]] const std::vector<layout_desc>& all() const { return layouts_; }
  [[nodiscard]] tensor_desc tensor(const layout_desc& layout) const {
    return {element::i8, extents_, layout};
  }

  /// Returns the lowest costs from a layout to all others, where no layout on the way has shards
  /// of more than `most` elements.
  [[nodiscard]] std::vector<index_t> costs_from(std::size_t from, index_t most) const {
    std::vector<index_t> costs(layouts_.size(), std::numeric_limits<index_t>::max());
    std::priority_queue<std::pair<index_t, std::size_t>,
                        std::vector<std::pair<index_t, std::size_t>>, std::greater<>>
        next;
    costs[from] = 0;
    next.push({0, from});
    while (!next.empty()) {
      const auto [cost, at] = next.top();
      next.pop();
      if (cost > costs[at]) continue;
      for (const auto& [to, price] : steps_[at])
        if (sizes_[to] <= most && cost + price < costs[to]) {
          costs[to] = cost + price;
          next.push({costs[to], to});
        }
    }
    return costs;
  }

  [[nodiscard]] index_t size(std::size_t i) const { return sizes_[i]; }

 private:
  /// Returns the elements that a device receives in one collective between two layouts; -1 if none
  /// leads from one to the other.
  [[nodiscard]] index_t price(const layout_desc& from, const layout_desc& to) const {
    const index_t held = largest_shard_size(mesh_, from, extents_);
    int gains = -1, loses = -1, changes = 0;
    bool has_same_parts = true;
    for (int d = 0; d < from.rank(); ++d) {
      const axis_list &a = from.dims[d], &b = to.dims[d];
      has_same_parts = has_same_parts && mesh_.parts(a) == mesh_.parts(b);
      if (a == b) continue;
      ++changes;
      if (a.is_prefix_of(b)) gains = d;
      if (b.is_prefix_of(a)) loses = d;
    }
    if (changes == 0) return -1;
    if (has_same_parts) return held;
    if (changes > (gains >= 0) + (loses >= 0)) return -1;
    const auto tail = [](const axis_list& longer, const axis_list& shorter) {
      axis_list rest;
      for (int i = shorter.ssize(); i < longer.ssize(); ++i) rest.push_back(longer[i]);
      return rest;
    };
    if (loses < 0) {
      // Only unused axes can slice.
      for (std::uint8_t a : tail(to.dims[gains], from.dims[gains]))
        if (from.dim_of(a) >= 0) return -1;
      return 0;
    }
    const axis_list leaving = tail(from.dims[loses], to.dims[loses]);
    const index_t n = mesh_.parts(leaving);
    if (gains < 0) return held * (n - 1);
    return leaving == tail(to.dims[gains], from.dims[gains]) ? held / n * (n - 1) : -1;
  }

  mesh_desc mesh_;
  std::vector<layout_desc> layouts_;
  extents_desc extents_{};
  std::vector<index_t> sizes_;
  std::vector<std::vector<std::pair<std::size_t, index_t>>> steps_;
};

}  // namespace

TEST_CASE("reshards cost little more than the cheapest collectives, and never hold more") {
  const std::vector<std::vector<index_t>> meshes{{2, 2}, {2, 3}, {4, 2}, {2, 2, 2}, {2, 3, 2}};
  for (const std::vector<index_t>& sizes : meshes)
    for (int rank = 1; rank <= (sizes.size() == 2 ? 3 : 2); ++rank) {
      constexpr text_view labels[] = {"x", "y", "z"};
      mesh_desc mesh;
      for (std::size_t a = 0; a < sizes.size(); ++a)
        mesh.axes.push_back({short_name(labels[a]), sizes[a]});
      const all_ways ways(mesh, rank);
      index_t ours = 0, lowest = 0;
      for (std::size_t i = 0; i < ways.all().size(); ++i) {
        // Bounds on the memory of all targets of the same size are the same.
        std::vector<std::pair<index_t, std::vector<index_t>>> known;
        for (std::size_t k = 0; k < ways.all().size(); ++k) {
          const index_t most = std::max(ways.size(i), ways.size(k));
          auto found = std::find_if(known.begin(), known.end(),
                                    [&](const auto& one) { return one.first == most; });
          if (found == known.end())
            found = known.insert(known.end(), {most, ways.costs_from(i, most)});
          const tensor_desc from = ways.tensor(ways.all()[i]), to = ways.tensor(ways.all()[k]);
          const redistribution way = redistribute(mesh, from, to.layout);
          CAPTURE(show(mesh, from), show(mesh, to), way.total_bytes(), found->second[k]);
          for (const planned_transfer& step : way.moves)
            REQUIRE(bytes_per_device(mesh, ways.tensor(step.after)) <= most);
          REQUIRE(way.total_bytes() >= found->second[k]);
          REQUIRE(way.total_bytes() <= 3 * found->second[k]);
          if (rank == 1) REQUIRE(way.total_bytes() == found->second[k]);
          ours += way.total_bytes();
          lowest += found->second[k];
        }
      }
      CAPTURE(mesh.devices(), rank, ours, lowest);
      CHECK(100 * ours <= 107 * lowest);
    }
}
