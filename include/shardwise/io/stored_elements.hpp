// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

namespace shardwise {

/// Which elements a stored tensor must have to be loaded: those of the tensor in the program, or
/// any that can be converted to them, as by `cast`.
enum class stored_elements : std::uint8_t { same, converted };

}  // namespace shardwise
