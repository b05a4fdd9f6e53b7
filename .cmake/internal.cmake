# SPDX-License-Identifier: BSL-1.0
# Targets for the developers of the library; users of shardwise::shardwise never see them.

# The warnings that the library promises to be free of, and fuller words from the compiler.
add_library(shardwise-warnings INTERFACE)
target_compile_options(
  shardwise-warnings INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow
                               -Wold-style-cast $<$<CXX_COMPILER_ID:GNU>:-fconcepts-diagnostics-depth=2>)
# Programs of headers alone, and programs that link the compiled library.
add_library(shardwise-internal INTERFACE)
target_link_libraries(shardwise-internal INTERFACE shardwise-warnings shardwise::shardwise
                                                   nlohmann_json::nlohmann_json)
add_library(shardwise-internal-compiled INTERFACE)
target_link_libraries(shardwise-internal-compiled INTERFACE shardwise-warnings shardwise::compiled
                                                            nlohmann_json::nlohmann_json)

# Tests run the engine more often than they compile it.
if(CMAKE_BUILD_TYPE STREQUAL Debug AND CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang")
  target_compile_options(shardwise-compiled PRIVATE -O1)
endif()

# All programs that run the library: what the sanitizers watch.
add_custom_target(shardwise-programs)

# Gives a program of one source the library: the compiled one, unless it writes kernels of its own.
# All of the library is precompiled once for all programs that include all of it. A program that
# includes less is compiled without it, so that it shows what it says.
function(shardwise_give_library target source)
  file(STRINGS ${source} kernels REGEX "kernel<|kernel_of<|enter_function|enter_operation")
  set(way -compiled)
  if(kernels)
    set(way "")
  endif()
  target_link_libraries(${target} PRIVATE shardwise-internal${way})
  file(STRINGS ${source} everything REGEX "^#include <shardwise/shardwise.hpp>")
  if(NOT everything)
    return()
  endif()
  set(precompiled shardwise-precompiled${way})
  if(NOT TARGET ${precompiled})
    set(unit ${PROJECT_BINARY_DIR}/${precompiled}.cpp)
    file(CONFIGURE OUTPUT ${unit} CONTENT "// Empty: carries the precompiled header.\n")
    add_library(${precompiled} OBJECT ${unit})
    target_link_libraries(${precompiled} PRIVATE shardwise-internal${way})
    target_precompile_headers(${precompiled} PRIVATE <shardwise/shardwise.hpp>)
  endif()
  target_precompile_headers(${target} REUSE_FROM ${precompiled})
endfunction()
