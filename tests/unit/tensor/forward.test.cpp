// SPDX-License-Identifier: BSL-1.0
// A header of a program that names tensors and pools without the engine.
#include <shardwise/forward.hpp>

namespace {

struct pod : shardwise::mesh<shardwise::axis<"data", 2>> {};
using rows =
    shardwise::sharded_tensor<float, shardwise::extents<8, 4>,
                              shardwise::layout<pod, shardwise::P<"data", shardwise::none>>>;

rows doubled(const rows& x);
shardwise::any_tensor<float> doubled(const shardwise::any_tensor<float>& x);
shardwise::index_t devices_of(const shardwise::device_pool& pool);
float first_of(const shardwise::host_tensor<float>& x);
float first_of(const shardwise::local_shard<float>& x);
shardwise::index_t bytes_of(const shardwise::cost_ledger& cost);
shardwise::index_t bytes_of(const shardwise::safetensors_file& file);
bool is_of(const shardwise::error& failure, shardwise::violation rule);
shardwise::index_t owners_of(const shardwise::owner_share& share);

}  // namespace

#include "support/catch.hpp"
#include <shardwise/io.hpp>
#include <shardwise/shardwise.hpp>

namespace {

rows doubled(const rows& x) { return x * 2.0F; }
shardwise::any_tensor<float> doubled(const shardwise::any_tensor<float>& x) { return x * 2.0F; }
shardwise::index_t devices_of(const shardwise::device_pool& pool) { return pool.mesh().devices(); }
float first_of(const shardwise::host_tensor<float>& x) { return x(0, 0); }
float first_of(const shardwise::local_shard<float>& x) { return x.elements()[0]; }
shardwise::index_t bytes_of(const shardwise::cost_ledger& cost) { return cost.bytes_moved(); }
shardwise::index_t bytes_of(const shardwise::safetensors_file& file) {
  return file.header().bytes();
}
bool is_of(const shardwise::error& failure, shardwise::violation rule) {
  return failure.code() == rule;
}
shardwise::index_t owners_of(const shardwise::owner_share& share) {
  return std::ssize(share.owner_of);
}

}  // namespace

TEST_CASE("Functions that a header declares with forward.hpp are defined with the engine") {
  shardwise::device_pool pool{pod{}};
  CHECK(devices_of(pool) == 2);
  const rows x = shardwise::iota<rows>(pool);
  const shardwise::any_tensor<float> any = x;
  CHECK(first_of(shardwise::to_host(doubled(x))) == 0.0F);
  CHECK(first_of(shardwise::local(doubled(x), 1)) == 32.0F);
  CHECK(first_of(shardwise::local(doubled(any), 1)) == 32.0F);
  CHECK(bytes_of(pool.counters()) == 0);
  CHECK(owners_of({.owner_of = {0, 1}}) == 2);
  try {
    bytes_of(shardwise::safetensors_file("no such file"));
    FAIL("a file that does not exist was opened");
  } catch (const shardwise::error& failure) {
    CHECK(is_of(failure, shardwise::violation::file_is_not_readable));
  }
}
