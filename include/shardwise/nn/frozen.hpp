// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <utility>

namespace shardwise::nn {

/// A part of a model that is not trained: a module with fixed weights, or a buffer. Its tensors
/// keep their names and are saved, loaded and counted. Gradients treat them as constants, norms of
/// gradients omit them, and optimizers keep no state for them.
///
/// A frozen module is called like the module itself. `value` is the module, to which a program may
/// assign.
///
///     struct model { nn::frozen<nn::embedding<Table>> read; Layers layers; };
template <class Nest>
struct frozen {
  using never_trained = void;
  Nest value;

  template <class... X>
  constexpr auto operator()(X&&... x) const
      -> decltype(std::declval<const Nest&>()(std::forward<X>(x)...)) {
    return value(std::forward<X>(x)...);
  }
};

}  // namespace shardwise::nn
