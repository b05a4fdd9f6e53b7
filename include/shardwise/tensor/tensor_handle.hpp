// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/tensor/node.hpp"
#include "shardwise/tensor/on_devices.hpp"

#include <utility>

namespace shardwise {
namespace detail {
/// Returns the tensor of type `X` whose node this is. Nobody checks that the node is described as
/// the type says: what is read from elsewhere becomes a typed tensor by `as<X>`, which does.
template <class X>
[[nodiscard]] X handle_of(node_ptr state) noexcept {
  return X(std::move(state));
}
}  // namespace detail

/// The handle of a node: what tensors have in common, whatever is known of their types.
///
/// Copying and releasing it are calls on purpose. A training step has hundreds of handles, and
/// compilers took most of their time to inline and to optimise what counts references.
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

  [[nodiscard]] const extents_desc& extents() const { return share()->tensor().extents; }
  [[nodiscard]] const mesh_desc& mesh() const { return share()->where().mesh(); }
  /// The node behind the handle. Throws `tensor_was_moved` if there is none any more.
  [[nodiscard]] const node_ptr& share() const { return require_there(state_); }
  /// Gives the node up: afterwards the handle is one that was moved from.
  [[nodiscard]] node_ptr release() && noexcept { return std::move(state_); }

 protected:
  explicit tensor_handle(node_ptr state) noexcept : state_(std::move(state)) {}

 private:
  [[gnu::noinline]] void drop() noexcept { state_.reset(); }

  node_ptr state_;
};

}  // namespace shardwise
