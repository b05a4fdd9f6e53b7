// SPDX-License-Identifier: BSL-1.0
#include "support/facts.hpp"
#include "unit/plan/with_layouts_facts.hpp"

static_assert(facts_hold<propagated::reshards>);
