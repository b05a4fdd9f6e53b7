// SPDX-License-Identifier: BSL-1.0
// A layout: which axes of the mesh split which dimension of a tensor. It is part of the tensor's
// type, so an invalid layout does not compile, and all sizes are known before anything runs.
#include <shardwise/shardwise.hpp>

#include <Eigen/Core>

#include <iostream>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};

using rows = sharded_tensor<float, extents<8, 12>, layout<pod, P<"data", none>>>;
using tiles = sharded_tensor<float, extents<8, 12>, layout<pod, P<"data", "model">>>;
using strips = sharded_tensor<float, extents<8, 12>, layout<pod, P<by("data", "model"), none>>>;
using terms = sharded_tensor<float, extents<8, 12>, layout<pod, P<"data", none>, partial<"model">>>;
static_assert(type_name<strips>() == "f32[8@(data,model), 12]");
static_assert(type_name<terms>() == "f32[8@data, 12]{partial sum: model}");

// Does not compile, "extent_is_not_divisible": 10 columns cannot be cut in 4, 8 or 12 can.
//   using wrong = sharded_tensor<float, extents<8, 10>, layout<pod, P<"data", "model">>>;
// With the word `uneven` the trailing shards are short: 3, 3, 3 and 1 columns.
using ragged =
    sharded_tensor<float, extents<8, 10>, layout<pod, P<"data", "model">, partial<>, uneven>>;

int main() {
  std::cout << "One row of cells is one shard of rows; a cell lists the devices that hold it.\n\n";
  visualize<rows>();
  visualize<tiles>();
  visualize<strips>();
  std::cout << "\n0+1+2+3 hold terms of a sum that nobody has added up yet:\n";
  visualize<terms>();
  std::cout << "\nUneven:\n";
  visualize<ragged>();

  // The same cuts, in numbers: what device 3 (data=0, model=3) holds.
  device_pool pool{pod{}};
  const ragged x = iota<ragged>(pool);
  const auto shard = local(x, 3);
  std::cout << "\ndevice 3 holds rows " << shard.range()[0].begin << ":" << shard.range()[0].end
            << ", columns " << shard.range()[1].begin << ":" << shard.range()[1].end << "\n"
            << shard.matrix() << '\n';
  const bool right = shard.range() == index_box{index_range{0, 4}, index_range{9, 10}} &&
                     shard.matrix()(1, 0) == 19.0F;
  return right ? 0 : 1;
}
