// SPDX-License-Identifier: BSL-1.0
// Runs the program of a page that is named: `shardwise-docs-... NAME`.
#include "support/snippets/program.hpp"

#include <iostream>
#include <string_view>

int main(int count, char** arguments) {
  const std::string_view wanted = count == 2 ? arguments[1] : "";
  for (const documented::program* each = documented::program::last; each; each = each->next)
    if (each->name == wanted) {
      each->run();
      return 0;
    }
  std::cerr << "no program is named '" << wanted << "'\n";
  return 2;
}
