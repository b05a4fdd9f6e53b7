# SPDX-License-Identifier: BSL-1.0
# cmake -D CASE=file -D KIND=gcc|clang -D COMPILER=program -D SYSTEM_INCLUDES=list
#       [-D DEFINITIONS=list] [-D PRECOMPILED=folder] -P check.cmake
#
# Run in the top folder. Passes if CASE does not compile and the compiler says so well: judge.cmake
# says what that is.
cmake_minimum_required(VERSION 3.21)
include(${CMAKE_CURRENT_LIST_DIR}/judge.cmake)

check_alone(${CASE})
if(NOT passes)
  message(FATAL_ERROR "the diagnostic is not as promised")
endif()
message("${CASE} on ${COMPILER}: ${summary}")
