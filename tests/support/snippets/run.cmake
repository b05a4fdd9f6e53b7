# SPDX-License-Identifier: BSL-1.0
# cmake -D PROGRAM=file -D BLOCK=name -D EXPECTED=file -P run.cmake
# Runs the program of a block; where EXPECTED exists, it must print exactly that.
cmake_minimum_required(VERSION 3.21)
execute_process(COMMAND ${PROGRAM} ${BLOCK} RESULT_VARIABLE status OUTPUT_VARIABLE printed)
if(NOT status EQUAL 0)
  message("${printed}")
  message(FATAL_ERROR "the program ended with ${status}")
endif()
if(EXISTS ${EXPECTED})
  file(READ ${EXPECTED} expected)
  if(NOT printed STREQUAL expected)
    message("---- the page says ----\n${expected}---- the program prints ----\n${printed}----")
    message(FATAL_ERROR "the page and the program differ")
  endif()
endif()
