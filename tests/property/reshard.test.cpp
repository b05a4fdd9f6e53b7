// SPDX-License-Identifier: BSL-1.0
#include "property/every_owner.hpp"
#include "property/generated.hpp"
#include "support/catch.hpp"

using namespace generated;

namespace {

const std::vector<std::vector<index_t>> shapes{{1},    {2},    {3},       {2, 2},
                                               {3, 2}, {2, 1}, {2, 2, 2}, {2, 3, 2}};

}  // namespace

TEST_CASE("what is distributed is what is gathered, on every mesh under every layout") {
  for (const mesh_desc& mesh : meshes(shapes))
    for_all_owners(mesh, 5, [&](const device_pool& pool, every pick) {
      for (const extents_desc& extents : {extents_desc{}, extents_desc{5}, extents_desc{0},
                                          extents_desc{3, 4}, extents_desc{1, 7, 2}}) {
        const std::vector<float> host = whole_numbers(element_count(extents), 1);
        for (const layout_desc& layout : layouts(mesh, extents.ssize(), false)) {
          if (!pick()) continue;
          const auto back =
              to_host(distribute(pool, std::span<const float>(host), extents, layout));
          require(std::vector<float>(back.elements().begin(), back.elements().end()) == host);
        }
      }
    });
}

TEST_CASE("what is distributed with a reduction pending is that value when it is reduced") {
  const mesh_desc mesh = meshes({{2, 3}}).front();
  const std::vector<float> host = whole_numbers(20, 9);
  for_all_owners(mesh, 3, [&](const device_pool& pool, every pick) {
    for (reduction kind : {reduction::sum, reduction::product, reduction::max, reduction::min})
      for (const layout_desc& layout : layouts(mesh, 2, true, kind))
        if (pick())
          require(values(distribute(pool, std::span<const float>(host), {4, 5}, layout)) == host);
  });
}

TEST_CASE("every reshard between every two layouts gives the right bits and what its plan counts") {
  for (const mesh_desc& mesh : meshes({{2}, {2, 2}, {3, 2}, {2, 1}, {2, 2, 2}}))
    for_all_owners(mesh, 41, [&](const device_pool& pool, every pick) {
      const extents_desc extents = mesh.rank() == 3 ? extents_desc{5, 3} : extents_desc{5, 3, 2};
      const std::vector<layout_desc> targets = layouts(mesh, extents.ssize(), false);
      std::uint64_t seed = 0;
      for (const layout_desc& source : layouts(mesh, extents.ssize(), true)) {
        const tensor_and_value x = make(pool, extents, source, ++seed);
        for (const layout_desc& target : targets) {
          if (!pick()) continue;
          pool.reset_counters();
          const any_tensor<float> moved = reshard(x.tensor, target);
          sync(moved);
          const redistribution way = redistribute(mesh, x.tensor.tensor(), target);
          require(pool.counters().bytes_moved() == way.total_bytes());
          require(moved.layout() == (way.moves.empty() ? source : target));
          const auto host = to_host(moved);
          require(std::vector<float>(host.elements().begin(), host.elements().end()) == x.value);
        }
      }
    });
}

TEST_CASE("every kind of pending reduction is finished by its own reduction") {
  const mesh_desc mesh = meshes({{2, 3}}).front();
  for_all_owners(mesh, 29, [&](const device_pool& pool, every pick) {
    for (reduction kind : {reduction::sum, reduction::product, reduction::max, reduction::min})
      for (const layout_desc& source : layouts(mesh, 2, true, kind)) {
        const tensor_and_value x = make(pool, {4, 5}, source, 7);
        for (const layout_desc& target : layouts(mesh, 2, true, kind)) {
          if (!pick()) continue;
          if ((target.pending & ~unsigned{source.pending}) == 0)
            require(values(reshard(x.tensor, target)) == x.value);
          else
            require(is_refused([&] { (void)reshard(x.tensor, target); }));
        }
      }
  });
}

TEST_CASE("replicas share one buffer") {
  const mesh_desc mesh = meshes({{2, 2}}).front();
  const device_pool pool(mesh);
  const any_tensor<float> x =
      reshard(make(pool, {4, 4}, layouts(mesh, 2, false).back(), 3).tensor, spec_desc{{"", ""}});
  sync(x);
  REQUIRE(x.share()->where().count() == 1);
  REQUIRE(local(x, 0).elements().data() == local(x, 3).elements().data());
}
