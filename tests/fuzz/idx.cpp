// SPDX-License-Identifier: BSL-1.0
// IDX files: what can be loaded is read; packed ones are unpacked first.
#include "file_bytes.hpp"
#include <shardwise/data/idx.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fuzz;
  const file_bytes file = file_of(data, size);
  try_out([&] { read_all(open_idx(file)); });
  try_out([&] {
    detail::unpacked_bytes out(detail::most_unpacked(file.size()), {.memory = 1_MiB});
    detail::unpack_into(file, detail::packing::gzip, out);
    read_all(open_idx(std::move(out).finish("unpacked")));
  });
  return 0;
}
