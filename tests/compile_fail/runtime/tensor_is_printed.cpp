// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::misuse::elements_are_on_devices,
// expect: shardwise::printed_as<char>, shardwise::suggested<18>{"out << to_host(x)"}>
// expect: {"out << to_host(x)"}
// expect: elements are read on the host, after to_host or local
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using A = sharded_tensor<float, extents<8, 8>, layout<pod, P<"x", "y">>>;
void use(const A& a) { std::cout << a; }
