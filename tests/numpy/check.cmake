# SPDX-License-Identifier: BSL-1.0
# cmake -D PROGRAM=exchange -D SCRIPT=exchange.py -D WORK=folder -P check.cmake
#
# Runs the script with a Python that has NumPy, or says that there is none.
cmake_minimum_required(VERSION 3.21)
foreach(python IN ITEMS python3 /usr/bin/python3)
  execute_process(COMMAND ${python} -c "import numpy" RESULT_VARIABLE status OUTPUT_QUIET
                  ERROR_QUIET)
  if(status EQUAL 0)
    file(REMOVE_RECURSE ${WORK})
    file(MAKE_DIRECTORY ${WORK})
    execute_process(COMMAND ${python} ${SCRIPT} ${PROGRAM} ${WORK} RESULT_VARIABLE status)
    if(NOT status EQUAL 0)
      message(FATAL_ERROR "the exchange with NumPy ended with ${status}")
    endif()
    return()
  endif()
endforeach()
message("skipped: there is no python3 with numpy; on Debian and Ubuntu: ./run install python3-numpy")
