// SPDX-License-Identifier: BSL-1.0
// The program, its plan and its ledger cause no further errors.
// expect: shardwise::broken_rule<shardwise::violation::operand_sizes_differ,
// expect: corresponding dimensions of operands have the same size
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
struct tiles : layout<pod, P<"data", "model">> {};
using X = sharded_tensor<float, extents<8, 16>, tiles>;
using Y = sharded_tensor<float, extents<8, 4>, tiles>;
constexpr auto f = [](const auto& x, const auto& y) { return x + y; };
constexpr auto recorded = trace_program(f, abstract<X>(), abstract<Y>());
static_assert(recorded.count == 3 && recorded.results[0] == 2);
static_assert(recorded == trace_program<32>(f, abstract<X>(), abstract<Y>()));
constexpr auto planned = plan_program(recorded);
static_assert(planned.count == 3 && planned.total.flops() == 32);
static_assert(ledger_of(recorded).flops() == 32 && ledger_of(recorded) == planned.total);
static_assert(trace(f, abstract<X>(), abstract<Y>()).flops() == planned.total.flops());
