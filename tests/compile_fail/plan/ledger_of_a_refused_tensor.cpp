// SPDX-License-Identifier: BSL-1.0
// Budgets of functions of an illegal tensor cause no further errors.
// expect: shardwise::broken_rule<shardwise::violation::extent_is_not_divisible, pod,
// expect: a split extent is divisible by its axes, or the layout says uneven
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
struct rows : layout<pod, P<"data", "model">> {};
using X = sharded_tensor<float, extents<7, 16>, rows>;
constexpr auto f = [](const auto& x) { return relu(x); };
constexpr auto same = [](const auto& x) { return x; };
constexpr auto loss = [](const auto& x) { return mean(x); };
static_assert(trace(f, abstract<X>()).flops() == 1 && trace(f, abstract<X>()).collectives() == 3);
static_assert(trace(same, abstract<X>()).peak_bytes_per_device() <= 1);
static_assert(trace(gradient(loss), abstract<X>()).flops() <= 1);
static_assert(trace(value_and_grad(loss), abstract<X>()).bytes_moved("data") == 12);
static_assert(trace(f, abstract<X>()) == trace(loss, abstract<X>()));
