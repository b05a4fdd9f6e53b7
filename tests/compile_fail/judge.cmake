# SPDX-License-Identifier: BSL-1.0
# What check.cmake and check_together.cmake share: how a program is compiled, and what a compiler
# must say of a case. Both are run in the top folder with
#   -D KIND=gcc|clang -D COMPILER=program -D SYSTEM_INCLUDES=list [-D DEFINITIONS=list]
#   [-D PRECOMPILED=folder]
#
# A compiler says it well in one error, with every expected text, in at most 20 lines, none of which
# is longer than 420 characters or, where compilers print the type of a model, than the file says:
# `// longest-line: N`. A file with the line `// headers-alone` has a mistake that the compiled
# library does not know.
include(${CMAKE_CURRENT_LIST_DIR}/../support/text.cmake)

# One spelling for what compilers and locales print differently.
macro(normalise text)
  string(REPLACE "‘" "'" ${text} "${${text}}")
  string(REPLACE "’" "'" ${text} "${${text}}")
  while(${text} MATCHES "> >")
    string(REPLACE "> >" ">>" ${text} "${${text}}")
  endwhile()
endmacro()

# Compiles `program`, with the flags `ARGN`: sets `output` to what the compiler says, put aside, and
# `compiles`.
function(compile program)
  file(STRINGS ${program} needs_headers REGEX "^// headers-alone$")
  set(include_flags "")
  if(needs_headers)
    set(DEFINITIONS "")
  elseif(DEFINED PRECOMPILED)
    list(APPEND include_flags -I ${PRECOMPILED})
    file(STRINGS ${program} first REGEX "^#include" LIMIT_COUNT 1)
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
    COMMAND ${CMAKE_COMMAND} -E env LC_ALL=C ${COMPILER} -std=c++20 -fsyntax-only ${ARGN}
            ${DEFINITIONS} ${include_flags} ${program}
    RESULT_VARIABLE status
    OUTPUT_VARIABLE output
    ERROR_VARIABLE output)
  put_aside(output)
  normalise(output)
  # What is precompiled is named by its whole path, whose length belongs to the checkout.
  foreach(top IN ITEMS ABSOLUTE REALPATH)
    get_filename_component(folder . ${top} BASE_DIR ${CMAKE_CURRENT_SOURCE_DIR})
    string(REPLACE "${folder}/" "" output "${output}")
  endforeach()
  set(output "${output}" PARENT_SCOPE)
  set(compiles FALSE PARENT_SCOPE)
  if(status EQUAL 0)
    set(compiles TRUE PARENT_SCOPE)
  endif()
endfunction()

# Sets `complaints` to what is wrong with `output`, which a compiler said of `case`, and `summary`
# to what was looked at.
function(judge case output most_lines)
  set(complaints "")
  set(expected_count 0)
  set(allowed_errors 1)
  set(longest_line 420)
  read_lines(${case} lines)
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
  if(length GREATER most_lines)
    list(APPEND complaints "the output has ${length} lines, more than ${most_lines}")
  endif()

  set(complaints "${complaints}" PARENT_SCOPE)
  set(summary "${expected_count} expected texts in ${length} lines" PARENT_SCOPE)
endfunction()

# Compiles `case` as a program of its own, and prints what is wrong. Sets `passes`, `output` and
# `summary`.
function(check_alone case)
  compile(${case})
  judge(${case} "${output}" 20)
  if(compiles)
    list(PREPEND complaints "it compiles")
  endif()
  set(passes TRUE PARENT_SCOPE)
  set(output "${output}" PARENT_SCOPE)
  set(summary "${summary}" PARENT_SCOPE)
  if(complaints)
    set(passes FALSE PARENT_SCOPE)
    list(JOIN complaints "\n  " complaints)
    set(report "${case} on ${COMPILER}:\n  ${complaints}\n---- the whole output ----\n${output}")
    put_back(report)
    message("${report}")
  endif()
endfunction()
