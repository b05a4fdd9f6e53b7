// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <shardwise/shardwise.hpp>

#include <cstdint>
#include <vector>

/// Small meshes, layouts and tensors for exhaustive checks of properties.
namespace generated {

using namespace shardwise;

/// Meshes of one to three axes with these sizes.
inline std::vector<mesh_desc> meshes(const std::vector<std::vector<index_t>>& sizes) {
  std::vector<mesh_desc> all;
  for (const std::vector<index_t>& shape : sizes) {
    mesh_desc mesh;
    for (std::size_t a = 0; a < shape.size(); ++a)
      mesh.axes.push_back({short_name(text_view(&"xyz"[a], 1)), shape[a]});
    all.push_back(mesh);
  }
  return all;
}

/// Every layout of a rank on a mesh: each axis is unused, pending, or at any position in any
/// dimension.
inline std::vector<layout_desc> layouts(const mesh_desc& mesh, int rank, bool pending,
                                        reduction kind = reduction::sum) {
  layout_desc empty;
  empty.dims.resize(static_cast<std::size_t>(rank));
  empty.uneven = true;
  std::vector<layout_desc> all{empty};
  for (std::uint8_t a = 0; a < mesh.rank(); ++a) {
    std::vector<layout_desc> longer;
    for (const layout_desc& layout : all) {
      longer.push_back(layout);
      if (pending) {
        layout_desc next = layout;
        next.pending = static_cast<std::uint8_t>(next.pending | 1U << a);
        next.kind = kind;
        longer.push_back(next);
      }
      for (int d = 0; d < rank; ++d)
        for (std::size_t place = 0; place <= layout.dims[d].size(); ++place) {
          layout_desc next = layout;
          axis_list axes;
          for (std::size_t i = 0; i < place; ++i) axes.push_back(layout.dims[d][i]);
          axes.push_back(a);
          for (std::size_t i = place; i < layout.dims[d].size(); ++i)
            axes.push_back(layout.dims[d][i]);
          next.dims[d] = axes;
          longer.push_back(next);
        }
    }
    all = longer;
  }
  return all;
}

/// Every layout of a rank on a mesh with every choice of these grains for the split dimensions.
inline std::vector<layout_desc> grained_layouts(const mesh_desc& mesh, int rank, bool pending,
                                                const std::vector<grain>& grains) {
  std::vector<layout_desc> all = layouts(mesh, rank, pending);
  for (int d = 0; d < rank; ++d) {
    std::vector<layout_desc> more = all;
    for (const layout_desc& layout : all)
      for (grain how : grains)
        if (how.over(layout.dims[d].ssize()) == how) {
          more.push_back(layout);
          more.back().grains[d] = how;
        }
    all = more;
  }
  return all;
}

/// A small pseudo-random generator of integers, the same on every machine.
class numbers {
 public:
  explicit numbers(std::uint64_t seed) : state_(seed * 2 + 1) {}
  index_t below(index_t n) {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<index_t>((state_ >> 33U) % static_cast<std::uint64_t>(n));
  }

 private:
  std::uint64_t state_;
};

/// Small integers: sums and products of a few of them are exact in float.
inline std::vector<float> whole_numbers(index_t count, std::uint64_t seed) {
  numbers random(seed);
  std::vector<float> all;
  for (index_t i = 0; i < count; ++i) all.push_back(static_cast<float>(random.below(7) - 3));
  return all;
}

/// Reduces `value` into `into` element by element: the reference for the reductions of the library.
inline float reduced(reduction kind, float into, float value) {
  switch (kind) {
    case reduction::sum:
      return into + value;
    case reduction::product:
      return into * value;
    case reduction::max:
      return into < value ? value : into;
    case reduction::min:
      return value < into ? value : into;
  }
  return 0;
}

/// A tensor whose shards are filled separately, and the value that it represents.
struct tensor_and_value {
  any_tensor<float> tensor;
  std::vector<float> value;
};

/// Fills every distinct shard with other numbers; the terms of a pending reduction all differ.
inline tensor_and_value make(const device_pool& pool, const extents_desc& extents,
                             const layout_desc& layout, std::uint64_t seed) {
  auto place = pool.state()->place(tensor_desc{element::f32, extents, layout});
  const shard_table& where = *place;
  std::vector<float> value(static_cast<std::size_t>(element_count(extents)));
  std::vector<bool> seen(value.size(), false);
  const inplace_vector<index_t, max_rank> strides = row_major(extents);
  numbers random(seed);
  std::vector<shard_buffer<float>> shards;
  for (index_t s = 0; s < where.count(); ++s) {
    const held_box part = where.held_by(where.device_of(s));
    shard_buffer<float> shard(pool.state()->storage(), element_count(extents_of(part)));
    inplace_vector<index_t, max_rank> at;
    at.resize(part.size());
    for (index_t i = 0; i < shard.size(); ++i) {
      const float number = static_cast<float>(random.below(7) - 3);
      shard.writable()[i] = number;
      index_t offset = 0;
      for (int d = 0; d < at.ssize(); ++d) offset += part[d].global(at[d]) * strides[d];
      const auto p = static_cast<std::size_t>(offset);
      value[p] = seen[p] ? reduced(layout.kind, value[p], number) : number;
      seen[p] = true;
      for (int d = at.ssize() - 1; d >= 0; --d) {
        if (++at[d] < part[d].size()) break;
        at[d] = 0;
      }
    }
    shards.push_back(where.is_here(s) ? shard : shard_buffer<float>());
  }
  auto made = std::make_shared<tensor_node>(pool.state(), std::move(place), shards);
  made->charge(pool.state()->memory());
  return {internal::handle_of<any_tensor<float>>(std::move(made)), value};
}

/// The elements of a tensor on the host, pending reductions finished first.
inline std::vector<float> values(const any_tensor<float>& x) {
  layout_desc whole = x.layout();
  whole.pending = 0;
  whole.kind = reduction::sum;
  const auto host = to_host(reshard(x, whole));
  return {host.elements().begin(), host.elements().end()};
}

}  // namespace generated
