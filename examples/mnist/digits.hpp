// SPDX-License-Identifier: BSL-1.0
// Images of handwritten digits with their labels: from files, or drawn by a program.
#pragma once

#include <shardwise/data.hpp>

#include <range/v3/view/zip.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mnist {

using shardwise::index_t;

inline constexpr index_t side = 28, pixels = side * side, classes = 10;

/// A changed copy of an image, with its label.
struct changed_sample {
  std::array<std::uint8_t, static_cast<std::size_t>(pixels)> image;
  std::uint8_t label;
};

/// Images of digits, 28 x 28 bytes each, and what they show.
struct digits {
  std::vector<std::uint8_t> images;
  std::vector<std::uint8_t> labels;

  [[nodiscard]] index_t size() const noexcept { return static_cast<index_t>(labels.size()); }
  /// The data set: an image and its label are a sample.
  [[nodiscard]] auto samples() const {
    return ranges::views::zip(shardwise::rows_of(std::span<const std::uint8_t>(images), {pixels}),
                              labels);
  }
  void add(const digits& from, index_t image) {
    const auto first = from.images.begin() + image * pixels;
    images.insert(images.end(), first, first + pixels);
    labels.push_back(from.labels[static_cast<std::size_t>(image)]);
  }
};

/// A digit is what it is two pixels further, too: moves an image by up to two, in each direction.
/// What is moved out of the image is gone, and what comes in is black.
struct moved {
  template <class Sample>
  changed_sample operator()(const Sample& from, shardwise::random_key key) const {
    const auto& [image, label] = from;
    const index_t right = static_cast<index_t>(key.value % 5) - 2;
    const index_t down = static_cast<index_t>(key.value / 5 % 5) - 2;
    changed_sample to{{}, label};
    for (index_t y = std::max<index_t>(down, 0); y < side + std::min<index_t>(down, 0); ++y)
      for (index_t x = std::max<index_t>(right, 0); x < side + std::min<index_t>(right, 0); ++x)
        to.image[static_cast<std::size_t>(y * side + x)] =
            image.view.data[(y - down) * side + x - right];
    return to;
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
