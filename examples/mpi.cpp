// SPDX-License-Identifier: BSL-1.0
// What a program is linked with to run in the processes of an MPI launcher, if it does not include
// <shardwise/mpi.hpp> itself: it is built with and without MPI.
#include <shardwise/mpi.hpp>
