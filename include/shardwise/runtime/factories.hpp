// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/layout/layout_rules.hpp"
#include "shardwise/runtime/copy_kernel.hpp"
#include "shardwise/runtime/device_pool.hpp"
#include "shardwise/runtime/fold_kernels.hpp"
#include "shardwise/tensor/any_tensor.hpp"
#include "shardwise/tensor/eigen.hpp"
#include "shardwise/tensor/random.hpp"

#include <concepts>
#include <memory>
#include <utility>
#include <vector>

namespace shardwise {

/// The index of an element of a tensor, one number a dimension.
using global_index = inplace_vector<index_t, max_rank>;

namespace detail {

/// Makes a tensor whose distinct shards are filled by `fill(shard, part, block)`, in parallel;
/// `part` is what the shard holds of each dimension and `block` its row-major memory.
template <class T, class Fill>
[[nodiscard]] node_ptr<T> make_shards(const std::shared_ptr<machine>& home,
                                      const tensor_desc& tensor, const Fill& fill) {
  require(check_known(home->mesh(), tensor.layout, tensor.extents));
  auto place = std::make_shared<const placement>(home->mesh(), tensor);
  const placement& where = *place;
  std::vector<buffer<T>> shards;
  for (index_t s = 0; s < where.count(); ++s)
    shards.emplace_back(home->storage(), where.size_of_shard(s));
  home->run_shards(
      where,
      [&](index_t shard) {
        const held_box part = where.held_by(where.device_of(shard));
        T* memory = shards[static_cast<std::size_t>(shard)].writable();
        fill(shard, part, strided<T>{memory, extents_of(part), row_major(extents_of(part))});
      },
      where.count() * where.bytes_per_device());
  auto made = std::make_shared<node<T>>(home, std::move(place), std::move(shards));
  made->charge(home->memory());
  return made;
}

/// The same for shards whose elements depend on their global indices alone: `fill(part, block)`.
/// Where a reduction is pending, the first device along its axes has the elements and the others
/// have what changes nothing, so that the value is theirs.
template <class T, class Fill>
[[nodiscard]] node_ptr<T> make_filled(const std::shared_ptr<machine>& home,
                                      const tensor_desc& tensor, const Fill& fill) {
  const device_groups shards = shards_of(home->mesh(), tensor.layout);
  const device_groups terms(home->mesh(), tensor.layout.pending_axes());
  return make_shards<T>(home, tensor,
                        [&](index_t shard, const held_box& part, const strided<T>& block) {
                          if (terms.position_of(shards.member(0, shard)) == 0)
                            fill(part, block);
                          else
                            fill_block(identity_of<T>(tensor.layout.kind), block);
                        });
}

/// Calls `row(first, pointer, count)` for each run of neighbours of a part: `first` is the global
/// index of the first element, `pointer` where it goes.
template <class T, class Row>
void for_each_row(const held_box& part, const strided<T>& block, const Row& row) {
  if (block.size() == 0) return;
  inplace_vector<index_t, max_rank> local;
  global_index at;
  for (const held_range& held : part) {
    local.push_back(0);
    at.push_back(held.global(0));
  }
  const int last = part.ssize() - 1;
  T* pointer = block.data;
  if (last < 0) return row(at, pointer, 1);
  for (;;) {
    for (index_t x = 0, count = 0; x < part[last].size(); x += count, pointer += count) {
      at[last] = part[last].global(x);
      count = part[last].run(x);
      row(at, pointer, count);
    }
    int d = last - 1;
    for (bool more = false; d >= 0 && !more; d -= more ? 0 : 1) {
      more = ++local[d] < part[d].size();
      if (!more) local[d] = 0;
      at[d] = part[d].global(local[d]);
    }
    if (d < 0) return;
  }
}

/// The place of an element among all elements of the tensor, row-major.
[[nodiscard]] inline index_t linear(const extents_desc& extents, const global_index& at) noexcept {
  index_t place = 0;
  for (int d = 0; d < extents.ssize(); ++d) place = place * extents[d] + at[d];
  return place;
}

/// The mesh of the pool must be that of the tensor: the same axes, with the sizes that are static,
/// and the same devices in the same order.
[[nodiscard]] constexpr diagnosis check_pool(const mesh_desc& pool,
                                             const mesh_desc& wanted) noexcept {
  if (pool.rank() != wanted.rank())
    return {.rule = broken::pool_size_differs, .have = pool.rank(), .want = wanted.rank()};
  for (int a = 0; a < wanted.rank(); ++a)
    if (pool.axes[a].label != wanted.axes[a].label)
      return {.rule = broken::pool_size_differs, .axis = wanted.axes[a].label};
    else if (wanted.size(a) != dyn && pool.size(a) != wanted.size(a))
      return {.rule = broken::pool_size_differs,
              .axis = wanted.axes[a].label,
              .have = pool.size(a),
              .want = wanted.size(a)};
  if (pool.order == wanted.order) return {};
  return {.rule = broken::device_order_differs};
}

/// The types of a tensor and what is needed to make one.
template <class X>
struct maker;
template <class T, class Extents, class Layout>
struct maker<sharded_tensor<T, Extents, Layout>> {
  using value_type = T;
  using extents_type = Extents;
  template <class Fill>
  [[nodiscard]] static auto make(const device_pool& pool, const extents_desc& extents,
                                 const Fill& fill) {
    require(check_pool(pool.mesh(), Layout::mesh_type::value));
    return sharded_tensor<T, Extents, Layout>(
        make_filled<T>(pool.state(), {element_of<T>, extents, Layout::value}, fill));
  }
};

/// Fills a tensor with one value.
template <class X>
[[nodiscard]] X fill_with(const device_pool& pool, const extents_desc& extents,
                          element_in<X> value) {
  return maker<X>::make(pool, extents,
                        [=](const held_box&, const strided<typename X::value_type>& block) {
                          fill_block(value, block);
                        });
}

/// Fills a tensor with `f(index)`.
template <class X, class F>
[[nodiscard]] X generate_each(const device_pool& pool, const extents_desc& extents, const F& f) {
  using T = typename X::value_type;
  return maker<X>::make(pool, extents, [&](const held_box& part, const strided<T>& block) {
    for_each_row(part, block, [&](const global_index& first, T* row, index_t count) {
      global_index at = first;
      for (index_t i = 0; i < count; ++i) {
        row[i] = f(at);
        if (!at.empty()) ++at[at.ssize() - 1];
      }
    });
  });
}

/// The extents of a tensor of random numbers.
template <class X, class... Sizes>
[[nodiscard]] auto random_extents(Sizes... sizes) {
  static_assert(std::is_floating_point_v<typename X::value_type>,
                "random numbers need a floating type");
  return fill<typename X::extents_type>(sizes...);
}

/// Fills a tensor with `fill_row(index in row-major order, row, count)`.
template <class X, class Fill>
[[nodiscard]] X random(const device_pool& pool, const extents_desc& extents, const Fill& fill_row) {
  using T = typename X::value_type;
  return maker<X>::make(pool, extents, [&](const held_box& part, const strided<T>& block) {
    for_each_row(part, block, [&](const global_index& first, T* row, index_t count) {
      // Other elements were refused with the extents.
      if constexpr (std::is_floating_point_v<T>)
        fill_row(static_cast<std::uint64_t>(linear(extents, first)), row, count);
    });
  });
}

}  // namespace detail

/// A tensor type that can be made: `sharded_tensor<...>`.
template <class X>
concept ShardedTensor = detail::is_sharded_tensor<X>;

/// A tensor of one value. `sizes` are the dyn extents in order. Under a layout with a reduction
/// pending, the values of this and of all that follow are what the terms make together.
template <ShardedTensor X, std::convertible_to<index_t>... Sizes>
[[nodiscard]] X full(const device_pool& pool, detail::element_in<X> value, Sizes... sizes) {
  return detail::fill_with<X>(pool, fill<typename X::extents_type>(sizes...), value);
}
/// A tensor of zeros.
template <ShardedTensor X, std::convertible_to<index_t>... Sizes>
[[nodiscard]] X zeros(const device_pool& pool, Sizes... sizes) {
  return detail::fill_with<X>(pool, fill<typename X::extents_type>(sizes...), 0);
}
/// A tensor of ones.
template <ShardedTensor X, std::convertible_to<index_t>... Sizes>
[[nodiscard]] X ones(const device_pool& pool, Sizes... sizes) {
  return detail::fill_with<X>(pool, fill<typename X::extents_type>(sizes...), 1);
}

/// A tensor whose element at a global index is `f(index)`: called once for each element of each
/// distinct shard, from several threads.
///
///     auto x = generate<X>(pool, [](const global_index& at) { return float(at[0]); });
template <ShardedTensor X, class F, std::convertible_to<index_t>... Sizes>
  requires std::is_invocable_r_v < detail::element_in<X>,
const F&, const global_index& >
              [[nodiscard]] X generate(const device_pool& pool, const F& f, Sizes... sizes) {
  return detail::generate_each<X>(pool, fill<typename X::extents_type>(sizes...), f);
}

/// A tensor that counts its elements in row-major order, from 0.
template <ShardedTensor X, std::convertible_to<index_t>... Sizes>
[[nodiscard]] X iota(const device_pool& pool, Sizes... sizes) {
  const extents_desc extents = fill<typename X::extents_type>(sizes...);
  return detail::generate_each<X>(pool, extents, [&](const global_index& at) {
    return static_cast<typename X::value_type>(detail::linear(extents, at));
  });
}

/// Random numbers, uniform in [0, 1). The bits of an element depend on the key and its global index
/// alone, so every layout on every mesh has the same.
template <ShardedTensor X, std::convertible_to<index_t>... Sizes>
[[nodiscard]] X uniform(const device_pool& pool, key seed, Sizes... sizes) {
  return detail::random<X>(pool, detail::random_extents<X>(sizes...),
                           [&](std::uint64_t first, auto* row, index_t count) {
                             fill_uniform(seed, first, row, count);
                           });
}
/// Random numbers of the standard normal distribution; otherwise as `uniform`.
template <ShardedTensor X, std::convertible_to<index_t>... Sizes>
[[nodiscard]] X normal(const device_pool& pool, key seed, Sizes... sizes) {
  return detail::random<X>(
      pool, detail::random_extents<X>(sizes...),
      [&](std::uint64_t first, auto* row, index_t count) { fill_normal(seed, first, row, count); });
}

}  // namespace shardwise
