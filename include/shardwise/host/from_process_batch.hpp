// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/host/distribute.hpp"
#include "shardwise/host/host_block.hpp"
#include "shardwise/host/owner_rows.hpp"
#include "shardwise/process/host_values.hpp"
#include "shardwise/tensor/any_tensor.hpp"

#include <array>
#include <vector>

namespace shardwise {

namespace detail {

/// The extents of what a process gives; those beyond the rank are 0.
using given_extents = std::array<index_t, max_rank>;

/// Returns the extents of what each owner gives, by owner. All owners call it.
[[nodiscard]] std::vector<given_extents> extents_of_all(pool_state& home, const tensor_desc& tensor,
                                                        const extents_desc& mine);
/// Returns the extents of the whole batch; fails, on all owners alike, if what they give does not
/// make one.
[[nodiscard]] extents_desc whole_batch(const pool_state& home, const tensor_desc& tensor,
                                       const owner_rows& rows,
                                       const std::vector<given_extents>& given);

/// Creates a tensor from the rows of this process.
template <class T>
[[nodiscard]] node_ptr join_process_batch(const std::shared_ptr<pool_state>& home,
                                          const tensor_desc& tensor, host_block<T> mine) {
  const owner_link* const link = home->link();
  const device_owners owners = link != nullptr ? link->owners() : device_owners();
  const owner_rows rows(home->mesh(), tensor.layout, owners);
  require(rows.verdict());
  if (mine.is_run) {
    extents_desc part = tensor.extents;
    part[0] = dyn;
    part = shape_of_run(part, mine.count, 0);
    mine.view = {mine.view.data, part, row_major(part)};
  }
  const std::vector<given_extents> given = extents_of_all(*home, tensor, mine.view.extents);
  const extents_desc whole = whole_batch(*home, tensor, rows, given);
  const std::vector<index_range> own = rows.of(link != nullptr ? link->self() : 0, whole[0]);
  return make_shards<T>(home, {tensor.type, whole, tensor.layout},
                        [&](index_t, const held_box& part, const strided<T>& memory) {
                          if (memory.size() == 0) return;
                          // The rows of this process lie one range behind the other.
                          index_t begin = 0;
                          for (const index_range& each : own)
                            if (each.begin < part[0].global(0)) begin += each.size();
                          held_box here = part;
                          here[0] = {{begin, begin + part[0].size()}, {}, 0};
                          copy_part<T>(mine.view, here, memory);
                        });
}

}  // namespace detail

/// Creates a tensor from the rows that each process has of a batch: those of dimension 0 that its
/// own devices hold, in their global order, and the whole of the other dimensions. All processes
/// call it, and each gives only its own rows; processes that hold the same rows give them alike.
///
/// The rows are a block as in `from_shards`. If dimension 0 of `X` is `dyn`, its size is that of
/// all rows together, and an uneven layout says how many each process has: `owner_rows`.
///
/// Throws `host_size_differs` on all processes if the rows do not make a batch; the error says how
/// many each process gave, and how many it should. Throws `rank_differs_from_spec`,
/// `host_batch_is_not_contiguous` or what `validate` says of the whole tensor, too.
///
///     // mpirun -n 2: each process reads half of a batch of 512 rows
///     auto x = from_process_batch<X>(pool, read_rows(process_index() * 256, 256));
template <ShardedTensor X, HostBlock B>
  requires std::same_as < typename detail::element_of_block<B>::type,
typename X::value_type >
    [[nodiscard]] X from_process_batch(const device_pool& pool, const B& rows) {
  internal::require_pool(pool.mesh(), X::mesh_type::value);
  return internal::handle_of<X>(
      detail::join_process_batch(pool.state(), desc_of<X>(X::extents_type::value),
                                 detail::block_of(rows, X::extents_type::rank)));
}

/// The same for a run-time layout; `dyn` extents are computed from the rows.
template <HostBlock B>
[[nodiscard]] auto from_process_batch(const device_pool& pool, const B& rows,
                                      const extents_desc& extents, const layout_desc& layout) {
  using T = typename detail::element_of_block<B>::type;
  require(validate(pool.mesh(), layout));
  if (extents.ssize() != layout.rank())
    fail({.rule = violation::rank_differs_from_spec,
          .have = layout.rank(),
          .want = extents.ssize()});
  return internal::handle_of<any_tensor<T>>(detail::join_process_batch(
      pool.state(), {element_of<T>, extents, layout}, detail::block_of(rows, layout.rank())));
}
/// Uses a spec of the pool's mesh, with nothing pending.
template <HostBlock B>
[[nodiscard]] auto from_process_batch(const device_pool& pool, const B& rows,
                                      const extents_desc& extents, const spec_desc& spec,
                                      policy_desc policy = exact{}) {
  return from_process_batch(pool, rows, extents, layout_of(pool.mesh(), spec, {}, policy));
}

}  // namespace shardwise

#if !defined(SHARDWISE_COMPILED)
#include "shardwise/host/from_process_batch_work.hpp"
#endif
