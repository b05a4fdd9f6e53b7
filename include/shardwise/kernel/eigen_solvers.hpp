// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/eigen.hpp"

// The decompositions of Eigen, which few programs need. What warns in them is in Eigen/Core, where
// the header above disables the warnings.
#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/QR>
#include <Eigen/SVD>
