// SPDX-License-Identifier: BSL-1.0
// Operations on tensors with every combination of layouts, compared with the same operations on
// unsplit tensors.
#pragma once

#include "property/every_owner.hpp"
#include "property/generated.hpp"

#include <algorithm>
#include <bit>
#include <functional>

namespace generated {

/// Returns the bits of numbers, including NaN; if `one_zero`, -0 has the bits of 0.
inline std::vector<std::uint32_t> bits_of(const std::vector<float>& values, bool one_zero) {
  std::vector<std::uint32_t> all;
  for (float value : values)
    all.push_back(std::bit_cast<std::uint32_t>(one_zero ? value + 0.0F : value));
  return all;
}

/// An operation on tensors with run-time layouts.
using tensor_function = std::function<any_tensor<float>(const std::vector<any_tensor<float>>&)>;
/// Returns the layouts to try for an operand of a rank on a mesh.
using layout_choices_of = std::function<std::vector<layout_desc>(const mesh_desc&, int rank)>;

/// Applies `f` to tensors with these layouts and to the same tensors unsplit, and compares bits, if
/// the rules allow the layouts; returns whether they do. The sign of zeros is not compared if terms
/// are added later, since 1 + -1 is 0 but -0 + -0 is -0.
inline bool agrees(const device_pool& pool, const std::vector<extents_desc>& extents,
                   const std::vector<layout_desc>& chosen, const tensor_function& f) {
  std::vector<any_tensor<float>> spread;
  std::vector<any_tensor<float>> held;
  for (std::size_t o = 0; o < extents.size(); ++o) {
    const tensor_and_value x = make(pool, extents[o], chosen[o], o + 1);
    spread.push_back(x.tensor);
    layout_desc whole;
    whole.dims.resize(extents[o].size());
    held.push_back(distribute(pool, std::span<const float>(x.value), extents[o], whole));
  }
  std::vector<float> result;
  try {
    result = values(f(spread));
  } catch (const error&) {
    return false;
  }
  const std::vector<float> expected = values(f(held));
  const bool pending = std::any_of(chosen.begin(), chosen.end(),
                                   [](const layout_desc& layout) { return layout.pending != 0; });
  require(bits_of(result, pending) == bits_of(expected, pending));
  return true;
}

/// Checks `f` for all combinations of layouts on meshes of these sizes, and returns how many are
/// legal. `layouts_of(mesh, rank)` returns the layouts of one operand. With two and three owners of
/// the devices, one combination in `stride` is checked.
inline int agreements(const std::vector<std::vector<index_t>>& sizes,
                      const std::vector<extents_desc>& extents, const tensor_function& f,
                      const layout_choices_of& layouts_of, std::size_t stride = 101) {
  int legal = 0;
  for (const mesh_desc& mesh : meshes(sizes)) {
    std::vector<std::vector<layout_desc>> all;
    for (const extents_desc& e : extents) all.push_back(layouts_of(mesh, e.ssize()));
    std::vector<char> is_legal;
    for_all_owners(mesh, stride, [&](const device_pool& pool, every pick) {
      std::vector<std::size_t> at(extents.size(), 0);
      std::size_t number = 0;
      for (bool more = true; more; ++number) {
        if (pick()) {
          std::vector<layout_desc> chosen;
          for (std::size_t o = 0; o < all.size(); ++o) chosen.push_back(all[o][at[o]]);
          const bool allowed = agrees(pool, extents, chosen, f);
          if (pick.all())
            is_legal.push_back(allowed ? 1 : 0);
          else
            require(allowed == (is_legal[number] != 0));
        }
        std::size_t o = 0;
        while (o < at.size() && ++at[o] == all[o].size()) at[o++] = 0;
        more = o < at.size();
      }
    });
    legal += static_cast<int>(std::count(is_legal.begin(), is_legal.end(), 1));
  }
  return legal;
}

}  // namespace generated
