// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/layout/split_further.hpp"
#include "shardwise/nn/changed_nest.hpp"
#include "shardwise/nn/frozen.hpp"
#include "shardwise/operation/normalising.hpp"
#include "shardwise/operation/reshard.hpp"
#include "shardwise/optim/nests.hpp"

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

namespace shardwise {

namespace internal {

/// The layout type of a master: split over those of the axes that its mesh has.
template <class Extents, class Layout, fixed_string... Axes>
struct master_layout {
  using mesh_type = typename Layout::mesh_type;
  struct wanted {
    static constexpr layout_desc layout_value = [] {
      layout_desc out = Layout::value;
      [[maybe_unused]] const auto split = [&](int axis) {
        if (axis >= 0) out = split_further(mesh_type::value, out, Extents::value, axis);
      };
      (split(mesh_type::value.find(Axes)), ...);
      return out;
    }();
  };
  using type = changed_layout<Layout, wanted>;
};

/// Changes tensors to masters: the element type of their arithmetic, split over more axes.
template <fixed_string... Axes>
struct to_masters : changes_elements {
  template <class T>
  using element = compute_type<T>;
  template <class T, class Extents, class Layout>
  using tensor =
      sharded_tensor<element<T>, Extents, typename master_layout<Extents, Layout, Axes...>::type>;
  template <class T, class Extents, class Layout>
  using abstract =
      abstract_tensor<element<T>, Extents, typename master_layout<Extents, Layout, Axes...>::type>;
};

/// Frozen parameters are not updated, and have no masters.
template <class Nest, fixed_string... Axes>
struct changed_nest<nn::frozen<Nest>, to_masters<Axes...>> {
  using type = nn::frozen<Nest>;
};

/// True if `judge` is true for the types of all corresponding tensors of two nests.
template <class First, class Second, class Judge>
[[nodiscard]] constexpr bool all_in_nests(const Judge& judge) noexcept {
  constexpr nest_kind kind = nest_kind_of<First>();
  if constexpr (kind == nest_kind::tensor) {
    return judge(std::type_identity<First>{}, std::type_identity<Second>{});
  } else if constexpr (kind == nest_kind::range) {
    return all_in_nests<typename First::value_type, typename Second::value_type>(judge);
  } else if constexpr (kind == nest_kind::tuple || kind == nest_kind::aggregate) {
    using parts = decltype(list_parts(std::declval<First&>()));
    using others = decltype(list_parts(std::declval<Second&>()));
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return (... && all_in_nests<nth_type<I, parts>, nth_type<I, others>>(judge));
    }
    (std::make_index_sequence<parts::size>{});
  } else {
    return true;
  }
}
/// True if gradients of these types are pending over no axes other than these. They are reduced
/// over them, and scattered if a master is split.
template <class Masters, class Gradients, fixed_string... Axes>
[[nodiscard]] constexpr bool are_pending_over() noexcept {
  return all_in_nests<Masters, Gradients>(
      []<class M, class G>(std::type_identity<M>, std::type_identity<G>) {
        const unsigned named = (0U | ... | (1U << mesh_of<M>::value.find(Axes)));
        return (G::layout_type::value.pending & ~named) == 0;
      });
}
/// True if the nest of masters holds the masters of all parameters: one of a class that is no
/// template of its tensors holds the parameters themselves.
template <class Parameters, class Masters, fixed_string... Axes>
inline constexpr bool holds_masters = all_in_nests<Parameters, Masters>(
    []<class W, class M>(std::type_identity<W>, std::type_identity<M>) {
      return std::is_same_v<typename changed_nest<W, to_masters<Axes...>>::type, M>;
    });

/// Reshards a tensor to the layout of another type.
template <class To, class X>
[[nodiscard]] constexpr To laid_out_as(X&& x) {
  using plain = std::remove_cvref_t<X>;
  if constexpr (plain::layout_type::value == To::layout_type::value)
    return To(std::forward<X>(x));
  else
    return To(reshard<typename To::layout_type>(std::forward<X>(x)));
}

}  // namespace internal

