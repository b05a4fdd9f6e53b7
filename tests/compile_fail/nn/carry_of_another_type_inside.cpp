// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::tensor_type_differs, shardwise::of_types<>
// expect: shardwise::own_type<10>{"f32[4, 4]"}, shardwise::given_type<10>{"f64[4, 4]"}
#include <shardwise/nn.hpp>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>> {};
struct whole : layout<pod, P<none, none>> {};
struct layers : layout<pod, P<none, none, none>> {};
using W = sharded_tensor<float, extents<4, 4>, whole>;
struct state {
  W h, c;
};
auto f(const state& start, const sharded_tensor<float, extents<3, 4, 4>, layers>& xs) {
  constexpr auto cell = [](const auto& s, const auto& x) {
    return std::pair{s.h + x, cast<double>(s.c)};
  };
  return scan(cell, start, xs);
}
