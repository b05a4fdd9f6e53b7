// SPDX-License-Identifier: BSL-1.0
#pragma once

/// One `kernel` for each function of `operation/`.
#include "shardwise/kernel/activation_kernels.hpp"
#include "shardwise/kernel/arithmetic_kernels.hpp"
#include "shardwise/kernel/bitwise_kernels.hpp"
#include "shardwise/kernel/conversion_kernels.hpp"
#include "shardwise/kernel/erfinv_kernel.hpp"
#include "shardwise/kernel/exponential_kernels.hpp"
#include "shardwise/kernel/gamma_kernels.hpp"
#include "shardwise/kernel/random_key_kernels.hpp"
#include "shardwise/kernel/rounding_kernels.hpp"
#include "shardwise/kernel/special_kernels.hpp"
#include "shardwise/kernel/transcendental_kernels.hpp"
#include "shardwise/kernel/trigonometric_kernels.hpp"
