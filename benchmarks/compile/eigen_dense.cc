// SPDX-License-Identifier: BSL-1.0
// The yardstick of compile-cost; no part of the program.
#include <Eigen/Dense>
int main() {}
