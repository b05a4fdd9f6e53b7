// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <utility>

namespace shardwise::nn {

/// A part of a model that is not trained: a module whose weights stay as they are, or a tensor that
/// is no parameter, a buffer. Its tensors have the names that they have without it and are saved,
/// loaded and counted; gradients take them for constants, norms of gradients leave them out, and
/// optimizers keep nothing for them.
///
/// A frozen module is called as the module; `value` is what is frozen, which a program may change.
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
