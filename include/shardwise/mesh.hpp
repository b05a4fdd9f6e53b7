// SPDX-License-Identifier: BSL-1.0
#pragma once

/// Meshes of devices: named axes and the groups that they form.

#include "shardwise/mesh/device_order.hpp"
#include "shardwise/mesh/group.hpp"
#include "shardwise/mesh/mesh.hpp"
#include "shardwise/mesh/mesh_desc.hpp"
#include "shardwise/mesh/ordered_mesh.hpp"
#include "shardwise/mesh/submesh.hpp"
