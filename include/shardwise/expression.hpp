// SPDX-License-Identifier: BSL-1.0
#pragma once

/// Checks, builds and reads calls of operations, for any type with elements, extents and a layout.

#include "shardwise/expression/call.hpp"
#include "shardwise/expression/elementwise.hpp"
#include "shardwise/expression/fused.hpp"
#include "shardwise/expression/named_as.hpp"
#include "shardwise/expression/nest.hpp"
#include "shardwise/expression/no_number.hpp"
#include "shardwise/expression/operand.hpp"
#include "shardwise/expression/operation.hpp"
#include "shardwise/expression/terms.hpp"
#include "shardwise/expression/whole.hpp"
