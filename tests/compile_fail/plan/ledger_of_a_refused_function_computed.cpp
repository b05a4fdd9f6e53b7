// SPDX-License-Identifier: BSL-1.0
// What is computed from the ledger, and printed, causes no further errors.
// expect: shardwise::broken_rule<shardwise::violation::partial_value_is_read,
// expect: a pending reduction is finished before its value is read
#include <shardwise/shardwise.hpp>

#include <iostream>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
struct tiles : layout<pod, P<"data", "model">> {};
struct rows : layout<pod, P<"model", none>> {};
using X = sharded_tensor<float, extents<8, 16>, tiles>;
using W = sharded_tensor<float, extents<16, 8>, rows>;
constexpr auto f = [](const auto& x, const auto& w) { return relu(einsum<"bi,io->bo">(x, w)); };
constexpr auto cost = trace(f, abstract<X>(), abstract<W>());
constexpr index_t bytes = cost.bytes_moved();
constexpr auto copies = 2 * cost.collectives("model") + 1;
static_assert(copies == 3 && 0 < cost.flops() / 2 && cost.flops() - copies > 100);
void use() { std::cout << cost << cost.collectives() << bytes; }
