// SPDX-License-Identifier: BSL-1.0
// Programs that are linked with requests.cpp count their calls of the global operator new, and can
// let them fail.
#pragma once

#include <atomic>

namespace support {

/// The number of requests, the bytes that they asked for, and the number of blocks that are in use.
extern std::atomic<long> requests;
extern std::atomic<long> requested_bytes;
extern std::atomic<long> blocks;

/// Which requests fail: none, the one with the number `fails_at`, or all from that one on.
enum class failing { never, once, from_then_on };
extern std::atomic<failing> how;
extern std::atomic<long> fails_at;

}  // namespace support
