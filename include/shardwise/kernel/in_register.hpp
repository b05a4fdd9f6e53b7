// SPDX-License-Identifier: BSL-1.0
#pragma once

namespace shardwise::detail {

/// Makes g++ hold a vector in a register and forget where it comes from: otherwise it would
/// contract a product with the sum that follows, and load a vector from memory in every instruction
/// that reads it.
template <class Vector>
void in_register([[maybe_unused]] Vector& value) noexcept {
#if defined(__SSE2__) && defined(__GNUC__) && !defined(__clang__)
#if defined(__AVX512F__)
  asm("" : "+v"(value));
#else
  asm("" : "+x"(value));
#endif
#endif
}

}  // namespace shardwise::detail
