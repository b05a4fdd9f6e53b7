// SPDX-License-Identifier: BSL-1.0
// Meshes, with and without an order of their devices.
#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fuzz;
  const text_view words(reinterpret_cast<const char*>(data), size);
  room devices(32);
  const read_mesh read = parse_mesh(words, devices.buffer);
  require_sense(read.verdict, words);
  require(read.verdict.ok() == read.rule.ok());
  if (!read.verdict.ok()) {
    require(devices.buffer.room() == 32 && read.mesh == mesh_desc{});
    return 0;
  }
  require(validate(read.mesh).ok() && read.mesh.devices() <= max_tile_devices);
  // The notation of the library is parsed back; it lists at most 16 devices, the size of the
  // buffer.
  message_text out;
  out << read.mesh;
  room more(32);
  const read_mesh again = parse_mesh(out, more.buffer);
  require(again.verdict.ok() && again.mesh == read.mesh);
  for (index_t i = 0; i < read.mesh.order.devices().ssize(); ++i)
    require(again.mesh.order.find(again.mesh.order.at(i)) == i);
  // Without a buffer an order is an error; everything else is parsed alike.
  const read_mesh plain = parse_mesh(words);
  require(plain.verdict.ok()
              ? plain.mesh == read.mesh
              : plain.verdict.reason == "the buffer has room for every device twice");
  return 0;
}
