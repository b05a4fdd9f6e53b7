# SPDX-License-Identifier: BSL-1.0
# Targets for the developers of the library; users of shardwise::shardwise never see them.

# The warnings that the library promises to be free of, and fuller words from the compiler.
add_library(shardwise-internal INTERFACE)
target_compile_options(
  shardwise-internal INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow
                               -Wold-style-cast $<$<CXX_COMPILER_ID:GNU>:-fconcepts-diagnostics-depth=2>)
include(${CMAKE_CURRENT_LIST_DIR}/nlohmann_json.cmake)
target_link_libraries(shardwise-internal INTERFACE shardwise::shardwise
                                                   nlohmann_json::nlohmann_json)

# All programs that run the library: what the sanitizers watch.
add_custom_target(shardwise-programs)

# The whole library, precompiled once for all programs that include all of it. A program that
# includes less is compiled without it, so that it shows what it says.
function(shardwise_precompiled target source)
  file(STRINGS ${source} everything REGEX "^#include <shardwise/shardwise.hpp>")
  if(NOT everything)
    return()
  endif()
  if(NOT TARGET shardwise-precompiled)
    set(unit ${PROJECT_BINARY_DIR}/shardwise-precompiled.cpp)
    file(CONFIGURE OUTPUT ${unit} CONTENT "// Empty: carries the precompiled header.\n")
    add_library(shardwise-precompiled OBJECT ${unit})
    target_link_libraries(shardwise-precompiled PRIVATE shardwise-internal)
    target_precompile_headers(shardwise-precompiled PRIVATE <shardwise/shardwise.hpp>)
  endif()
  target_precompile_headers(${target} REUSE_FROM shardwise-precompiled)
endfunction()
