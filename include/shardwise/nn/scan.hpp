// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/nn/scanned.hpp"
#include "shardwise/operation/dynamic_slice.hpp"
#include "shardwise/operation/squeeze.hpp"
#include "shardwise/plan/call.hpp"
#include "shardwise/plan/callee.hpp"

#include <cstddef>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace shardwise {

struct in_reverse_t {};
/// Scans from the last layer to the first.
inline constexpr in_reverse_t in_reverse{};

namespace detail {

/// True for a list of layers, such as a vector or an array. Anything else is a nest of tensors that
/// are stacked along their first dimension.
template <class X>
concept ListOfLayers = !EitherOperand<X> && requires(const X& x) {
  x.size();
  x[0];
};

/// Checks that two operands of a scan have the same number of layers.
constexpr void require_layers(index_t have, index_t want) {
  if (have != want)
    fail({.rule = violation::operand_count_differs, .have = have, .want = want},
         "the operands of a scan have as many layers each");
}
/// Returns the number of layers of a stacked nest, which all of its tensors have.
template <class X>
[[nodiscard]] constexpr index_t layers_of(const X& x) {
  if constexpr (ListOfLayers<X>) {
    return static_cast<index_t>(x.size());
  } else {
    index_t count = -1;
    const auto look = [&](const auto& w) {
      if (w.extents().empty())
        fail({.rule = violation::dimension_is_out_of_range, .dim = 0},
             "a scan takes one layer after another from the first dimension");
      if (count < 0) count = w.extents()[0];
      require_layers(w.extents()[0], count);
    };
    for_each_tensor(x, look);
    return count;
  }
}
/// The number of layers if the type of a nest or a list of layers determines it, or `dyn`.
template <class X>
[[nodiscard]] constexpr index_t known_layers() noexcept {
  index_t count = list_length<X>;
  if constexpr (!ListOfLayers<X>) {
    count = dyn;
    (void)any_in_nest<X>([&]<class Each>(std::type_identity<Each>) {
      if constexpr (Operand<Each>) count = Each::extents_type::value[0];
      return count != dyn;
    });
  }
  return count;
}
/// The number that one of the operands of a scan determines.
template <class... X>
[[nodiscard]] constexpr index_t known_layers_among() noexcept {
  index_t count = dyn;
  (void)(... || ((count = known_layers<X>()) != dyn));
  return count;
}
/// Returns one of the layers.
template <class X>
[[nodiscard]] constexpr decltype(auto) layer_of(const X& x, index_t number) {
  if constexpr (ListOfLayers<X>) {
    return x[static_cast<std::size_t>(number)];
  } else {
    const auto take = [&](const auto& w) { return squeeze<0>(dynamic_slice<0, 1>(w, number)); };
    return map_nest(x, take);
  }
}

/// Calls one body for all layers of a program on paper. A layer with other sizes, or with one
/// tensor in several positions, is recorded separately.
template <std::size_t Capacity, class Carry, class Results>
class layer_calls {
 public:
  /// Appends the call of `f(carry, layers...)`.
  template <class F, class... Layers>
  [[nodiscard]] constexpr typename Results::type call(program_builder& caller, const F& f,
                                                      const Carry& carry, const Layers&... layers) {
    call_operands operands;
    const auto add = [&](const auto& w) { operands.add(caller, w); };
    for_each_tensor(carry, add);
    (for_each_tensor(layers, add), ...);
    if (!is_body_for(operands, caller)) {
      body_.emplace(record_with_captured([&](const value_ids& captured) {
        return record(caller, captured, operands, f, carry, layers...);
      }));
      operands_ = operands;
    }
    return append_call(caller, read_by_call(operands.read, body_->captured), *body_, false);
  }

 private:
  using results_type = typename Results::type;
  using body_type = recorded_body<Capacity, results_type>;

