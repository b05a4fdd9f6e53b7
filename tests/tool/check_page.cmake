# SPDX-License-Identifier: BSL-1.0
# PAGE is what TOOL writes of all operations.
cmake_minimum_required(VERSION 3.21)
set(output ${WORK}/operations.md)
execute_process(COMMAND ${TOOL} operations --markdown OUTPUT_FILE ${output} RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "ended with ${status}")
endif()
execute_process(COMMAND ${CMAKE_COMMAND} -E compare_files ${PAGE} ${output} RESULT_VARIABLE differs)
if(differs)
  message(FATAL_ERROR "the page is not up to date: ./run operations --markdown > ${PAGE}")
endif()
