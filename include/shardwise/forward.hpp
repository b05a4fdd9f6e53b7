// SPDX-License-Identifier: BSL-1.0
#pragma once

/// The names of the public types, for headers of programs: meshes, specs and layouts, which are
/// defined, and tensors, pools, files and errors, which are only declared. A header that declares
/// functions of these compiles without the engine; the sources that define them include
/// `shardwise.hpp`, and `io.hpp` for files.
///
///     #include <shardwise/forward.hpp>
///     struct pod : shardwise::mesh<shardwise::axis<"data", 2>> {};
///     using rows = shardwise::sharded_tensor<float, shardwise::extents<8, 4>,
///                                            shardwise::layout<pod, shardwise::P<"data", none>>>;
///     rows normalised(const rows& x);
///     void report(const shardwise::device_pool& pool, const shardwise::any_tensor<float>& x);

#include "shardwise/core/philox.hpp"
#include "shardwise/layout/element.hpp"
#include "shardwise/layout/extents.hpp"
#include "shardwise/layout/layout.hpp"
#include "shardwise/layout/tensor_desc.hpp"
#include "shardwise/mesh/mesh.hpp"
#include "shardwise/spec/spec.hpp"

namespace shardwise {

class device_pool;
class use_mesh;
class cost_ledger;
class prepared_program;
class safetensors_file;

struct owner_share;
class owner_transport;
class process_group;
class stop_signals;

class error;
class device_error;
class owner_error;

template <Element T>
class any_tensor;
template <class T>
class host_tensor;
template <class T>
class local_shard;

}  // namespace shardwise