namespace optim {

/// The state of `masters`: the master copies and the state of the optimizer for them.
template <class Masters, class State>
struct masters_state {
  using leaves_out_frozen = void;
  Masters masters;
  State inner;
};

/// Wraps an optimizer with master copies of the parameters: `float` for `bfloat16` and `float16`.
/// It updates the masters and rounds the parameters from them, so that updates smaller than the
/// last digit of a parameter accumulate.
/// Parameters that are loaded without their state need a new state: it holds the masters.
///
/// `Axes` split masters and optimizer state further than the parameters, in the first dimension
/// that they divide (see `split_further`): each device updates its part, and the parameters are
/// gathered in their own element type (ZeRO-1). Each axis is one of the mesh of a parameter;
/// parameters on other meshes are not split over it. Gradients may then be left pending over these
/// axes; they are reduced, and scattered where a master is split (ZeRO-2). A gradient that is
/// pending over any other axis does not compile.
///
///     constexpr auto learn = optim::with_masters<"data">(optim::adamw{});
///     auto state = learn.start(model);
///     learn(model, state, gradients, rate);
template <class Optimizer, fixed_string... Axes>
struct masters {
  Optimizer optimizer;

  template <class Parameters>
  using copy = typename internal::changed_nest<Parameters, internal::to_masters<Axes...>>::type;
  template <class Parameters>
  using state =
      masters_state<copy<Parameters>, typename Optimizer::template state<copy<Parameters>>>;

  /// Returns the masters and the state of the optimizer before the first step.
  template <class Parameters>
  [[nodiscard]] auto start(const Parameters& parameters) const {
    if constexpr (!axes_judge<Parameters>::ok) {
      return internal::report<axes_judge<Parameters>>();
    } else if constexpr (!internal::holds_masters<Parameters, copy<Parameters>, Axes...>) {
      return internal::report<no_masters>();
    } else {
      const auto widen = []<class M>(std::type_identity<M>, const auto& w) {
        return internal::laid_out_as<M>(internal::widened(w));
      };
      auto wide = internal::nest_as<copy<Parameters>>(parameters, widen);
      auto inner = optimizer.start(wide);
      const auto same = [](const auto& w) { return w; };
      return state<Parameters>{internal::map_nest<internal::frozen_parts::are_left_out>(wide, same),
                               std::move(inner)};
    }
  }

  /// Takes a step of the masters, and converts them to the parameters.
  template <class Parameters, class Gradients, class Rate>
    requires(internal::are_pending_over<copy<Parameters>, Gradients, Axes...>())
  constexpr void operator()(Parameters& parameters, state<Parameters>& kept,
                            const Gradients& gradients, const Rate& rate) const {
    if constexpr (!axes_judge<Parameters>::ok) {
      internal::report<axes_judge<Parameters>>();
    } else if constexpr (!internal::holds_masters<Parameters, copy<Parameters>, Axes...>) {
      internal::report<no_masters>();
    } else {
      const auto read = []<class M>(std::type_identity<M>, const auto& gradient) {
        return internal::laid_out_as<M>(internal::widened(gradient));
      };
      const auto wide = internal::nest_as<copy<Parameters>>(gradients, read);
      optimizer(kept.masters, kept.inner, wide, rate);
      const auto round = []<class W>(W& w, const auto& master) {
        internal::put(w,
                      internal::laid_out_as<W>(internal::narrowed<typename W::value_type>(master)));
      };
      internal::for_each_together(round, parameters, kept.masters);
    }
  }
  /// Error: the state is that of another optimizer or model.
  template <class Parameters, class State, class Gradients>
    requires(!std::is_same_v<State, state<Parameters>> &&
             internal::are_pending_over<copy<Parameters>, Gradients, Axes...>())
  constexpr detail::state_differs<masters, State> operator()(Parameters&, State&, const Gradients&,
                                                             unlike) const {
    return {};
  }
  /// Error: the gradients are pending, or those of another nest.
  template <bool IsReported = false>
  constexpr refused_value operator()(unlike, unlike, unlike, unlike) const {
    return detail::refuse_gradients<masters, IsReported>();
  }
  constexpr refused_value operator()(unlike, unlike, const refused_value& given, unlike) const {
    return given;
  }

 private:
  /// The verdict on axes that no mesh of the parameters has.
  template <class Parameters>
  using axes_judge = decltype(internal::judge_request<left_pending_over<Axes...>, Parameters>());
  using no_masters = refused<misuse::masters_have_no_type, of_types<masters>>;
};

/// Returns an optimizer with master copies that are split over further axes.
template <fixed_string... Axes, class Optimizer>
[[nodiscard]] constexpr masters<Optimizer, Axes...> with_masters(const Optimizer& optimizer) {
  return {optimizer};
}

}  // namespace optim

}  // namespace shardwise
