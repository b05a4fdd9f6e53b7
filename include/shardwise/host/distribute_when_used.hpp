// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/host/distribute.hpp"

#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>

namespace shardwise {

namespace internal {

/// A tensor whose elements wait on the host until something reads them, and are then copied to the
/// devices. In another layout it is another such tensor, which shares the data.
class waiting_node : public tensor_node {
 public:
  /// `owner` keeps the data of `host` alive.
  waiting_node(std::shared_ptr<pool_state> home, shard_table_ptr where,
               const element_kernels& elements, std::shared_ptr<const void> owner,
               const const_any_block& host)
      : tensor_node(std::move(home), std::move(where), elements),
        owner_(std::move(owner)),
        host_(host) {}

  SHARDWISE_INLINE void evaluate() override;
  [[nodiscard]] SHARDWISE_INLINE node_ptr placed_as(const layout_desc& layout) override;

 private:
  std::mutex guard_;
  std::shared_ptr<const void> owner_;
  const_any_block host_;
};

/// Data that a tensor of type `X` may own until it is used.
template <class H, class X>
concept OwnedHostData = RunOf<H, typename X::value_type> ||
    (MatrixInMemory<H>&& EigenMatrix<H>&& std::same_as<typename H::Scalar, typename X::value_type>);

}  // namespace internal

/// Creates a tensor of host data that it shares. The elements wait on the host, and are copied to
/// the devices when something uses the tensor for the first time; then it gives the data up. If
/// `mark_sharding` or another `reshard` gives it a layout before that, they are copied once, in
/// this layout, and nothing is communicated.
///
/// The data must not change meanwhile: what `distribute` is given is copied at once. It is a
/// contiguous range of row-major elements, or an Eigen matrix, as for `distribute`.
///
///     auto data = std::make_shared<const std::vector<float>>(read());
///     auto whole = distribute_when_used<Everywhere>(pool, data);
///     auto rows = mark_sharding<P<"data", none>>(whole);      // its first use uploads rows
template <ShardedTensor X, class H, class... Sizes>
  requires internal::OwnedHostData<std::remove_const_t<H>, X>
[[nodiscard]] X distribute_when_used(const device_pool& pool, std::shared_ptr<H> data,
                                     Sizes... sizes) {
  using T = typename X::value_type;
  if (data == nullptr)
    fail({.rule = violation::host_size_differs}, "there are no data: the pointer is null");
  internal::host_view<T> view;
  if constexpr (internal::EigenMatrix<std::remove_const_t<H>>)
    view = internal::view_of_matrix<X>(*data);
  else
    view = internal::view_of_run<X>(*data, sizes...);
  internal::require_view<X>(pool, view);
  const tensor_desc tensor = desc_of<X>(view.extents);
  require(check_known(pool.mesh(), tensor.layout, tensor.extents));
  return internal::handle_of<X>(std::make_shared<internal::waiting_node>(
      pool.state(), pool.state()->place(tensor), element_kernels_of<T>, std::move(data),
      const_any_block{view.data, element_of<T>, view.extents, view.strides}));
}
/// The same of data that are moved in.
///
///     auto whole = distribute_when_used<Everywhere>(pool, std::move(values));
template <ShardedTensor X, class H, class... Sizes>
  requires(!std::is_lvalue_reference_v<H> && !std::is_const_v<H> && internal::OwnedHostData<H, X>)
[[nodiscard]] X distribute_when_used(const device_pool& pool, H&& data, Sizes... sizes) {
  return distribute_when_used<X>(pool, std::make_shared<const H>(std::forward<H>(data)), sizes...);
}

}  // namespace shardwise

#if !defined(SHARDWISE_COMPILED)
#include "shardwise/host/distribute_when_used_work.hpp"
#endif
