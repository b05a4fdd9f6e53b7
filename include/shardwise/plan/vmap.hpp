// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/plan/abstract.hpp"
#include "shardwise/plan/batching.hpp"
#include "shardwise/plan/callee.hpp"
#include "shardwise/plan/gradient.hpp"
#include "shardwise/plan/mapping.hpp"

#include <cstddef>
#include <cstdlib>
#include <tuple>
#include <type_traits>
#include <utility>

namespace shardwise {

namespace internal {

/// The mapped dimension of a call, as far as its arguments determine it.
class met_batch {
 public:
  /// Adds dimension `d` of a tensor; reports an error if it differs from the previous ones.
  constexpr void meet(const mesh_desc& mesh, const tensor_desc& tensor, int operand, int d) {
    if (d < 0 || d >= tensor.rank())
      fail({.rule = violation::dimension_is_out_of_range,
            .operand = operand,
            .have = d,
            .want = tensor.rank()});
    const batch_dim mine = batch_of(tensor, d);
    if (!is_met_) batch_ = mine;
    is_met_ = true;
    const diagnosis verdict = check_mapped(mesh, mine, batch_, operand, d);
    if (!verdict.ok()) fail(verdict);
  }
  [[nodiscard]] constexpr const batch_dim& batch() const noexcept { return batch_; }
  /// Returns the extents of a result for the whole batch.
  [[nodiscard]] constexpr extents_desc extents(const extents_desc& each) const noexcept {
    extents_desc out{batch_.size};
    for (index_t n : each) out.push_back(n);
    return out;
  }

 private:
  batch_dim batch_{};
  bool is_met_ = false;
};

}  // namespace internal

namespace detail {

/// Maps functions over the tensors of a domain: a class that records a function of elements.
template <class Domain>
struct batch_tape_of;

/// Records a function of elements of abstract tensors in their program, followed by its computation
/// for all elements.
class paper_batch {
 public:
  template <class X>
  constexpr explicit paper_batch(const X& first) : code_(first.program()) {
    if (code_ == nullptr) return;
    begin_ = code_->end();
    wrote_calls_out_ = code_->write_calls_out(true);
  }
  /// The type of a result of the function before the batch dimension is added.
  template <class X>
  using settled = X;

  /// Returns the tensor, of type `Element`, that represents one element.
  template <class Element, class X>
  [[nodiscard]] constexpr Element argument(const X& x, int operand, int d) {
    const tensor_desc whole = x.known(paper_of<X>::value);
    met_.meet(x.mesh(), whole, operand, d);
    const tensor_desc each = without_dim(whole, d);
    if (code_ == nullptr) return Element{x.made(each.extents, -1)};
    const value_id read = x.id_in(*code_);
    const value_id id = code_->append(operation_of<argument_operation>, {}, {read}, each);
    add(arguments_, {id, read, d});
    return Element{x.made(each.extents, id)};
  }
  template <class X>
  constexpr void result(const X& x) {
    if (code_ != nullptr) add(results_, x.id_in(*code_));
  }
  constexpr void run() {
    if (code_ == nullptr) return;
    code_->write_calls_out(wrote_calls_out_);
    batching whole(*code_, begin_.code, met_.batch());
    for (const mapped_argument& each : arguments_)
      whole.argument(each.id, batching::with_front(*code_, each.read, each.dim));
    whole.run();
    for (value_id& i : results_) i = whole.result(i);
    code_->keep_needed(begin_, results_.begin(), results_.ssize());
    for (value_id i : results_) code_->name(i);
  }
  template <class Made, class X>
  [[nodiscard]] constexpr Made next(const X& x) {
    return Made{x.made(met_.extents(x.extents()), code_ == nullptr ? -1 : results_[next_++])};
  }

 private:
  struct mapped_argument {
    value_id id = -1, read = -1;
    int dim = 0;
  };
  static constexpr std::size_t most = 128;

  template <class T>
  static constexpr void add(inplace_vector<T, most>& to, const T& item) {
    if (to.full())
      fail({.rule = violation::program_is_too_long, .have = to.ssize() + 1, .want = to.ssize()});
    to.push_back(item);
  }

