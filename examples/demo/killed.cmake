# SPDX-License-Identifier: BSL-1.0
# cmake -D PROGRAM=file -D TIMEOUT=file -D ROOT=folder -D FOLDER=folder -P killed.cmake
#
# Passes if a training that is told to end, goes on, is killed and goes on again has the state of one
# that nobody stopped, to the last bit.
set(steps 100)
file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER})

# train(STATE STATUS [LAUNCHER...]): trains to the end, or until the launcher ends it.
function(train state status)
  execute_process(
    COMMAND ${ARGN} ${PROGRAM} --root ${ROOT} --steps ${steps} --letters 0 --out ${FOLDER} --state
            ${FOLDER}/${state} --export ${FOLDER}/${state}.safetensors
    RESULT_VARIABLE ended OUTPUT_VARIABLE output ERROR_VARIABLE told)
  # A machine may be so fast that nothing is left to stop.
  if(NOT ended STREQUAL status AND NOT ended STREQUAL "0")
    message(FATAL_ERROR "status ${ended}, not ${status}:\n${output}${told}")
  endif()
  message("${told}${output}")
endfunction()

train(whole 0)
train(stopped 130 ${TIMEOUT} --foreground --preserve-status -s TERM 3)
train(stopped 137 ${TIMEOUT} --foreground -s KILL 3)
train(stopped 0)
execute_process(COMMAND ${CMAKE_COMMAND} -E compare_files ${FOLDER}/whole.safetensors
                        ${FOLDER}/stopped.safetensors RESULT_VARIABLE differs)
if(differs)
  message(FATAL_ERROR "the states differ")
endif()
