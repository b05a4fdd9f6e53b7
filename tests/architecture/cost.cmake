# SPDX-License-Identifier: BSL-1.0
# What including one of the two headers for programs costs: preprocessed lines, counted as
# `-E -P | wc -l`, and which headers come with it. The limits hold for libstdc++ 12; other versions
# of the standard library have other lengths, and there only the list of headers is checked.
cmake_minimum_required(VERSION 3.21)
include(${CMAKE_CURRENT_LIST_DIR}/../support/text.cmake)

set(limit_of_layout 32000)
set(limit_of_shardwise 159500)
set(forbidden_in_layout "/Eigen/|/range/v3/|nlohmann/|/(bits/std_thread\\.h|thread|string|vector|iostream|stdexcept)$")
set(forbidden_in_shardwise "/Eigen/Dense$|/range/v3/|nlohmann/|/shardwise/(data|io|mpi)[./]")

set(unit ${WORK_DIR}/cost_of_${HEADER}.cpp)
file(WRITE ${unit} "#include <shardwise/${HEADER}.hpp>\n")
set(flags -std=c++20 -I ${SOURCE_DIR}/include)
foreach(folder IN LISTS SYSTEM_INCLUDES)
  list(APPEND flags -isystem ${folder})
endforeach()

function(preprocess result)
  execute_process(COMMAND ${COMPILER} ${flags} ${ARGN} ${unit} RESULT_VARIABLE status
                  OUTPUT_VARIABLE output ERROR_VARIABLE errors)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${errors}")
  endif()
  set(${result} "${output}" PARENT_SCOPE)
endfunction()

set(failed FALSE)

preprocess(files -M)
string(REGEX REPLACE "\\\\\n|[ \n]+" ";" files "${files}")
foreach(file IN LISTS files)
  if(file MATCHES "${forbidden_in_${HEADER}}")
    message("comes with ${HEADER}.hpp but must not: ${file}")
    set(failed TRUE)
  endif()
endforeach()

# CMake would count them for half a minute.
execute_process(COMMAND ${COMPILER} ${flags} -E -P ${unit} COMMAND wc -l OUTPUT_VARIABLE lines
                COMMAND_ERROR_IS_FATAL ANY)
string(STRIP "${lines}" lines)
preprocess(macros -E -dM)
set(release unknown)
if(macros MATCHES "_GLIBCXX_RELEASE ([0-9]+)")
  set(release ${CMAKE_MATCH_1})
endif()
message("${HEADER}.hpp: ${lines} preprocessed lines, limit ${limit_of_${HEADER}}")
if(NOT release STREQUAL "12")
  message("the limit is not applied: it is for libstdc++ 12, and this is ${release}")
elseif(lines GREATER limit_of_${HEADER})
  message("too many lines")
  set(failed TRUE)
endif()

if(failed)
  message(FATAL_ERROR "${HEADER}.hpp costs too much")
endif()
