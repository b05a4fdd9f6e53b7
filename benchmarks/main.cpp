// SPDX-License-Identifier: BSL-1.0
#include "compile_cost.hpp"
#include "harness.hpp"

int main(int argc, char** argv) {
  const std::vector<std::string_view> filters{argv + 1, argv + argc};
  // First, since the memory of a compiler is counted from that of this process when it is forked.
  bench::run_compilations(filters);
  return bench::run(filters);
}
