# SPDX-License-Identifier: BSL-1.0
# cmake -D PROGRAM=file -D ARGUMENTS=list -D WORDS=text -P refused.cmake
#
# Passes if the program refuses the arguments: exit status 2, nothing on the standard output, and
# the words on the standard error stream.
execute_process(COMMAND ${PROGRAM} ${ARGUMENTS} RESULT_VARIABLE status OUTPUT_VARIABLE output
                ERROR_VARIABLE told)
string(FIND "${told}" "${WORDS}" position)
if(NOT status STREQUAL "2" OR NOT output STREQUAL "" OR position EQUAL -1)
  message(FATAL_ERROR "status ${status}, not 2, or not the words \"${WORDS}\":\n${output}${told}")
endif()
message("${told}")
