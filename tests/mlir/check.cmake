# SPDX-License-Identifier: BSL-1.0
# cmake -D PROGRAM=tests -D CASES=name -D LEAST=n -D MLIR_OPT=mlir-opt-16 -D WORK=folder -D TOP=. -P check.cmake
#
# Runs tests that keep what they export in a folder, and has mlir-opt verify it: at least so many
# modules.
cmake_minimum_required(VERSION 3.21)
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
set(ENV{SHARDWISE_EXPORT_TO} ${WORK})
execute_process(COMMAND ${PROGRAM} ${CASES} WORKING_DIRECTORY ${TOP} RESULT_VARIABLE status
                OUTPUT_VARIABLE said ERROR_VARIABLE said)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "the tests ended with ${status}\n${said}")
endif()
file(GLOB modules ${WORK}/*.mlir)
list(LENGTH modules count)
if(count LESS LEAST)
  message(FATAL_ERROR "only ${count} modules were exported, not ${LEAST}")
endif()
# All in one file, so that mlir-opt starts once.
file(WRITE ${WORK}/all.txt "")
foreach(module IN LISTS modules)
  file(READ ${module} text)
  file(APPEND ${WORK}/all.txt "// ${module}\n${text}// -----\n")
endforeach()
execute_process(COMMAND ${MLIR_OPT} --allow-unregistered-dialect --split-input-file ${WORK}/all.txt
                RESULT_VARIABLE status OUTPUT_QUIET ERROR_VARIABLE said)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "mlir-opt refuses what was exported:\n${said}")
endif()
message("${count} modules")
