// SPDX-License-Identifier: BSL-1.0
#pragma once

/// Creates tensors from the batches that the data loader of each host reads; not part of
/// `shardwise.hpp`.

#include "shardwise/host/factories.hpp"
#include "shardwise/host/host_block.hpp"
#include "shardwise/layout/host_batch.hpp"
#include "shardwise/tensor/any_tensor.hpp"

namespace shardwise {

namespace detail {

/// Checks the blocks of all hosts against that of the first, and sets the extents of those that
/// have none.
template <class T>
void shape_batches(std::vector<host_block<T>>& blocks, const extents_desc& extents) {
  for (std::size_t h = 0; h < blocks.size(); ++h) {
    host_block<T>& block = blocks[h];
    const int host = static_cast<int>(h);
    if (block.is_run) {
      extents_desc shape =
          h == 0 ? shape_of_run(extents, block.count, host) : blocks[0].view.extents;
      for (index_t& size : shape)
        if (size == dyn) size = 0;
      if (element_count(shape) != block.count)
        fail({.rule = violation::host_size_differs,
              .operand = host,
              .have = block.count,
              .want = element_count(shape)});
      block.view = {block.view.data, shape, row_major(shape)};
    }
    const extents_desc& have = block.view.extents;
    const extents_desc& want = blocks[0].view.extents;
    if (have.size() != extents.size())
      fail({.rule = violation::rank_differs_from_spec,
            .operand = host,
            .have = extents.ssize(),
            .want = have.ssize()});
    for (int d = 0; d < have.ssize(); ++d)
      if (have[d] != want[d])
        fail({.rule = violation::host_size_differs,
              .operand = host,
              .dim = d,
              .have = have[d],
              .want = want[d]});
  }
}

template <class T>
[[nodiscard]] node_ptr join_batches(const std::shared_ptr<pool_state>& home,
                                    const layout_desc& layout, const extents_desc& extents,
                                    std::vector<host_block<T>> blocks) {
  const host_batch hosts(home->mesh(), layout, static_cast<index_t>(blocks.size()));
  require(hosts.verdict());
  if (extents.ssize() != layout.rank())
    fail({.rule = violation::rank_differs_from_spec,
          .have = layout.rank(),
          .want = extents.ssize()});
  require(validate(extents));
  require(hosts.check_whole(extents));
  shape_batches(blocks, hosts.local(extents));
  const extents_desc batch = blocks[0].view.extents;
  require(hosts.check(batch));
  const extents_desc whole = hosts.global(batch);
  for (int d = 0; d < whole.ssize(); ++d)
    if (extents[d] != dyn && extents[d] != whole[d])
      fail({.rule = violation::host_size_differs, .dim = d, .have = whole[d], .want = extents[d]});
  const auto view_of = [&](index_t host) -> const strided<const T>& {
    return blocks[static_cast<std::size_t>(host)].view;
  };
  for (index_t host = 0; host < hosts.hosts(); ++host)
    if (const index_t same = hosts.first_with_rows_of(host);
        same != host && !same_bits(view_of(host), view_of(same))) {
      message_text words;
      words << "host " << host << " holds the rows of host " << same;
      fail({.rule = violation::replicas_differ}, words);
    }

  const tensor_desc tensor{element_of<T>, whole, layout};
  const shard_table where(home->mesh(), tensor);
  return make_shards<T>(home, tensor,
                        [&](index_t shard, const held_box&, const strided<T>& memory) {
                          if (memory.size() == 0) return;
                          const index_t device = where.device_of(shard);
                          const index_box part = hosts.part(batch, device);
                          strided<const T> from = view_of(hosts.host_of(device));
                          from.extents = memory.extents;
                          for (int d = 0; d < part.ssize(); ++d)
                            from.data += part[d].begin * from.strides[d];
                          copy_elements(from, memory);
                        });
}

}  // namespace detail

/// Creates a tensor from the batches of all hosts, as data loaders read them: the rows of dimension
/// 0 are per host, and every other dimension is whole. There is one batch for each host, in the
/// order of their devices; see `host_batch` for which rows a host has.
///
/// A batch is a block as in `from_shards`, and all batches have the same extents. Dimension 0 of
/// `X` counts the rows of all hosts. Hosts with the same rows must pass the same bits.
///
/// Throws `hosts_are_not_alike`, `host_batch_is_not_divisible`, `host_size_differs` (with the
/// number of the host), `rank_differs_from_spec`, `replicas_differ`, `extent_is_negative` or
/// `tensor_is_too_large`.
///
///     auto x = from_host_batches<X>(pool, std::vector<Eigen::MatrixXf>{of_host_0, of_host_1});
template <ShardedTensor X, HostBlocks R>
  requires std::same_as < detail::element_of_blocks<R>,
typename X::value_type >
    [[nodiscard]] X from_host_batches(const device_pool& pool, const R& batches) {
  using layout_type = typename X::layout_type;
  using extents_type = typename X::extents_type;
  internal::require_pool(pool.mesh(), layout_type::mesh_type::value);
  return internal::handle_of<X>(detail::join_batches<typename X::value_type>(
      pool.state(), layout_type::value, extents_type::value,
      detail::blocks_of(batches, extents_type::rank)));
}

/// The same for a run-time layout; `dyn` extents are computed from the batches.
template <HostBlocks R>
[[nodiscard]] auto from_host_batches(const device_pool& pool, const R& batches,
                                     const extents_desc& extents, const layout_desc& layout) {
  using T = detail::element_of_blocks<R>;
  require(validate(pool.mesh(), layout));
  return internal::handle_of<any_tensor<T>>(detail::join_batches<T>(
      pool.state(), layout, extents, detail::blocks_of(batches, layout.rank())));
}
/// Uses a spec of the pool's mesh, with nothing pending.
template <HostBlocks R>
[[nodiscard]] auto from_host_batches(const device_pool& pool, const R& batches,
                                     const extents_desc& extents, const spec_desc& spec,
                                     policy_desc policy = exact{}) {
  return from_host_batches(pool, batches, extents, layout_of(pool.mesh(), spec, {}, policy));
}

}  // namespace shardwise
