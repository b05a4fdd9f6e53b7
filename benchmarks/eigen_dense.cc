// SPDX-License-Identifier: BSL-1.0
// The yardstick of compile_cost.hpp; no part of the program.
#include <Eigen/Dense>
int main() {}
