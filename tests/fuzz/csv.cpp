// SPDX-License-Identifier: BSL-1.0
// CSV files: every row has the fields that it should have, and is the same in any order.
#include "file_bytes.hpp"
#include <shardwise/io/csv.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fuzz;
  for (const bool has_header : {true, false})
    try_out([&] {
      const csv_file file(file_of(data, size), {.has_header = has_header});
      const int columns = static_cast<int>(file.names().size());
      csv_row row;
      for (index_t i = file.rows(); i-- > 0;) {
        file.read(i, row);
        fuzz::require(row.columns() == columns);
        std::size_t length = 0;
        for (int c = 0; c < columns; ++c) length += row.text(c).size();
        fuzz::require(length <= size);
        for (int c = 0; c < columns; ++c) {
          try_out([&] { (void)file.get<double>(i, c); });
          try_out([&] { (void)file.get<std::int8_t>(i, c); });
        }
      }
    });
  return 0;
}
