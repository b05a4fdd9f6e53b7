# SPDX-License-Identifier: BSL-1.0
# What the tests need beside the library: zlib, and Catch2 (2 or 3) and range-v3, installed or
# fetched.
find_package(ZLIB REQUIRED)
find_package(Catch2 QUIET)
if(NOT TARGET Catch2::Catch2)
  include(FetchContent)
  FetchContent_Declare(
    Catch2 URL https://github.com/catchorg/Catch2/archive/refs/tags/v3.5.4.tar.gz)
  FetchContent_MakeAvailable(Catch2)
  list(APPEND CMAKE_MODULE_PATH ${catch2_SOURCE_DIR}/extras)
endif()
include(Catch)

find_package(range-v3 QUIET)
if(NOT TARGET range-v3::range-v3)
  include(FetchContent)
  FetchContent_Declare(
    range-v3
    URL https://github.com/ericniebler/range-v3/archive/refs/tags/0.12.0.tar.gz
    SOURCE_SUBDIR headers-only)
  FetchContent_MakeAvailable(range-v3)
  add_library(range-v3::range-v3 INTERFACE IMPORTED)
  target_include_directories(range-v3::range-v3 SYSTEM INTERFACE ${range-v3_SOURCE_DIR}/include)
endif()
