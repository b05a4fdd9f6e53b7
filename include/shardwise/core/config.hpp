// SPDX-License-Identifier: BSL-1.0
#pragma once

/// The version of the library. This is the only header that defines macros.
#define SHARDWISE_VERSION_MAJOR 0
#define SHARDWISE_VERSION_MINOR 1
#define SHARDWISE_VERSION_PATCH 0

/// Definitions of functions that are no templates stand in headers `..._work.hpp`: every file of a
/// program includes them, or the compiled library alone does.
#if defined(SHARDWISE_COMPILED)
#define SHARDWISE_INLINE
#else
#define SHARDWISE_INLINE inline
#endif

/// Before an explicit instantiation, of which the compiled library has the definition: it alone
/// defines `SHARDWISE_ENGINE`.
#if defined(SHARDWISE_ENGINE)
#define SHARDWISE_EXTERN
#else
#define SHARDWISE_EXTERN extern
#endif

namespace shardwise {

/// What the compiler was asked to support, as values that `if constexpr` can read.
namespace config {

/// True where the program is linked with the library's own kernels, `shardwise::compiled`, which
/// defines `SHARDWISE_COMPILED` for all files of the program: these then compile no kernel of the
/// library. See docs/explanation/compile_cost.md.
#if defined(SHARDWISE_COMPILED)
inline constexpr bool compiled = true;
#else
inline constexpr bool compiled = false;
#endif

/// True where a broken rule at run time is thrown; false under `-fno-exceptions`, where it goes to
/// the failure handler instead.
#if defined(__cpp_exceptions)
inline constexpr bool exceptions = true;
#else
inline constexpr bool exceptions = false;
#endif

}  // namespace config
}  // namespace shardwise
