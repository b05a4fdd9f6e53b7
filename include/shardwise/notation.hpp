// SPDX-License-Identifier: BSL-1.0
#pragma once

/// Layouts in the notations of other systems, read and written by the same functions at compile
/// time and at run time: HLO shardings with listed, ordered and named devices, Shardy, JAX,
/// DTensor; and the device groups of their collectives.

#include "shardwise/notation/axis_ref.hpp"
#include "shardwise/notation/dtensor.hpp"
#include "shardwise/notation/dtensor_text.hpp"
#include "shardwise/notation/hlo_canonical.hpp"
#include "shardwise/notation/hlo_layout.hpp"
#include "shardwise/notation/hlo_named.hpp"
#include "shardwise/notation/hlo_sharding.hpp"
#include "shardwise/notation/hlo_text.hpp"
#include "shardwise/notation/hlo_tuple.hpp"
#include "shardwise/notation/jax_spec.hpp"
#include "shardwise/notation/jax_type.hpp"
#include "shardwise/notation/layout_text.hpp"
#include "shardwise/notation/listed_mesh.hpp"
#include "shardwise/notation/mesh_reader.hpp"
#include "shardwise/notation/named_sharding.hpp"
#include "shardwise/notation/named_text.hpp"
#include "shardwise/notation/op_sharding.hpp"
#include "shardwise/notation/open_layout_text.hpp"
#include "shardwise/notation/reader.hpp"
#include "shardwise/notation/replica_groups.hpp"
#include "shardwise/notation/replica_groups_text.hpp"
#include "shardwise/notation/sdy_axes.hpp"
#include "shardwise/notation/sdy_text.hpp"
#include "shardwise/notation/text_out.hpp"
#include "shardwise/notation/tile_assignment.hpp"
#include "shardwise/notation/tile_digits.hpp"
