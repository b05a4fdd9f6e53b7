// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/nn/changed_nest.hpp"

#include <utility>

namespace shardwise {

namespace nn {

/// A part of a model that is not trained, such as a module with fixed weights. Its tensors keep
/// their names and are saved, loaded and counted. Gradients treat them as constants. In gradients
/// and in the state of optimizers the part is left out: it reads as zeros, which take no memory
/// until they are read, and `for_each_parameter` and `state_dict` skip it.
///
/// A frozen module is called like the module itself. `value` is the module, to which a program may
/// assign.
///
///     struct model { nn::frozen<nn::embedding<Table>> read; Layers layers; };
template <class Nest>
struct frozen {
  using never_trained = void;
  Nest value;
  bool is_left_out = false;  ///< true in gradients and in the state of optimizers

  template <class... X>
  constexpr auto operator()(X&&... x) const
      -> decltype(std::declval<const Nest&>()(std::forward<X>(x)...)) {
    return value(std::forward<X>(x)...);
  }
};

/// Tensors that a model computes with and a program updates, such as running moments: a frozen
/// part that keeps its element types where a policy or `cast_nest` converts the rest of the model,
/// since a moving average of narrow elements would not move. In a class template, the buffer is its
/// argument.
///
///     template <class Layers, class Seen> struct net { Layers layers; Seen seen; };
///     using model = net<layers, nn::buffer<Table>>;
///     model.seen.value = lerp(model.seen.value, now, 0.01F);
template <class Nest>
struct buffer {
  using never_trained = void;
  using updated_by_program = void;
  Nest value;
  bool is_left_out = false;  ///< as in `frozen`
};

}  // namespace nn

namespace internal {

template <class Nest, ChangesElements Change>
struct changed_nest<nn::buffer<Nest>, Change> {
  using type = nn::buffer<Nest>;
};

}  // namespace internal

}  // namespace shardwise
