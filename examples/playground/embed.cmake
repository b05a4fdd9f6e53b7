# SPDX-License-Identifier: BSL-1.0
# cmake -D MODULE=file -D SCRIPT=file -P embed.cmake
#
# Writes a script that has a module of WebAssembly as text.
cmake_minimum_required(VERSION 3.21)
execute_process(COMMAND base64 -w0 ${MODULE} OUTPUT_VARIABLE words RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "base64 ended with ${status}")
endif()
file(WRITE ${SCRIPT} "const playgroundModule = \"${words}\";\n")
