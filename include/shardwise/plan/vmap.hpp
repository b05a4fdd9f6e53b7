// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/nest.hpp"
#include "shardwise/plan/abstract.hpp"
#include "shardwise/plan/batching.hpp"
#include "shardwise/plan/gradient.hpp"

#include <array>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace shardwise {

/// What `vmap` is called in errors.
struct vmap_of;

namespace detail {

/// The dimension that an argument is mapped over; -1 for one that all applications share.
[[nodiscard]] constexpr int mapped_dim(int d) noexcept { return d; }
[[nodiscard]] constexpr int mapped_dim(decltype(none)) noexcept { return -1; }

/// The dimensions that `Count` arguments are mapped over: one for each of them, or one for all.
template <std::size_t Count, auto... Dims>
[[nodiscard]] constexpr std::array<int, Count> mapped_dims() noexcept {
  std::array<int, Count> out{};
  const int said[] = {mapped_dim(Dims)..., 0};
  for (std::size_t k = 0; k < Count; ++k)
    out[k] = sizeof...(Dims) == 0 ? 0 : said[sizeof...(Dims) == 1 ? 0 : k];
  return out;
}

/// The types of a tensor without dimension `D`, and with a batch in front.
template <class X, int D>
struct element_of_batch {
  using type = X;
};
template <Operand X, int D>
  requires(D >= 0)
struct element_of_batch<X, D> {
  struct held {
    static constexpr tensor_desc value = without_dim(paper_of<X>::value, D);
    static constexpr const extents_desc& extents_value = value.extents;
    static constexpr const layout_desc& layout_value = value.layout;
  };
  using type = typename X::domain::template tensor<typename X::value_type, extents_from_value<held>,
                                                   layout_from_value<mesh_of<X>, held>>;
};
template <class X, class Batch>
struct batch_of_elements {
  using type = X;
};
template <Operand X, class Batch>
struct batch_of_elements<X, Batch> {
  struct held {
    static constexpr tensor_desc value = with_batch(Batch::value, paper_of<X>::value);
    static constexpr const extents_desc& extents_value = value.extents;
    static constexpr const layout_desc& layout_value = value.layout;
  };
  using type = typename X::domain::template tensor<typename X::value_type, extents_from_value<held>,
                                                   layout_from_value<mesh_of<X>, held>>;
};

/// What dimensions that are mapped together must be: of one size, and split alike.
[[nodiscard]] constexpr diagnosis check_mapped(const mesh_desc& mesh, const batch_dim& batch,
                                               const batch_dim& first, int operand,
                                               int d) noexcept {
  diagnosis verdict{.rule = violation::mapped_dimensions_differ, .operand = operand, .dim = d};
  if (batch.size != first.size && batch.size != dyn && first.size != dyn) {
    verdict.have = batch.size;
    verdict.want = first.size;
    return verdict;
  }
  if (batch.axes == first.axes && batch.cut == first.cut) return {};
  const axis_list& named = batch.axes.empty() ? first.axes : batch.axes;
  if (!named.empty()) verdict.axis = mesh.axes[named[0]].label;
  return verdict;
}

/// What the types of arguments say of the dimension that they are mapped over.
struct seen_mapping {
  diagnosis verdict{};
  batch_dim batch{};
  /// True if any argument is mapped, and if its layout is a type.
  bool is_any = false;
  bool is_typed = false;

  /// Adds the tensors of a nest of type `X`, mapped over dimension `d`.
  template <class X>
  constexpr void add(int operand, int d) {
    if (d == -1) return;
    (void)any_in_nest<X>([&]<class Each>(std::type_identity<Each>) {
      if constexpr (ValueOperand<Each>) {
        is_any = true;
      } else if constexpr (Operand<Each>) {
        const tensor_desc tensor = paper_of<Each>::value;
        if (d < 0 || d >= tensor.rank()) {
          verdict = {.rule = violation::dimension_is_out_of_range,
                     .operand = operand,
                     .have = d,
                     .want = tensor.rank()};
          return true;
        }
        const batch_dim mine = batch_of(tensor, d);
        if (is_typed)
          verdict = check_mapped(mesh_of<Each>::value, mine, batch, operand, d);
        else if (!is_any)
          batch = mine;
        is_typed = is_typed || !is_any;
        is_any = true;
        return !verdict.ok();
      }
      return false;
    });
  }
};
template <class Dims, class... X>
struct mapping_of {
  static constexpr seen_mapping seen = [] {
    seen_mapping out;
    if constexpr (AnyRefused<X...>) return out;  // has been said
    constexpr auto dims = Dims::template of<sizeof...(X)>();
    int k = 0;
    ((out.verdict.ok() ? out.template add<X>(k, dims[static_cast<std::size_t>(k)]) : void(), ++k),
     ...);
    return out;
  }();
  static constexpr const batch_dim& value = seen.batch;
  using judged = decltype(answer_to<vmap_of>([] { return seen.verdict; }));
};
template <auto... Dims>
struct mapped_over {
  static constexpr std::size_t count = sizeof...(Dims);
  template <std::size_t Count>
  [[nodiscard]] static constexpr std::array<int, Count> of() noexcept {
    return mapped_dims<Count, Dims...>();
  }
};

/// True if a result of a mapped function uses an axis that splits the batch.
template <class Out, class Mapping>
inline constexpr bool uses_mapped_axis = any_in_nest<Out>([]<class Each>(std::type_identity<Each>) {
  if constexpr (Operand<Each>)
    return axis_of_batch(Mapping::value, paper_of<Each>::value.layout) >= 0;
  else
    return false;
});

/// The dimension that a call maps, as far as its arguments have said.
class met_batch {
 public:
  /// Adds dimension `d` of a tensor; refuses one that differs from those before.
  constexpr void meet(const mesh_desc& mesh, const tensor_desc& tensor, int operand, int d) {
    if (d >= tensor.rank())
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
  /// The extents of a result, for the whole batch.
  [[nodiscard]] constexpr extents_desc extents(const extents_desc& each) const noexcept {
    extents_desc out{batch_.size};
    for (index_t n : each) out.push_back(n);
    return out;
  }

 private:
  batch_dim batch_{};
  bool is_met_ = false;
};

/// How the tensors of a domain are mapped: a class that records a function of elements.
template <class Domain>
struct batch_tape_of;

/// Records a function of elements of abstract tensors in their program, and then what it computes
/// for all of them.
class paper_batch {
 public:
  template <class X>
  constexpr explicit paper_batch(const X& first) : code_(first.program()) {
    if (code_ == nullptr) return;
    begin_ = code_->end();
    wrote_calls_out_ = code_->write_calls_out(true);
  }
  /// What a result of the function is afterwards, before it gets the batch.
  template <class X>
  using settled = X;

