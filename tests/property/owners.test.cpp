// SPDX-License-Identifier: BSL-1.0
// Two and three owners compute the same bits as one owner of all devices, with the same ledger.
#include "property/owner_outcomes.hpp"
#include <shardwise/runtime/any_manual.hpp>

using namespace generated;

namespace {

/// Numbers whose sums depend on the order of their terms.
std::vector<float> rough_numbers(index_t count, std::uint64_t seed) {
  std::vector<float> all(static_cast<std::size_t>(count));
  fill_normal(random_key{seed}, 0, all.data(), count);
  return all;
}

any_tensor<float> rough(const device_pool& pool, const extents_desc& extents,
                        const layout_desc& layout, std::uint64_t seed) {
  return distribute(pool, std::span<const float>(rough_numbers(element_count(extents), seed)),
                    extents, layout);
}

layout_desc finished(layout_desc layout) {
  layout.pending = 0;
  layout.kind = reduction::sum;
  return layout;
}

}  // namespace

TEST_CASE("redistributions give the same bits and cost for all owners, and cross as pieces say") {
  for (const mesh_desc& mesh : meshes({{2}, {3}, {2, 2}, {3, 2}})) {
    const extents_desc extents{5, 3};
    const std::vector<layout_desc> sources =
        grained_layouts(mesh, 2, true, {grain::cyclic(1), grain::strided(2)});
    const std::vector<layout_desc> targets =
        grained_layouts(mesh, 2, false, {grain::cyclic(1), grain::strided(2)});
    const std::size_t stride = mesh.rank() == 1 ? 3 : 1009;
    same_for_owners(mesh, [&](const device_pool& pool, outcome& out) {
      std::size_t number = 0;
      for (const layout_desc& source : sources)
        for (const layout_desc& target : targets) {
          if (++number % stride != 0) continue;
          const any_tensor<float> x = make(pool, extents, source, number).tensor;
          const redistribution way = redistribute(mesh, x.tensor(), target);
          pool.reset_counters();
          const any_tensor<float> moved = reshard(x, target);
          sync(moved);
          if (owner_link* const link = pool.state()->link()) {
            tensor_desc now = x.tensor();
            index_t received = 0, from_hosts = 0;
            // An owner whose memory cannot be mapped counts as one of another host.
            std::vector<index_t> hosts;
            for (index_t owner = 0; owner < link->owners().count(); ++owner)
              hosts.push_back(owner == link->self() || link->group().shares_memory(owner) ? 0 : 1);
            for (const planned_transfer& move : way.moves) {
              const auto bytes = [&](list_view<const index_t> hosts_of) {
                return crossing_bytes(mesh, now, move, link->owners(), link->self(), link->rules(),
                                      hosts_of);
              };
              received += bytes({});
              from_hosts += bytes(list_view<const index_t>(hosts));
              now.layout = move.after;
            }
            const owner_traffic crossed = pool.traffic();
            const bool reads = link->rules().are_read;
            if ((reads ? crossed.bytes_read : crossed.bytes_received) != received ||
                (reads ? crossed.bytes_received : crossed.bytes_read) != 0 ||
                crossed.bytes_from_hosts != from_hosts)
              throw std::logic_error("pieces");
          }
          read(out, pool, moved);
        }
    });
  }
}

TEST_CASE("every reduction of pending terms gives the same bits for all owners") {
  for (const mesh_desc& mesh : meshes({{2, 3}, {5}, {13}, {2, 2, 2}}))
    same_for_owners(mesh, [&](const device_pool& pool, outcome& out) {
      for (reduction kind : {reduction::sum, reduction::product, reduction::max, reduction::min}) {
        std::size_t number = 0;
        for (const layout_desc& source : layouts(mesh, 2, true, kind)) {
          if (++number % (mesh.rank() == 3 ? 17 : 2) != 0) continue;
          const any_tensor<float> x = make(pool, {4, 5}, source, number).tensor;
          read(out, pool, reshard(x, finished(source)));
        }
      }
      // Pending sums that are computed: sums along split rows.
      layout_desc rows = layouts(mesh, 2, false).front();
      for (std::uint8_t a = 0; a < mesh.rank(); ++a) rows.dims[0].push_back(a);
      const any_tensor<float> x = rough(pool, {301, 7}, rows, 4);
      const any_tensor<float> total = sum(x, over{0});
      layout_desc whole;
      whole.dims.resize(1);
      read(out, pool, reshard(total, whole));
      layout_desc spread = whole;
      spread.uneven = true;
      spread.dims[0].push_back(0);
      read(out, pool, reshard(total, spread));
    });
}

