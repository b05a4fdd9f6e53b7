// SPDX-License-Identifier: BSL-1.0
#include "support/facts.hpp"
#include "unit/plan/propagate_layouts_facts.hpp"

static_assert(facts_hold<propagated::facts>);

// A manual value is never split by its own manual axes, whatever its operands are.
namespace manual_values {
using namespace shardwise;

struct manual_line : mesh<axis<"a", 2>> {};
using manual_rows = sharded_tensor<float, extents<8, 4>, layout<manual_line, P<"a", none>>>;
using manual_factor = sharded_tensor<float, extents<4, 4>, layout<manual_line, P<none, none>>>;
constexpr auto scaled_manually = [](const auto& x, const auto& s) {
  return disable_manual_sharding<P<"a", none>>(enable_manual_sharding(x) * s);
};
constexpr auto manual_program =
    trace_program(scaled_manually, abstract<manual_rows>(), abstract<manual_factor>());
constexpr bool keeps_manual_axes() {
  const auto found =
      propagate_layouts(manual_program, {{known_layout::input, 1, R"([{"a"}, {?}])"}});
  const program_view view = found.program.view();
  for (value_id i = 0; i < view.count; ++i)
    for (const axis_list& dim : found.values[i].dims)
      for (std::uint8_t axis : dim)
        if ((view.values[i].layout.manual >> axis & 1) != 0) return false;
  return true;
}
static_assert(keeps_manual_axes());

}  // namespace manual_values
