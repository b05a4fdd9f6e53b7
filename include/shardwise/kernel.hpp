// SPDX-License-Identifier: BSL-1.0
#pragma once

/// Arithmetic on the blocks of one device; knows no tensors.

#include "shardwise/kernel/arithmetic_kernels.hpp"
#include "shardwise/kernel/contract_kernel.hpp"
#include "shardwise/kernel/contraction.hpp"
#include "shardwise/kernel/copy_kernel.hpp"
#include "shardwise/kernel/eigen.hpp"
#include "shardwise/kernel/fold_kernels.hpp"
#include "shardwise/kernel/function_kernels.hpp"
#include "shardwise/kernel/loop_nest.hpp"
#include "shardwise/kernel/matrix_product.hpp"
#include "shardwise/kernel/pointwise_kernel.hpp"
#include "shardwise/kernel/reduce_kernel.hpp"
#include "shardwise/kernel/strided.hpp"
#include "shardwise/kernel/transcendental_kernels.hpp"
#include "shardwise/kernel/wide_kernel.hpp"
