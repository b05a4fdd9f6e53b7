// SPDX-License-Identifier: BSL-1.0
// Any text: its layouts in each notation, and pictures with and without a mesh and a tensor, as
// text and as images.
#include "fuzz.hpp"
#include <shardwise/draw/visualize_text.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fuzz;
  const text_view words(reinterpret_cast<const char*>(data), size);
  const mesh_desc pod{{axis_desc{"x", 2}, axis_desc{"y", 4}}};
  for (const sharding_context& about :
       {sharding_context{}, sharding_context{pod}, sharding_context{extents_desc{5, 3}},
        sharding_context{pod, {8}}, sharding_context{pod, {7, 0, 3}}}) {
    room devices(300);
    string_out out;
    const parse_verdict verdict =
        write_picture(out, words, about, devices.buffer, {.width = 60, .colour = true});
    require_sense(verdict, words);
    require(!out.words.empty() || words.empty() || is_hlo_tuple(words));
    require(out.words.size() < 100000 * (1 + words.size()));
    require(!to_svg(words, about).empty());
  }
  for (int form = 0; form < notation_count; ++form) {
    const auto as = static_cast<notation>(form);
    const read_layout read = parse_layout(as, words, pod);
    require_sense(read.verdict, words);
    if (!read.verdict.ok()) continue;
    require(parse_layout(words, pod).layout == read.layout);
    string_out out;
    if (write_layout_as(out, as, pod, read.layout).ok())
      require(parse_layout(as, out.words, pod, read.layout.rank()).layout == read.layout);
  }
  return 0;
}
