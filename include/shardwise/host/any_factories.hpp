// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/host/factories.hpp"
#include "shardwise/runtime/any_operations.hpp"
#include "shardwise/runtime/use_mesh.hpp"

#include <concepts>
#include <type_traits>

namespace shardwise {

namespace internal {
/// A type that describes a run-time layout: a `layout_desc` or a `spec_desc`.
template <class Target>
concept LayoutOrSpec = std::same_as<Target, layout_desc> || std::same_as<Target, spec_desc>;

/// Returns the description of a tensor of `T` with these extents that is created in a pool.
template <class T>
[[nodiscard]] tensor_desc described_as(const device_pool&, const extents_desc& extents,
                                       const layout_desc& layout) {
  return {element_of<T>, extents, layout};
}
template <class T>
[[nodiscard]] tensor_desc described_as(const device_pool& pool, const extents_desc& extents,
                                       const spec_desc& spec) {
  return {element_of<T>, extents, layout_of(pool.mesh(), spec, {}, exact{})};
}
}  // namespace internal

/// `full` for a tensor with a run-time layout: a `layout_desc`, or a `spec_desc` of the pool's mesh
/// with nothing pending. In all functions below, the layout is checked like those of operations,
/// and a broken rule throws `error`.
///
///     auto x = full<float>(pool, 0.5F, extents_desc{4, 8}, spec_desc{{"data", ""}});
template <Element T, class Value, internal::LayoutOrSpec Target>
  requires NumberFor<Value, T>
[[nodiscard]] any_tensor<T> full(const device_pool& pool, const Value& value,
                                 const extents_desc& extents, const Target& target) {
  return internal::handle_of<any_tensor<T>>(
      internal::fill_value<T>(pool, internal::described_as<T>(pool, extents, target), value));
}
template <Element T, class Value, internal::LayoutOrSpec Target>
  requires NumberFor<Value, T>
[[nodiscard]] any_tensor<T> full(const Value& value, const extents_desc& extents,
                                 const Target& target) {
  return full<T>(use_mesh::pool(), value, extents, target);
}
/// `zeros` for a tensor with a run-time layout.
template <Element T, internal::LayoutOrSpec Target>
[[nodiscard]] any_tensor<T> zeros(const device_pool& pool, const extents_desc& extents,
                                  const Target& target) {
  return full<T>(pool, T{}, extents, target);
}
template <Element T, internal::LayoutOrSpec Target>
[[nodiscard]] any_tensor<T> zeros(const extents_desc& extents, const Target& target) {
  return zeros<T>(use_mesh::pool(), extents, target);
}
/// `ones` for a tensor with a run-time layout.
template <Element T, internal::LayoutOrSpec Target>
[[nodiscard]] any_tensor<T> ones(const device_pool& pool, const extents_desc& extents,
                                 const Target& target) {
  return full<T>(pool, static_cast<T>(1), extents, target);
}
template <Element T, internal::LayoutOrSpec Target>
[[nodiscard]] any_tensor<T> ones(const extents_desc& extents, const Target& target) {
  return ones<T>(use_mesh::pool(), extents, target);
}
/// `eye` for a tensor with a run-time layout.
template <Element T, internal::LayoutOrSpec Target>
[[nodiscard]] any_tensor<T> eye(const device_pool& pool, const extents_desc& extents,
                                const Target& target) {
  return internal::handle_of<any_tensor<T>>(
      internal::fill_identity<T>(pool, internal::described_as<T>(pool, extents, target)));
}
template <Element T, internal::LayoutOrSpec Target>
[[nodiscard]] any_tensor<T> eye(const extents_desc& extents, const Target& target) {
  return eye<T>(use_mesh::pool(), extents, target);
}
/// `generate` for a tensor with a run-time layout: the element at a global index is `f(index)`.
///
///     auto x = generate<float>(pool, [](const global_index& at) { return float(at[0]); },
///                              extents_desc{4, 8}, spec_desc{{"data", ""}});
template <Element T, class F, internal::LayoutOrSpec Target>
  requires detail::FunctionOf<F, T>
[[nodiscard]] any_tensor<T> generate(const device_pool& pool, const F& f,
                                     const extents_desc& extents, const Target& target) {
  return internal::handle_of<any_tensor<T>>(
      internal::fill_each<T>(pool, internal::described_as<T>(pool, extents, target), f));
}
template <Element T, class F, internal::LayoutOrSpec Target>
  requires detail::FunctionOf<F, T>
[[nodiscard]] any_tensor<T> generate(const F& f, const extents_desc& extents,
                                     const Target& target) {
  return generate<T>(use_mesh::pool(), f, extents, target);
}
/// `iota` for a tensor with a run-time layout.
template <Element T, internal::LayoutOrSpec Target>
[[nodiscard]] any_tensor<T> iota(const device_pool& pool, const extents_desc& extents,
                                 const Target& target) {
  return internal::handle_of<any_tensor<T>>(internal::fill_numbered<T>(
      pool, internal::described_as<T>(pool, extents, target), internal::count_row{}));
}
template <Element T, internal::LayoutOrSpec Target>
[[nodiscard]] any_tensor<T> iota(const extents_desc& extents, const Target& target) {
  return iota<T>(use_mesh::pool(), extents, target);
}
/// `uniform` for a tensor with a run-time layout, with the same bits as `uniform<X>` with the same
/// key.
template <Fractional T, internal::LayoutOrSpec Target>
[[nodiscard]] any_tensor<T> uniform(const device_pool& pool, random_key seed,
                                    const extents_desc& extents, const Target& target) {
  return internal::handle_of<any_tensor<T>>(
      internal::fill_numbered<T>(pool, internal::described_as<T>(pool, extents, target),
                                 [=](auto... row) { fill_uniform(seed, row...); }));
}
template <Fractional T, internal::LayoutOrSpec Target>
[[nodiscard]] any_tensor<T> uniform(random_key seed, const extents_desc& extents,
                                    const Target& target) {
  return uniform<T>(use_mesh::pool(), seed, extents, target);
}
/// `normal` for a tensor with a run-time layout, with the same bits as `normal<X>` with the same
/// key.
template <Fractional T, internal::LayoutOrSpec Target>
[[nodiscard]] any_tensor<T> normal(const device_pool& pool, random_key seed,
                                   const extents_desc& extents, const Target& target) {
  return internal::handle_of<any_tensor<T>>(
      internal::fill_numbered<T>(pool, internal::described_as<T>(pool, extents, target),
                                 [=](auto... row) { fill_normal(seed, row...); }));
}
template <Fractional T, internal::LayoutOrSpec Target>
[[nodiscard]] any_tensor<T> normal(random_key seed, const extents_desc& extents,
                                   const Target& target) {
  return normal<T>(use_mesh::pool(), seed, extents, target);
}

/// Casts a tensor with a run-time layout to type `X`. Its mesh, elements, extents and layout must
/// be those of the type, where dyn ones match any size; otherwise throws `operand_meshes_differ` or
/// `tensor_type_differs` with both types and, if a single call fixes it, that call.
///
///     auto typed = as<X>(reshard(x, spec_desc{{"data", ""}}));
template <ShardedTensor X, Element T>
[[nodiscard]] X checked_as(std::type_identity<X>, const any_tensor<T>& x) {
  internal::require_mesh_of_type(x.mesh(), X::mesh_type::value);
  extents_desc extents = X::extents_type::value;
  if (extents.size() == x.extents().size())
    for (int d = 0; d < extents.ssize(); ++d)
      if (extents[d] == dyn) extents[d] = x.extents()[d];
  const tensor_desc wanted = desc_of<X>(extents);
  if (const diagnosis verdict = check_assignment(wanted, x.tensor()); !verdict.ok()) {
    message_text both;
    both << "the tensor is " << to_text(x.mesh(), x.tensor()) << ", its type "
         << to_text(x.mesh(), wanted);
    const message_text call = internal::call_between(x.mesh(), x.tensor(), wanted, "\"");
    if (!call.empty()) both << "; try " << call;
    fail(verdict, both);
  }
  return internal::handle_of<X>(x.share());
}

}  // namespace shardwise
