# SPDX-License-Identifier: BSL-1.0
# cmake -D CASES="file file ..." -D PROGRAM=file -D KIND=gcc|clang -D COMPILER=program
#       -D SYSTEM_INCLUDES=list [-D DEFINITIONS=list] [-D PRECOMPILED=folder]
#       -P check_together.cmake
#
# Run in the top folder. Writes all CASES into one PROGRAM, compiles it, gives each diagnostic to
# the case that it names, and judges each case by its own, as check.cmake does. This takes a
# fraction of the time, but a case can lose its error to another that instantiates the same template
# first. So a case whose diagnostics are not as promised is compiled alone, and then only what is
# said there counts.
cmake_minimum_required(VERSION 3.21)
include(${CMAKE_CURRENT_LIST_DIR}/judge.cmake)
separate_arguments(CASES)

# Each case is in a namespace of its own, behind the headers that all of them include. It keeps the
# name of its file and the numbers of its lines.
function(write_program)
  set(includes "")
  set(bodies "")
  set(number 0)
  foreach(case IN LISTS CASES)
    math(EXPR number "${number} + 1")
    file(STRINGS ${case} found REGEX "^#include")
    list(APPEND includes ${found})
    file(READ ${case} text)
    string(REGEX REPLACE "(^|\n)#include[^\n]*" "\\1" text "${text}")
    string(APPEND bodies "namespace mistake_${number} {\n#line 1 \"${case}\"\n${text}\n}\n")
  endforeach()
  list(REMOVE_DUPLICATES includes)
  list(JOIN includes "\n" includes)
  file(WRITE ${PROGRAM} "${includes}\n${bodies}")
endfunction()

# Sets `diagnostics` to a list: each error or warning of `output`, with all that is said of it.
function(split_diagnostics output)
  # These stand before the error, warning or note that they belong to, all else behind it.
  set(place "^(In file included from |In module | +from |[^ ]+: (In|At) |[^ ]+:[0-9]+:   )")
  set(diagnostics "")
  set(diagnostic "")
  set(before "")
  string(REGEX REPLACE "(^|\n)[0-9]+ (error|warning)[^\n]* generated[.]\n" "\\1" lines "${output}")
  string(REGEX REPLACE "\n$" "" lines "${lines}")
  string(REPLACE "\n" ";" lines "${lines}")
  foreach(line IN LISTS lines)
    if(line MATCHES "^[^ ]+: (fatal error|error|warning|note): ")
      if(NOT CMAKE_MATCH_1 STREQUAL "note")
        list(APPEND diagnostics "${diagnostic}")
        set(diagnostic "")
      endif()
      string(APPEND diagnostic "${before}${line}\n")
      set(before "")
    elseif(line MATCHES "${place}" OR NOT before STREQUAL "")
      string(APPEND before "${line}\n")
    else()
      string(APPEND diagnostic "${line}\n")
    endif()
  endforeach()
  list(APPEND diagnostics "${diagnostic}${before}")
  list(REMOVE_ITEM diagnostics "")
  set(diagnostics "${diagnostics}" PARENT_SCOPE)
endfunction()

# Sets `named` to the cases that `diagnostic` names.
function(find_names diagnostic)
  set(named "")
  foreach(case IN LISTS CASES)
    string(FIND "${diagnostic}" "${case}:" position)
    if(NOT position EQUAL -1)
      list(APPEND named ${case})
    endif()
  endforeach()
  set(named "${named}" PARENT_SCOPE)
endfunction()

# Compiles each case of `ARGN` alone, and adds to `said` what is said of it, and to `failed`.
macro(check_each_alone)
  foreach(case IN ITEMS ${ARGN})
    check_alone(${case})
    string(APPEND said "${output}")
    if(NOT passes)
      list(APPEND failed ${case})
    endif()
  endforeach()
endmacro()

write_program()
set(flags_clang -ferror-limit=0)
compile(${PROGRAM} ${flags_${KIND}})
string(REGEX REPLACE "mistake_[0-9]+::" "" output "${output}")
split_diagnostics("${output}")

# Each case has the diagnostics that name no other; those that share one are compiled alone.
set(alone "")
foreach(diagnostic IN LISTS diagnostics)
  find_names("${diagnostic}")
  list(LENGTH named count)
  if(count EQUAL 1)
    string(APPEND of_${named} "${diagnostic}")
  else()
    list(APPEND alone ${named})
  endif()
endforeach()

# Of 20 lines some are missing here: clang's last, which counts the errors, and those on the place
# of an error that are not repeated where the error before had the same, up to five on g++.
foreach(case IN LISTS CASES)
  set(most_lines 15)
  if(KIND STREQUAL "clang" AND "${of_${case}}" MATCHES "^In file included from ")
    set(most_lines 19)
  endif()
  judge(${case} "${of_${case}}" ${most_lines})
  if(complaints)
    list(APPEND alone ${case})
  endif()
endforeach()
list(REMOVE_DUPLICATES alone)

set(said "")
set(failed "")
check_each_alone(${alone})
# What was not judged above has been said of one of these again, or it is of one of the others: an
# error may name the wrong case, such as the first to instantiate a template, or the last if a brace
# is missing. Of what clang instantiates at the end it names none.
foreach(diagnostic IN LISTS diagnostics)
  find_names("${diagnostic}")
  list(POP_FRONT named case)
  if(case AND NOT case IN_LIST alone)
    continue()
  endif()
  string(REGEX MATCH "[^\n]+: (fatal error|error|warning): [^\n]*" first "${diagnostic}")
  string(FIND "${said}" "${first}" position)
  if(first STREQUAL "" OR position EQUAL -1)
    set(others "")
    foreach(case IN LISTS CASES)
      if(NOT case IN_LIST alone)
        list(APPEND others ${case})
      endif()
    endforeach()
    check_each_alone(${others})
    list(APPEND alone ${others})
    break()
  endif()
endforeach()

if(failed)
  list(JOIN failed "\n  " failed)
  message(FATAL_ERROR "the diagnostics are not as promised:\n  ${failed}")
endif()
list(LENGTH CASES count)
list(LENGTH alone alone_count)
math(EXPR together "${count} - ${alone_count}")
list(JOIN alone "\n  " names)
message("${together} cases judged together on ${COMPILER}, ${alone_count} alone\n  ${names}")
