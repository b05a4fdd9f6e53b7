// SPDX-License-Identifier: BSL-1.0
#pragma once

/// The version of the library. This is the only header whose macros outlive it.
#define SHARDWISE_VERSION_MAJOR 0
#define SHARDWISE_VERSION_MINOR 1
#define SHARDWISE_VERSION_PATCH 0

/// Precedes the definitions of non-template functions, which are in headers `..._work.hpp`. These
/// are included either by every file of a program or, if the compiled library is used, by it alone.
#if defined(SHARDWISE_COMPILED)
#define SHARDWISE_INLINE
#else
#define SHARDWISE_INLINE inline
#endif

/// The same for functions on files. The compiled library has them if it was built where there is a
/// JSON library; its CMake target defines `SHARDWISE_COMPILED_FILES` then.
#if defined(SHARDWISE_COMPILED_FILES)
#define SHARDWISE_INLINE_FILES
#else
#define SHARDWISE_INLINE_FILES inline
#endif

/// Precedes an explicit instantiation whose definition is in the compiled library; only that
/// library defines `SHARDWISE_ENGINE`.
#if defined(SHARDWISE_ENGINE)
#define SHARDWISE_EXTERN
#else
#define SHARDWISE_EXTERN extern
#endif

namespace shardwise {

/// Build settings as values that `if constexpr` can test.
namespace build_config {

/// True if the program links the library's compiled kernels, `shardwise::compiled`. That target
/// defines `SHARDWISE_COMPILED` for every file of the program, so that none of them compiles
/// kernels of the library. See docs/explanation/compile_cost.md.
#if defined(SHARDWISE_COMPILED)
inline constexpr bool compiled = true;
#else
inline constexpr bool compiled = false;
#endif

/// True if a rule broken at run time throws an exception; false under `-fno-exceptions`, where the
/// failure handler is called instead.
#if defined(__cpp_exceptions)
inline constexpr bool exceptions = true;
#else
inline constexpr bool exceptions = false;
#endif

/// True if the standard library checks the preconditions of its containers: those of the engine do
/// so too.
#if defined(_GLIBCXX_ASSERTIONS)
inline constexpr bool assertions = true;
#else
inline constexpr bool assertions = false;
#endif

}  // namespace build_config

/// Names that several folders of the library share; not for programs.
namespace internal {}

/// Names that the headers of one folder share; other folders must not use them. Code in either
/// namespace finds the names of both.
namespace detail {
using namespace internal;
}  // namespace detail
namespace internal {
using namespace detail;
}  // namespace internal

}  // namespace shardwise
