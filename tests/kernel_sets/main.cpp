// SPDX-License-Identifier: BSL-1.0
#include <cstdio>
#include <cstring>

int check_kernels();

namespace {

/// Compiled for every machine, so that it may ask what this one can.
bool can([[maybe_unused]] const char* feature) {
#if defined(__x86_64__)
  const auto is = [feature](const char* name) { return std::strcmp(feature, name) == 0; };
  if (is("avx")) return __builtin_cpu_supports("avx");
  if (is("avx2")) return __builtin_cpu_supports("avx2");
  if (is("fma")) return __builtin_cpu_supports("fma");
  if (is("avx512f")) return __builtin_cpu_supports("avx512f");
  if (is("avx512dq")) return __builtin_cpu_supports("avx512dq");
  if (is("avx512bw")) return __builtin_cpu_supports("avx512bw");
  if (is("avx512vl")) return __builtin_cpu_supports("avx512vl");
#endif
  return false;
}

}  // namespace

/// The arguments are what the checks were compiled for. 77 says that this machine lacks one.
int main(int count, char* arguments[]) {
  for (int i = 1; i < count; ++i)
    if (!can(arguments[i])) {
      std::printf("SKIPPED, NOTHING WAS CHECKED: this machine has no %s\n", arguments[i]);
      return 77;
    }
  const int failures = check_kernels();
  std::printf("%d failures\n", failures);
  return failures == 0 ? 0 : 1;
}
