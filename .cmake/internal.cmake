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
                                                   nlohmann_json::nlohmann_json xxHash::xxhash)
add_library(shardwise-internal-compiled INTERFACE)
target_link_libraries(shardwise-internal-compiled INTERFACE shardwise-warnings shardwise::compiled
                                                            nlohmann_json::nlohmann_json
                                                            xxHash::xxhash)

# Tests run the engine more often than they compile it.
if(CMAKE_BUILD_TYPE STREQUAL Debug AND CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang")
  target_compile_options(shardwise-engine PRIVATE -O1)
  target_compile_options(shardwise-compiled PRIVATE -O1)
endif()

# All programs that run the library: what the sanitizers watch.
add_custom_target(shardwise-programs)

# What a program says that writes kernels of its own, and so needs the headers alone.
set(shardwise_writes_kernels "kernel<|kernel_of<|enter_function|enter_operation")

# Links a target with the library, `-compiled` or `` (headers alone), which is precompiled once for
# all of them.
function(shardwise_link_precompiled target way)
  target_link_libraries(${target} PRIVATE shardwise-internal${way})
  set(precompiled shardwise-precompiled${way})
  if(NOT TARGET ${precompiled})
    set(unit ${PROJECT_BINARY_DIR}/${precompiled}.cpp)
    file(CONFIGURE OUTPUT ${unit} CONTENT "// Empty: carries the precompiled header.\n")
    add_library(${precompiled} OBJECT EXCLUDE_FROM_ALL ${unit})
    target_link_libraries(${precompiled} PRIVATE shardwise-internal${way})
    target_precompile_headers(${precompiled} PRIVATE <shardwise/shardwise.hpp>)
  endif()
  target_precompile_headers(${target} REUSE_FROM ${precompiled})
endfunction()

# Gives a program of one source the library: the compiled one, unless it writes kernels of its own.
# A program that includes less than all of it is compiled without the precompiled header, so that it
# shows what it says.
function(shardwise_give_library target source)
  file(STRINGS ${source} kernels REGEX ${shardwise_writes_kernels})
  set(way -compiled)
  if(kernels)
    set(way "")
  endif()
  file(STRINGS ${source} everything REGEX "^#include <shardwise/shardwise.hpp>")
  if(everything)
    shardwise_link_precompiled(${target} "${way}")
  else()
    target_link_libraries(${target} PRIVATE shardwise-internal${way})
  endif()
endfunction()
