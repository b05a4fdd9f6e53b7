// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/host/from_process_batch.hpp"

#include <string>

namespace shardwise::detail {

SHARDWISE_INLINE std::vector<given_extents> extents_of_all(pool_state& home,
                                                           const tensor_desc& tensor,
                                                           const extents_desc& mine) {
  given_extents own{};
  const auto rank = static_cast<std::size_t>(tensor.layout.rank());
  run_for_owners(home.link(), [&] {
    if (mine.size() != rank)
      fail({.rule = violation::rank_differs_from_spec,
            .have = tensor.layout.rank(),
            .want = mine.ssize()});
  });
  for (std::size_t d = 0; d < rank; ++d) own[d] = mine[static_cast<int>(d)];
  if (home.link() == nullptr) return {own};
  message_text name("from_process_batch of ");
  name << to_text(home.mesh(), tensor) << " on " << home.mesh();
  std::vector<given_extents> all;
  for (std::string& each : host_exchange::of(home.link()->group())
                               .all({name.c_str(), name.size()}, bytes_of_value(own), true))
    all.push_back(value_of_bytes<given_extents>(std::move(each)));
  return all;
}

SHARDWISE_INLINE extents_desc whole_batch(const pool_state& home, const tensor_desc& tensor,
                                          const owner_rows& rows,
                                          const std::vector<given_extents>& given) {
  extents_desc whole = tensor.extents;
  for (int d = 1; d < whole.ssize(); ++d) {
    const auto at = static_cast<std::size_t>(d);
    if (whole[d] == dyn) whole[d] = given[0][at];
    for (std::size_t o = 0; o < given.size(); ++o) {
      if (given[o][at] == whole[d]) continue;
      message_text words;
      words << "process " << static_cast<index_t>(o) << " gave rows of another extent";
      fail({.rule = violation::host_size_differs, .dim = d, .have = given[o][at], .want = whole[d]},
           words);
    }
  }
  std::vector<index_t> counts;
  counts.reserve(given.size());
  for (const given_extents& each : given) counts.push_back(each[0]);
  if (whole[0] == dyn) whole[0] = rows.whole(counts);
  const diagnosis verdict = validate(home.mesh(), tensor.layout, whole);
  if (verdict.ok() && rows.fits(counts, whole[0])) return whole;
  message_text words;
  words << "of " << whole[0] << " rows, ";
  index_t have = 0;
  for (std::size_t o = 0; o < counts.size(); ++o) {
    const auto owner = static_cast<index_t>(o);
    words << (o > 0 ? "; " : "") << "process " << owner << " gave " << counts[o];
    if (verdict.ok()) words << " and holds " << rows.count(owner, whole[0]);
    have += counts[o];
  }
  if (!verdict.ok()) fail(verdict, words);
  fail({.rule = violation::host_size_differs, .dim = 0, .have = have, .want = whole[0]}, words);
}

}  // namespace shardwise::detail
