// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/host/factories.hpp"
#include "shardwise/host/host_block.hpp"
#include "shardwise/layout/join_shards.hpp"
#include "shardwise/tensor/any_tensor.hpp"

namespace shardwise {

namespace detail {

/// Creates a tensor from blocks in the order of the devices; see `from_shards`.
template <class T>
[[nodiscard]] node_ptr join_blocks(const std::shared_ptr<pool_state>& home,
                                   const layout_desc& layout, const extents_desc& extents,
                                   std::vector<host_block<T>> blocks) {
  const mesh_desc& mesh = home->mesh();
  const given_shards given(mesh, layout, static_cast<index_t>(blocks.size()));
  require(given.verdict());
  // Before the parts of devices are computed from them.
  require(validate(mesh, layout, extents));
  const auto block = [&](index_t number) -> host_block<T>& {
    return blocks[static_cast<std::size_t>(number)];
  };

  std::vector<extents_desc> shapes;
  std::vector<index_t> numbers(static_cast<std::size_t>(mesh.devices()), 0);
  given.for_each([&](index_t number, index_t device) {
    extents_desc shape = block(number).view.extents;
    if (block(number).is_run) {
      shape = extents_of(shard_box(mesh, layout, extents, device));
      for (int d = 0; d < layout.rank(); ++d)
        if (extents[d] == dyn) shape[d] = dyn;
      shape = shape_of_run(shape, block(number).count, static_cast<int>(number));
    }
    shapes.push_back(shape);
    numbers[static_cast<std::size_t>(device)] = number;
  });
  const joined_shards joined = join_shards(mesh, layout, extents, shapes);
  require(joined.verdict);

  const tensor_desc tensor{element_of<T>, joined.extents, layout};
  const shard_table where(mesh, tensor);
  given.for_each([&](index_t number, index_t device) {
    strided<const T>& view = block(number).view;
    const extents_desc part = extents_of(where.box_of(device));
    if (block(number).count != element_count(part))
      fail({.rule = violation::shard_extents_differ,
            .operand = static_cast<int>(number),
            .have = block(number).count,
            .want = element_count(part)});
    if (block(number).is_run) view = {view.data, part, row_major(part)};
  });

  std::vector<index_t> differing(static_cast<std::size_t>(where.count()), -1);
  const device_groups distinct = shards_of(mesh, layout);
  const auto view_for = [&](index_t device) -> const strided<const T>& {
    return block(numbers[static_cast<std::size_t>(device)]).view;
  };
  node_ptr made =
      make_shards<T>(home, tensor, [&](index_t shard, const held_box&, const strided<T>& memory) {
        if (memory.size() == 0) return;
        const strided<const T>& first = view_for(where.device_of(shard));
        copy_elements(first, memory);
        index_t& differs = differing[static_cast<std::size_t>(shard)];
        for (index_t r = 1; given.for_all() && r < where.replicas() && differs < 0; ++r)
          if (!same_bits(first, view_for(distinct.member(r, shard))))
            differs = distinct.member(r, shard);
      });
  for (index_t device : differing)
    if (device >= 0)
      fail({.rule = violation::replicas_differ, .operand = static_cast<int>(device)});
  return made;
}

/// Creates a tensor like another one, from the blocks of all devices.
template <class T>
[[nodiscard]] node_ptr load_blocks(const node_ptr& like, std::vector<host_block<T>> blocks) {
  const auto count = static_cast<index_t>(blocks.size());
  if (count != like->home()->devices())
    fail({.rule = violation::shard_count_differs, .have = count, .want = like->home()->devices()});
  return join_blocks<T>(like->home(), like->tensor().layout, like->tensor().extents,
                        std::move(blocks));
}

/// Creates a tensor from the blocks of this process's devices, in their order; see
/// `from_own_shards`.
template <class T>
[[nodiscard]] node_ptr join_own_blocks(const std::shared_ptr<pool_state>& home,
                                       const tensor_desc& tensor,
                                       const std::vector<host_block<T>>& blocks) {
  require(check_known(home->mesh(), tensor.layout, tensor.extents));
  const auto& own = home->own_devices();
  if (blocks.size() != own.size())
    fail({.rule = violation::shard_count_differs,
          .have = static_cast<index_t>(blocks.size()),
          .want = static_cast<index_t>(own.size())});
  const shard_table_ptr where = home->place(tensor);
  // The block of the first device of each shard.
  std::vector<strided<const T>> first(static_cast<std::size_t>(where->count()));
  std::vector<char> is_given(first.size(), 0);
  for (std::size_t i = 0; i < own.size(); ++i) {
    const extents_desc part = extents_of(where->box_of(own[i]));
    const host_block<T>& given = blocks[i];
    if (given.is_run ? given.count != element_count(part) : given.view.extents != part)
      fail({.rule = violation::shard_extents_differ,
            .operand = static_cast<int>(own[i]),
            .have = given.count,
            .want = element_count(part)});
    const strided<const T> view =
        given.is_run ? strided<const T>{given.view.data, part, row_major(part)} : given.view;
    const auto shard = static_cast<std::size_t>(where->shard_of(own[i]));
    if (is_given[shard] != 0 && !same_bits(first[shard], view))
      fail({.rule = violation::replicas_differ, .operand = static_cast<int>(own[i])});
    if (is_given[shard] == 0) first[shard] = view;
    is_given[shard] = 1;
  }
  return make_shards<T>(home, tensor, [&](index_t shard, const held_box&, const strided<T>& block) {
    if (block.size() > 0) copy_elements(first[static_cast<std::size_t>(shard)], block);
  });
}

/// Returns true if no axis splits the tensor and none is pending.
[[nodiscard]] constexpr bool is_whole_everywhere(const layout_desc& layout) noexcept {
  return layout.pending == 0 && layout.splitting_axes().empty();
}

/// Checks that tensors of `T` can be created from `R`, which has the shards of all devices.
template <class T, class R>
[[nodiscard]] constexpr auto judge_blocks() noexcept {
  if constexpr (!HostBlocks<R>)
    return refused<misuse::shards_are_not_blocks, shown_as<R>>{};
  else if constexpr (!std::same_as<element_of_blocks<R>, T>)
    return refused<misuse::host_elements_differ, of_types<element_of_blocks<R>, T>>{};
  else
    return allowed<>{};
}

/// Checks the arguments of `from_shards`.
template <class X, class Pool, class R, class... Sizes>
[[nodiscard]] constexpr auto judge_from_shards() noexcept {
  if constexpr (!ShardedTensor<X>) {
    return refused<misuse::made_type_is_not_a_tensor, shown_or_nothing<X>>{};
  } else if constexpr (!tensor_type_judge<X>::ok) {
    return tensor_type_judge<X>{};
  } else if constexpr (!std::same_as<Pool, device_pool>) {
    return refused<misuse::mesh_is_not_a_pool, shown_as<Pool>>{};
  } else {
    using blocks = decltype(judge_blocks<element_in<X>, R>());
    if constexpr (!blocks::ok)
      return blocks{};
    else
      return judge_sizes < X, 2, sizeof...(Sizes) == 0 ? 0 : extents_in<X>::dynamic_rank,
             Sizes... > ();
  }
}
template <class X, class... A>
using from_shards_outcome = given<decltype(judge_from_shards<X, A...>())>;

/// Checks the arguments of `load_local_shards`.
template <class X, class R>
[[nodiscard]] constexpr auto judge_load() noexcept {
  if constexpr (!Readable<X>) {
    return judge_reading<"load_local_shards", X>();
  } else {
    using T = typename X::value_type;
    using blocks = decltype(judge_blocks<T, R>());
    if constexpr (!blocks::ok)
      return blocks{};
    else if constexpr (!Operand<X>)
      return allowed<any_tensor<T>>{};
    else if constexpr (is_whole_everywhere(X::layout_type::value))
      return refused<violation::tensor_is_replicated,
                     of_types<typename X::layout_type::spec_type, mesh_of<X>>>{};
    else
      return allowed<sharded_tensor<T, typename X::extents_type, typename X::layout_type>>{};
  }
}
template <class X, class R>
using load_outcome = given<decltype(judge_load<X, R>())>;

}  // namespace detail

/// Creates a tensor from one block of host memory for each device, in the order of the devices. If
/// replicas are omitted, all of them must be: then there is one block for the first device of each
/// distinct shard.
///
/// A block is an Eigen matrix, vector or map, a `local_shard`, a `host_tensor`, or a contiguous
/// range of row-major elements. It must have exactly the extents of its device's part, which may be
/// empty. `sizes` are the dyn extents in order. Without them, dyn extents are the sums of those of
/// the shards; ranges of elements determine only one. Blocks of replicas are compared bit for bit.
/// For a pending layout each block is its device's term.
///
/// Throws `shard_count_differs`, `rank_differs_from_spec`, `shard_extents_differ` (with the number
/// of the shard) or `replicas_differ`.
///
///     auto x = from_shards<X>(pool, std::vector<std::vector<float>>{{1, 2}, {3, 4}});
template <class X = void, class Pool, class R, class... Sizes>
  requires(ShardedTensor<X> || sizeof...(Sizes) < 2)  // four arguments make an `any_tensor`
[[nodiscard]] constexpr typename detail::from_shards_outcome<X, Pool, R, Sizes...>::type
from_shards(const Pool& pool, const R& shards, const Sizes&... sizes) {
  using outcome = detail::from_shards_outcome<X, Pool, R, Sizes...>;
  if constexpr (outcome::is_refusal) {
    return outcome::value();
  } else {
    internal::require_pool(pool.mesh(), X::mesh_type::value);
    extents_desc extents = X::extents_type::value;
    if constexpr (sizeof...(Sizes) > 0) extents = sized_extents<typename X::extents_type>(sizes...);
    return internal::handle_of<X>(detail::join_blocks<typename X::value_type>(
        pool.state(), X::layout_type::value, extents, detail::blocks_of(shards, extents.ssize())));
  }
}

/// The same for a run-time layout; `dyn` extents are the sums of those of the shards.
template <HostBlocks R>
[[nodiscard]] auto from_shards(const device_pool& pool, const R& shards,
                               const extents_desc& extents, const layout_desc& layout) {
  using T = detail::element_of_blocks<R>;
  require(validate(pool.mesh(), layout));
  return internal::handle_of<any_tensor<T>>(detail::join_blocks<T>(
      pool.state(), layout, extents, detail::blocks_of(shards, layout.rank())));
}
/// Uses a spec of the pool's mesh, with nothing pending.
template <HostBlocks R>
[[nodiscard]] auto from_shards(const device_pool& pool, const R& shards,
                               const extents_desc& extents, const spec_desc& spec,
                               policy_desc policy = exact{}) {
  return from_shards(pool, shards, extents, layout_of(pool.mesh(), spec, {}, policy));
}

/// Creates a tensor from the blocks of the devices that this process owns, in the order of the
/// devices: every owner of the mesh passes its own part, and nothing is communicated. `extents` are
/// those of the whole tensor, all known. With one owner these are the blocks of all devices.
///
/// Throws `shard_count_differs`, `shard_extents_differ` or `replicas_differ` (with the device).
///
///     auto x = from_own_shards(pool, my_blocks, {512, 1024}, layout);
template <HostBlocks R>
[[nodiscard]] auto from_own_shards(const device_pool& pool, const R& shards,
                                   const extents_desc& extents, const layout_desc& layout) {
  using T = detail::element_of_blocks<R>;
  return internal::handle_of<any_tensor<T>>(detail::join_own_blocks<T>(
      pool.state(), {element_of<T>, extents, layout}, detail::blocks_of(shards, extents.ssize())));
}
/// Takes a tensor type; `sizes` are its dyn extents in order.
template <ShardedTensor X, HostBlocks R, class... Sizes>
[[nodiscard]] X from_own_shards(const device_pool& pool, const R& shards, Sizes... sizes) {
  internal::require_pool(pool.mesh(), X::mesh_type::value);
  return internal::handle_of<X>(detail::join_own_blocks<typename X::value_type>(
      pool.state(), desc_of<X>(sized_extents<typename X::extents_type>(sizes...)),
      detail::blocks_of(shards, X::extents_type::rank)));
}

/// Creates a tensor like `x` from one block for each device, including replicas, as in
/// `from_shards`. `x` does not change and need not have been computed. A replicated tensor, which
/// has no shards of its own, is a compile-time error (for an `any_tensor`, an exception).
///
///     auto doubled = load_local_shards(x, blocks);      // from a checkpoint, say
template <class X, class R>
[[nodiscard]] constexpr typename detail::load_outcome<X, R>::type load_local_shards(
    const X& x, const R& shards) {
  using outcome = detail::load_outcome<X, R>;
  if constexpr (outcome::is_refusal) {
    return outcome::value();
  } else {
    const auto like = x.share();
    if (detail::is_whole_everywhere(like->tensor().layout))
      fail({.rule = violation::tensor_is_replicated});
    return internal::handle_of<typename outcome::type>(detail::load_blocks<typename X::value_type>(
        like, detail::blocks_of(shards, like->tensor().rank())));
  }
}

}  // namespace shardwise
