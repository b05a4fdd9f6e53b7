// SPDX-License-Identifier: BSL-1.0
#include "support/facts.hpp"
#include "unit/notation/mesh_facts.hpp"

using namespace shardwise;

static_assert(facts_hold<mesh_facts::said>);
static_assert(facts_hold<mesh_facts::unsaid>);
static_assert(mesh_from_text("data=2,model=4").devices() == 8);
