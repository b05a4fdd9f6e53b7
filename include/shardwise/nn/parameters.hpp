// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/name_pattern.hpp"
#include "shardwise/core/nest.hpp"
#include "shardwise/expression/nest.hpp"
#include "shardwise/host/factories.hpp"
#include "shardwise/tensor/tensor_handle.hpp"

#include <type_traits>

namespace shardwise {

namespace detail {

/// The leaves of a model: tensors with compile-time or run-time layouts, with or without elements.
struct parameters {
  template <class T>
  static constexpr bool is = EitherOperand<T>;
};

}  // namespace detail

/// Calls `f(name, tensor)` for every tensor of a model, in the order of declaration. A model is any
/// nest: an aggregate, an array, a tuple, a vector; the name is the path, `layers.0.mlp.up.weight`.
/// A function that takes the tensor only is called as `f(tensor)`.
///
///     for_each_parameter(model, [](const leaf_path& name, auto& w) { ... });
///     for_each_parameter(model, [](auto& w) { w = w * 0.5F; });
template <class Model, class F>
constexpr void for_each_parameter(Model& model, const F& f) {
  for_each_leaf<detail::parameters>(
      model, [&](auto& x, const leaf_path& path) { internal::call_with_leaves(f, path, x); });
}

/// Calls `f(name, tensor)` for the tensors of a model whose names match a pattern, and returns
/// their number.
///
///     const index_t found =
///         for_each_parameter(model, "layers.*.bias", [](auto& b) { b = b * 0.0F; });
template <class Model, class F>
constexpr index_t for_each_parameter(Model& model, text_view pattern, const F& f) {
  index_t count = 0;
  for_each_parameter(model, [&](const leaf_path& name, auto& x) {
    if (!name_matches(name, pattern)) return;
    ++count;
    internal::call_with_leaves(f, name, x);
  });
  return count;
}

/// Returns the number of elements of a model, independently of layouts.
template <class Model>
[[nodiscard]] constexpr index_t count_parameters(const Model& model) {
  index_t count = 0;
  for_each_parameter(model, [&](const leaf_path&, const auto& x) {
    index_t size = 1;
    for (index_t extent : x.extents()) size *= extent;
    count += size;
  });
  return count;
}

/// Returns a nest of zeros with the types, extents, layouts and pools of another. Its frozen parts
/// are left out, as in a gradient: they read as zeros, but `for_each_parameter` skips them.
///
///     auto momentum = zeros_like(model);
template <class Nest>
  requires(!NamedOperand<Nest>)
[[nodiscard]] Nest zeros_like(const Nest& nest) {
  const auto zero = []<class X>(const X& x) {
    using T = typename X::value_type;
    return internal::handle_of<X>(internal::make_filled<T>(
        x.share()->home(), x.share()->tensor(),
        [](const held_box&, const strided<T>& block) { fill_elements(T{}, block); }));
  };
  return internal::map_nest<internal::frozen_parts::are_left_out>(nest, zero);
}

}  // namespace shardwise
