// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::misuse::reduced_elements_differ, shardwise::of_types<double, float, shardwise::bfloat16>>
#include <shardwise/nn.hpp>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

constexpr nn::elements<float, bfloat16, double> mixed;
