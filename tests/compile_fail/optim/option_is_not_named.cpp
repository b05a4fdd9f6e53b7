// SPDX-License-Identifier: BSL-1.0
// The rate of an optimizer where other libraries have it.
// expect: shardwise::broken_rule<shardwise::misuse::option_is_not_named, shardwise::of_types<double>
// expect: the options of an optimizer are named, as in sgd{.momentum = 0.9}; the rate is an
#include <shardwise/optim.hpp>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

constexpr optim::adamw learn{1e-3};
