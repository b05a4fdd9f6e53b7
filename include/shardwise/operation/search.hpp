// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/as.hpp"
#include "shardwise/operation/over.hpp"
#include "shardwise/operation/reshape.hpp"

#include <cstdint>
#include <type_traits>
#include <utility>

namespace shardwise {

/// A search along a dimension that returns values and their indices, such as `max_with_index`, in
/// parts of the dimension: the results of the parts are concatenated.
template <class Whole, index_t Parts>
struct in_parts_of {
  using operation_class = typename Whole::operation_class;
  static constexpr attributes how = operation_class::in_parts(Whole::how, Parts);
};

/// Returns the number of parts of a split dimension, if each device can search its own part and
/// exchange the results over permitted axes; 0 if the dimension is not split, or not evenly.
[[nodiscard]] constexpr index_t searched_parts(const mesh_desc& mesh, const tensor_desc& x,
                                               index_t dim, unsigned permitted) noexcept {
  // The gradient divides the dimension in two.
  if (dim < 0 || dim >= x.rank() || x.rank() == max_rank || x.layout.pending != 0) return 0;
  const auto d = static_cast<int>(dim);
  for (std::uint8_t a : x.layout.dims[d])
    if (mesh.size(a) != 1 && (permitted >> a & 1U) == 0) return 0;
  const index_t parts = mesh.parts(x.layout.dims[d]);
  const index_t size = x.extents[d];
  const bool is_even = size != dyn && size > 0 && parts > 1 && size % parts == 0;
  const grain how = x.layout.grains[d];
  return is_even && (how.is_contiguous() || how.is_single_cut()) ? parts : 0;
}

namespace internal {

/// A searched tensor whose parts, if there are any, are a separate dimension before `dim`.
struct parted_dimension {
  int dim = 0;
  extents_desc extents{};

  constexpr parted_dimension(const extents_desc& whole, int searched, index_t parts) noexcept
      : dim(searched) {
    for (int d = 0; d < whole.ssize(); ++d) {
      const bool is_parted = d == searched && parts > 0;
      if (is_parted) extents.push_back(parts);
      extents.push_back(is_parted ? whole[d] / parts : whole[d]);
    }
    if (parts > 0) ++dim;
  }
  /// Returns the extents of the results: `count` elements for each part.
  [[nodiscard]] constexpr extents_desc found(index_t count) const noexcept {
    extents_desc out = extents;
    out[dim] = count;
    return out;
  }
};
/// Returns the elements of a value with these extents.
[[nodiscard]] constexpr gradient_value shaped(const gradient_value& x, const extents_desc& to) {
  return x.tensor().extents == to ? x : emit<reshape_operation>(reshape_operation::how(to), x);
}

/// The call of an operation with two results of the same extents: the operation, and its second
/// result, whose elements are `Second`, or those of the first if it is `void`.
template <class Operation, class Permitted = across_axes<>, class Second = std::int64_t>
struct pair_call {
  using first = fetching_call<Operation, Permitted>;

  template <class... X>
  [[nodiscard]] static constexpr auto judge() noexcept {
    using values = decltype(first::template judge<X...>());
    if constexpr (!values::ok)
      return values{};
    else
      return allowed<
          std::pair<typename values::type, typename second_of<typename values::type>::type>>{};
  }
  template <class... X>
  [[nodiscard]] static constexpr auto apply(X&&... x) {
    auto values = first::apply(static_cast<X&&>(x)...);
    using made = decltype(values);
    if constexpr (ValueOperand<made>) {
      auto at = made::value_domain::template second<element_beside<made>>(values);
      return std::pair(std::move(values), std::move(at));
    } else {
      auto at = made::domain::template second<beside<made>>(values);
      return std::pair(std::move(values), std::move(at));
    }
  }

 private:
  template <class Values>
  using element_beside =
      std::conditional_t<std::is_void_v<Second>, typename Values::value_type, Second>;
  template <class Values>
  using beside = paper_tensor<element_beside<Values>, typename Values::extents_type,
                              typename Values::layout_type>;
  template <class Values>
  struct second_of {
    using type = typename Values::domain::template made_second<beside<Values>>;
  };
  template <ValueOperand Values>
  struct second_of<Values> {
    using type = typename Values::value_domain::template tensor<element_beside<Values>>;
  };
};

/// The call of a search such as `max_with_index<Dim>(x, across<...>)`. If the dimension is split
/// evenly over permitted axes, each device searches its own part first, and only the candidates are
/// exchanged; the same search is then applied to them and their indices.
template <class Whole, class Permitted>
struct search_call {
  using class_type = typename Whole::operation_class;
  using whole = pair_call<Whole, Permitted>;

  template <class X>
  [[nodiscard]] static constexpr auto judge() noexcept {
    if constexpr (in_parts < X >> 0)
      return judge_parts<X>();
    else
      return whole::template judge<X>();
  }
  template <class X>
  [[nodiscard]] static constexpr auto apply(X&& x) {
    if constexpr (in_parts < X >> 0) {
      auto [best, at] = found<X>::apply(static_cast<X&&>(x));
      return whole::apply(std::move(best), std::move(at));
    } else if constexpr (ValueOperand<X>) {
      using domain = typename std::remove_cvref_t<X>::value_domain;
      using T = typename std::remove_cvref_t<X>::value_type;
      const attributes& how = attributes_for<Whole>(x.tensor().rank());
      const index_t parts =
          class_type::parts_of(x.mesh(), x.tensor(), how, Permitted::bits(x.mesh()));
      if (parts == 0) return whole::apply(static_cast<X&&>(x));
      auto best = domain::template apply_with<class_type, T>(class_type::in_parts(how, parts),
                                                             static_cast<X&&>(x));
      auto at = domain::template second<std::int64_t>(best);
      return whole::apply(std::move(best), std::move(at));
    } else {
      return whole::apply(static_cast<X&&>(x));
    }
  }

 private:
  template <class X>
  static constexpr index_t in_parts = [] {
    if constexpr (Operand<X>)
      return class_type::parts_of(mesh_of<X>::value, paper_of<X>::value,
                                  attributes_for<Whole>(paper_of<X>::value.rank()),
                                  Permitted::bits(mesh_of<X>::value));
    else
      return index_t{0};
  }();
  template <class X>
  using found = pair_call<in_parts_of<Whole, in_parts<X>>>;

  template <class X>
  [[nodiscard]] static constexpr auto judge_parts() noexcept {
    using pair = decltype(found<X>::template judge<X>());
    if constexpr (!pair::ok)
      return pair{};
    else
      return whole::template judge<typename pair::type::first_type,
                                   typename pair::type::second_type>();
  }
};

template <class Operation, class Permitted, class Second>
inline constexpr int result_count<pair_call<Operation, Permitted, Second>> = 2;
template <class Whole, class Permitted>
inline constexpr int result_count<search_call<Whole, Permitted>> = 2;

/// The same for functions that return only the indices.
template <class Whole, class Permitted>
struct place_call {
  using pairs = search_call<Whole, Permitted>;

  template <class X>
  [[nodiscard]] static constexpr auto judge() noexcept {
    using pair = decltype(pairs::template judge<X>());
    if constexpr (pair::ok)
      return allowed<typename pair::type::second_type>{};
    else
      return pair{};
  }
  template <class X>
  [[nodiscard]] static constexpr auto apply(X&& x) {
    return pairs::apply(static_cast<X&&>(x)).second;
  }
};

}  // namespace internal

}  // namespace shardwise
