// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/members.hpp"
#include "shardwise/core/nest.hpp"
#include "shardwise/host/host_block.hpp"

#include <concepts>
#include <cstddef>
#include <memory>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace shardwise {

/// A row of a block of host memory: where it is, or a copy that it shares.
template <Element T>
struct sample_row {
  strided<const T> view{};
  /// What owns the elements of a copy.
  std::shared_ptr<const void> owner{};
};

namespace detail {

template <class F>
struct element_of_field {
  using type = void;
};
template <Element F>
struct element_of_field<F> {
  using type = F;
};
template <HostBlock F>
struct element_of_field<F> : element_of_block<F> {};
template <class T>
struct element_of_field<sample_row<T>> {
  using type = T;
};

/// The type of the elements of a field.
template <class F>
using field_element = typename element_of_field<std::remove_cvref_t<F>>::type;

}  // namespace detail

/// A part of a sample that becomes a row of one tensor: a number, a `sample_row`, or a block of
/// numbers in one of the forms of `HostBlock`, such as a vector, a span or an Eigen matrix.
template <class F>
concept SampleField = Element<detail::field_element<F>>;

/// Fields that have names: a map of blocks.
template <class S>
concept SampleMap = requires(const S& sample) {
  typename S::mapped_type;
  requires SampleField<typename S::mapped_type>;
  requires std::convertible_to<const typename S::key_type&, std::string_view>;
  sample.begin()->second;
};

namespace detail {

/// Returns references to the fields of a sample, in their order: the parts of a tuple, the members
/// of an aggregate, or the sample itself.
template <class S>
[[nodiscard]] constexpr auto fields_of(const S& sample) {
  if constexpr (SampleField<S>) {
    return std::tie(sample);
  } else if constexpr (internal::TupleLike<S>) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      using std::get;
      return std::tie(std::as_const(get<I>(sample))...);
    }
    (std::make_index_sequence<std::tuple_size_v<S>>());
  } else {
    static_assert(Aggregate<S>,
                  "a sample is a number, a block of numbers, or a tuple, an aggregate or a map of "
                  "these");
    return members_of(sample);
  }
}

/// The references that `fields_of` returns.
template <class S>
using fields_tuple = decltype(fields_of(std::declval<const S&>()));
template <class S>
inline constexpr std::size_t field_count = std::tuple_size_v<fields_tuple<S>>;
/// The type of the elements of field `I`.
template <class S, std::size_t I>
using element_of_sample = field_element<std::tuple_element_t<I, fields_tuple<S>>>;

/// Returns the key of a field in a sharding by keys: the name of a member, the number of a part of
/// a tuple, or nothing for a sample that is a single field.
template <class S>
[[nodiscard]] leaf_path key_of_field(std::size_t number) {
  if constexpr (SampleField<S>)
    return {};
  else if constexpr (internal::TupleLike<S>)
    return internal::step_down(leaf_path(), number);
  else
    return internal::step_down(leaf_path(), member_names<S>[number]);
}

/// Returns the view of a field as a row of a tensor, whose rank it has if it is no run of elements.
template <class F>
[[nodiscard]] host_block<field_element<F>> row_of_field(const F& field, int rank) {
  if constexpr (Element<F>)
    return {.view = {&field, {}, {}}, .is_run = false, .count = 1};
  else if constexpr (requires { field.view.strides; })
    return {.view = field.view, .is_run = false, .count = field.view.size()};
  else
    return internal::block_of(field, rank);
}

}  // namespace detail
}  // namespace shardwise
