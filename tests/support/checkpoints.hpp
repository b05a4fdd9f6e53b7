// SPDX-License-Identifier: BSL-1.0
// States that are saved with one layout and loaded with others, and what their elements are.
#pragma once

#include <shardwise/checkpoint/checkpoint.hpp>
#include <shardwise/checkpoint/save_checkpoint.hpp>
#include <shardwise/shardwise.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace support {

using namespace shardwise;

/// How the tensors of a state are split: on which mesh, and by which axes.
struct placement {
  const char* name;
  mesh_desc mesh;
  spec_desc of_matrix, of_experts, of_line;
  policy_desc policy = uneven{};
};

/// A dozen of them. The extents of `saved_state` are divisible by few of the parts.
[[nodiscard]] inline std::vector<placement> placements() {
  const auto line = [](index_t size) { return mesh_desc{{axis_desc{"x", size}}}; };
  const mesh_desc square{{axis_desc{"x", 2}, axis_desc{"y", 2}}};
  const mesh_desc cube{{axis_desc{"x", 2}, axis_desc{"y", 3}, axis_desc{"z", 2}}};
  return {
      {"one device", line(1), {{"", ""}}, {{"", "", ""}}, {{""}}},
      {"rows", line(4), {{"x", ""}}, {{"x", "", ""}}, {{"x"}}},
      {"columns", line(3), {{"", "x"}}, {{"", "", "x"}}, {{"x"}}},
      {"both", square, {{"x", "y"}}, {{"", "x", "y"}}, {{"y"}}},
      {"both, swapped", square, {{"y", "x"}}, {{"y", "", "x"}}, {{"x"}}},
      {"replicated", square, {{"", ""}}, {{"", "", ""}}, {{""}}},
      {"rows and replicas", square, {{"y", ""}}, {{"x", "", ""}}, {{""}}},
      {"rows of two axes", cube, {{"x,y", ""}}, {{"z", "x", "y"}}, {{"x,y,z"}}},
      {"cut once", cube, {{"y,z", "x"}}, {{"", "", "x,y,z"}}, {{"y,z"}}, single_cut{}},
      {"block-cyclic", square, {{"x%7", "y%5"}}, {{"x%1", "", "y%2"}}, {{"x%1000"}}},
      {"strided", line(3), {{"x*4", ""}}, {{"", "x*2", ""}}, {{"x*5"}}},
      {"more devices than rows", line(9), {{"x", ""}}, {{"x", "", ""}}, {{"x"}}},
  };
}

/// Tensors of all kinds: `matrix` and `line` have several chunks, `few` fewer elements than
/// devices, `scalar` rank 0, and `empty` no elements.
struct saved_state {
  any_tensor<double> matrix;
  any_tensor<bfloat16> experts;
  any_tensor<std::int8_t> line;
  any_tensor<bool> few;
  any_tensor<float> scalar;
  any_tensor<float> empty;
};

/// Bits that look like any others, of the element with this row-major number.
[[nodiscard]] constexpr std::uint64_t bits_at(std::uint64_t number, std::uint64_t seed) noexcept {
  std::uint64_t z = (number + 1) * 0x9E3779B97F4A7C15U + seed;
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31U);
}

template <class T>
[[nodiscard]] T element_at(const extents_desc& extents, const global_index& at,
                           std::uint64_t seed) {
  std::uint64_t number = 0;
  for (int d = 0; d < extents.ssize(); ++d)
    number = number * static_cast<std::uint64_t>(extents[d]) + static_cast<std::uint64_t>(at[d]);
  const std::uint64_t bits = bits_at(number, seed);
  if constexpr (std::is_same_v<T, bool>) {
    return bits % 2 != 0;
  } else {
    // Also bits that are no numbers.
    T value{};
    std::memcpy(static_cast<void*>(&value), &bits, sizeof value);
    return value;
  }
}

template <class T>
[[nodiscard]] any_tensor<T> made(const device_pool& pool, const placement& where,
                                 const spec_desc& spec, const extents_desc& extents,
                                 std::uint64_t seed) {
  const layout_desc layout = layout_of(where.mesh, spec, {}, where.policy);
  if (seed == 0) return zeros<T>(pool, extents, layout);
  return generate<T>(
      pool, [=](const global_index& at) { return element_at<T>(extents, at, seed); }, extents,
      layout);
}

/// Returns a state of these extents; the seed 0 makes zeros.
[[nodiscard]] inline saved_state make_state(const device_pool& pool, const placement& where,
                                            std::uint64_t seed, index_t rows = 330) {
  return {made<double>(pool, where, where.of_matrix, {rows, 1001}, seed),
          made<bfloat16>(pool, where, where.of_experts, {5, 6, 14}, seed),
          made<std::int8_t>(pool, where, where.of_line, {rows * 3301}, seed),
          made<bool>(pool, where, where.of_line, {3}, seed),
          made<float>(pool, where, spec_desc{}, {}, seed),
          made<float>(pool, where, where.of_line, {0}, seed)};
}

/// Returns the bytes of a state, by tensors.
template <class State>
[[nodiscard]] std::vector<std::vector<std::byte>> bytes_of(const State& state) {
  std::vector<std::vector<std::byte>> all;
  for (const auto& each : state_dict(state)) all.push_back(each.bytes());
  return all;
}

/// What a process reads of a checkpoint at least, found element by element: each chunk that has one
/// which a device of this process holds.
template <class State>
[[nodiscard]] checkpoint_traffic least_traffic(const checkpoint& saved, const State& state) {
  checkpoint_traffic all;
  for (const auto& each : state_dict(state)) {
    const extents_desc& extents = each.tensor().extents;
    const auto number_of = [&](const held_box& box, index_t place) {
      index_t number = 0, stride = 1;
      for (int d = box.ssize(); d-- > 0; place /= box[d].size()) {
        number += box[d].global(place % box[d].size()) * stride;
        stride *= extents[d];
      }
      return static_cast<std::size_t>(number);
    };
    const auto count_of = [](const held_box& box) { return element_count(extents_of(box)); };
    std::vector<bool> is_wanted(static_cast<std::size_t>(element_count(extents)));
    const shard_table& where = each.share()->where();
    for (index_t device = 0; device < where.devices(); ++device) {
      if (!where.owns(device)) continue;
      const held_box box = where.held_by(device);
      for (index_t i = 0; i < count_of(box); ++i) is_wanted[number_of(box, i)] = true;
    }
    const index_t width = size_of(each.tensor().type), in_chunk = checkpoint_chunk / width;
    for (const checkpoint_piece& piece : saved.tensors().at(each.name()).pieces) {
      const index_t count = count_of(piece.box);
      for (index_t begin = 0; begin < count; begin += in_chunk) {
        const index_t end = std::min(begin + in_chunk, count);
        bool is_read = false;
        for (index_t i = begin; i < end && !is_read; ++i)
          is_read = is_wanted[number_of(piece.box, i)];
        if (!is_read) continue;
        ++all.chunks;
        all.bytes += (end - begin) * width;
      }
    }
  }
  return all;
}

/// For programs of several processes, in which the test framework has no part.
inline void require(bool holds, const std::string& words) {
  if (!holds) throw std::logic_error(words);
}

}  // namespace support