TEST_CASE("products, elementwise programs and steps give the same bits for all owners") {
  for (const mesh_desc& mesh : meshes({{2, 2}, {3, 2}}))
    same_for_owners(mesh, [&](const device_pool& pool, outcome& out) {
      const layout_desc rows = layout_of(mesh, spec_desc{{"x", ""}}, {}, uneven{});
      const layout_desc inner = layout_of(mesh, spec_desc{{"", "y"}}, {}, uneven{});
      const layout_desc down = layout_of(mesh, spec_desc{{"y", ""}}, {}, uneven{});
      const layout_desc both = layout_of(mesh, spec_desc{{"x", "y"}}, {}, uneven{});
      const any_tensor<float> x = rough(pool, {7, 9}, both, 1);
      const any_tensor<float> w = rough(pool, {9, 5}, down, 2);
      pool.reset_counters();
      const any_tensor<float> h = einsum<float>("bi,io->bo", x, w);
      const any_tensor<float> y = relu(reshard(h, rows) * 2.0F + 0.5F);
      read(out, pool, y);
      const any_tensor<float> z = exp(x) - mean(reshard(x, inner), over{0}, keep_dims) * 0.25F;
      read(out, pool, z);
      read(out, pool, reshard(y - reshard(y, inner), both));
      any_tensor<float> weight = reshard(w, down);
      for (int i = 0; i < 3; ++i)
        weight = step(pool, [&] {
          any_tensor<float> next =
              weight - reshard(einsum<float>("bi,bo->io", reshard(x, rows), y), down) * 0.01F;
          return next;
        });
      read(out, pool, weight);
    });
}

TEST_CASE("manual work, device by device, gives the same bits for all owners") {
  for (const mesh_desc& mesh : meshes({{3}, {2, 3}, {2, 2, 2}}))
    same_for_owners(mesh, [&](const device_pool& pool, outcome& out) {
      std::size_t number = 0;
      for (layout_desc layout : layouts(mesh, 2, false)) {
        if (++number % (mesh.rank() == 3 ? 13 : 2) != 0) continue;
        layout.uneven = false;
        const any_tensor<float> x = rough(pool, {24, 24}, layout, number);
        const any_tensor<float> mine = enable_manual_sharding(x);
        read(out, pool, disable_manual_sharding(mine * 1.5F + mine, layout));
        for (reduction kind : {reduction::sum, reduction::max})
          read(out, pool,
               apply_collective(reduce(kind, mine, over{0, 1}),
                                {.reduce = kind, .axes = mine.layout().manual_axes()}));
      }
    });
}

TEST_CASE("what the mesh orders anew is owned by device, and gives the same bits") {
  const index_t by_position[] = {3, 0, 2, 5, 1, 4};
  const index_t by_device[] = {1, 4, 2, 0, 5, 3};
  mesh_desc mesh = meshes({{2, 3}}).front();
  mesh.order = device_order(device_numbers(by_position), device_numbers(by_device));
  REQUIRE(validate(mesh).ok());
  same_for_owners(mesh, [&](const device_pool& pool, outcome& out) {
    const layout_desc source = layout_of(mesh, spec_desc{{"x", ""}}, {"y"}, uneven{});
    const any_tensor<float> x = make(pool, {5, 4}, source, 3).tensor;
    read(out, pool, reshard(x, spec_desc{{"y", "x"}}));
    read(out, pool, reshard(x, spec_desc{{"", ""}}));
    const any_tensor<float> rows = rough(pool, {9, 4}, finished(source), 5);
    read(out, pool, reshard(sum(rows, over{0}), spec_desc{{"y"}}));
  });
}
