// SPDX-License-Identifier: BSL-1.0
#pragma once

/// Tensors from what each device is to hold; not part of `shardwise.hpp`.

#include "shardwise/layout/join_shards.hpp"
#include "shardwise/rule/diagnostics.hpp"
#include "shardwise/runtime/factories.hpp"
#include "shardwise/runtime/host_block.hpp"
#include "shardwise/runtime/made_from.hpp"

namespace shardwise {

/// `Have` is given for the shards of all devices.
template <class Have>
struct shards_are_not_blocks {
  static_assert(respected<shards_are_not_blocks>,
                "shards are a forward range of blocks: Eigen matrices, local shards, or runs of "
                "numbers");
};

/// No axis of `Mesh` splits the tensor, and none is pending.
template <class Spec, class Mesh>
struct tensor_is_replicated {
  static_assert(respected<tensor_is_replicated>,
                "a tensor whose shards are loaded one by one is split or pending");
};

namespace detail {

/// Makes a tensor from blocks in the order of the devices; see `from_shards`.
template <class T>
[[nodiscard]] node_ptr<T> join_blocks(const std::shared_ptr<machine>& home,
                                      const layout_desc& layout, const extents_desc& extents,
                                      std::vector<host_block<T>> blocks) {
  const mesh_desc& mesh = home->mesh();
  const given_shards given(mesh, layout, static_cast<index_t>(blocks.size()));
  require(given.verdict());
  if (extents.ssize() != layout.rank())
    fail({.rule = broken::rank_differs_from_spec, .have = layout.rank(), .want = extents.ssize()});
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
  const placement where(mesh, tensor);
  given.for_each([&](index_t number, index_t device) {
    strided<const T>& view = block(number).view;
    const extents_desc part = extents_of(where.box_of(device));
    if (block(number).count != element_count(part))
      fail({.rule = broken::shard_extents_differ,
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
  node_ptr<T> made =
      make_shards<T>(home, tensor, [&](index_t shard, const held_box&, const strided<T>& memory) {
        if (memory.size() == 0) return;
        const strided<const T>& first = view_for(where.device_of(shard));
        copy_block(first, memory);
        index_t& differs = differing[static_cast<std::size_t>(shard)];
        for (index_t r = 1; given.for_all() && r < where.replicas() && differs < 0; ++r)
          if (!same_bits(first, view_for(distinct.member(r, shard))))
            differs = distinct.member(r, shard);
      });
  for (index_t device : differing)
    if (device >= 0) fail({.rule = broken::replicas_differ, .operand = static_cast<int>(device)});
  return made;
}

/// Makes a tensor like another one, from the blocks of all devices.
template <class T>
[[nodiscard]] node_ptr<T> load_blocks(const node_ptr<T>& like, std::vector<host_block<T>> blocks) {
  const auto count = static_cast<index_t>(blocks.size());
  if (count != like->home()->devices())
    fail({.rule = broken::shard_count_differs, .have = count, .want = like->home()->devices()});
  return join_blocks<T>(like->home(), like->tensor().layout, like->tensor().extents,
                        std::move(blocks));
}

/// Why a tensor of `T` cannot be made from `R`, given for the shards of all devices.
template <class T, class R>
[[nodiscard]] constexpr auto judge_blocks() noexcept {
  if constexpr (!HostBlocks<R>)
    return refused<shards_are_not_blocks<shown_as<R>>>{};
  else if constexpr (!std::same_as<element_of_blocks<R>, T>)
    return refused<host_elements_differ<element_of_blocks<R>, T>>{};
  else
    return allowed<T>{};
}

/// Judges the arguments of `from_shards`.
template <class X, class Pool, class R>
[[nodiscard]] constexpr auto judge_from_shards() noexcept {
  if constexpr (!ShardedTensor<X>)
    return refused<made_type_is_not_a_tensor<shown_or_nothing<X>>>{};
  else if constexpr (!std::same_as<Pool, device_pool>)
    return refused<mesh_is_not_a_pool<shown_as<Pool>>>{};
  else
    return judge_blocks<typename X::value_type, R>();
}
template <class X, class Pool, class R>
using from_shards_outcome = given<decltype(judge_from_shards<X, Pool, R>())>;

/// Judges the arguments of `load_local_shards`.
template <class X, class R>
[[nodiscard]] constexpr auto judge_load() noexcept {
  if constexpr (!Readable<X>)
    return judge_reading<"load_local_shards", X>();
  else
    return judge_blocks<typename X::value_type, R>();
}
template <class X, class R>
using load_outcome = given<decltype(judge_load<X, R>())>;

/// True if no axis splits the tensor and none is pending.
[[nodiscard]] constexpr bool is_whole_everywhere(const layout_desc& layout) noexcept {
  return layout.pending == 0 && layout.splitting_axes().empty();
}

}  // namespace detail

/// A tensor from one block of host memory for each device, in the order of the devices; replicas
/// may be left out, all of them: then there is one block for the first device of each distinct
/// shard.
///
/// A block is an Eigen matrix, vector or map, a `local_shard`, a `host_tensor`, or a contiguous
/// range of row-major elements. It has exactly the extents of its device's part, which may be
/// empty. `sizes` are the dyn extents in order. Without them they are the sums of the shards; of
/// runs of elements one can be told so. Blocks for replicas are compared, bit for bit. For a
/// pending layout each block is its device's term.
///
/// Throws `shard_count_differs`, `rank_differs_from_spec`, `shard_extents_differ` (with the number
/// of the shard) or `replicas_differ`.
///
///     auto x = from_shards<X>(pool, std::vector<std::vector<float>>{{1, 2}, {3, 4}});
template <ShardedTensor X, HostBlocks R, std::convertible_to<index_t>... Sizes>
  requires std::same_as < detail::element_of_blocks<R>,
typename X::value_type >
    [[nodiscard]] X from_shards(const device_pool& pool, const R& shards, Sizes... sizes) {
  using layout_type = typename X::layout_type;
  using extents_type = typename X::extents_type;
  require(detail::check_pool(pool.mesh(), layout_type::mesh_type::value));
  extents_desc extents = extents_type::value;
  if constexpr (sizeof...(Sizes) > 0) extents = fill<extents_type>(sizes...);
  return X(detail::join_blocks<typename X::value_type>(
      pool.state(), layout_type::value, extents, detail::blocks_of(shards, extents_type::rank)));
}

/// What no tensor can be made from is refused by name. (Four arguments make an `any_tensor`.)
template <class X = void, class Pool, class R, class... Sizes>
  requires(detail::from_shards_outcome<X, Pool, R>::is_refusal &&
           (ShardedTensor<X> || sizeof...(Sizes) < 2))
[[nodiscard]] typename detail::from_shards_outcome<X, Pool, R>::type from_shards(const Pool&,
                                                                                 const R&,
                                                                                 const Sizes&...) {
  return detail::from_shards_outcome<X, Pool, R>::value();
}

/// The same for a layout that is a value; extents that are `dyn` are the sums of the shards.
template <HostBlocks R>
[[nodiscard]] auto from_shards(const device_pool& pool, const R& shards,
                               const extents_desc& extents, const layout_desc& layout) {
  using T = detail::element_of_blocks<R>;
  require(check(pool.mesh(), layout));
  return any_tensor<T>(detail::join_blocks<T>(pool.state(), layout, extents,
                                              detail::blocks_of(shards, layout.rank())));
}
/// The same under a spec of the pool's mesh, with nothing pending.
template <HostBlocks R>
[[nodiscard]] auto from_shards(const device_pool& pool, const R& shards,
                               const extents_desc& extents, const spec_desc& spec,
                               policy_desc policy = exact{}) {
  return from_shards(pool, shards, extents, layout_of(pool.mesh(), spec, {}, policy));
}

/// A tensor like `x` with these elements: one block for each device, replicas among them, as for
/// `from_shards`. `x` stays as it is and need not have been computed. A replicated tensor has no
/// shards of its own and does not compile.
///
///     auto doubled = load_local_shards(x, blocks);      // from a checkpoint, say
template <Element T, class Extents, class Layout, HostBlocks R>
  requires std::same_as<detail::element_of_blocks<R>, T>
[[nodiscard]] auto load_local_shards(const sharded_tensor<T, Extents, Layout>& x, const R& shards) {
  if constexpr (detail::is_whole_everywhere(Layout::value))
    (void)sizeof(tensor_is_replicated<typename Layout::spec_type, typename Layout::mesh_type>);
  return sharded_tensor<T, Extents, Layout>(
      detail::load_blocks<T>(x.share(), detail::blocks_of(shards, Extents::rank)));
}

/// The same for a tensor whose layout is a value; a replicated one throws.
template <Element T, HostBlocks R>
  requires std::same_as<detail::element_of_blocks<R>, T>
[[nodiscard]] any_tensor<T> load_local_shards(const any_tensor<T>& x, const R& shards) {
  if (detail::is_whole_everywhere(x.layout())) fail({.rule = broken::tensor_is_replicated});
  return any_tensor<T>(
      detail::load_blocks<T>(x.share(), detail::blocks_of(shards, x.layout().rank())));
}

/// What has no shards of a tensor to load is refused by name.
template <class X, class R>
requires detail::load_outcome<X, R>::is_refusal [[nodiscard]]
typename detail::load_outcome<X, R>::type
load_local_shards(const X&, const R&) {
  return detail::load_outcome<X, R>::value();
}

}  // namespace shardwise