  program_builder* code_;
  program_builder::position begin_{};
  bool wrote_calls_out_ = false;
  met_batch met_;
  inplace_vector<mapped_argument, most> arguments_;
  inplace_vector<value_id, most> results_;
  int next_ = 0;
};
template <>
struct batch_tape_of<abstract_domain> {
  using type = paper_batch;
};

/// Calls a function with one element of each mapped argument, and returns the results for the whole
/// batch.
template <class Dims, class F, class... X, std::size_t... I>
[[nodiscard]] constexpr auto call_mapped(const F& f, std::index_sequence<I...>, const X&... x) {
  using mapping = mapping_of<Dims, X...>;
  constexpr auto dims = Dims::template of<sizeof...(X)>();
  const auto& first = first_in(x...);
  using tensor = std::remove_cvref_t<decltype(first)>;
  using tape_type = typename batch_tape_of<typename domain_of<tensor>::type>::type;
  tape_type tape(first);

  const auto argument = [&]<std::size_t K>(std::integral_constant<std::size_t, K>,
                                           const auto& nest) {
    if constexpr (dims[K] == not_mapped) {
      return nest;
    } else {
      const auto stand_in = [&]<class Each>(const Each& each) {
        return tape.template argument<typename element_of_batch<Each, dims[K]>::type>(
            each, static_cast<int>(K), counted_from_front(dims[K], each.extents().ssize()));
      };
      return map_nest(nest, stand_in);
    }
  };
  // In braces, so that arguments are recorded from left to right.
  const std::tuple<decltype(argument(std::integral_constant<std::size_t, I>{}, x))...> elements{
      argument(std::integral_constant<std::size_t, I>{}, x)...};
  const auto out = f(std::get<I>(elements)...);
  using results = std::remove_const_t<decltype(out)>;

  if constexpr (holds_refusal<results>) {
    return refused_results_of<results>{};
  } else if constexpr (uses_mapped_axis<results, mapping>) {
    // Depends on the results: otherwise clang would report the error when it parses this function.
    return report<
        refused<uses_mapped_axis<results, mapping> ? violation::axis_is_mapped : violation::nothing,
                vmap_of>>();
  } else {
    const auto note = [&](const auto& each) { tape.result(each); };
    for_each_tensor(out, note);
    tape.run();
    const auto take = [&]<class Each>(const Each& each) {
      using settled = typename tape_type::template settled<Each>;
      return tape.template next<typename batch_of_elements<settled, mapping>::type>(each);
    };
    return map_nest(out, take);
  }
}

/// The type with which a mapped function is called for an argument that is mapped over dimension
/// `D`. The function is never called, but defined: clang warns of undefined functions of types that
/// are local to a file, as those of a mesh in an unnamed namespace are.
template <int D>
struct as_element {
  template <class X>
  [[nodiscard, noreturn]] typename recorded_as<typename element_of_batch<X, D>::type>::type
  operator()(const X&) const {
    std::abort();
  }
};
template <class X, int D>
using element_nest =
    decltype(map_nest(std::declval<const X&>(), std::declval<const as_element<D>&>()));

}  // namespace detail

namespace type_parts {

using namespace detail;

/// A function of batches that applies another function to each of their elements.
template <class F, auto... Dims>
struct mapped_function {
  F f;

  template <class... X>
    requires(sizeof...(X) > 0)
  [[nodiscard]] constexpr auto operator()(const X&... x) const {
    using dims = mapped_over<Dims...>;
    constexpr bool has_dims = dims::count <= 1 || dims::count == sizeof...(X);
    static_assert(has_dims, "vmap has a dimension, or none, for each argument");
    if constexpr (!has_dims || AnyRefused<X...>) {
      return refused_value{};
    } else if constexpr (!hidden_tensors<X...>::ok) {
      return report<hidden_tensors<X...>>();
    } else if constexpr (!mapping_of<dims, X...>::judged::ok) {
      return report<typename mapping_of<dims, X...>::judged>();
    } else if constexpr (!mapping_of<dims, X...>::seen.is_any) {
      constexpr bool has_mapped_tensor = mapping_of<dims, X...>::seen.is_any;
      static_assert(has_mapped_tensor, "vmap maps a dimension of at least one tensor");
      return refused_value{};
    } else {
      // Named here as in `gradient`, where the program calls.
      if constexpr (dims::count > 1) {
        using results = decltype(std::declval<const callee<F>&>()(
            std::declval<const element_nest<X, mapped_dim(Dims)>&>()...));
        if constexpr (std::is_same_v<results, not_callable>)
          return report<
              refused_call<F, "vmap<0>(f)(x, y)", element_nest<X, mapped_dim(Dims)>...>>();
        else
          return call_mapped<dims>(f, std::index_sequence_for<X...>{}, x...);
      } else {
        constexpr int dim = mapped_dims<1, Dims...>()[0];
        using results = decltype(std::declval<const callee<F>&>()(
            std::declval<const element_nest<X, dim>&>()...));
        if constexpr (std::is_same_v<results, not_callable>)
          return report<refused_call<F, "vmap<0>(f)(x, y)", element_nest<X, dim>...>>();
        else
          return call_mapped<dims>(f, std::index_sequence_for<X...>{}, x...);
      }
    }
  }
};

}  // namespace type_parts

/// Maps a function of elements to one of batches: `f` gets each tensor without the dimension given
/// for its argument, or the whole tensor if that is `none`, and the batch is dimension 0 of each
/// result. A single number applies to all arguments; the default is 0. A negative one counts from
/// the end of each tensor. The elements of a batch are computed together, not one call after
/// another.
///
/// The mapped dimensions must have the same size and be split alike. Layouts inside `f` must not
/// use the axes that split them. Arguments may be nests of tensors.
///
///     auto norms = vmap(l2_norm_of_row)(x);                    // f32[32@data, 8] -> f32[32@data]
///     auto logits = vmap<none, 0>(model)(parameters, inputs);  // a batch of inputs
///     auto slopes = vmap<none, 0, 0>(gradient(loss))(w, x, y); // a gradient for each example
template <auto... Dims, class F>
  requires(!EitherOperand<F>)
[[nodiscard]] constexpr auto vmap(const F& f) {
  return type_parts::mapped_function<std::decay_t<F>, Dims...>{f};
}

}  // namespace shardwise
