# SPDX-License-Identifier: BSL-1.0
# Which headers come with the two headers for programs; scale.cmake measures what they cost.
cmake_minimum_required(VERSION 3.21)
include(${CMAKE_CURRENT_LIST_DIR}/../support/text.cmake)

set(forbidden_in_layout "/Eigen/|/range/v3/|nlohmann/|/(bits/std_thread\\.h|thread|string|vector|iostream|stdexcept)$")
set(forbidden_in_shardwise "/Eigen/Dense$|/range/v3/|nlohmann/|/shardwise/(checkpoint|data|io)[./]")

set(unit ${WORK_DIR}/headers_with_${HEADER}.cpp)
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

if(failed)
  message(FATAL_ERROR "${HEADER}.hpp comes with headers that it must not")
endif()