  /// What stands for one element of a tensor, of type `Element`.
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

/// Reports a refusal where it is found: what calls the function, such as `trace`, need not look at
/// what it gives.
template <class Judged>
[[nodiscard]] constexpr auto report() {
  using reported [[maybe_unused]] = decltype(typename Judged::type{});
  return refused_value<>{};
}

/// Calls a function with one element of each mapped argument, and gives what it makes of all.
template <class Dims, class F, class... X>
[[nodiscard]] constexpr auto call_mapped(const F& f, const X&... x) {
  using mapping = mapping_of<Dims, X...>;
  constexpr auto dims = Dims::template of<sizeof...(X)>();
  const auto& first = first_in(x...);
  using tensor = std::remove_cvref_t<decltype(first)>;
  using tape_type = typename batch_tape_of<typename domain_of<tensor>::type>::type;
  tape_type tape(first);

  const auto argument = [&]<std::size_t K>(std::integral_constant<std::size_t, K>,
                                           const auto& nest) {
    if constexpr (dims[K] < 0) {
      return nest;
    } else {
      const auto stand_in = [&]<class Each>(const Each& each) {
        return tape.template argument<typename element_of_batch<Each, dims[K]>::type>(
            each, static_cast<int>(K), dims[K]);
      };
      return map_nest(nest, stand_in);
    }
  };
  const auto out = [&]<std::size_t... K>(std::index_sequence<K...>) {
    // In braces, so that arguments are recorded from left to right.
    const std::tuple<decltype(argument(std::integral_constant<std::size_t, K>{}, x))...> elements{
        argument(std::integral_constant<std::size_t, K>{}, x)...};
    return std::apply(f, elements);
  }
  (std::index_sequence_for<X...>{});
  using results = std::remove_const_t<decltype(out)>;

  if constexpr (AnyRefused<results>) {
    return refused_value<>{};
  } else if constexpr (uses_mapped_axis<results, mapping>) {
    // Depends on the results: clang would report what does not where it reads this function.
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

/// A function of batches, which applies another to each of their elements.
template <class F, class Dims>
struct mapped_function {
  F f;

  template <class... X>
  [[nodiscard]] constexpr auto operator()(const X&... x) const {
    static_assert(Dims::count <= 1 || Dims::count == sizeof...(X),
                  "vmap has a dimension, or none, for each argument");
    constexpr bool are_hidden = (... || hides_tensors<X>());
    static_assert(!are_hidden,
                  "the tensors of a nest are in tuples, vectors and aggregates, not in optionals, "
                  "pointers or maps");
    using judged = typename mapping_of<Dims, X...>::judged;
    if constexpr (are_hidden || AnyRefused<X...>) {
      return refused_value<>{};
    } else if constexpr (!judged::ok) {
      return report<judged>();
    } else {
      static_assert(mapping_of<Dims, X...>::seen.is_any,
                    "vmap maps a dimension of at least one tensor");
      return call_mapped<Dims>(f, x...);
    }
  }
};

}  // namespace detail

/// Maps a function of elements to one of batches: `f` sees each tensor without the dimension that
/// is named for its argument, or whole where that is `none`, and each result gets the batch as its
/// dimension 0. One number is for all arguments, and none at all is 0. The elements of a batch are
/// computed together, not one call after another.
///
/// The dimensions that are mapped have one size and are split alike. The axes that split them are
/// taken: the layouts inside of `f` cannot use them. Arguments may be nests of tensors.
///
///     auto norms = vmap(l2_norm_of_row)(x);                    // f32[32@data, 8] -> f32[32@data]
///     auto logits = vmap<none, 0>(model)(parameters, inputs);  // a batch of inputs
///     auto slopes = vmap<none, 0, 0>(gradient(loss))(w, x, y); // a gradient for each example
template <auto... Dims, class F>
  requires(!EitherOperand<F>)
[[nodiscard]] constexpr auto vmap(const F& f) {
  return detail::mapped_function<F, detail::mapped_over<Dims...>>{f};
}

}  // namespace shardwise
