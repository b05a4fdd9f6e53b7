// SPDX-License-Identifier: BSL-1.0
// All small meshes, layouts and sizes, for properties that hold for all of them.
#pragma once

#include <shardwise/paper.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace paper {

using namespace shardwise;

/// Every mesh of `rank` axes x, y, z, w with sizes from 1 to `largest`.
inline std::vector<mesh_desc> meshes(int rank, index_t largest = 3) {
  constexpr text_view labels[] = {"x", "y", "z", "w"};
  std::vector<mesh_desc> all{{}};
  for (int a = 0; a < rank; ++a) {
    std::vector<mesh_desc> longer;
    for (const mesh_desc& mesh : all)
      for (index_t size = 1; size <= largest; ++size) {
        longer.push_back(mesh);
        longer.back().axes.push_back({short_name(labels[a]), size});
      }
    all = longer;
  }
  return all;
}

/// Every layout of this rank over `axes` axes: each axis splits one dimension, at any place among
/// that dimension's axes, or none; then it may be pending, if `pending` says so. The split
/// dimensions are contiguous or have one of `grains`.
inline std::vector<layout_desc> layouts(int axes, int rank, bool pending = false,
                                        const std::vector<grain>& grains = {}) {
  layout_desc empty;
  empty.dims.resize(static_cast<std::size_t>(rank));
  std::vector<layout_desc> all{empty};
  for (int a = 0; a < axes; ++a) {
    const auto axis = static_cast<std::uint8_t>(a);
    std::vector<layout_desc> more;
    for (const layout_desc& layout : all) {
      more.push_back(layout);
      if (pending) {
        more.push_back(layout);
        more.back().pending = static_cast<std::uint8_t>(layout.pending | 1U << a);
      }
      for (int d = 0; d < rank; ++d)
        for (int place = 0; place <= layout.dims[d].ssize(); ++place) {
          axis_list longer;
          for (int i = 0; i < layout.dims[d].ssize(); ++i) {
            if (i == place) longer.push_back(axis);
            longer.push_back(layout.dims[d][i]);
          }
          if (place == layout.dims[d].ssize()) longer.push_back(axis);
          more.push_back(layout);
          more.back().dims[d] = longer;
        }
    }
    all = more;
  }
  for (int d = 0; d < rank; ++d)
    for (std::size_t i = 0, contiguous = all.size(); i < contiguous; ++i)
      for (grain how : grains)
        if (how.over(all[i].dims[d].ssize()) == how) {
          all.push_back(all[i]);
          all.back().grains[d] = how;
        }
  for (layout_desc& layout : all) layout.uneven = true;
  return all;
}

/// Pseudo-random numbers that are the same on every machine.
class numbers {
 public:
  explicit numbers(std::uint64_t seed) : state_(seed * 2 + 1) {}
  /// Returns a number from 0 to `below` - 1.
  index_t operator()(index_t below) {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<index_t>((state_ >> 33U) % static_cast<std::uint64_t>(below));
  }

 private:
  std::uint64_t state_;
};

/// Describes a tensor and its mesh, for messages of failed tests.
inline std::string show(const mesh_desc& mesh, const tensor_desc& tensor) {
  message_text out;
  write_tensor(out, tensor.type, mesh, tensor.extents, tensor.layout) << " on " << mesh;
  return out.c_str();
}

/// True if the mesh and the layout are valid.
inline bool is_legal_layout(const mesh_desc& mesh, const layout_desc& layout,
                            const extents_desc& extents) {
  unsigned used = layout.pending;
  for (const axis_list& dim : layout.dims)
    for (std::uint8_t a : dim) {
      if (a >= mesh.rank() || (used >> a & 1U) != 0) return false;
      used |= 1U << a;
    }
  return layout.pending >> mesh.rank() == 0 && validate(mesh, layout, extents).ok();
}

}  // namespace paper
