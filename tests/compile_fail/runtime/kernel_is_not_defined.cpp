// SPDX-License-Identifier: BSL-1.0
// An operation of the program that has no kernel can be traced, but not computed.
// expect: the kernel of an operation, a specialisation of kernel_of<>, is defined before the operation is applied
// longest-line: 1000
// headers-alone
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct reverse_operation {
  static constexpr text_view name = "reverse";
  static constexpr factor_rule rule(const attributes&, const tensor_descs& operands) {
    return same_dimensions_rule(linearity::nonlinear, operands[0].rank());
  }
};
struct pod : mesh<axis<"x", 2>> {};
using A = sharded_tensor<double, extents<8>, layout<pod, P<"x">>>;
auto use(const A& a) { return to_host(apply_operation<without_attributes<reverse_operation>>(a)); }
