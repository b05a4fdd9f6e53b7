// SPDX-License-Identifier: BSL-1.0
#include "unit/layout/host_batch_facts.hpp"

#include <iterator>

using namespace shardwise;

static_assert(host_batch_facts_hold(0, 5) && std::size(host_batch_facts) > 16);
static_assert(host_batch_facts_hold(5, 10));
static_assert(host_batch_facts_hold(10, std::size(host_batch_facts)));
static_assert(join_facts_hold());

// The examples of the headers.
struct line : mesh<axis<"x", 8>> {};
using batch = layout<line, P<"x", none, none>>;
constexpr host_batch hosts(line::value, batch::value, 2);
static_assert(hosts.verdict().ok() && hosts.hosts() == 2 && hosts.parts() == 4);
static_assert(hosts.devices(1) == index_range{4, 8} && hosts.host_of(4) == 1);
static_assert(hosts.global({8, 7, 4}) == extents_desc{16, 7, 4});
static_assert(hosts.local({dyn, 7, 4}) == extents_desc{dyn, 7, 4});
static_assert(hosts.part({8, 7, 4}, 5)[0] == index_range{2, 4});
static_assert(
    host_batch(line::value, layout<line, P<none>, partial<"x">>::value, 2).verdict().rule ==
    violation::reshard_would_create_partial);

struct pair : mesh<axis<"x", 2>> {};
using rows = layout<pair, P<"x">, partial<>, uneven>;
constexpr extents_desc shards[] = {{3}, {2}};
static_assert(join_shards(pair::value, rows::value, {dyn}, shards).extents == extents_desc{5});
