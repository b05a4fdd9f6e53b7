// SPDX-License-Identifier: BSL-1.0
#include "support/catch.hpp"
#include "unit/mesh/topology_facts.hpp"
#include <shardwise/mesh/machines.hpp>

#include <algorithm>
#include <set>
#include <vector>

using namespace shardwise;

namespace {

// Every list of `rank` sizes from 1 to `largest`.
template <class Sizes>
std::vector<Sizes> all_sizes(int rank, index_t largest) {
  std::vector<Sizes> all{{}};
  for (int a = 0; a < rank; ++a) {
    std::vector<Sizes> longer;
    for (const Sizes& sizes : all)
      for (index_t size = 1; size <= largest; ++size) {
        longer.push_back(sizes);
        longer.back().push_back(size);
      }
    all = longer;
  }
  return all;
}

// Every mesh of `rank` axes with this many devices.
std::vector<mesh_shape> all_meshes(int rank, index_t devices) {
  if (rank == 0) return devices == 1 ? std::vector<mesh_shape>{{}} : std::vector<mesh_shape>{};
  std::vector<mesh_shape> all;
  for (index_t last = 1; last <= devices; ++last) {
    if (devices % last != 0) continue;
    for (mesh_shape& mesh : all_meshes(rank - 1, devices / last)) {
      mesh.push_back(last);
      all.push_back(mesh);
    }
  }
  return all;
}

// A second implementation of the documented search, with lists of axes instead of bits.
struct searched {
  bool found = true;
  std::vector<std::vector<int>> taken;
};
searched search(const physical_shape& machine, const mesh_shape& mesh) {
  std::vector<index_t> rest(machine.begin(), machine.end());
  searched result;
  result.taken.resize(mesh.size());
  const int rank = machine.ssize();
  for (std::size_t l = mesh.size(); l-- > 0;) {
    std::vector<std::vector<int>> candidates;
    for (int a = 0; a < rank; ++a) {
      candidates.push_back({a});
      for (int b = a + 1; b < rank; ++b) {
        candidates.push_back({a, b});
        for (int c = b + 1; c < rank; ++c) candidates.push_back({a, b, c});
      }
    }
    std::stable_sort(candidates.begin(), candidates.end(), [](const auto& x, const auto& y) {
      return x.size() != y.size() ? x.size() > y.size() : x < y;
    });
    const auto match = std::find_if(candidates.begin(), candidates.end(), [&](const auto& axes) {
      index_t product = 1;
      for (int a : axes) product *= rest[static_cast<std::size_t>(a)];
      return product == mesh[l];
    });
    if (match != candidates.end()) {
      result.taken[l] = *match;
      for (int a : *match) rest[static_cast<std::size_t>(a)] = 0;
    } else if (mesh[l] > 1) {
      return {false, {}};
    }
  }
  return result;
}

// Every position of a machine, row-major.
std::vector<physical_shape> places(const physical_shape& machine) {
  std::vector<physical_shape> all{{}};
  for (index_t size : machine) {
    std::vector<physical_shape> longer;
    for (const physical_shape& place : all)
      for (index_t i = 0; i < size; ++i) {
        longer.push_back(place);
        longer.back().push_back(i);
      }
    all = longer;
  }
  return all;
}

// The position of each device of the mesh, row-major over the mesh.
std::vector<physical_shape> laid_out(const torus_assignment& assignment) {
  const std::vector<physical_shape> all = places(assignment.physical);
  std::vector<physical_shape> mesh(all.size());
  for (const physical_shape& place : all) {
    index_t number = 0;
    for (int l = 0; l < assignment.logical.ssize(); ++l)
      number = number * assignment.logical[l] + assignment.position(l, place);
    mesh.at(static_cast<std::size_t>(number)) = place;
  }
  return mesh;
}

void check_products(const torus_assignment& found) {
  for (int p = 0; p < found.physical.ssize(); ++p) CHECK(found.used(p) == found.physical[p]);
  for (int l = 0; l < found.logical.ssize(); ++l) {
    index_t product = 1;
    for (int p = 0; p < found.physical.ssize(); ++p) product *= found.factor[p][l];
    CHECK(product == found.logical[l]);
  }
}

void check_every_place_is_used_once(const torus_assignment& found) {
  const std::vector<physical_shape> mesh = laid_out(found);
  for (const physical_shape& place : mesh) CHECK(place.size() == found.physical.size());
  std::set<std::vector<index_t>> different;
  for (const physical_shape& place : mesh) different.emplace(place.begin(), place.end());
  CHECK(different.size() == mesh.size());
}

}  // namespace

