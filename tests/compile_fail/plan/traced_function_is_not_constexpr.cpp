// SPDX-License-Identifier: BSL-1.0
// The compiler names the function that is not constexpr; compute its value before, or pass it in.
// errors-gcc: 2
// expect-gcc: call to non-'constexpr' function 'float rate()'
// expect-clang: non-constexpr function 'rate' cannot be used in a constant expression
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
struct rows : layout<pod, P<"x">> {};
using A = sharded_tensor<float, extents<8>, rows>;
float rate();
struct scaled {
  constexpr auto operator()(const auto& a) const { return a * rate(); }
};
constexpr auto cost = trace(scaled{}, abstract<A>());
