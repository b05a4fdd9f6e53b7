// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "harness.hpp"

#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

/// What programs cost the compiler, beside a file that includes `Eigen/Dense` and does nothing: the
/// time of the processor, not that of the clock, and the highest memory.
namespace bench {

struct compilation {
  double seconds = 0;
  double mib = 0;
  bool ok = false;
};

/// Compiles a source at -O2 with the library's headers.
inline compilation compile(const std::string& source, std::string_view way) {
  std::string command = SHARDWISE_COMPILE;
  command += way == "compiled" ? " -D SHARDWISE_COMPILED " : " ";
  command += "-x c++ " + source + " -o /dev/null";
  const pid_t child = fork();
  if (child == 0) {
    execl("/bin/sh", "sh", "-c", command.c_str(), static_cast<char*>(nullptr));
    _exit(127);
  }
  int status = 1;
  rusage used{};
  if (child < 0 || wait4(child, &status, 0, &used) != child) return {};
  const auto of = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return {of(used.ru_utime) + of(used.ru_stime), static_cast<double>(used.ru_maxrss) / 1024,
          status == 0};
}

/// Prints a row for each program and way, if one of the filters names it or there is none.
inline void run_compilations(const std::vector<std::string_view>& filters, int rounds = 3) {
  struct program {
    std::string name;
    std::string_view way;
    double goal;
  };
  const std::string root = SHARDWISE_ROOT;
  bool begun = false;
  for (const program& each :
       {program{"examples/06_mlp.cpp", "headers", 8}, program{"examples/06_mlp.cpp", "compiled", 4},
        program{"examples/10_next_character.cpp", "headers", 8},
        program{"examples/10_next_character.cpp", "compiled", 4}}) {
    const std::string name = "compile " + each.name + ", " + std::string(each.way);
    const auto wanted = [&](std::string_view f) { return name.find(f) != std::string::npos; };
    if (!filters.empty() && std::none_of(filters.begin(), filters.end(), wanted)) continue;
    if (!begun)
      std::printf("\n%-46s %11s %18s %7s %6s %9s %6s\n", "program", "seconds", "times Eigen/Dense",
                  "", "goal", "MiB", "goal");
    begun = true;
    std::vector<double> seconds, ratios;
    double mib = 0;
    bool ok = true;
    for (int r = 0; r < rounds; ++r) {
      const compilation own = compile(root + "/" + each.name, each.way);
      const compilation eigen = compile(root + "/benchmarks/eigen_dense.cc", "headers");
      ok = ok && own.ok && eigen.ok;
      seconds.push_back(own.seconds);
      ratios.push_back(own.seconds / std::max(eigen.seconds, 1e-3));
      mib = std::max(mib, own.mib);
    }
    const double ratio = median(ratios);
    std::printf("%-46s %11.2f %18.1f %7s %6.1f %9.0f %6d%s\n", name.c_str(), median(seconds), ratio,
                "", each.goal, mib, 400,
                !ok                                ? "  does not compile"
                : ratio > each.goal || mib > 400.0 ? "  above"
                                                   : "");
    std::fflush(stdout);
  }
}

}  // namespace bench
