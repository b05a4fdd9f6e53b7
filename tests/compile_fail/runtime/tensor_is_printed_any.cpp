// SPDX-License-Identifier: BSL-1.0
// expect: {"out << to_host(x)"}
// expect: elements are read on the host, after to_host or local
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
void use(const any_tensor<float>& a) { std::cout << "a = " << a << std::endl; }