  [[nodiscard]] constexpr bool is_body_for(const call_operands& now,
                                           const program_builder& caller) const noexcept {
    if (!body_ || now.given != operands_.given) return false;
    for (int i = 0; i < now.given; ++i)
      if (now.place[i] != operands_.place[i]) return false;
    // The inputs of a body are its first values. One that represents a captured value too is that
    // value in every layer, and no other operand is.
    for (int k = 0; k < now.read.ssize(); ++k) {
      if (caller.value(now.read[k]) != body_->code.values[k]) return false;
      const bool is_captured = (body_->captured_operands >> k & 1U) != 0;
      if (is_captured && now.read[k] != operands_.read[k]) return false;
      if (body_->captured.contains(now.read[k])) return false;
    }
    return true;
  }
  template <class F, class... Layers>
  [[nodiscard]] static constexpr body_type record(program_builder& caller,
                                                  const value_ids& captured,
                                                  const call_operands& operands, const F& f,
                                                  const Carry& carry, const Layers&... layers) {
    traced_program<Capacity> code;
    program_builder to(code);
    int next = 0;
    const auto enter = [&]<class X>(const X& x) {
      const int number = operands.place[next++];
      if (number < to.size()) return X{x.in(&to, number)};
      X input{x.in(nullptr, -1)};
      input.enter(to, paper_of<X>::value);
      return input;
    };
    const Carry first = map_nest(carry, enter);
    const std::tuple<decltype(map_nest(layers, enter))...> inputs{map_nest(layers, enter)...};
    const body_recording recording(to, &caller, operands.read, captured);
    const results_type made =
        call_with([&](const auto&... each) { return Results::settled(f(first, each...)); }, inputs);
    const auto keep = [&]<class X>(const X& x) {
      const value_id id = x.id_in(to);
      if (!is_input(*to[id].what) && !to[id].kept) to.keep(id);
      return X{x.in(nullptr, id)};
    };
    const results_type kept = map_nest(made, keep);  // before the program is copied
    return {code, kept, to.captured(), to.captured_operands()};
  }

  std::optional<body_type> body_;
  call_operands operands_;
};

/// The rule that is broken by a call of a function with a layer, or by what it returns.
template <class F, class Made, class Carry, class... Layer>
[[nodiscard]] constexpr auto judge_call() noexcept {
  if constexpr (std::is_same_v<Made, internal::not_callable>)
    return internal::refused_call<F, "scan(f, carry, layers)", Carry, Layer...>{};
  else
    return judge_layer<Carry, std::remove_cvref_t<Made>>::judge();
}

/// Applies a function to one layer after another.
template <std::size_t Capacity, class Results, bool Reverse, class F, class Carry, class First,
          class... Rest>
[[nodiscard]] constexpr auto scan_layers(const F& f, const Carry& carry, const First& layers,
                                         const Rest&... rest) {
  using carry_type = decltype(named_carry(carry));
  using results_type = typename Results::type;
  const index_t count = layers_of(layers);
  (require_layers(layers_of(rest), count), ...);
  const auto name = [](const auto& each) { name_operand(each); };
  for_each_tensor(carry, name);
  std::optional<carry_type> now(named_carry(carry));
  // Only paper has programs.
  constexpr bool is_on_paper = any_in_nest<carry_type>([]<class X>(std::type_identity<X>) {
    return requires(const X& x) { x.program(); };
  });
  [[maybe_unused]] std::conditional_t<is_on_paper, layer_calls<Capacity, carry_type, Results>,
                                      std::nullptr_t>
      calls{};
  const auto run = [&](const auto&... layer) -> results_type {
    if constexpr (is_on_paper) {
      program_builder* caller = nullptr;
      const auto look = [&](const auto& each) {
        if (caller == nullptr) caller = each.program();
      };
      for_each_tensor(*now, look);
      if (caller != nullptr && !caller->writes_calls_out())
        return calls.call(*caller, f, *now, layer...);
    }
    (for_each_tensor(layer, name), ...);
    results_type next = Results::settled(f(*now, layer...));
    for_each_tensor(next, name);
    return next;
  };
  const auto each = [&](index_t number) {
    const index_t l = Reverse ? count - 1 - number : number;
    results_type next = run(layer_of(layers, l), layer_of(rest, l)...);
    now.emplace(Results::carry(next));
    return next;
  };
  if constexpr (Results::has_outputs) {
    using outputs = typename Results::outputs;
    stacking::require_some(count);
    constexpr stack_outputs stack;
    growing_combination<outputs, stack_outputs::made_of<outputs, dyn>, stack_outputs> all(stack,
                                                                                          Reverse);
    for (index_t number = 0; number < count; ++number) all.add(each(number).outputs);
    using stacked = stack_outputs::made_of<outputs, known_layers_among<First, Rest...>()>;
    return std::pair<carry_type, stacked>(*now, all.template finish<stacked>());
  } else {
    for (index_t number = 0; number < count; ++number) (void)each(number);
    return *now;
  }
}

}  // namespace detail

