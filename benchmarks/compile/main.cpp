// SPDX-License-Identifier: BSL-1.0
// What programs cost a compiler at -O2, beside a file that includes `Eigen/Dense` and does nothing:
// the time of the processor in the compiler's own code, and the highest memory.
//
//   compile-cost [--with COMPILER]... [--rounds N] [FILTERS]
#include "../harness.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace {

constexpr const char* root = SHARDWISE_ROOT;

/// One program of the table, compiled in one way. The goal is a multiple of `Eigen/Dense`, 0 for
/// none.
struct program {
  const char* name;
  const char* source;
  bool uses_library;
  double goal;
  /// Lines that match this are left out.
  const char* without = nullptr;
};
constexpr const char* check = "^#(if|error|endif)";
const std::vector<program> programs{
    {"nothing", "tests/architecture/includes.cpp", false, 0},
    {"relu", "tests/architecture/one_function.cpp", false, 11},
    {"small", "tests/architecture/small_program.cpp", false, 14},
    {"computes", "tests/consumer/computes.cpp", false, 0, check},
    {"06_mlp without pictures", "examples/06_mlp.cpp", false, 16, "visualize|explain"},
    {"06_mlp", "examples/06_mlp.cpp", false, 22},
    {"nothing", "tests/architecture/includes.cpp", true, 0},
    {"computes", "tests/consumer/computes.cpp", true, 4},
    {"06_mlp", "examples/06_mlp.cpp", true, 4},
    {"10_next_character", "examples/10_next_character.cpp", true, 4},
    {"demo", "examples/demo.cpp", true, 12}};

struct compilation {
  double seconds = 0;
  double mib = 0;
  bool ok = false;
};

compilation compile(const std::string& compiler, const program& each) {
  const std::string path = std::string(root) + "/" + each.source;
  std::string command = "test -r " + path + " && ";
  if (each.without != nullptr)
    command += std::string("grep -Ev '") + each.without + "' " + path + " | ";
  command += compiler + " -std=c++20 -O2 -c " + SHARDWISE_COMPILE_FLAGS;
  if (each.uses_library) command += " -D SHARDWISE_COMPILED -D SHARDWISE_COMPILED_FILES";
  command += " -x c++ " + (each.without != nullptr ? "-" : path) + " -o /dev/null";
  const pid_t child = fork();
  if (child == 0) {
    execl("/bin/sh", "sh", "-c", command.c_str(), static_cast<char*>(nullptr));
    _exit(127);
  }
  int status = 1;
  rusage used{};
  if (child < 0 || wait4(child, &status, 0, &used) != child) return {};
  return {
      static_cast<double>(used.ru_utime.tv_sec) + 1e-6 * static_cast<double>(used.ru_utime.tv_usec),
      static_cast<double>(used.ru_maxrss) / 1024, status == 0};
}

/// Compiles a program and the yardstick in turn, and prints the medians. The yardstick is compiled
/// more often: it takes so little time that single measurements of it scatter.
void measure(const std::string& compiler, const program& each, const std::string& name,
             int rounds) {
  const program yardstick{"", "benchmarks/compile/eigen_dense.cc", false, 1};
  std::vector<double> seconds, ratios;
  double mib = 0;
  bool ok = true;
  for (int r = 0; r < rounds; ++r) {
    const compilation before = compile(compiler, yardstick);
    const compilation own = compile(compiler, each);
    const compilation after = compile(compiler, yardstick), last = compile(compiler, yardstick);
    const double eigen = bench::median({before.seconds, after.seconds, last.seconds});
    ok = ok && own.ok && last.ok;
    seconds.push_back(own.seconds);
    ratios.push_back(own.seconds / std::max(eigen, 1e-3));
    mib = std::max(mib, own.mib);
  }
  const double ratio = bench::median(ratios);
  std::printf("%-46s %9.2f %18.1f %6.0f %9.0f%s\n", name.c_str(), bench::median(seconds), ratio,
              each.goal, mib,
              !ok                                  ? "  does not compile"
              : each.goal > 0 && ratio > each.goal ? "  above"
                                                   : "");
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> compilers;
  std::vector<std::string_view> filters;
  int rounds = 3;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--with" && i + 1 < argc)
      compilers.emplace_back(argv[++i]);
    else if (argument == "--rounds" && i + 1 < argc)
      rounds = std::max(std::atoi(argv[++i]), 1);
    else
      filters.push_back(argument);
  }
  if (compilers.empty()) compilers.emplace_back(SHARDWISE_COMPILER);
  std::printf("%-46s %9s %18s %6s %9s\n", "program", "seconds", "times Eigen/Dense", "goal", "MiB");
  for (const std::string& compiler : compilers)
    for (const program& each : programs) {
      const std::string name = compiler.substr(compiler.rfind('/') + 1) + ", " + each.name +
                               (each.uses_library ? ", compiled" : ", headers");
      const auto wanted = [&](std::string_view f) { return name.find(f) != std::string::npos; };
      if (filters.empty() || std::any_of(filters.begin(), filters.end(), wanted))
        measure(compiler, each, name, rounds);
    }
}