TEST_CASE("logical axes take the physical axes that the facts say") {
  for (const assignment_fact& fact : assignment_facts) {
    CAPTURE(static_cast<int>(&fact - assignment_facts));
    CHECK(holds(fact));
  }
  for (const split_fact& fact : split_facts) {
    CAPTURE(static_cast<int>(&fact - split_facts));
    CHECK(holds(fact));
  }
}

TEST_CASE("the search finds what the documented order finds, on every small torus") {
  int found_some = 0, found_none = 0;
  for (const physical_shape& machine : all_sizes<physical_shape>(3, 4)) {
    const index_t devices = bounded_product(machine, 1000);
    for (int rank = 1; rank <= 3; ++rank)
      for (const mesh_shape& mesh : all_meshes(rank, devices)) {
        const auto [verdict, found] = assign_whole_axes(machine, mesh);
        const searched expected = search(machine, mesh);
        REQUIRE(verdict.ok() == expected.found);
        if (!verdict.ok()) {
          CHECK(verdict.rule == topology_rule::axis_has_no_match);
          CHECK(verdict.want == mesh[verdict.axis]);
          ++found_none;
          continue;
        }
        ++found_some;
        for (int l = 0; l < rank; ++l) {
          const auto& axes = expected.taken[static_cast<std::size_t>(l)];
          CHECK(std::equal(axes.begin(), axes.end(), found.taken[l].begin(), found.taken[l].end()));
        }
        CHECK_FALSE(found.splits());
        check_products(found);
        check_every_place_is_used_once(found);
      }
  }
  CHECK(found_some > 200);
  CHECK(found_none > 200);
}

TEST_CASE("a step along a logical axis of whole axes is a step to a neighbour on each of them") {
  for (const physical_shape& machine : all_sizes<physical_shape>(3, 4)) {
    const index_t devices = bounded_product(machine, 1000);
    for (const mesh_shape& mesh : all_meshes(2, devices)) {
      const auto [verdict, found] = assign_whole_axes(machine, mesh);
      if (!verdict.ok()) continue;
      const std::vector<physical_shape> all = laid_out(found);
      for (index_t i = 0; i < devices; ++i)
        for (int l = 0; l < 2; ++l) {
          const index_t stride = l == 0 ? mesh[1] : 1;
          const index_t here = i / stride % mesh[l];
          const index_t next = here + 1 < mesh[l] ? i + stride : i - here * stride;
          const physical_shape& from = all[static_cast<std::size_t>(i)];
          const physical_shape& to = all[static_cast<std::size_t>(next)];
          bool carry = true;  // the last axis steps, those before it when it comes round
          for (int t = found.taken[l].ssize() - 1; t >= 0; --t) {
            const int p = found.taken[l][t];
            const topology_axis ring{.size = machine[p], .wrap_multiple = 1};
            CHECK(ring.hops(from[p], to[p]) == (carry && machine[p] > 1 ? 1 : 0));
            carry = carry && to[p] == 0;
          }
          for (int p = 0; p < 3; ++p)
            if (!found.taken[l].contains(static_cast<std::uint8_t>(p))) CHECK(from[p] == to[p]);
        }
    }
  }
}

TEST_CASE("split axes suit every mesh with the right number of devices") {
  for (const physical_shape& machine : all_sizes<physical_shape>(3, 4))
    for (const mesh_shape& mesh : all_meshes(3, bounded_product(machine, 1000)))
      for (sharing preference : {sharing::taken_axes_first, sharing::free_axes_first}) {
        const auto [verdict, found] = assign_split_axes(machine, mesh, {}, preference);
        REQUIRE(verdict.ok());
        check_products(found);
        check_every_place_is_used_once(found);
      }
}

