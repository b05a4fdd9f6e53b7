// SPDX-License-Identifier: BSL-1.0
// The error names the operands and the equation of the call, not those of a step.
// expect: shardwise::broken_rule<shardwise::violation::operand_sizes_differ,
// expect: shardwise::einsum_of<shardwise::fixed_string<13>{"ab,bc,cd->ad"}>, shardwise::operand_at{2}, shardwise::dimension_at{0}, shardwise::size_met{12}, shardwise::size_needed{8}>
// expect: corresponding dimensions of operands have the same size
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
struct whole : layout<pod, P<none, none>> {};
template <index_t N, index_t M>
using matrix = sharded_tensor<float, extents<N, M>, whole>;
auto use() {
  return relu(einsum<"ab,bc,cd->ad">(abstract<matrix<16, 32>>(), abstract<matrix<32, 8>>(),
                                     abstract<matrix<12, 16>>()));
}
