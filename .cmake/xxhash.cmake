# SPDX-License-Identifier: BSL-1.0
# xxHash, installed or fetched: the checksums of checkpoints. Only its header is used.
if(NOT TARGET xxHash::xxhash)
  find_path(SHARDWISE_XXHASH_INCLUDE_DIR xxhash.h)
  mark_as_advanced(SHARDWISE_XXHASH_INCLUDE_DIR)
  if(NOT SHARDWISE_XXHASH_INCLUDE_DIR AND SHARDWISE_FETCHES_PACKAGES)
    include(FetchContent)
    # SOURCE_SUBDIR names no folder: the header is used, its own build is not.
    FetchContent_Declare(
      xxhash
      URL https://github.com/Cyan4973/xxHash/archive/refs/tags/v0.8.3.tar.gz
      SOURCE_SUBDIR header-only)
    FetchContent_MakeAvailable(xxhash)
    set(SHARDWISE_XXHASH_INCLUDE_DIR ${xxhash_SOURCE_DIR})
  endif()
  if(SHARDWISE_XXHASH_INCLUDE_DIR)
    add_library(xxHash::xxhash INTERFACE IMPORTED GLOBAL)
    target_include_directories(xxHash::xxhash SYSTEM
                               INTERFACE ${SHARDWISE_XXHASH_INCLUDE_DIR})
  endif()
endif()
