// SPDX-License-Identifier: BSL-1.0
// DTensor placements.
#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fuzz;
  const text_view words(reinterpret_cast<const char*>(data), size);
  const read_placements read = parse_placements(words);
  require_sense(read.verdict, words);
  if (!read.verdict.ok()) return 0;
  string_out out;
  write_placements(out, read.placements);
  const read_placements again = parse_placements(out.words);
  require(again.verdict.ok() && again.placements == read.placements);
  mesh_desc mesh;
  constexpr text_view labels[] = {"a", "b", "c", "d", "e", "f", "g"};
  for (int a = 0; a < read.placements.ssize(); ++a)
    mesh.axes.push_back({short_name(labels[a]), 1 + a % 3});
  for (int d = 0; d < 2; ++d) {
    index_t total = 0;
    for (index_t device = 0; device < mesh.devices(); ++device) {
      const index_t held = placed_size(mesh, read.placements, d, 17, device);
      require(held >= 0 && held <= 17);
      for (index_t x = 0; x < held; ++x) {
        const index_t index = placed_index(mesh, read.placements, d, 17, device, x);
        require(index >= 0 && index < 17);
      }
      total += held;
    }
    require(total % 17 == 0);
  }
  const read_layout layout = to_layout(mesh, read.placements, 2);
  if (!layout.verdict.ok()) return 0;
  const read_placements back = to_placements(mesh, layout.layout, dtensor_form::ordered);
  require(back.verdict.ok() && to_layout(mesh, back.placements, 2).layout == layout.layout);
  return 0;
}
