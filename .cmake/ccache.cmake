# SPDX-License-Identifier: BSL-1.0
# ccache, where it is installed: what was compiled once, here or in another checkout, is not compiled
# again. Paths are relative to the checkout, and neither the times of headers nor what a precompiled
# header defined matter. What a file includes is learnt from its compiler, which saves preprocessing.
find_program(SHARDWISE_CCACHE ccache)
mark_as_advanced(SHARDWISE_CCACHE)
if(SHARDWISE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 CCACHE_DEPEND=1
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      ${SHARDWISE_CCACHE})
endif()
