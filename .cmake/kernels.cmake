# SPDX-License-Identifier: BSL-1.0
# The kernels of the compiled library. Each instruction set has the parts of kernel_set.cpp and
# matrix_set.cpp, and each part of each set is an object, so that several are compiled at once.
#
# A part has namespaces of its own, so that the linker cannot take a function of one set for that of
# another, and is optimised whatever the build type is. No product is contracted with a sum, so that
# exact functions have the same bits in all sets.

# --- the sets ---------------------------------------------------------------------------------------

set(shardwise_is_x86 OFF)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$" AND CMAKE_CXX_COMPILER_ID MATCHES
                                                              "GNU|Clang")
  set(shardwise_is_x86 ON)
endif()
set(shardwise_flags_base "")
set(shardwise_flags_avx2 -mavx2 -mfma)
set(shardwise_flags_avx512 -mavx2 -mfma -mavx512f -mavx512dq -mavx512bw -mavx512vl)

# Sets `result` to the widest set that this machine has: what the compiler may use for it.
function(shardwise_find_native_set result)
  set(${result} base PARENT_SCOPE)
  if(NOT shardwise_is_x86)
    return()
  endif()
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -march=native -dM -E -x c++ /dev/null
                  OUTPUT_VARIABLE macros ERROR_QUIET)
  foreach(set IN ITEMS avx512 avx2)
    set(is_there ON)
    foreach(flag IN LISTS shardwise_flags_${set})
      string(REGEX REPLACE "^-m" "" macro ${flag})
      string(TOUPPER ${macro} macro)
      if(NOT macros MATCHES "#define __${macro}__ 1")
        set(is_there OFF)
      endif()
    endforeach()
    if(is_there)
      set(${result} ${set} PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

# What SHARDWISE_X86_SETS asks for, the smallest set first.
set(asked ${SHARDWISE_X86_SETS})
list(TRANSFORM asked REPLACE "^(all|ON)$" "base;avx2;avx512")
list(TRANSFORM asked REPLACE "^(none|OFF)$" base)
if("native" IN_LIST asked)
  shardwise_find_native_set(native)
  list(TRANSFORM asked REPLACE "^native$" ${native})
endif()
set(sets "")
foreach(set IN ITEMS base avx2 avx512)
  if(set IN_LIST asked AND (set STREQUAL base OR shardwise_is_x86))
    list(APPEND sets ${set})
  endif()
endforeach()
list(REMOVE_ITEM asked base avx2 avx512)
if(asked OR NOT sets)
  message(FATAL_ERROR "SHARDWISE_X86_SETS is all, native, none, or a list of base, avx2, avx512 and "
                      "native, not '${SHARDWISE_X86_SETS}'")
endif()

# --- the parts --------------------------------------------------------------------------------------

option(SHARDWISE_KERNELS_TOGETHER "Compile the kernels of a set together: a third less work" OFF)
mark_as_advanced(SHARDWISE_KERNELS_TOGETHER)
set(elements ${SHARDWISE_ELEMENTS})
list(TRANSFORM elements REPLACE "^all$" "f32;f64;i32;i64")
set(parts general)
foreach(type IN LISTS elements)
  if(type MATCHES "^(f32|i32)$")
    list(APPEND parts ${type}_operations ${type}_functions)
    if(type STREQUAL f32)
      list(APPEND parts f32_gradients)
      if(NOT "f64" IN_LIST elements)
        list(APPEND parts f32_squares)
      endif()
    endif()
  elseif(type MATCHES "^(f64|i64)$")
    list(APPEND parts ${type})
  else()
    message(FATAL_ERROR "SHARDWISE_ELEMENTS is all, or a list of f32 (with bf16 and f16), f64, i32 "
                        "(with i8, u8 and bool) and i64, not '${SHARDWISE_ELEMENTS}'")
  endif()
endforeach()
# Who chooses elements has a program that is known, and has linear algebra if it has all.
if(SHARDWISE_ELEMENTS STREQUAL "all")
  list(APPEND parts f32_systems f64_systems f32_decompositions f64_decompositions singular_values)
  if(SHARDWISE_KERNELS_TOGETHER)
    set(parts kernels matrices)
  endif()
endif()

# What the tests look into: the sets, and the names of the parts of all sets.
set(shardwise_kernel_sets ${sets})
set(shardwise_kernel_targets "")
set(declarations "")
set(entries "")
foreach(set IN LISTS sets)
  foreach(part IN LISTS parts)
    set(name ${set}_${part})
    set(source kernel_set.cpp)
    set(flags ${shardwise_flags_${set}})
    if(part MATCHES "matrices|systems|decompositions|singular_values")
      # Wider vectors than those of AVX2 gain nothing here.
      set(source matrix_set.cpp)
      if(set STREQUAL avx512)
        set(name avx2_${part})
        set(flags ${shardwise_flags_avx2})
      endif()
    endif()
    string(APPEND entries "    {\"${set}\", &shardwise_give_kernels_${name}},\n")
    set(target shardwise-kernels-${name})
    if(TARGET ${target})
      continue()
    endif()
    string(APPEND declarations
           "void shardwise_give_kernels_${name}(const shardwise_kernel_receiver& receiver);\n")
    add_library(${target} OBJECT include/shardwise/compiled/${source})
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    target_link_libraries(${target} PRIVATE shardwise)
    target_compile_definitions(
      ${target}
      PRIVATE shardwise=shardwise_${name} Eigen=Eigen_in_shardwise_${name} SHARDWISE_PART=${part}
              SHARDWISE_GIVE_KERNELS=shardwise_give_kernels_${name})
    if(CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang")
      target_compile_options(${target} PRIVATE ${SHARDWISE_KERNEL_FLAGS} -ffp-contract=off ${flags})
      if(part STREQUAL singular_values AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
        # g++ collects its garbage sooner: 1.1 GB instead of 1.35, in a fifth more time.
        target_compile_options(${target} PRIVATE --param=ggc-min-expand=20
                                                 --param=ggc-min-heapsize=65536)
      endif()
    endif()
    target_sources(shardwise-compiled PRIVATE $<TARGET_OBJECTS:${target}>)
    if(NOT PROJECT_IS_TOP_LEVEL)
      set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL ON)
    endif()
    list(APPEND shardwise_kernel_targets ${name})
  endforeach()
endforeach()

file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/shardwise_kernel_parts.cpp CONTENT
"// Made by CMake: the parts of the sets of kernels that are compiled.
#include \"shardwise/kernel/kernel_set.hpp\"

extern \"C\" {
${declarations}}

const shardwise_kernel_part shardwise_kernel_parts[] = {
${entries}};
const std::size_t shardwise_kernel_part_count =
    sizeof shardwise_kernel_parts / sizeof *shardwise_kernel_parts;
" @ONLY)
target_sources(shardwise-compiled PRIVATE ${PROJECT_BINARY_DIR}/shardwise_kernel_parts.cpp)
