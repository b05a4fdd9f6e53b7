// SPDX-License-Identifier: BSL-1.0
#pragma once

/// General-purpose parts that do not depend on sharding: sizes, texts, sequences without
/// allocation, diagnoses.

#include "shardwise/core/agreed.hpp"
#include "shardwise/core/broken_rule.hpp"
#include "shardwise/core/config.hpp"
#include "shardwise/core/diagnosis.hpp"
#include "shardwise/core/error.hpp"
#include "shardwise/core/fact.hpp"
#include "shardwise/core/fixed_string.hpp"
#include "shardwise/core/function_view.hpp"
#include "shardwise/core/guarded.hpp"
#include "shardwise/core/half.hpp"
#include "shardwise/core/index.hpp"
#include "shardwise/core/inplace_vector.hpp"
#include "shardwise/core/judge.hpp"
#include "shardwise/core/members.hpp"
#include "shardwise/core/name_pattern.hpp"
#include "shardwise/core/nest.hpp"
#include "shardwise/core/philox.hpp"
#include "shardwise/core/rule_text.hpp"
#include "shardwise/core/rules.hpp"
#include "shardwise/core/text.hpp"
