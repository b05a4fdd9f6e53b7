// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/rule/operation.hpp"
#include "shardwise/rule/propagation.hpp"

#include <memory>

namespace shardwise {

/// The parameters of an operation that is not elementwise, and how its rule splits it over the
/// devices. Shared by a node and the programs that contain it.
struct call_details {
  attributes how;
  factor_rule rule;
  propagation split;

  call_details(const attributes& given, const factor_rule& of, const propagation& as)
      : how(given), rule(of), split(as) {}
};
using call_details_ptr = std::shared_ptr<const call_details>;

}  // namespace shardwise
