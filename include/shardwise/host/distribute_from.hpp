// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/growable.hpp"
#include "shardwise/engine/agreement.hpp"
#include "shardwise/host/distribute.hpp"
#include "shardwise/kernel/reduction_identity.hpp"

#include <cstddef>
#include <cstring>
#include <mutex>
#include <span>

namespace shardwise {

namespace detail {

/// Sends to each owner the elements of its shards from the data of `giver`, and returns this
/// owner's part of it: the nonempty shards one after another, packed.
template <class T>
[[nodiscard]] internal::growable<std::byte> hand_out(pool_state& home, index_t giver,
                                                     const host_view<T>& host,
                                                     const shard_table& where) {
  owner_link& link = *home.link();
  const shard_owners holders(home.mesh(), where.tensor().layout, link.owners());
  owner_link::bytes_by_owner out = link.nothing();
  owner_link::bytes_by_owner in = link.nothing();
  internal::growable<std::byte> own;
  const auto pack = [&](index_t shard, internal::growable<std::byte>& to) {
    const held_box part = where.held_by(where.first_device_of(shard));
    const extents_desc extents = extents_of(part);
    host_elements<T> block;
    make_elements<T>(block, element_count(extents));
    copy_part<T>(host, part, {block.data(), extents, row_major(extents)});
    const auto bytes = std::as_bytes(std::span<const T>(block.data(), block.size()));
    to.append(bytes.data(), bytes.data() + bytes.size());
  };
  for (index_t shard = 0; shard < where.count(); ++shard) {
    if (!has_elements(where, shard)) continue;
    if (link.self() != giver) {
      if (where.is_here(shard)) {
        auto& wanted = in[static_cast<std::size_t>(giver)];
        wanted.resize(wanted.size() +
                      static_cast<std::size_t>(where.size_of_shard(shard)) * sizeof(T));
      }
      continue;
    }
    for (index_t owner = 0; owner < link.owners().count(); ++owner)
      if (holders.holder(shard, owner) >= 0)
        pack(shard, owner == giver ? own : out[static_cast<std::size_t>(owner)]);
  }
  link.exchange(std::move(out), in);
  return link.self() == giver ? own : std::move(in[static_cast<std::size_t>(giver)]);
}

/// Creates a tensor from the data of one owner; that of the others is not read.
template <class T>
[[nodiscard]] node_ptr distribute_of_one(const std::shared_ptr<pool_state>& home, index_t giver,
                                         std::span<const T> host, const tensor_desc& tensor) {
  require(check_known(home->mesh(), tensor.layout, tensor.extents));
  owner_link* const link = home->link();
  const index_t owners = link != nullptr ? link->owners().count() : 1;
  if (giver < 0 || giver >= owners)
    fail({.rule = violation::owner_is_out_of_range, .have = giver, .want = owners});
  const host_view<T> view{host.data(), tensor.extents, row_major(tensor.extents)};
  const auto check_size = [&] {
    if (element_count(tensor.extents) != static_cast<index_t>(host.size()))
      fail({.rule = violation::host_size_differs,
            .have = static_cast<index_t>(host.size()),
            .want = element_count(tensor.extents)});
  };
  if (link == nullptr) {
    check_size();
    return make_filled<T>(home, tensor, [&](const held_box& part, const strided<T>& block) {
      copy_part<T>(view, part, block);
    });
  }
  const shard_table_ptr where = home->place(tensor);
  internal::growable<std::byte> packed;
  {
    const std::lock_guard turn(home->turn());
    run_for_owners(link, [&] {
      if (link->self() == giver) check_size();
      record(*home, "distribute_from", tensor, 0, static_cast<std::uint64_t>(giver));
      packed = hand_out<T>(*home, giver, view, *where);
    });
  }
  internal::growable<std::size_t> begins;
  std::size_t next = 0;
  for (index_t shard = 0; shard < where->count(); ++shard) {
    begins.push_back(next);
    if (where->is_here(shard) && has_elements(*where, shard))
      next += static_cast<std::size_t>(where->size_of_shard(shard)) * sizeof(T);
  }
  return make_shards<T>(home, tensor, [&](index_t shard, const held_box&, const strided<T>& block) {
    if (!has_elements(*where, shard))
      fill_elements(identity_of<T>(tensor.layout.kind), block);
    else if (block.size() > 0)
      std::memcpy(block.data, packed.data() + begins[static_cast<std::size_t>(shard)],
                  static_cast<std::size_t>(block.size()) * sizeof(T));
  });
}

}  // namespace detail

/// Distributes row-major host data that one owner of the mesh has. All owners must call it
/// together, with the same sizes, and only the data of owner `giver` is read. (To distribute data
/// that all owners have, use `distribute`; for each owner's own blocks, use `from_own_shards`.)
///
///     auto x = distribute_from<X>(pool, 0, is_first ? read_file() : internal::growable<float>(),
///     512);
template <ShardedTensor X, class... Sizes>
[[nodiscard]] X distribute_from(const device_pool& pool, index_t giver,
                                std::span<const typename X::value_type> host, Sizes... sizes) {
  internal::require_pool(pool.mesh(), X::mesh_type::value);
  return internal::handle_of<X>(detail::distribute_of_one<typename X::value_type>(
      pool.state(), giver, host, desc_of<X>(sized_extents<typename X::extents_type>(sizes...))));
}
/// The same for a run-time layout.
template <Element T>
[[nodiscard]] any_tensor<T> distribute_from(const device_pool& pool, index_t giver,
                                            std::span<const T> host, const extents_desc& extents,
                                            const layout_desc& layout) {
  return internal::handle_of<any_tensor<T>>(
      detail::distribute_of_one<T>(pool.state(), giver, host, {element_of<T>, extents, layout}));
}

}  // namespace shardwise
