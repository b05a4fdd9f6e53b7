# SPDX-License-Identifier: BSL-1.0
# The compiler checks a program of 200 layouts, 200 einsums and 200 redistributions within a limit
# of memory, on the layout header alone.
cmake_minimum_required(VERSION 3.21)
set(count 200)
# The program value that a trace records, the element types that operations judge, sub-programs,
# dimensions of several factors, all operations, their gradients, vmap, lists of tensors, scans in
# parts and the search for cheaper redistributions came on top of the 220 and 174 MiB that this took
# before.
set(limit_KiB_of_GNU 460800)    # 450 MiB
set(limit_KiB_of_Clang 245760)  # 240 MiB

# The pairs of specs of x[b, i] and w[i, o]: all agree on the contracted dimension i.
set(x_specs "\"data\", none" "\"data\", \"model\"" "none, \"model\"" "\"model\", none"
            "by(\"data\", \"model\"), none" "none, none")
set(w_specs "none, \"model\"" "\"model\", none" "\"model\", \"data\"" "none, \"data\"" "none, none"
            "none, by(\"data\", \"model\")")
list(LENGTH x_specs kinds)

file(READ ${CMAKE_CURRENT_LIST_DIR}/scale.cpp.in program)
foreach(part IN ITEMS mesh item)
  string(REGEX MATCH "// ${part}:[^\n]*\n" mark "${program}")
  string(FIND "${program}" "${mark}" begin)
  string(SUBSTRING "${program}" ${begin} -1 rest)
  string(FIND "${rest}" "// end\n" length)
  string(SUBSTRING "${rest}" 0 ${length} ${part})
endforeach()
string(FIND "${program}" "// mesh:" begin)
string(SUBSTRING "${program}" 0 ${begin} text)

math(EXPR last "${count} - 1")
foreach(I RANGE ${last})
  math(EXPR kind "${I} % ${kinds}")
  math(EXPR M "${I} / ${kinds}")
  math(EXPR INNER "64 * (1 + ${I} % 23)")
  math(EXPR OUTER "128 * (1 + ${I} % 17)")
  math(EXPR BATCH "32 * (1 + ${I} % 11)")
  list(GET x_specs ${kind} x_spec)
  list(GET w_specs ${kind} w_spec)
  set(X_SPEC "P<${x_spec}>")
  set(W_SPEC "P<${w_spec}>")
  if(kind EQUAL 0)
    string(CONFIGURE "${mesh}" piece @ONLY)
    string(APPEND text "${piece}")
  endif()
  string(CONFIGURE "${item}" piece @ONLY)
  string(APPEND text "${piece}")
endforeach()
set(unit ${WORK_DIR}/scale.cpp)
file(WRITE ${unit} "${text}")

execute_process(
  COMMAND ${PEAK_MEMORY} ${COMPILER} -std=c++20 -fsyntax-only -I ${SOURCE_DIR}/include ${unit}
  RESULT_VARIABLE status OUTPUT_VARIABLE peak ERROR_VARIABLE errors)
if(NOT status EQUAL 0)
  string(SUBSTRING "${errors}" 0 4000 errors)
  message(FATAL_ERROR "the program does not compile:\n${errors}")
endif()
string(STRIP "${peak}" peak)
set(limit ${limit_KiB_of_${KIND}})
message("${count} of each: ${peak} KiB at most, limit ${limit} KiB")
if(peak GREATER limit)
  message(FATAL_ERROR "too much memory")
endif()
