// SPDX-License-Identifier: BSL-1.0
// An invalid operation is an error even if a traced function returns its result unchanged.
// expect: shardwise::broken_rule<shardwise::violation::operand_layouts_conflict,
// expect: shardwise::einsum_of<shardwise::fixed_string<8>{"ij,ij->"}>, shardwise::operand_at{1}, shardwise::dimension_at{0}, shardwise::called<6>{"model"}, shardwise::suggested<34>{"reshard<P<data, none>>(operand 1)"}>
// expect: corresponding dimensions are split the same way
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
struct by_data : layout<pod, P<"data", "model">> {};
struct by_model : layout<pod, P<"model", "data">> {};
constexpr auto x = abstract<sharded_tensor<float, extents<8, 8>, by_data>>();
constexpr auto w = abstract<sharded_tensor<float, extents<8, 8>, by_model>>();
struct contract {
  constexpr decltype(auto) operator()(const auto& a, const auto& b) const {
    return einsum<"ij,ij->">(a, b);
  }
};
static_assert(trace(contract{}, x, w).collectives() == 0);
