// SPDX-License-Identifier: BSL-1.0
#pragma once

/// The same program in several processes: `mpirun -n 4 program` shares the devices of each
/// `distributed_pool` among four processes. Programs link `shardwise::mpi`.

#include "shardwise/mpi/mpi_carrier.hpp"
#include "shardwise/mpi/mpi_processes.hpp"
