// SPDX-License-Identifier: BSL-1.0
// The conversion of 16-bit elements goes through float.
// expect: shardwise::broken_rule<shardwise::misuse::tensor_is_not_a_number,
// expect: shardwise::converted_to<float>, shardwise::suggested<29>{"to_host(x).value() or exp(x)"}>
// expect: a tensor is not one number or bool: write exp(x) without std::, where(c, x, y) for if, to_host(x) to read
#include <shardwise/shardwise.hpp>

#include <cmath>

using namespace shardwise;

auto use(const any_tensor<bfloat16>& a) { return std::pow(a, 2.0F); }
