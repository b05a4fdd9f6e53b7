# SPDX-License-Identifier: BSL-1.0
# cmake -D PROGRAM=file -D BATCH=on|off -P check_streams.cmake
#
# Passes if the program ends with status 3 and says why where its output is full or closed, and,
# with BATCH, where its input cannot be read.
cmake_minimum_required(VERSION 3.21)

# streams_end_with_3(WORDS REDIRECTION ARGUMENTS...)
function(streams_end_with_3 words redirection)
  execute_process(COMMAND sh -c "exec \"$@\" ${redirection}" sh ${PROGRAM} ${ARGN}
                  RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE told)
  string(FIND "${told}" "${words}" position)
  if(NOT status STREQUAL "3" OR position EQUAL -1)
    message(SEND_ERROR "${ARGN} ${redirection}: status ${status}, not 3, or not the words "
                       "\"${words}\":\n${output}${told}")
  endif()
endfunction()

if(EXISTS /dev/full)
  streams_end_with_3("cannot be written" ">/dev/full" --help)
endif()
# A target that is no regular file stays what it is.
if(BATCH AND EXISTS /dev/stdout)
  execute_process(
    COMMAND sh -c "cd $(mktemp -d) && ln -s /dev/stdout picture && \"$1\" draw --mesh x=2 \
                   --spec x --svg picture && test -L picture && rm picture && rmdir \"$PWD\""
            sh ${PROGRAM}
    RESULT_VARIABLE status OUTPUT_VARIABLE output)
  if(NOT status EQUAL 0 OR NOT output MATCHES "<svg")
    message(SEND_ERROR "--svg to the output: status ${status}, ${output}")
  endif()
endif()
streams_end_with_3("cannot be written" ">&-" --help)
if(BATCH)
  streams_end_with_3("input_is_not_readable" "</" --batch)
  # A reader that has gone: the answers are far more than a pipe holds.
  execute_process(
    COMMAND sh -c "yes '{}' | { \"$1\" --batch; echo $? >&2; } | head -n 1" sh ${PROGRAM}
    OUTPUT_VARIABLE output ERROR_VARIABLE told TIMEOUT 50)
  if(NOT told MATCHES "cannot be written\n3\n")
    message(SEND_ERROR "a closed pipe: ${output}${told}")
  endif()
endif()
