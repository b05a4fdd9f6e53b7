// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/no_number.hpp"
#include "shardwise/host/eigen_names.hpp"
#include "shardwise/layout/tensor_desc.hpp"
#include "shardwise/tensor/shown_as.hpp"

#include <concepts>
#include <initializer_list>
#include <span>  // has the range concepts, without the compile time of the views
#include <type_traits>

namespace shardwise {

/// The name in errors of a range that cannot be read twice through a const reference.
template <class Item>
struct range_read_once;

namespace detail {

/// An Eigen matrix, vector or array, or an expression of these.
template <class H>
concept EigenMatrix = std::derived_from<H, Eigen::DenseBase<H>>;

/// The depth of the nested ranges in `R`, and the type of the innermost items. Each range is read
/// twice, through a const reference; a string is an item, not a range.
template <class R>
struct nest {
  static constexpr int depth = 0;
  using item = R;
};
template <class R>
  requires(!EigenMatrix<R> && std::ranges::forward_range<const R&> &&
           !std::is_convertible_v<const R&, text_view>)
struct nest<R> {
  using inner = nest<std::remove_cvref_t<std::ranges::range_reference_t<const R&>>>;
  static constexpr int depth = 1 + inner::depth;
  using item = typename inner::item;
};
template <EigenMatrix H>
struct nest<H> {
  static constexpr int depth = H::IsVectorAtCompileTime ? 1 : 2;
  using item = typename H::Scalar;
};

/// A contiguous range of elements of a tensor of `T`.
template <class H, class T>
concept RunOf = !EigenMatrix<H> && std::ranges::contiguous_range<const H> &&
                std::same_as<std::remove_cv_t<std::ranges::range_value_t<const H>>, T>;

/// A function that returns a value for each index of a tensor of `T`.
template <class H, class T>
concept FunctionOf = !EigenMatrix<H> && requires(const H& f, const global_index& at) {
  { f(at) } -> NumberFor<T>;
};

/// The rule that prevents a tensor of type `X` from being created from this data, or `allowed`.
/// Data that is read in place must have the element type of the tensor; data that is copied element
/// by element may be converted.
template <class X, class H>
[[nodiscard]] constexpr auto judge_host() noexcept {
  using T = element_in<X>;
  using data = nest<H>;
  using item = typename data::item;
  constexpr int rank = extents_in<X>::rank;
  constexpr bool is_read_in_place =
      EigenMatrix<H> ||
      (data::depth == 1 && std::is_arithmetic_v<item> && std::ranges::contiguous_range<const H>);
  if constexpr (RunOf<H, T> || FunctionOf<H, T>)
    return allowed<X>{};
  else if constexpr (data::depth == 0 && std::ranges::input_range<H>)
    return refused<misuse::host_data_is_unreadable,
                   range_read_once<std::ranges::range_value_t<H>>>{};
  else if constexpr (data::depth == 0)
    return refused<misuse::host_data_is_unreadable, shown_as<H>>{};
  else if constexpr (is_read_in_place ? !std::same_as<item, T>
                                      : !NumberFor<item, T> || (std::is_integral_v<T> &&
                                                                std::is_floating_point_v<item>))
    return refused<misuse::host_elements_differ, of_types<item, T>>{};
  else if constexpr (data::depth != rank && !(EigenMatrix<H> && (rank == 1 || rank == 2)))
    return refused<violation::host_rank_differs, of_types<>, size_met{data::depth},
                   size_needed{rank}>{};
  else
    return allowed<X>{};
}

/// The number of sizes that follow the data, if the program gives `Given`: a contiguous range
/// determines one dyn extent, and data with a shape determines all.
template <class X, class H, int Given>
[[nodiscard]] constexpr int host_sizes() noexcept {
  using T = element_in<X>;
  constexpr int wanted = extents_in<X>::dynamic_rank;
  return FunctionOf<H, T> || (RunOf<H, T> && (Given > 0 || wanted > 1)) ? wanted : 0;
}

/// A braced list of numbers, nested one level for each dimension.
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

/// A braced list of another depth; a list of the tensor's own depth is a better match.
struct flat_braces {
  template <Scalar T>
  flat_braces(std::initializer_list<T>) noexcept {}
};
struct nested_braces {
  template <Scalar T>
  nested_braces(std::initializer_list<std::initializer_list<T>>) noexcept {}
};

}  // namespace detail
}  // namespace shardwise