/// Applies `f(carry, layer...)` to one layer after another and returns the last carry. The carry is
/// a tensor, or a nest of tensors such as a tuple or an aggregate, whose element types, extents and
/// layouts do not change.
///
/// If `f` returns `scanned{carry, outputs}`, the scan returns a pair: the last carry, and the
/// outputs of all layers. These are a tensor, or a nest whose aggregates become tuples, and each
/// tensor gets a new first dimension for the layers, which is not split and is `dyn` if the layers
/// are a vector. They are stacked in groups of 8, and groups are concatenated: an output is copied
/// once for up to 8 layers, twice for up to 64.
///
/// Each of `layers` is a vector or an array of nests, or a tensor, or a tuple of tensors, stacked
/// along the first dimension. After the carry may stand `in_reverse`, which begins with the last
/// layer; outputs stay in the order of the layers. The compiler sees a single layer whatever their
/// number, and a program on paper contains it once, as with `call`: at most 15 tensors for each
/// layer, with those that `f` captures, and `Capacity` instructions. The gradient of a list costs
/// as much as those of its layers; that of stacked tensors processes the whole stack for each
/// layer.
///
///     auto y = scan([](const auto& h, const auto& block) { return block(h); }, x, blocks);
///     auto [last, all] = scan([&](const auto& h, const auto& x) {
///       auto next = tanh(h * w + x);
///       return scanned{next, next};
///     }, start, xs);                          // f32[8@data], f32[16, 8@data] -> the same types
template <std::size_t Capacity = 64, class F, class Carry, class First, class... Rest>
  requires(internal::has_tensor_in<Carry>() && !AnyRefused<Carry>)
[[nodiscard]] constexpr auto scan(const F& f, const Carry& carry, const First& layers,
                                  const Rest&... rest) {
  using carry_type = decltype(detail::named_carry(carry));
  // Named here, where the program calls, so that compilers show an error in `f` in few lines.
  using made = decltype(std::declval<const internal::callee<F>&>()(
      std::declval<const carry_type&>(), detail::layer_of(layers, 0),
      detail::layer_of(rest, 0)...));
  using judged =
      decltype(detail::judge_call<F, made, carry_type, decltype(detail::layer_of(layers, 0)),
                                  decltype(detail::layer_of(rest, 0))...>());
  if constexpr (judged::ok) {
    using results = detail::layer_results<carry_type, std::remove_cvref_t<made>>;
    return detail::scan_layers<Capacity, results, false>(f, carry, layers, rest...);
  } else {
    using reported [[maybe_unused]] = decltype(typename judged::type{});
    return internal::refused_results_of<made>{};
  }
}
/// The same from the last layer to the first.
template <std::size_t Capacity = 64, class F, class Carry, class First, class... Rest>
  requires(internal::has_tensor_in<Carry>() && !AnyRefused<Carry>)
[[nodiscard]] constexpr auto scan(const F& f, const Carry& carry, in_reverse_t, const First& layers,
                                  const Rest&... rest) {
  using carry_type = decltype(detail::named_carry(carry));
  using made = decltype(std::declval<const internal::callee<F>&>()(
      std::declval<const carry_type&>(), detail::layer_of(layers, 0),
      detail::layer_of(rest, 0)...));
  using judged =
      decltype(detail::judge_call<F, made, carry_type, decltype(detail::layer_of(layers, 0)),
                                  decltype(detail::layer_of(rest, 0))...>());
  if constexpr (judged::ok) {
    using results = detail::layer_results<carry_type, std::remove_cvref_t<made>>;
    return detail::scan_layers<Capacity, results, true>(f, carry, layers, rest...);
  } else {
    using reported [[maybe_unused]] = decltype(typename judged::type{});
    return internal::refused_results_of<made>{};
  }
}
/// A scan of the result of an invalid operation.
template <std::size_t Capacity = 64, class F, AnyRefused Carry, class... Layers>
[[nodiscard]] constexpr refused_value scan(const F&, const Carry&, const Layers&...) noexcept {
  return {};
}

}  // namespace shardwise
