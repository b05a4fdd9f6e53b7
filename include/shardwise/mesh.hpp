// SPDX-License-Identifier: BSL-1.0
#pragma once

/// Where the devices are: named axes and the groups that they make.

#include "shardwise/mesh/device_order.hpp"
#include "shardwise/mesh/group.hpp"
#include "shardwise/mesh/mesh.hpp"
#include "shardwise/mesh/mesh_desc.hpp"
#include "shardwise/mesh/ordered_mesh.hpp"
#include "shardwise/mesh/submesh.hpp"
