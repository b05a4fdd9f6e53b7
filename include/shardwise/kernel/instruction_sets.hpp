// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string_view>

namespace shardwise::internal {

/// Returns true if this machine has the instructions of a set of kernels of the compiled library:
/// `base`, `avx2` or `avx512`. Every machine has `base`.
[[nodiscard]] inline bool machine_has(std::string_view set) noexcept {
#if defined(__x86_64__)
  const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (set == "avx2") return has_avx2;
  if (set == "avx512")
    return has_avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
#endif
  return set == "base";
}

}  // namespace shardwise::internal
