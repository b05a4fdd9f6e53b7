// SPDX-License-Identifier: BSL-1.0
#include "shardwise/kernel/loop_nest.hpp"

#include "support/catch.hpp"

#include <vector>

using namespace shardwise;

namespace {

/// Two views of some extents: one row-major with `gap` elements left out behind each row, one with
/// its dimensions in the reverse order.
[[nodiscard]] loop_nest<2> nest_of(const std::vector<index_t>& extents, index_t gap) {
  std::vector<index_t> there(extents.size()), back(extents.size());
  index_t step = 1;
  for (std::size_t d = extents.size(); d-- > 0; step = step * extents[d] + gap) there[d] = step;
  step = 1;
  for (std::size_t d = 0; d < extents.size(); step *= extents[d++]) back[d] = step;
  loop_nest<2> nest;
  for (std::size_t d = 0; d < extents.size(); ++d) nest.push({extents[d], {there[d], back[d]}});
  return nest;
}

/// The offsets of all elements in both views, in order.
using offsets = std::vector<index_t>;

}  // namespace

TEST_CASE("Row after row and piece after piece are the same elements") {
  for (const std::vector<index_t>& extents : std::vector<std::vector<index_t>>{{},
                                                                               {1},
                                                                               {5},
                                                                               {0},
                                                                               {3, 4},
                                                                               {1, 4},
                                                                               {4, 1},
                                                                               {3, 0},
                                                                               {0, 3},
                                                                               {2, 3, 4},
                                                                               {2, 1, 4},
                                                                               {2, 3, 2, 5},
                                                                               {3, 1, 2, 1, 4}})
    for (const index_t gap : {0, 2}) {
      const loop_nest<2> nest = nest_of(extents, gap);
      offsets by_number, by_row;
      for (index_t i = 0; i < nest.size(); ++i)
        for (const index_t offset : nest.at(i).offsets) by_number.push_back(offset);
      for_each_row(nest, [&](const index_t(&at)[2]) {
        for (index_t i = 0; i < nest.inner_extent(); ++i)
          for (std::size_t k = 0; k < 2; ++k)
            by_row.push_back(at[k] + (nest.rank() == 0 ? 0 : i * nest.inner_stride(k)));
      });
      CAPTURE(extents, gap);
      CHECK(by_row == by_number);
    }
}
