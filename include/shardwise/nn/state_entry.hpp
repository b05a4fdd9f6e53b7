// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/nest.hpp"
#include "shardwise/expression/nest.hpp"
#include "shardwise/host/distribute.hpp"
#include "shardwise/host/host.hpp"
#include "shardwise/layout/notation.hpp"
#include "shardwise/runtime/make_nodes.hpp"
#include "shardwise/tensor/any_tensor.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace shardwise {

namespace internal {

/// The leaves of a state: tensors in pools, with compile-time or run-time layouts.
struct tensors_in_pools {
  template <class T>
  static constexpr bool is = Readable<T>;
};

/// The same and frozen parts.
struct tensors_and_frozen_parts {
  template <class T>
  static constexpr bool is = Readable<T> || FrozenNest<T>;
};

/// A nest that contains tensors without elements.
template <class Nest>
[[nodiscard]] constexpr bool is_on_paper() noexcept {
  return any_in_nest<Nest>(
      []<class Each>(std::type_identity<Each>) { return EitherOperand<Each> && !Readable<Each>; });
}
template <class Nest>
concept NestOnPaper = !AnyRefused<Nest> && is_on_paper<std::remove_const_t<Nest>>();

/// Returns the name of a leaf of a nest in a state.
[[nodiscard]] std::string state_name(std::string_view prefix, const leaf_path& path);

/// The type-erased operations on a leaf.
struct state_leaf {
  node_ptr (*read)(const void* leaf);
  void (*write)(void* leaf, node_ptr value);
  /// Creates a tensor whose parts are filled; see `make_filled`.
  node_ptr (*filled)(const std::shared_ptr<pool_state>& home, const tensor_desc& tensor,
                     function_view<void(const held_box&, const any_block&)> fill);
};
template <class X>
[[nodiscard]] node_ptr read_leaf(const void* leaf) {
  return static_cast<const X*>(leaf)->share();
}
template <class X>
void write_leaf(void* leaf, node_ptr value) {
  *static_cast<X*>(leaf) = handle_of<X>(std::move(value));
}
template <class T>
[[nodiscard]] node_ptr fill_leaf(const std::shared_ptr<pool_state>& home, const tensor_desc& tensor,
                                 function_view<void(const held_box&, const any_block&)> fill) {
  const T identity = identity_of<T>(tensor.layout.kind);
  return make_any_filled(home, tensor, element_kernels_of<T>, fill, &identity);
}
template <class X>
inline constexpr state_leaf state_leaf_of{read_leaf<X>, nullptr, fill_leaf<typename X::value_type>};
template <class X>
inline constexpr state_leaf written_state_leaf_of{read_leaf<X>, write_leaf<X>,
                                                  fill_leaf<typename X::value_type>};

/// Returns all elements of a tensor, row-major.
[[nodiscard]] std::vector<std::byte> gathered_bytes(tensor_node& owner);

/// Reports a tensor that does not have the elements of a request.
[[noreturn]] void fail_elements(const std::string& name, element have, element want);

}  // namespace internal

/// A tensor of a nest with its name, for reading.
class const_state_entry {
 public:
  /// Refers to a tensor, which must outlive it.
  template <Readable X>
  const_state_entry(std::string name, const X& leaf)
      : const_state_entry(std::move(name), &leaf, internal::state_leaf_of<X>) {}

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// Returns its elements, extents and layout.
  [[nodiscard]] const tensor_desc& tensor() const { return share()->tensor(); }
  [[nodiscard]] const mesh_desc& mesh() const { return share()->where().mesh(); }
  /// Returns the tensor as an `any_tensor` with elements `T`. Throws `stored_tensor_differs`.
  template <Element T>
  [[nodiscard]] any_tensor<T> as() const {
    if (tensor().type != element_of<T>)
      internal::fail_elements(name_, tensor().type, element_of<T>);
    return internal::handle_of<any_tensor<T>>(share());
  }
  /// Returns all elements, row-major, in host memory, after computing them if necessary.
  [[nodiscard]] std::vector<std::byte> bytes() const { return internal::gathered_bytes(*share()); }
  /// Returns the node of the tensor.
  [[nodiscard]] node_ptr share() const { return leaf_->read(place_); }

 protected:
  const_state_entry(std::string name, const void* place, const internal::state_leaf& leaf)
      : name_(std::move(name)), place_(place), leaf_(&leaf) {}

  [[nodiscard]] const internal::state_leaf& leaf() const noexcept { return *leaf_; }

 private:
  std::string name_;
  const void* place_;
  const internal::state_leaf* leaf_;
};

/// A tensor of a nest with its name, for reading and assignment.
class state_entry : public const_state_entry {
 public:
  template <Readable X>
    requires(!std::is_const_v<X>)
  state_entry(std::string name, X& leaf)
      : const_state_entry(std::move(name), &leaf, internal::written_state_leaf_of<X>),
        written_(&leaf) {}

  /// Assigns a new value to the tensor, with its elements and extents. The tensor keeps its layout
  /// and its pool: the value is resharded or, from another pool, copied through host memory.
  ///
  ///     state_dict(model)["head.weight"].assign(w);
  template <Readable X>
  void assign(const X& value) const {
    replace(value_of(const_state_entry("the value", value)));
  }

  /// Returns the value of another entry, converted to the layout and pool of this one.
  [[nodiscard]] node_ptr value_of(const const_state_entry& from) const;
  /// Returns a value of the same description whose parts are filled: `fill(part, block)`.
  [[nodiscard]] node_ptr filled(function_view<void(const held_box&, const any_block&)> fill) const;
  /// Assigns a value of the same elements, extents and layout to the tensor.
  void replace(node_ptr value) const;

 private:
  void* written_;
};

}  // namespace shardwise

#if !defined(SHARDWISE_COMPILED)
#include "shardwise/nn/state_entry_work.hpp"
#endif
