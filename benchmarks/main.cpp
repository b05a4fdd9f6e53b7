// SPDX-License-Identifier: BSL-1.0
#include "compile_cost.hpp"
#include "harness.hpp"

int main(int argc, char** argv) {
  const std::vector<std::string_view> filters{argv + 1, argv + argc};
  const int status = bench::run(filters);
  bench::run_compilations(filters);
  return status;
}
