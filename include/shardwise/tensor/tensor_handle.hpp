// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/tensor/node.hpp"
#include "shardwise/tensor/on_devices.hpp"

#include <utility>

namespace shardwise {
class tensor_handle;

namespace internal {
/// Makes `of` refer to another node, without checking that the node has the type of the handle.
void set_node(tensor_handle& of, node_ptr state) noexcept;
/// Returns the tensor of type `X` whose node this is. Does not check that the description of the
/// node matches `X`; `as<X>` does, for tensors that come from elsewhere.
template <class X>
[[nodiscard]] X handle_of(node_ptr state) noexcept {
  return X(std::move(state));
}
}  // namespace internal

/// The handle of a node: the common part of tensors, independent of their types.
///
/// Copying and releasing it are calls on purpose. A training step has hundreds of handles, and
/// inlining and optimising reference counts took most of the compile time.
class tensor_handle : public on_devices {
 public:
  [[gnu::noinline]] tensor_handle(const tensor_handle& other) noexcept
      : on_devices(other), state_(other.state_) {}
  tensor_handle(tensor_handle&&) noexcept = default;
  [[gnu::noinline]] tensor_handle& operator=(const tensor_handle& other) noexcept {
    if (this != &other) state_ = other.state_;
    return *this;
  }
  [[gnu::noinline]] tensor_handle& operator=(tensor_handle&& other) noexcept {
    state_ = std::move(other.state_);
    return *this;
  }
  ~tensor_handle() {
    if (state_ != nullptr) drop();
  }

  /// Returns the extents of the whole tensor.
  [[nodiscard]] const extents_desc& extents() const { return share()->tensor().extents; }
  /// Returns the mesh of its pool.
  [[nodiscard]] const mesh_desc& mesh() const { return share()->where().mesh(); }
  /// Returns the node of the handle. Throws `tensor_was_moved` if there is none.
  [[nodiscard]] const node_ptr& share() const { return require_there(state_); }
  /// Releases the node: afterwards the handle is moved from.
  [[nodiscard]] node_ptr release() && noexcept { return std::move(state_); }

 protected:
  explicit tensor_handle(node_ptr state) noexcept : state_(std::move(state)) {}

 private:
  friend void internal::set_node(tensor_handle&, node_ptr) noexcept;
  [[gnu::noinline]] void drop() noexcept { state_.reset(); }

  node_ptr state_;
};

inline void internal::set_node(tensor_handle& of, node_ptr state) noexcept {
  of.state_ = std::move(state);
}

}  // namespace shardwise
