# SPDX-License-Identifier: BSL-1.0
# cmake -D CASE=file -D KIND=gcc|clang -D COMPILER=program -D SYSTEM_INCLUDES=list
#       [-D DEFINITIONS=list] [-D PRECOMPILED=folder] -P check.cmake
#
# Run in the top folder. Passes if CASE does not compile and the compiler says so well: one error,
# every expected text, at most 20 lines, and none longer than 420 characters or, where compilers print
# the type of a model, than the file says: `// longest-line: N`. A file with the line
# `// headers-alone` has a mistake that the compiled library does not know.
cmake_minimum_required(VERSION 3.21)
include(${CMAKE_CURRENT_LIST_DIR}/../support/text.cmake)

# One spelling for what compilers and locales print differently.
macro(normalise text)
  string(REPLACE "‘" "'" ${text} "${${text}}")
  string(REPLACE "’" "'" ${text} "${${text}}")
  while(${text} MATCHES "> >")
    string(REPLACE "> >" ">>" ${text} "${${text}}")
  endwhile()
endmacro()

set(complaints "")

file(STRINGS ${CASE} needs_headers REGEX "^// headers-alone$")
set(include_flags "")
if(needs_headers)
  set(DEFINITIONS "")
elseif(DEFINED PRECOMPILED)
  list(APPEND include_flags -I ${PRECOMPILED})
  file(STRINGS ${CASE} first REGEX "^#include" LIMIT_COUNT 1)
  string(REGEX REPLACE ".*<(.*)>.*" "${PRECOMPILED}/\\1.gch" first "${first}")
  if(KIND STREQUAL "clang" AND EXISTS "${first}")
    list(APPEND include_flags -include-pch ${first})
  endif()
endif()
list(APPEND include_flags -I include)
foreach(folder IN LISTS SYSTEM_INCLUDES)
  list(APPEND include_flags -isystem ${folder})
endforeach()
execute_process(
  COMMAND ${CMAKE_COMMAND} -E env LC_ALL=C ${COMPILER} -std=c++20 -fsyntax-only ${DEFINITIONS}
          ${include_flags} ${CASE}
  RESULT_VARIABLE status
  OUTPUT_VARIABLE output
  ERROR_VARIABLE output)
if(status EQUAL 0)
  list(APPEND complaints "it compiles")
endif()
put_aside(output)
normalise(output)
# What is precompiled is named by its whole path, whose length belongs to the checkout.
foreach(top IN ITEMS ABSOLUTE REALPATH)
  get_filename_component(folder . ${top} BASE_DIR ${CMAKE_CURRENT_SOURCE_DIR})
  string(REPLACE "${folder}/" "" output "${output}")
endforeach()

set(expected_count 0)
set(allowed_errors 1)
set(longest_line 420)
read_lines(${CASE} lines)
foreach(line IN LISTS lines)
  if(line MATCHES "^// errors-${KIND}: ([0-9]+)$")
    set(allowed_errors ${CMAKE_MATCH_1})
  endif()
  if(line MATCHES "^// longest-line: ([0-9]+)$")
    set(longest_line ${CMAKE_MATCH_1})
  endif()
  if(line MATCHES "^// expect(-${KIND})?: *(.*)$")
    math(EXPR expected_count "${expected_count} + 1")
    set(expected "${CMAKE_MATCH_2}")
    normalise(expected)
    if(expected STREQUAL "")
      list(APPEND complaints "an expectation has no text")
    endif()
    string(FIND "${output}" "${expected}" position)
    if(position EQUAL -1)
      list(APPEND complaints "the output does not contain: ${expected}")
    endif()
  endif()
endforeach()
if(expected_count EQUAL 0)
  list(APPEND complaints "the file has no line '// expect: TEXT' for ${KIND}")
endif()

set(errors 0)
set(length 0)
string(REGEX REPLACE "\n$" "" lines "${output}")
string(REPLACE "\n" ";" lines "${lines}")
foreach(line IN LISTS lines)
  math(EXPR length "${length} + 1")
  if(line MATCHES "error:")
    math(EXPR errors "${errors} + 1")
  endif()
  string(LENGTH "${line}" width)
  if(width GREATER longest_line)
    list(APPEND complaints
         "line ${length} of the output has ${width} characters, more than ${longest_line}")
  endif()
endforeach()
if(NOT errors EQUAL allowed_errors)
  list(APPEND complaints "${errors} lines say 'error:', not ${allowed_errors}")
endif()
if(length GREATER 20)
  list(APPEND complaints "the output has ${length} lines, more than 20")
endif()

if(complaints)
  list(JOIN complaints "\n  " complaints)
  set(report "${CASE} on ${COMPILER}:\n  ${complaints}\n---- the whole output ----\n${output}")
  put_back(report)
  message("${report}")
  message(FATAL_ERROR "the diagnostic is not as promised")
endif()
message("${CASE} on ${COMPILER}: ${expected_count} expected texts in ${length} lines")
