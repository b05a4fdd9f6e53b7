// SPDX-License-Identifier: BSL-1.0
// Programs that are linked with requests.cpp count what they request of the global operator new.
#pragma once

#include <atomic>

namespace support {

extern std::atomic<long> requests;

}  // namespace support
