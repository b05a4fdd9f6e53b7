// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/nest.hpp"
#include "shardwise/expression/operand.hpp"
#include "shardwise/rule/batch.hpp"

#include <cstddef>
#include <limits>
#include <type_traits>

namespace shardwise {

/// The name of `vmap` in errors.
struct vmap_of;

namespace detail {

/// Returns the dimension over which an argument is mapped; `not_mapped` for one that is not.
inline constexpr int not_mapped = std::numeric_limits<int>::min();
[[nodiscard]] constexpr int mapped_dim(int d) noexcept { return d; }
[[nodiscard]] constexpr int mapped_dim(decltype(none)) noexcept { return not_mapped; }

/// The dimensions over which `Count` arguments are mapped: one for each of them, or one for all.
template <std::size_t Count, auto... Dims>
[[nodiscard]] constexpr inplace_vector<int, Count> mapped_dims() noexcept {
  inplace_vector<int, Count> out;
  const int said[] = {mapped_dim(Dims)..., 0};
  for (std::size_t k = 0; k < Count; ++k) out.push_back(said[sizeof...(Dims) <= 1 ? 0 : k]);
  return out;
}

/// The types of a tensor without dimension `D`, and with a leading batch dimension.
template <class X, int D>
struct element_of_batch {
  using type = X;
};
template <Operand X, int D>
  requires(D != not_mapped)
struct element_of_batch<X, D> {
  struct held {
    static constexpr tensor_desc value =
        without_dim(paper_of<X>::value, counted_from_front(D, X::extents_type::rank));
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

/// Checks that mapped dimensions have the same size and are split alike.
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

/// What the types of the arguments determine about the mapped dimension.
struct seen_mapping {
  diagnosis verdict{};
  batch_dim batch{};
  /// Whether any argument is mapped, and whether its layout is a type.
  bool is_any = false;
  bool is_typed = false;

  /// Adds the tensors of a nest of type `X`, mapped over dimension `d`.
  template <class X>
  constexpr void add(int operand, int d) {
    if (d == not_mapped) return;
    (void)any_in_nest<X>([&]<class Each>(std::type_identity<Each>) {
      if constexpr (ValueOperand<Each>) {
        is_any = true;
      } else if constexpr (Operand<Each>) {
        const tensor_desc tensor = paper_of<Each>::value;
        const int dim = counted_from_front(d, tensor.rank());
        if (dim < 0 || dim >= tensor.rank()) {
          verdict = {.rule = violation::dimension_is_out_of_range,
                     .operand = operand,
                     .have = d,
                     .want = tensor.rank()};
          return true;
        }
        const batch_dim mine = batch_of(tensor, dim);
        if (is_typed)
          verdict = check_mapped(mesh_of<Each>::value, mine, batch, operand, dim);
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
    if constexpr (AnyRefused<X...>) return out;  // reported already
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
  [[nodiscard]] static constexpr inplace_vector<int, Count> of() noexcept {
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

}  // namespace detail

}  // namespace shardwise
