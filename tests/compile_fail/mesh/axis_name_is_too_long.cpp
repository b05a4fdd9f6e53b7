// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::axis_name_is_malformed<
// expect: shardwise::fixed_string<26>{"longer than 23 characters"},
// expect: shardwise::of_text::mesh<shardwise::fixed_string<29>{"<abcdefghijklmnopqrstuvwx>=2"}>
// expect: an axis name is a letter or _ and up to 22 more letters, digits or _
#include <shardwise/layout.hpp>

using namespace shardwise;

struct pod : mesh<axis<"abcdefghijklmnopqrstuvwx", 2>> {};
