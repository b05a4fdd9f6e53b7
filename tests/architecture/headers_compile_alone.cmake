# SPDX-License-Identifier: BSL-1.0
# cmake -D FOLDER=name -D COMPILER=program -D SYSTEM_INCLUDES=list -P headers_compile_alone.cmake
#
# Run in the top folder. Passes if every header of include/shardwise/FOLDER, or every header beside
# the folders where FOLDER is ".", compiles when a program includes nothing else.
cmake_minimum_required(VERSION 3.21)

set(include_flags -I include)
foreach(folder IN LISTS SYSTEM_INCLUDES)
  list(APPEND include_flags -isystem ${folder})
endforeach()
if(FOLDER STREQUAL ".")
  file(GLOB headers include/shardwise/*.hpp)
else()
  file(GLOB_RECURSE headers include/shardwise/${FOLDER}/*.hpp)
endif()
if(NOT headers)
  message(FATAL_ERROR "include/shardwise/${FOLDER} has no headers")
endif()
set(refused "")
foreach(header IN LISTS headers)
  execute_process(
    COMMAND ${COMPILER} -std=c++20 -fsyntax-only ${include_flags} -include ${header} -x c++ /dev/null
    RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    list(APPEND refused ${header})
  endif()
endforeach()
if(refused)
  list(JOIN refused "\n  " refused)
  message(FATAL_ERROR "these headers do not compile alone:\n  ${refused}")
endif()
list(LENGTH headers count)
message("${count} headers compile alone")
