// SPDX-License-Identifier: BSL-1.0
#include <shardwise/host/owner_rows.hpp>
#include <shardwise/paper.hpp>

using namespace shardwise;

struct line : mesh<axis<"x", 4>> {};
struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};

constexpr index_t halves[] = {0, 0, 1, 1};
constexpr index_t turns[] = {0, 1, 0, 1};
constexpr index_t thirds[] = {0, 1, 2, 1};

using batch = layout<line, P<"x", none>, partial<>, uneven>;
constexpr owner_rows rows(line::value, batch::value, device_owners(halves));
static_assert(rows.verdict().ok());
// The example of the header: 2, 2, 1 and 0 rows.
static_assert(rows.count(0, 5) == 4 && rows.count(1, 5) == 1);
static_assert(rows.whole({4, 1}) == 5);
static_assert(rows.of_device(3, 5).empty());
static_assert(!rows.fits({3, 2}, 5) && rows.whole({3, 2}) == 5);
static_assert(rows.whole({0, 0}) == 0 && rows.fits({0, 0}, 0));

// In turn: devices 0 and 2, and 1 and 3.
constexpr owner_rows in_turn(line::value, batch::value, device_owners(turns));
static_assert(in_turn.of(0, 5) == std::vector<index_range>{{0, 2}, {4, 5}});
static_assert(in_turn.whole({3, 2}) == 5);

// Rows that several devices or owners hold count once.
using split = layout<pod, P<"data", none>, partial<>, uneven>;
static_assert(owner_rows(pod::value, split::value, device_owners(halves)).whole({3, 2}) == 5);
static_assert(owner_rows(pod::value, split::value, device_owners(turns)).whole({5, 5}) == 5);
static_assert(owner_rows(pod::value, split::value, device_owners(thirds)).whole({3, 5, 2}) == 5);
static_assert(owner_rows(pod::value, split::value, device_owners()).whole({5}) == 5);
static_assert(owner_rows(pod::value, layout<pod, P<none, none>>::value, device_owners(halves))
                  .whole({5, 5}) == 5);

static_assert(owner_rows(line::value, layout<line, P<none>, partial<"x">>::value, device_owners())
                  .verdict()
                  .rule == violation::reshard_would_create_partial);
