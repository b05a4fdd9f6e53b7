// SPDX-License-Identifier: BSL-1.0
#include "harness.hpp"

int main(int argc, char** argv) { return bench::run({argv + 1, argv + argc}); }
