// SPDX-License-Identifier: BSL-1.0
// Saves a tensor and loads it with another layout. The compiled library reads and writes the file,
// so this program includes no JSON library.
#include <shardwise/io.hpp>

#if defined(NLOHMANN_JSON_VERSION_MAJOR)
#error "a program of the compiled library includes no JSON library"
#endif

using namespace shardwise;

struct line : mesh<axis<"x", 2>> {};
using rows = sharded_tensor<float, extents<4, 4>, layout<line, P<"x", none>>>;
using columns = sharded_tensor<float, extents<4, 4>, layout<line, P<none, "x">>>;

int main(int, char** argv) {
  const device_pool pool{line{}};
  save_safetensors(argv[1], iota<rows>(pool));
  auto loaded = zeros<columns>(pool);
  load_safetensors(argv[1], loaded);
  return to_host(loaded)(3, 2) == 14 ? 0 : 1;
}
