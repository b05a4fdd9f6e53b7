// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/function_view.hpp"
#include "shardwise/engine/device_pool.hpp"
#include "shardwise/host/made_from.hpp"
#include "shardwise/kernel/any_block.hpp"
#include "shardwise/kernel/element_kernels.hpp"
#include "shardwise/layout/layout_rules.hpp"
#include "shardwise/tensor/tensor_handle.hpp"

#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace shardwise {

namespace internal {

/// Creates a tensor whose distinct shards are filled by `fill(shard, part, block)`, in parallel;
/// `part` states the part of each dimension that the shard holds, and `block` is its row-major
/// memory.
[[nodiscard]] node_ptr make_any_shards(
    const std::shared_ptr<pool_state>& home, const tensor_desc& tensor,
    const element_kernels& elements,
    function_view<void(index_t, const held_box&, const any_block&)> fill);
template <class T>
[[nodiscard]] node_ptr make_shards(
    const std::shared_ptr<pool_state>& home, const tensor_desc& tensor,
    function_view<void(index_t, const held_box&, const strided<T>&)> fill) {
  return make_any_shards(home, tensor, element_kernels_of<T>,
                         [&](index_t shard, const held_box& part, const any_block& block) {
                           fill(shard, part, block.as<T>());
                         });
}

/// Returns true for the shards that hold the elements of a tensor with a pending reduction: those
/// of the first device along its axes; the other shards hold the identity of the reduction.
[[nodiscard]] bool has_elements(const shard_table& where, index_t shard) noexcept;

/// Which threads fill shards: those of the pool, or the calling one, beside a program that has
/// them.
enum class filled_by : bool { pool, caller };

/// The same for shards whose elements depend only on their global indices: `fill(part, block)`.
[[nodiscard]] node_ptr make_any_filled(const std::shared_ptr<pool_state>& home,
                                       const tensor_desc& tensor, const element_kernels& elements,
                                       function_view<void(const held_box&, const any_block&)> fill,
                                       filled_by threads = filled_by::pool);
template <class T>
[[nodiscard]] node_ptr make_filled(const std::shared_ptr<pool_state>& home,
                                   const tensor_desc& tensor,
                                   function_view<void(const held_box&, const strided<T>&)> fill,
                                   filled_by threads = filled_by::pool) {
  return make_any_filled(
      home, tensor, element_kernels_of<T>,
      [&](const held_box& part, const any_block& block) { fill(part, block.as<T>()); }, threads);
}

/// Calls `run(first, place, count)` for each contiguous run of a part: `first` is the global index
/// of the first element, and `place` its offset in the row-major memory of the part.
void for_each_run(const held_box& part,
                  function_view<void(const global_index&, index_t, index_t)> run);

/// The same with the memory: `row(first, pointer, count)`.
template <class T>
void for_each_row(const held_box& part, const strided<T>& block,
                  std::type_identity_t<function_view<void(const global_index&, T*, index_t)>> row) {
  for_each_run(part, [&](const global_index& first, index_t place, index_t count) {
    row(first, block.data + place, count);
  });
}

/// Returns the row-major position of an element in the whole tensor.
[[nodiscard]] inline index_t linear(const extents_desc& extents, const global_index& at) noexcept {
  index_t place = 0;
  for (int d = 0; d < extents.ssize(); ++d) place = place * extents[d] + at[d];
  return place;
}

/// `check_pool` at run time; the message shows both meshes.
void require_pool(const mesh_desc& pool, const mesh_desc& wanted);

/// Returns the element type of a tensor type, which is instantiated only if the call with `Sizes`
/// is valid.
template <class X, class... Sizes>
struct elements_of {
  using type = typename X::value_type;
};

/// Returns the description of a tensor of type `X` that is created in a pool with these dyn
/// extents.
template <class X, class... Sizes>
[[nodiscard]] tensor_desc described(const device_pool& pool, Sizes... sizes) {
  require_pool(pool.mesh(), X::mesh_type::value);
  return desc_of<X>(sized_extents<typename X::extents_type>(sizes...));
}

/// Fills a tensor row by row: `row(index of the first element, pointer, count)`.
template <class T, class Row>
[[nodiscard]] node_ptr fill_rows(const device_pool& pool, const tensor_desc& tensor,
                                 const Row& row) {
  return make_filled<T>(pool.state(), tensor, [&](const held_box& part, const strided<T>& block) {
    for_each_row(part, block, row);
  });
}

/// Fills a tensor with one value.
template <class T, class Value>
[[nodiscard]] node_ptr fill_value(const device_pool& pool, const tensor_desc& tensor, Value value) {
  require_in_range<T>(value);
  // In two steps: clang warns of the conversion to `float` in the constructor of a 16-bit type.
  const T all = static_cast<T>(static_cast<compute_type<T>>(value));
  return make_filled<T>(pool.state(), tensor, [all](const held_box&, const strided<T>& block) {
    fill_elements(all, block);
  });
}

/// Fills a tensor with `f(index)`.
template <class T, class F>
[[nodiscard]] node_ptr fill_each(const device_pool& pool, const tensor_desc& tensor, const F& f) {
  return fill_rows<T>(pool, tensor, [&](const global_index& first, T* row, index_t count) {
    global_index at = first;
    for (index_t i = 0; i < count; ++i) {
      row[i] = f(at);
      if (!at.empty()) ++at[at.ssize() - 1];
    }
  });
}

/// Fills matrices, the last two dimensions of a tensor, with ones on their diagonals.
template <class T>
[[nodiscard]] node_ptr fill_identity(const device_pool& pool, const tensor_desc& tensor) {
  const int rank = tensor.rank();
  if (rank < 2) fail({.rule = violation::operand_rank_differs, .have = rank, .want = 2});
  return fill_each<T>(pool, tensor, [rank](const global_index& at) {
    return static_cast<T>(at[rank - 2] == at[rank - 1] ? 1 : 0);
  });
}

/// Fills a tensor whose elements depend on their row-major positions in the whole tensor:
/// `fill_row(position of the first element, pointer, count)`.
template <class T, class Fill>
[[nodiscard]] node_ptr fill_numbered(const device_pool& pool, const tensor_desc& tensor,
                                     const Fill& fill_row) {
  const extents_desc& extents = tensor.extents;
  return fill_rows<T>(pool, tensor, [&](const global_index& first, T* row, index_t count) {
    fill_row(static_cast<std::uint64_t>(linear(extents, first)), row, count);
  });
}

/// Fills a row with consecutive numbers from `first`.
struct count_row {
  template <class T>
  void operator()(std::uint64_t first, T* row, index_t count) const noexcept {
    for (index_t i = 0; i < count; ++i)
      row[i] = static_cast<T>(static_cast<compute_type<T>>(static_cast<index_t>(first) + i));
  }
};

}  // namespace internal

