# SPDX-License-Identifier: BSL-1.0
# cmake -D CHAINS=program -D PART=n -D PARTS=count -D COMPILER=program -D LAUNCHER=list
#       -D SYSTEM_INCLUDES=list -D WORK_DIR=folder -P headers_compile_alone.cmake
#
# Run in the top folder. Passes if every header compiles when a program includes nothing else. It
# compiles the chains of include_chains.cpp, of which this part takes each PARTS-th, to objects,
# which ccache, the launcher, keeps.
#
# Programs of the compiled library read the fewest other headers with each, so a header is compiled
# as in these, or, if it is among the kernels that they do not have, as in programs of headers alone.
# The definitions in `..._work.hpp` are in chains too.
cmake_minimum_required(VERSION 3.21)

set(flags -std=c++20 -c -I . -I include)
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
  list(TRANSFORM headers REPLACE "(.+)" "#include \"\\1\"")
  list(JOIN headers "\n" headers)
  set(unit ${WORK_DIR}/chain_${number}.cpp)
  file(WRITE ${unit} "${headers}\n")
  execute_process(
    COMMAND ${LAUNCHER} ${COMPILER} ${flags} -D SHARDWISE_COMPILED -D SHARDWISE_COMPILED_FILES
            ${unit} -o ${unit}.o
    RESULT_VARIABLE status ERROR_QUIET)
  if(NOT status EQUAL 0)
    execute_process(COMMAND ${LAUNCHER} ${COMPILER} ${flags} ${unit} -o ${unit}.o
                    RESULT_VARIABLE status)
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
