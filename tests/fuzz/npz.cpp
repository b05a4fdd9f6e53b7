// SPDX-License-Identifier: BSL-1.0
// NPZ files: the directory, and the header and elements of each member.
#include "file_bytes.hpp"
#include <shardwise/io/npz_file.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fuzz;
  try_out([&] {
    const npz_file file(file_of(data, size), {.memory = 1_MiB});
    for (const std::string& name : file.names()) {
      fuzz::require(file.contains(name));
      try_out([&] { (void)file.header(name); });
      try_out([&] {
        const file_array array = file[name];
        read_all(array);
        fuzz::require(file.header(name).first > 0);
      });
    }
  });
  return 0;
}
