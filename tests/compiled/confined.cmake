# SPDX-License-Identifier: BSL-1.0
# Fails if a set of kernels defines a function that the linker may put in the place of another file's
# of the same name, which may run on machines without the set: every such name must hold NAMESPACE.
cmake_minimum_required(VERSION 3.21)
set(count 0)
set(failed FALSE)
foreach(object IN LISTS OBJECTS)
  execute_process(COMMAND ${NM} --defined-only ${object} RESULT_VARIABLE status
                  OUTPUT_VARIABLE symbols ERROR_VARIABLE errors)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${errors}")
  endif()
  string(REGEX MATCHALL " [WVuw] [^\n]+" weak "${symbols}")
  foreach(symbol IN LISTS weak)
    math(EXPR count "${count} + 1")
    # What compilers make for exceptions themselves is the same everywhere.
    if(NOT symbol MATCHES "${NAMESPACE}|DW\\.ref\\.__gxx_personality|__clang_call_terminate")
      message("not in ${NAMESPACE}:${symbol}")
      set(failed TRUE)
    endif()
  endforeach()
endforeach()
if(count EQUAL 0)
  message(FATAL_ERROR "no symbol was read")
elseif(failed)
  message(FATAL_ERROR "the linker may use these for other files")
endif()
message("${count} symbols, all in ${NAMESPACE}")
