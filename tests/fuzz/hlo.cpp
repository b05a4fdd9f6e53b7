// SPDX-License-Identifier: BSL-1.0
// Shardings with listed and ordered devices, alone and in tuples.
#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fuzz;
  const text_view words(reinterpret_cast<const char*>(data), size);
  room first(256);
  const hlo_result read = parse_hlo(words, first.buffer);
  require_sense(read.verdict, words);
  if (read.verdict.ok()) {
    string_out once;
    write_hlo(once, read.sharding);
    room second(2048);
    const hlo_result again = parse_hlo(once.words, second.buffer);
    require(again.verdict.ok() || read.sharding.tiles.list.size() > 2048);
    string_out twice;
    write_hlo(twice, again.sharding);
    require(once.words == twice.words);
    require(again.sharding.tie == read.sharding.tie);
    if (read.sharding.tiles.count() <= 512) {
      require(same_placement(read.sharding, again.sharding));
      const hlo_result list = to_list(again.sharding, second.buffer);
      require(list.verdict.ok() && same_placement(list.sharding, read.sharding));
      require(same_placement(to_iota(list.sharding), read.sharding));
      const hlo_result canonical_list = canonical(list.sharding, second.buffer);
      require(canonical_list.verdict.ok());
      require(same_placement(canonical_list.sharding, read.sharding));
      const mesh_desc mesh{{axis_desc{"x", 2}, axis_desc{"y", 4}}};
      (void)to_layout(read.sharding, mesh, read.sharding.rank(), second.buffer);
      if (read.sharding.rank() <= max_rank) {
        extents_desc extents;
        for (int d = 0; d < read.sharding.rank(); ++d) extents.push_back(5 * d);
        for (index_t i = 0; i < read.sharding.tiles.count(); ++i)
          require(volume_of(shard_at(read.sharding, extents, i).part) >= 0);
      }
    }
  }
  int elements = 0;
  const parse_verdict tuple = parse_hlo_tuple(words, [&](text_view element) {
    ++elements;
    room each(64);
    return parse_hlo(element, each.buffer).verdict;
  });
  require_sense(tuple, words);
  return 0;
}
