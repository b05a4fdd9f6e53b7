# SPDX-License-Identifier: BSL-1.0
# cmake -D CHAINS=program -D PART=n -D PARTS=count -D COMPILER=program -D SYSTEM_INCLUDES=list
#       -P headers_compile_alone.cmake
#
# Run in the top folder. Passes if every header compiles when a program includes nothing else. It
# compiles the chains of include_chains.cpp, of which this part takes each PARTS-th.
#
# Programs of the compiled library read the fewest other headers with each, so a header is compiled
# as in these, or, if it is among the kernels that they do not have, as in programs of headers alone.
# The definitions in `..._work.hpp` are in chains too.
cmake_minimum_required(VERSION 3.21)

set(flags -std=c++20 -fsyntax-only -I include)
foreach(folder IN LISTS SYSTEM_INCLUDES)
  list(APPEND flags -isystem ${folder})
endforeach()
execute_process(COMMAND ${CHAINS} . OUTPUT_VARIABLE chains COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^\n]+" chains "${chains}")
set(number 0)
set(count 0)
set(refused "")
foreach(chain IN LISTS chains)
  math(EXPR turn "${number} % ${PARTS} + 1")
  math(EXPR number "${number} + 1")
  if(NOT turn EQUAL PART)
    continue()
  endif()
  separate_arguments(headers UNIX_COMMAND "${chain}")
  list(LENGTH headers length)
  math(EXPR count "${count} + ${length}")
  list(TRANSFORM headers PREPEND "-include;")
  execute_process(
    COMMAND ${COMPILER} ${flags} -D SHARDWISE_COMPILED -D SHARDWISE_COMPILED_FILES ${headers} -x c++
            /dev/null
    RESULT_VARIABLE status ERROR_QUIET)
  if(NOT status EQUAL 0)
    execute_process(COMMAND ${COMPILER} ${flags} ${headers} -x c++ /dev/null RESULT_VARIABLE status)
  endif()
  if(NOT status EQUAL 0)
    list(APPEND refused ${chain})
  endif()
endforeach()
if(count EQUAL 0)
  message(FATAL_ERROR "part ${PART} of ${PARTS} has no headers")
endif()
if(refused)
  list(JOIN refused "\n  " refused)
  message(FATAL_ERROR "a header of these chains does not compile alone:\n  ${refused}")
endif()
message("${count} headers compile alone")
