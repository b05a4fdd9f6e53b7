// SPDX-License-Identifier: BSL-1.0
#pragma once

// g++ 12 warns about its own AVX-512 intrinsics, which initialise a register with itself, wherever
// Eigen's kernels are inlined, system header or not. The warnings are disabled for that header
// only.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/QR>

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
