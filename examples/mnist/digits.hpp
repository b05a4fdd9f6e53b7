// SPDX-License-Identifier: BSL-1.0
// Images of handwritten digits with their labels: from files, or drawn by a program.
#pragma once

#include <shardwise/data.hpp>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mnist {

using shardwise::index_t;

inline constexpr index_t side = 28, pixels = side * side, classes = 10;

/// An image as it is shown: moved by so many pixels.
struct sample {
  index_t image = 0;
  index_t right = 0, down = 0;
};

/// Images of digits, 28 x 28 bytes each, and what they show.
struct digits {
  std::vector<std::uint8_t> images;
  std::vector<std::uint8_t> labels;

  [[nodiscard]] index_t size() const noexcept { return static_cast<index_t>(labels.size()); }
  /// What is moved out of the image is gone, and what comes in is black.
  [[nodiscard]] float pixel(const sample& of, index_t at) const {
    const index_t y = at / side - of.down, x = at % side - of.right;
    if (y < 0 || y >= side || x < 0 || x >= side) return 0;
    const index_t place = of.image * pixels + y * side + x;
    return static_cast<float>(images[static_cast<std::size_t>(place)]) / 255.0F;
  }
  [[nodiscard]] int label(const sample& of) const {
    return labels[static_cast<std::size_t>(of.image)];
  }
  void add(const digits& from, index_t image) {
    const auto first = from.images.begin() + image * pixels;
    images.insert(images.end(), first, first + pixels);
    labels.push_back(from.labels[static_cast<std::size_t>(image)]);
  }
};

/// Reads the 10,000 images of a folder with MNIST's files of the test set, plain or packed.
inline digits read(const std::string& folder) {
  const auto find = [&](const std::string& name) {
    for (const char* ending : {"", ".gz"})
      if (const auto path = std::filesystem::path(folder) / (name + ending);
          std::filesystem::exists(path))
        return shardwise::read_idx(path.string());
    throw std::runtime_error("neither " + name + " nor " + name + ".gz is in '" + folder + "'");
  };
  shardwise::idx_array images = find("t10k-images-idx3-ubyte");
  shardwise::idx_array labels = find("t10k-labels-idx1-ubyte");
  if (images.extents.size() != 3 || images.extents[1] != side || images.extents[2] != side ||
      labels.extents != shardwise::extents_desc{images.extents[0]})
    throw std::runtime_error("the files in '" + folder + "' are not images of 28 x 28 and labels");
  if (std::any_of(labels.bytes.begin(), labels.bytes.end(), [](auto b) { return b >= classes; }))
    throw std::runtime_error("a label in '" + folder + "' is no digit");
  return {std::move(images.bytes), std::move(labels.bytes)};
}

/// Draws digits of five by seven squares, each somewhere in its image, more or less bright, in
/// noise.
inline digits draw(index_t count, std::uint64_t seed) {
  static constexpr std::string_view shapes[10] = {
      ".###.#...##..###.#.###..##...#.###.", "..#...##....#....#....#....#...###.",
      ".###.#...#....#...#...#...#...#####", "#####...#...#.....#.....##...#.###.",
      "...#...##..#.#.#..#.#####...#....#.", "######....####.....#....##...#.###.",
      "..##..#...#....####.#...##...#.###.", "#####....#...#...#...#....#....#...",
      ".###.#...##...#.###.#...##...#.###.", ".###.#...##...#.####....#...#..##.."};
  std::mt19937_64 random(seed);
  const auto below = [&](std::uint64_t n) { return static_cast<index_t>(random() % n); };
  digits out;
  for (index_t n = 0; n < count; ++n) {
    const auto digit = static_cast<std::size_t>(n % classes);
    const index_t left = below(9), top = below(8), bright = 150 + below(106);
    for (index_t y = 0; y < side; ++y)
      for (index_t x = 0; x < side; ++x) {
        const index_t row = (y - top) / 3, column = (x - left) / 4;
        const bool inside = y >= top && x >= left && row < 7 && column < 5;
        const bool ink = inside && shapes[digit][static_cast<std::size_t>(row * 5 + column)] == '#';
        out.images.push_back(static_cast<std::uint8_t>(ink ? bright : below(40)));
      }
    out.labels.push_back(static_cast<std::uint8_t>(digit));
  }
  return out;
}

}  // namespace mnist
