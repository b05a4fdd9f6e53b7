// SPDX-License-Identifier: BSL-1.0
#include "support/facts.hpp"
#include "unit/rule/arrangement_facts.hpp"

static_assert(facts_hold<arrangement::facts>);
