// SPDX-License-Identifier: BSL-1.0
// expect: split_would_move
// expect: kron_of
// expect: operand_at{1}
// expect: reshard<P<none, none>>(operand 1)
// expect: or_across
#include <shardwise/shardwise.hpp>
using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
using A = sharded_tensor<float, extents<2, 3>, layout<pod, P<none, none>>>;
using B = sharded_tensor<float, extents<8, 4>, layout<pod, P<"data", none>>>;

// The rows of the second operand are the minor part of those of the result.
constexpr auto product = kron(abstract<A>(), abstract<B>());
