// SPDX-License-Identifier: BSL-1.0
// What reads or writes the state of an invalid tensor causes no further errors.
// expect: a split extent is divisible by its axes, or the layout says uneven
// expect: saved_tensor_is_refused.cpp:13
#include <shardwise/nn.hpp>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct line : mesh<axis<"x", 2>> {};
using columns = sharded_tensor<float, extents<4, 3>, layout<line, P<none, "x">>>;
void copy_state(const device_pool& pool) {
  auto whole = zeros<columns>(pool);
  load_state_dict(whole, state_dict(whole));
}
