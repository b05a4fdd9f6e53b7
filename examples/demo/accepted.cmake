# SPDX-License-Identifier: BSL-1.0
# cmake -D PROGRAM=file -D ARGUMENTS=list -D WORDS=text [-D PIPED=file] -P accepted.cmake
#
# Passes if the program ends with status 0 and prints the words, on either stream. With PIPED its
# last argument is a named pipe, to which the file is written a moment later.
if(PIPED)
  execute_process(
    COMMAND
      sh -c
      "folder=$(mktemp -d) && mkfifo \"$folder/text\" || exit 1
       { sleep 1 && cat \"$0\" >\"$folder/text\"
       } &
       \"$@\" \"$folder/text\"
       status=$?
       wait
       rm -r \"$folder\"
       exit $status" ${PIPED} ${PROGRAM} ${ARGUMENTS}
    RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE told)
else()
  execute_process(COMMAND ${PROGRAM} ${ARGUMENTS} RESULT_VARIABLE status OUTPUT_VARIABLE output
                  ERROR_VARIABLE told)
endif()
string(FIND "${output}${told}" "${WORDS}" position)
if(NOT status STREQUAL "0" OR position EQUAL -1)
  message(FATAL_ERROR "status ${status}, not 0, or not the words \"${WORDS}\":\n${output}${told}")
endif()
message("${output}${told}")
