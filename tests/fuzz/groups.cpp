// SPDX-License-Identifier: BSL-1.0
// Groups of devices, and the axes of Shardy's collectives.
#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fuzz;
  const text_view words(reinterpret_cast<const char*>(data), size);
  room first(512);
  const groups_result read = parse_groups(words, first.buffer);
  require_sense(read.verdict, words);
  if (read.verdict.ok() && (read.groups.is_everyone() || read.groups.members.count() <= 512)) {
    string_out once;
    write_groups(once, read.groups);
    room second(4096);
    const groups_result again = parse_groups(once.words, second.buffer);
    require(again.verdict.ok() && same_groups(again.groups, read.groups));
    const groups_result list = to_list(again.groups, second.buffer);
    require(list.verdict.ok() && same_groups(list.groups, read.groups));
    require(same_groups(to_iota(list.groups), read.groups));
    string_out dense;
    if (write_dense_groups(dense, list.groups).ok())
      require(same_groups(parse_groups(dense.words, second.buffer).groups, read.groups));
  }
  room third(512);
  const named_groups_result named = parse_named_groups(words, third.buffer);
  require_sense(named.verdict, words);
  if (named.verdict.ok()) {
    string_out out;
    write_named_groups(out, named.groups);
    const named_groups_result back = parse_named_groups(out.words, third.buffer);
    require(back.verdict.ok() || third.buffer.room() < named.groups.on.mesh.devices());
    if (back.verdict.ok()) require(back.groups.axes == named.groups.axes);
  }
  const mesh_desc mesh{{axis_desc{"x", 8}, axis_desc{"y", 2}, axis_desc{"z", 12}}};
  const axis_lists_result lists = parse_axis_lists(words, mesh);
  require_sense(lists.verdict, words);
  if (lists.verdict.ok()) {
    string_out out;
    write_axis_lists(out, mesh, lists.lists);
    require(parse_axis_lists(out.words, mesh).lists == lists.lists);
  }
  const axis_moves_result moves = parse_axis_moves(words, mesh);
  require_sense(moves.verdict, words);
  if (moves.verdict.ok()) {
    string_out out;
    write_axis_moves(out, mesh, moves.moves);
    require(parse_axis_moves(out.words, mesh).moves == moves.moves);
  }
  return 0;
}
