// SPDX-License-Identifier: BSL-1.0
// Shardy meshes and shardings.
#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fuzz;
  const text_view words(reinterpret_cast<const char*>(data), size);
  room first(128);
  const sdy_mesh_result mesh = parse_sdy_mesh(words, first.buffer);
  require_sense(mesh.verdict, words);
  if (mesh.verdict.ok()) {
    string_out once, twice;
    write_sdy_mesh(once, "m", mesh.mesh);
    room second(128);
    const sdy_mesh_result again = parse_sdy_mesh(once.words, second.buffer);
    require(again.verdict.ok() && again.symbol == "m");
    write_sdy_mesh(twice, "m", again.mesh);
    require(once.words == twice.words);
  }
  const named_mesh foo{{{axis_desc{"a", 8}, axis_desc{"b", 4}, axis_desc{"c", 12}}}};
  const read_open_layout open = parse_open_layout(words, foo.mesh);
  require_sense(open.verdict, words);
  if (open.verdict.ok()) {
    string_out written;
    write_open_layout(written, open.layout, foo.mesh);
    const read_open_layout again = parse_open_layout(written.words, foo.mesh);
    require(again.verdict.ok() && again.layout == open.layout);
  }
  const named_result read = parse_sdy(words, foo, {}, first.buffer);
  require_sense(read.verdict, words);
  if (!read.verdict.ok()) return 0;
  require(why_not(read.sharding).empty());
  string_out once;
  write_sdy(once, "foo", read.sharding);
  const named_result again = parse_sdy(once.words, read.sharding.on, "foo", first.buffer);
  require(again.verdict.ok() && again.sharding == read.sharding);
  return 0;
}
