// SPDX-License-Identifier: BSL-1.0
#include "unit/rule/arrangement_facts.hpp"

#include "support/facts.hpp"

static_assert(facts_hold<arrangement::facts>);