TEST_CASE("among ways to share, the best takes whole axes, then more of them") {
  const physical_shape machine{4, 4, 8};
  const axis_factors unused{1, 1, 1};
  const auto better = [&](const axis_factors& first, const axis_factors& second) {
    return is_better(first, second, machine, unused, sharing::taken_axes_first) &&
           !is_better(second, first, machine, unused, sharing::taken_axes_first);
  };
  CHECK(better({4, 4, 1}, {4, 1, 4}));
  CHECK(better({4, 1, 4}, {2, 2, 4}));
  CHECK(better({4, 1, 2}, {1, 4, 2}));
  CHECK(is_better({2, 2, 1}, {4, 1, 1}, {2, 2, 4}, unused, sharing::taken_axes_first));
  CHECK_FALSE(better({4, 4, 1}, {4, 4, 1}));
  const axis_factors used{1, 2, 4};
  CHECK(is_better({1, 2, 1}, {2, 1, 1}, {4, 4, 4}, used, sharing::taken_axes_first));
  CHECK(is_better({2, 1, 1}, {1, 2, 1}, {4, 4, 4}, used, sharing::free_axes_first));
}

TEST_CASE("feasible ways are those whose factors divide what is free") {
  for (const physical_shape& machine : all_sizes<physical_shape>(3, 6))
    for (index_t size : {1, 2, 3, 4, 6, 12}) {
      std::vector<std::vector<index_t>> expected, met;
      for (index_t x = size; x > 0; --x)
        for (index_t y = size; y > 0; --y)
          for (index_t z = size; z > 0; --z)
            if (x * y * z == size && machine[0] % x == 0 && machine[1] % y == 0 &&
                machine[2] % z == 0)
              expected.push_back({x, y, z});
      for_each_feasible(machine, {1, 1, 1}, size,
                        [&](const axis_factors& way) { met.emplace_back(way.begin(), way.end()); });
      CHECK(met == expected);
    }
  int ways = 0;
  for_each_feasible({2, 2, 1}, {1, 2, 1}, 4, [&](const axis_factors&) { ++ways; });
  CHECK(ways == 0);
}

TEST_CASE("prime factors rise and multiply to their number") {
  for (index_t number = 1; number <= 2000; ++number) {
    index_t product = 1, last = 2;
    for (index_t factor : prime_factors(number)) {
      CHECK(factor >= last);
      for (index_t d = 2; d * d <= factor; ++d) CHECK(factor % d != 0);
      product *= factor;
      last = factor;
    }
    CHECK(product == number);
  }
  CHECK(prime_factors(index_t{1} << 61).size() == 61);
}

TEST_CASE("sizes that are no machine or no mesh are refused") {
  CHECK(assign_whole_axes({2, 2, 1}, {2, 3}).verdict.rule == topology_rule::device_count_differs);
  CHECK(assign_split_axes({2, 2, 1}, {8}).verdict.rule == topology_rule::device_count_differs);
  for (index_t size : {index_t{0}, index_t{-4}, index_t{1} << 62}) {
    CHECK(assign_whole_axes({2, 2, size}, {4}).verdict.rule ==
          topology_rule::shape_is_not_positive);
    CHECK(assign_split_axes({2, 2, 1}, {4, size}).verdict.rule ==
          topology_rule::shape_is_not_positive);
  }
  const topology_verdict none = assign_whole_axes({4, 4, 4}, {4, 2, 8}).verdict;
  CHECK(none.axis == 2);
  CHECK(none.want == 8);
  CHECK(none.physical == physical_shape{4, 4, 4});
  CHECK(assign_whole_axes({4, 4, 4}, {2, 8, 4}).verdict.physical == physical_shape{0, 4, 4});
}

TEST_CASE("whole axes add their rings, parts count as lines") {
  const topology machine = slice_of(machines::tpu_v5p, {4, 4, 8});
  const auto whole = assign_whole_axes({4, 4, 8}, {8, 16}).assignment;
  CHECK(bytes_per_second(machine, whole, 0) == Approx(180e9));
  CHECK(bytes_per_second(machine, whole, 1) == Approx(360e9));
  // y is shared: neighbours on y for the second axis, every other device for the first.
  const auto split = assign_split_axes({4, 4, 8}, {2, 2, 8, 4}).assignment;
  CHECK(bytes_per_second(machine, split, 0) == Approx(45e9));
  CHECK(bytes_per_second(machine, split, 1) == Approx(90e9));
  CHECK(bytes_per_second(machine, split, 3) == Approx(180e9));
}
