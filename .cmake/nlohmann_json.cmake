# SPDX-License-Identifier: BSL-1.0
# nlohmann-json, installed or fetched: what io/ reads headers with, and the shell tool requests.
if(NOT TARGET nlohmann_json::nlohmann_json)
  find_package(nlohmann_json 3.9 QUIET)
endif()
if(NOT TARGET nlohmann_json::nlohmann_json)
  include(FetchContent)
  # SOURCE_SUBDIR names no folder: the headers are used, its own build is not.
  FetchContent_Declare(
    nlohmann_json
    URL https://github.com/nlohmann/json/releases/download/v3.11.3/json.tar.xz
    SOURCE_SUBDIR headers-only)
  FetchContent_MakeAvailable(nlohmann_json)
  add_library(nlohmann_json::nlohmann_json INTERFACE IMPORTED GLOBAL)
  target_include_directories(nlohmann_json::nlohmann_json SYSTEM
                             INTERFACE ${nlohmann_json_SOURCE_DIR}/include)
endif()
