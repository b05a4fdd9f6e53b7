// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/rule/diagnostics.hpp"
#include "shardwise/runtime/factories.hpp"
#include "shardwise/tensor/shared_blocks.hpp"

namespace shardwise {

namespace detail {

/// Host data as a view: where it starts, its extents and strides.
template <class T>
using host_view = strided<const T>;

/// Copies a part of the host's data into a shard.
template <class T>
void copy_part(const host_view<T>& host, const held_box& part, const strided<T>& block) {
  for_each_shared_block(
      whole_of(host.extents), host, part, block,
      [](const strided<const T>& from, const strided<T>& to) { copy_block(from, to); });
}

/// Spreads a view that has the rank of the tensor.
template <class X>
[[nodiscard]] X distribute_view(const device_pool& pool,
                                const host_view<typename X::value_type>& host) {
  using T = typename X::value_type;
  using extents_type = typename X::extents_type;
  for (int d = 0; d < host.rank(); ++d)
    if (extents_type::value[d] != dyn && extents_type::value[d] != host.extents[d])
      fail({.rule = broken::host_size_differs,
            .dim = d,
            .have = host.extents[d],
            .want = extents_type::value[d]});
  return maker<X>::make(pool, host.extents, [&](const held_box& part, const strided<T>& block) {
    copy_part<T>(host, part, block);
  });
}

/// The dyn extents that make `count` elements, if there is at most one and it comes out even.
template <class Extents>
[[nodiscard]] extents_desc infer_extents(index_t count) {
  static_assert(Extents::dynamic_rank <= 1,
                "with several dyn extents, give their sizes after the data");
  index_t known = 1;
  for (index_t extent : Extents::value)
    if (extent != dyn) known *= extent;
  extents_desc extents = Extents::value;
  for (index_t& extent : extents)
    if (extent == dyn) extent = known == 0 ? 0 : count / known;
  if (element_count(extents) != count)
    fail({.rule = broken::host_size_differs, .have = count, .want = element_count(extents)});
  return extents;
}

/// An Eigen matrix or vector, or an expression of these.
template <class H>
concept EigenMatrix = std::derived_from<H, Eigen::MatrixBase<H>>;

/// The type of the numbers of an Eigen matrix, or of a run of numbers in memory.
template <class H>
struct number_of;
template <EigenMatrix H>
struct number_of<H> {
  using type = typename H::Scalar;
};
template <class H>
  requires(!EigenMatrix<H> && std::ranges::contiguous_range<const H> &&
           std::is_arithmetic_v<std::ranges::range_value_t<const H>>)
struct number_of<H> {
  using type = std::ranges::range_value_t<const H>;
};

/// How deep ranges are nested in `R`, and what the innermost hold. Each is read twice, through a
/// const reference; a string is no range but an item.
template <class R>
struct nest {
  static constexpr int depth = 0;
  using item = R;
};
template <class R>
  requires(std::ranges::forward_range<const R&> && !std::is_convertible_v<const R&, text_view>)
struct nest<R> {
  using inner = nest<std::remove_cvref_t<std::ranges::range_reference_t<const R&>>>;
  static constexpr int depth = 1 + inner::depth;
  using item = typename inner::item;
};
template <class R>
inline constexpr int nesting = nest<R>::depth;

/// Numbers in braces, one level a dimension.
template <class T, int Rank>
struct in_braces {
  using type = std::initializer_list<typename in_braces<T, Rank - 1>::type>;
};
template <class T>
struct in_braces<T, 0> {
  using type = T;
};
template <class X>
using braces_for = typename in_braces<element_in<X>, extents_in<X>::rank>::type;

template <class T, class R>
void flatten(const R& range, int depth, extents_desc& extents, std::vector<T>& elements) {
  index_t size = 0;
  for ([[maybe_unused]] const auto& item : range) ++size;
  if (extents[depth] == dyn) extents[depth] = size;
  if (extents[depth] != size)
    fail({.rule = broken::host_size_differs, .dim = depth, .have = size, .want = extents[depth]});
  for (const auto& item : range)
    if constexpr (nesting<std::remove_cvref_t<decltype(item)>> != 0)
      flatten(item, depth + 1, extents, elements);
    else
      elements.push_back(static_cast<T>(item));
}

/// What `distribute` reads where it is, and what it flattens.
template <class H>
concept HasNumbers = requires {
  typename number_of<H>::type;
};
template <class R, class T>
concept RunOf = std::ranges::contiguous_range<const R> &&
    std::same_as<std::remove_cv_t<std::ranges::range_value_t<const R>>, T>;
template <class R, class X>
inline constexpr bool has_rank_of = nesting<R> != 0 && nesting<R> == extents_in<X>::rank;
template <class R, class X>
concept NestedFor = has_rank_of<R, X> && !HasNumbers<R> && !RunOf<R, element_in<X>> &&
                    std::convertible_to<typename nest<R>::item, element_in<X>>;

/// True if `distribute` takes this after the pool for a tensor of type `X`; numbers of another
/// type are refused by the rule about them.
template <class X, class H>
inline constexpr bool is_host_data =
    NestedFor<H, X> || RunOf<H, element_in<X>> || HasNumbers<H> ||
    std::is_invocable_r_v<element_in<X>, const H&, const global_index&>;

template <class X, class R>
[[nodiscard]] X distribute_nested(const device_pool& pool, const R& host) {
  using T = typename X::value_type;
  using item = typename nest<R>::item;
  if constexpr (std::is_integral_v<T> && std::is_floating_point_v<item>)
    (void)sizeof(host_elements_differ<item, T>);
  extents_desc extents = X::extents_type::value;
  std::vector<T> elements;
  flatten(host, 0, extents, elements);
  for (index_t& extent : extents)
    if (extent == dyn) extent = 0;
  return distribute_view<X>(pool, {elements.data(), extents, row_major(extents)});
}

/// Braces, of which a list of the tensor's own depth is the better match.
struct flat_braces {
  template <Scalar T>
  flat_braces(std::initializer_list<T>) noexcept {}
};
struct nested_braces {
  template <Scalar T>
  nested_braces(std::initializer_list<std::initializer_list<T>>) noexcept {}
};

}  // namespace detail

/// Spreads an Eigen matrix (rank 2) or vector (rank 1).
template <ShardedTensor X, class Derived>
  requires std::same_as<typename Derived::Scalar, detail::element_in<X>>
[[nodiscard]] X distribute(const device_pool& pool, const Eigen::MatrixBase<Derived>& host) {
  constexpr int rank = X::extents_type::rank;
  if constexpr (rank != 1 && rank != 2) (void)sizeof(host_rank_differs<2, rank>);
  // An expression is evaluated once; a matrix is read where it is.
  const Eigen::Ref<const Eigen::Matrix<typename X::value_type, Eigen::Dynamic, Eigen::Dynamic>, 0,
                   Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>>
      matrix(host.derived());
  detail::host_view<typename X::value_type> view{matrix.data(), {}, {}};
  if constexpr (rank == 2) {
    view.extents = {index_t{matrix.rows()}, index_t{matrix.cols()}};
    view.strides = {index_t{matrix.innerStride()}, index_t{matrix.outerStride()}};
  } else {
    if (matrix.cols() != 1 && matrix.rows() != 1)
      fail({.rule = broken::host_rank_differs, .have = 2, .want = 1});
    view.extents = {index_t{matrix.size()}};
    view.strides = {index_t{matrix.cols() == 1 ? matrix.innerStride() : matrix.outerStride()}};
  }
  return detail::distribute_view<X>(pool, view);
}

/// Spreads row-major elements. `sizes` are the dyn extents in order; a single one may be left out.
///
///     auto x = distribute<X>(pool, std::vector<float>(512 * 1024));
template <ShardedTensor X, std::ranges::contiguous_range R, std::convertible_to<index_t>... Sizes>
  requires std::same_as<std::remove_cv_t<std::ranges::range_value_t<R>>, detail::element_in<X>>
[[nodiscard]] X distribute(const device_pool& pool, const R& host, Sizes... sizes) {
  const auto count = static_cast<index_t>(std::ranges::size(host));
  extents_desc extents;
  if constexpr (sizeof...(Sizes) > 0)
    extents = fill<typename X::extents_type>(sizes...);
  else
    extents = detail::infer_extents<typename X::extents_type>(count);
  if (element_count(extents) != count)
    fail({.rule = broken::host_size_differs, .have = count, .want = element_count(extents)});
  return detail::distribute_view<X>(pool, {std::ranges::data(host), extents, row_major(extents)});
}

/// Spreads ranges of ranges, one level a dimension, whose sizes agree.
///
///     auto x = distribute<X>(pool, std::vector<std::vector<float>>{{1, 2}, {3, 4}});
template <ShardedTensor X, detail::NestedFor<X> R>
[[nodiscard]] X distribute(const device_pool& pool, const R& host) {
  return detail::distribute_nested<X>(pool, host);
}

/// Spreads numbers in braces, one level a dimension.
///
///     auto x = distribute<X>(pool, {{1, 2}, {3, 4}});
template <ShardedTensor X>
  requires(detail::extents_in<X>::rank > 0)
[[nodiscard]] X distribute(const device_pool& pool, detail::braces_for<X> host) {
  return detail::distribute_nested<X>(pool, host);
}
/// Braces of another depth.
template <ShardedTensor X>
[[nodiscard]] X distribute(const device_pool&, detail::flat_braces) {
  (void)sizeof(host_rank_differs<1, detail::extents_in<X>::rank>);
  return X(nullptr);
}
template <ShardedTensor X>
[[nodiscard]] X distribute(const device_pool&, detail::nested_braces) {
  (void)sizeof(host_rank_differs<2, detail::extents_in<X>::rank>);
  return X(nullptr);
}

/// Matrices and runs of other numbers than the tensor's do not compile: a cast says what is meant.
template <ShardedTensor X, detail::HasNumbers H, class... Sizes>
  requires(!std::same_as<typename detail::number_of<H>::type, detail::element_in<X>>)
[[nodiscard]] X distribute(const device_pool&, const H&, Sizes...) {
  (void)sizeof(host_elements_differ<typename detail::number_of<H>::type, detail::element_in<X>>);
  return X(nullptr);
}

/// Spreads what `f` gives for each global index; see `generate`.
template <ShardedTensor X, class F, std::convertible_to<index_t>... Sizes>
  requires std::is_invocable_r_v < detail::element_in<X>,
const F&, const global_index& >
              [[nodiscard]] X distribute(const device_pool& pool, const F& f, Sizes... sizes) {
  return generate<X>(pool, f, sizes...);
}

/// Spreads a whole host tensor.
template <Element T>
[[nodiscard]] any_tensor<T> distribute(const device_pool& pool, std::span<const T> host,
                                       const extents_desc& extents, const layout_desc& layout) {
  require(check_known(pool.mesh(), layout, extents));
  if (element_count(extents) != static_cast<index_t>(host.size()))
    fail({.rule = broken::host_size_differs,
          .have = static_cast<index_t>(host.size()),
          .want = element_count(extents)});
  const detail::host_view<T> view{host.data(), extents, row_major(extents)};
  return any_tensor<T>(detail::make_filled<T>(pool.state(), {element_of<T>, extents, layout},
                                              [&](const held_box& part, const strided<T>& block) {
                                                detail::copy_part<T>(view, part, block);
                                              }));
}
/// The same under a spec of the pool's mesh, with nothing pending.
///
///     auto x = distribute<float>(pool, host, {4, 8}, spec_desc{{"data", ""}});
template <Element T>
[[nodiscard]] any_tensor<T> distribute(const device_pool& pool, std::span<const T> host,
                                       const extents_desc& extents, const spec_desc& spec,
                                       policy_desc policy = exact{}) {
  return distribute<T>(pool, host, extents, layout_of(pool.mesh(), spec, {}, policy));
}

}  // namespace shardwise
