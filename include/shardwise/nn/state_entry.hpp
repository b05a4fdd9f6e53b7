// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/nest.hpp"
#include "shardwise/engine/make_nodes.hpp"
#include "shardwise/expression/nest.hpp"
#include "shardwise/host/distribute.hpp"
#include "shardwise/host/host.hpp"
#include "shardwise/layout/notation.hpp"
#include "shardwise/tensor/any_tensor.hpp"

#include <concepts>
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

/// Selects tensors in pools, and frozen parts.
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

/// Returns all elements of a tensor, row-major.
[[nodiscard]] std::vector<std::byte> gathered_bytes(tensor_node& owner);

/// Reports a tensor that does not have the elements of a request.
[[noreturn]] void fail_elements(const std::string& name, element have, element want);

}  // namespace internal

class const_state_entry;
class state_entry;
template <class Entry>
class basic_state_view;

namespace internal {
/// Returns the same tensors for assignment; they are variables of a nest that is not const.
[[nodiscard]] basic_state_view<state_entry> writable(const basic_state_view<const_state_entry>& of);
}  // namespace internal

/// A tensor of a nest with its name, for reading.
class const_state_entry {
 public:
  /// Refers to a tensor, which must outlive it.
  const_state_entry(std::string name, const tensor_handle& leaf)
      : name_(std::move(name)), variable_(&leaf) {}
  /// Refers to the value of an expression, which it names.
  template <Readable X>
    requires(!std::derived_from<X, tensor_handle>)
  const_state_entry(std::string name, const X& leaf)
      : name_(std::move(name)), value_(leaf.share()) {}

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
  [[nodiscard]] const node_ptr& share() const {
    return variable_ != nullptr ? variable_->share() : value_;
  }

 private:
  friend class state_entry;

  std::string name_;
  /// The tensor, or null for an expression, whose node is `value_`.
  const tensor_handle* variable_ = nullptr;
  node_ptr value_;
};

/// A tensor of a nest with its name, for reading and assignment.
class state_entry : public const_state_entry {
 public:
  /// Refers to a variable, which must outlive it.
  state_entry(std::string name, tensor_handle& leaf)
      : const_state_entry(std::move(name), leaf), written_(&leaf) {}

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
  friend basic_state_view<state_entry> internal::writable(
      const basic_state_view<const_state_entry>&);
  explicit state_entry(const const_state_entry& from)
      : const_state_entry(from), written_(const_cast<tensor_handle*>(from.variable_)) {}

  tensor_handle* written_;
};

}  // namespace shardwise

#if !defined(SHARDWISE_COMPILED)
#include "shardwise/nn/state_entry_work.hpp"
#endif