/// Creates a tensor filled with one value: `full<X>(pool, value, sizes...)`.
///
/// In all functions below, `sizes` are the dyn extents in order; without a pool, that of the scope
/// is used (`use_mesh`). If the layout has a pending reduction, the values are those after the
/// reduction. Invalid arguments are reported by position.
template <class X = void, class... A>
  requires(!detail::DescribedByValue<X, A...>)
[[nodiscard]] constexpr detail::made<detail::made_from::value, X, A...> full(const A&... a) {
  return detail::make_in_pool<detail::made_from::value, X>(
      [](const device_pool& pool, auto value, const auto&... sizes) {
        using T = typename X::value_type;
        return internal::handle_of<X>(
            internal::fill_value<T>(pool, internal::described<X>(pool, sizes...), value));
      },
      a...);
}
/// Creates a tensor of zeros: `zeros<X>(pool, sizes...)`.
template <class X = void, class... A>
  requires(!detail::DescribedByValue<X, A...>)
[[nodiscard]] constexpr detail::made<detail::made_from::sizes, X, A...> zeros(const A&... a) {
  return detail::make_in_pool<detail::made_from::sizes, X>(
      [](const auto& pool, const auto&... sizes) { return full<X>(pool, 0, sizes...); }, a...);
}
/// Creates a tensor of ones: `ones<X>(pool, sizes...)`.
template <class X = void, class... A>
  requires(!detail::DescribedByValue<X, A...>)
