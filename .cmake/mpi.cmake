# SPDX-License-Identifier: BSL-1.0
# `shardwise::mpi`, with which a program runs in the processes of an MPI launcher: one small library
# that alone sees MPI, so that programs are compiled once for every MPI. Built where MPI is found.
option(SHARDWISE_MPI "Build shardwise::mpi where MPI is found" ON)

# Adds a library that is linked, or loaded at run time, in place of any other of this kind.
function(shardwise_add_mpi target folder)
  add_library(${target} SHARED include/shardwise/compiled/mpi.cpp)
  set_target_properties(
    ${target} PROPERTIES OUTPUT_NAME shardwise-mpi LIBRARY_OUTPUT_DIRECTORY
                         ${PROJECT_BINARY_DIR}/mpi/${folder})
  target_compile_definitions(${target} PRIVATE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
  target_link_libraries(${target} PUBLIC shardwise)
endfunction()

if(SHARDWISE_MPI)
  set(MPI_CXX_SKIP_MPICXX ON)
  find_package(MPI QUIET COMPONENTS CXX)
endif()
if(MPI_CXX_FOUND)
  shardwise_add_mpi(shardwise-mpi default)
  target_link_libraries(shardwise-mpi PRIVATE MPI::MPI_CXX)
  set_target_properties(shardwise-mpi PROPERTIES EXPORT_NAME mpi)
  if(NOT PROJECT_IS_TOP_LEVEL)
    set_target_properties(shardwise-mpi PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
  add_library(shardwise::mpi ALIAS shardwise-mpi)
endif()

# The same for Open MPI and for MPICH, where a system has both, as Debian names their compilers: what
# the tests run with. Sets `SHARDWISE_MPIS` to those found, and `SHARDWISE_MPIRUN_NAME` to launchers.
set(SHARDWISE_MPIS "")
function(shardwise_find_mpi name)
  find_program(SHARDWISE_MPICC_${name} mpicc.${name})
  find_program(SHARDWISE_MPIRUN_${name} mpirun.${name})
  mark_as_advanced(SHARDWISE_MPICC_${name} SHARDWISE_MPIRUN_${name})
  if(NOT SHARDWISE_MPICC_${name} OR NOT SHARDWISE_MPIRUN_${name})
    return()
  endif()
  execute_process(COMMAND ${SHARDWISE_MPICC_${name}} -show OUTPUT_VARIABLE shown ERROR_QUIET
                  RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    return()
  endif()
  separate_arguments(flags UNIX_COMMAND "${shown}")
  set(includes ${flags})
  list(FILTER includes INCLUDE REGEX "^-I")
  list(TRANSFORM includes REPLACE "^-I" "")
  set(links ${flags})
  list(FILTER links INCLUDE REGEX "^-(L|l)")
  shardwise_add_mpi(shardwise-mpi-${name} ${name})
  set_target_properties(shardwise-mpi-${name} PROPERTIES EXCLUDE_FROM_ALL ON)
  # The MPI itself, for programs that call it.
  add_library(shardwise-${name} INTERFACE)
  target_include_directories(shardwise-${name} SYSTEM INTERFACE ${includes})
  target_link_libraries(shardwise-${name} INTERFACE ${links})
  target_link_libraries(shardwise-mpi-${name} PRIVATE shardwise-${name})
  set(SHARDWISE_MPIS ${SHARDWISE_MPIS} ${name} PARENT_SCOPE)
endfunction()
if(TARGET shardwise-mpi AND SHARDWISE_TESTS)
  shardwise_find_mpi(openmpi)
  shardwise_find_mpi(mpich)
endif()