[[nodiscard]] constexpr detail::made<detail::made_from::sizes, X, A...> ones(const A&... a) {
  return detail::make_in_pool<detail::made_from::sizes, X>(
      [](const auto& pool, const auto&... sizes) { return full<X>(pool, 1, sizes...); }, a...);
}

/// Creates identity matrices, the last two dimensions: `eye<X>(pool, sizes...)` has ones where
/// their indices are equal. Fails with `operand_rank_differs` if there is only one dimension.
template <class X = void, class... A>
  requires(!detail::DescribedByValue<X, A...>)
[[nodiscard]] constexpr detail::made<detail::made_from::sizes, X, A...> eye(const A&... a) {
  return detail::make_in_pool<detail::made_from::sizes, X>(
      [](const device_pool& pool, const auto&... sizes) {
        using T = typename internal::elements_of<X, decltype(sizes)...>::type;
        return internal::handle_of<X>(
            internal::fill_identity<T>(pool, internal::described<X>(pool, sizes...)));
      },
      a...);
}

/// Creates a tensor whose element at a global index is `f(index)`; `f` is called once for each
/// element of each distinct shard, from several threads.
///
///     auto x = generate<X>(pool, [](const global_index& at) { return float(at[0]); });
template <class X = void, class... A>
  requires(!detail::DescribedByValue<X, A...>)
[[nodiscard]] constexpr detail::made<detail::made_from::function, X, A...> generate(const A&... a) {
  return detail::make_in_pool<detail::made_from::function, X>(
      [](const device_pool& pool, const auto& f, const auto&... sizes) {
        using T = typename internal::elements_of<X, decltype(sizes)...>::type;
        return internal::handle_of<X>(
            internal::fill_each<T>(pool, internal::described<X>(pool, sizes...), f));
      },
      a...);
}

/// Creates a tensor of the row-major positions of its elements, from 0: `iota<X>(pool, sizes...)`.
template <class X = void, class... A>
  requires(!detail::DescribedByValue<X, A...>)
[[nodiscard]] constexpr detail::made<detail::made_from::sizes, X, A...> iota(const A&... a) {
  return detail::make_in_pool<detail::made_from::sizes, X>(
      [](const device_pool& pool, const auto&... sizes) {
        using T = typename internal::elements_of<X, decltype(sizes)...>::type;
        return internal::handle_of<X>(internal::fill_numbered<T>(
            pool, internal::described<X>(pool, sizes...), internal::count_row{}));
      },
      a...);
}

/// Creates random numbers, uniform in [0, 1): `uniform<X>(pool, random_key{1}, sizes...)`. The bits
/// of an element depend only on the key and its global index, so they are the same for every layout
/// on every mesh.
template <class X = void, class... A>
  requires(!detail::DescribedByValue<X, A...>)
[[nodiscard]] constexpr detail::made<detail::made_from::key, X, A...> uniform(const A&... a) {
  return detail::make_in_pool<detail::made_from::key, X>(
      [](const device_pool& pool, random_key seed, const auto&... sizes) {
        using T = typename internal::elements_of<X, decltype(sizes)...>::type;
        return internal::handle_of<X>(
            internal::fill_numbered<T>(pool, internal::described<X>(pool, sizes...),
                                       [=](auto... row) { fill_uniform(seed, row...); }));
      },
      a...);
}
/// Creates random numbers of the standard normal distribution; otherwise like `uniform`.
template <class X = void, class... A>
  requires(!detail::DescribedByValue<X, A...>)
[[nodiscard]] constexpr detail::made<detail::made_from::key, X, A...> normal(const A&... a) {
  return detail::make_in_pool<detail::made_from::key, X>(
      [](const device_pool& pool, random_key seed, const auto&... sizes) {
        using T = typename internal::elements_of<X, decltype(sizes)...>::type;
        return internal::handle_of<X>(
            internal::fill_numbered<T>(pool, internal::described<X>(pool, sizes...),
                                       [=](auto... row) { fill_normal(seed, row...); }));
      },
      a...);
}

}  // namespace shardwise

#if !defined(SHARDWISE_COMPILED)
#include "shardwise/host/factories_work.hpp"
#endif
