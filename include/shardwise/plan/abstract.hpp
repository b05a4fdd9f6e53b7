// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/no_number.hpp"
#include "shardwise/layout/layout_rules.hpp"
#include "shardwise/layout/tensor_judge.hpp"
#include "shardwise/operation/arithmetic.hpp"
#include "shardwise/plan/recorded.hpp"

#include <concepts>
#include <initializer_list>
#include <type_traits>

namespace shardwise {

/// A tensor without elements: its type, its run-time sizes, and its value in the program that
/// `trace` records. Created by `abstract<X>(sizes...)`.
template <class T, class Extents, class Layout>
struct abstract_tensor : type_parts::recorded<typename Layout::mesh_type> {
  static_assert(sizeof(typename internal::extents_judge<Layout, Extents>::type) > 0);

  using value_type = T;
  using extents_type = Extents;
  using layout_type = Layout;

  /// The error of a tensor that is used as a number, as in `no_number`. Constexpr, since a trace
  /// would report any other function too.
  constexpr operator internal::number_like<T>() const noexcept {
    using wrong [[maybe_unused]] =
        decltype(internal::broken_number<internal::number_like<T>, false>{});
    return {};
  }
};

namespace internal {
/// A tensor of an illegal type has caused its error: what reads it causes no further ones.
template <class T, class Extents, class Layout>
inline constexpr int operand_kind_of<abstract_tensor<T, Extents, Layout>> =
    extents_judge<Layout, Extents>::ok&&
            layout_judge<typename Layout::mesh_type, typename Layout::spec_type,
                         typename Layout::partial_type, typename Layout::policy_type>::ok
        ? operand_kind::typed
        : operand_kind::refused_result;

template <class T, class Extents, class Layout>
struct stand_in<abstract_tensor<T, Extents, Layout>> {
  [[nodiscard]] static constexpr abstract_tensor<T, Extents, Layout> value() noexcept {
    using mesh_type = typename Layout::mesh_type;
    return {
        {mesh_type::value, Extents::value, nullptr, type_parts::recorded<mesh_type>::stand_in_id}};
  }
};
}  // namespace internal

/// Marks an input of a traced program as donated: the program may reuse its memory, so an update in
/// place needs no copy. At run time, this applies to every tensor without remaining handles.
///
///     trace(update, donate(abstract<W>()), abstract<W>())
template <class T, class Extents, class Layout>
[[nodiscard]] constexpr abstract_tensor<T, Extents, Layout> donate(
    abstract_tensor<T, Extents, Layout> input) noexcept {
  input.give_up();
  return input;
}

/// The operations on abstract tensors, which are recorded.
struct abstract_domain {
  static constexpr bool has_values = false;

  /// An abstract tensor with these types.
  template <class T, class Extents, class Layout>
  using tensor = abstract_tensor<T, Extents, Layout>;
  template <class Paper>
  using abstract_from = abstract_tensor<typename Paper::value_type, typename Paper::extents_type,
                                        typename Paper::layout_type>;
  /// The type of the result of `apply`.
  template <class Operation, class Paper, class... X>
  using made = abstract_from<Paper>;
  /// Zeros that a program does not read: a tensor that is in no program.
  template <class X>
  [[nodiscard]] static constexpr X pending_zeros(const X& like) noexcept {
    return {{like.mesh(), like.extents()}};
  }

  template <class Operation, class Paper, class... X>
  [[nodiscard]] static constexpr abstract_from<Paper> apply(const extents_desc& extents,
                                                            X&&... operands) {
    constexpr const operation& what = operation_of<typename Operation::operation_class>;
    if constexpr (Paper::mesh_type::dynamic_axes > 0)
      require_one_mesh(first_tensor(operands...).mesh(), operands...);
    if constexpr ((... && Operand<X>)) {
      // Not a template on each operand, since programs have many.
      const type_parts::recorded<typename Paper::mesh_type>* const read[] = {&operands...};
      constexpr bool named[] = {std::is_lvalue_reference_v<X>...};
      return abstract_from<Paper>{
          read[0]->applied(what, internal::attributes_for<Operation>(read[0]->extents().ssize()),
                           read[0]->read_all(read, named, sizeof...(X)), Paper::value, extents)};
    } else {
      const auto& model = first_tensor(operands...);
      value_ids ids;
      if (program_builder* const program = model.program())
        (detail::record_operand<
             typename internal::number_type<typename Operation::function, X...>::type>(
             *program, ids, operands, std::is_lvalue_reference_v<X>),
         ...);
      return abstract_from<Paper>{model.applied(what, Operation::how, ids, Paper::value, extents)};
    }
  }

  /// An operation on a list of tensors of one type, at most `max_operands`, after they have been
  /// gathered over permitted axes, a bit mask; the result has the types of `Made`.
  template <class Operation, class Made, class X>
  [[nodiscard]] static constexpr Made apply_to_list(unsigned permitted, const X* const* list,
                                                    int count) {
    const type_parts::recorded<mesh_of<X>>* read[max_operands]{};
    tensor_descs given;
    for (int i = 0; i < count; ++i) {
      read[i] = list[i];
      given.push_back(desc_of(*list[i]));
      if (list[i]->mesh() != list[0]->mesh())
        fail({.rule = violation::operand_meshes_differ, .operand = i});
    }
    return Made{detail::applied_to_list({&operation_of<typename Operation::operation_class>,
                                         internal::attributes_for<Operation>(given[0].rank())},
                                        permitted, read, given, paper_of<Made>::value)};
  }

  /// A number among the operands, as a tensor of rank 0 that an instruction creates from a
  /// constant.
  template <Element T, class Model>
  [[nodiscard]] static constexpr abstract_tensor<T, extents<>, layout<mesh_of<Model>, P<>>> number(
      const Model& model, T value) {
    value_id id = -1;
    if (program_builder* const program = model.program())
      id = program->append(operation_of<pointwise<functions::identity>>, {},
                           {program->constant(value, element_of<T>)}, {element_of<T>, {}, {}});
    return {model.made({}, id)};
  }

  /// A further result of an operation with several results; the type of the result of `second`.
  template <class Paper>
  using made_second = abstract_from<Paper>;
  template <class Paper, class X>
  [[nodiscard]] static constexpr abstract_from<Paper> second(const X& first) {
    return abstract_from<Paper>{first.result(1, desc_of<Paper>(first.extents()))};
  }

  template <class Made, class X>
  [[nodiscard]] static constexpr Made reshard(X&& x) {
    if constexpr (std::is_lvalue_reference_v<X>) x.name();
    return Made{x.resharded(paper_of<X>::value, Made::layout_type::value)};
  }

  template <class Made, class X>
  [[nodiscard]] static constexpr Made manually(X&& x, const tensor_desc& result) {
    if constexpr (std::is_lvalue_reference_v<X>) x.name();
    return Made{x.manually(result, manual_change(result))};
  }
  template <class Made, class X>
  [[nodiscard]] static constexpr Made manually(X&& x, const tensor_desc& result,
                                               const manual_collective& called) {
    if constexpr (std::is_lvalue_reference_v<X>) x.name();
    return Made{x.called(result, manual_change(called))};
  }

 private:
  /// Tensors of one mesh type may be on meshes of different sizes.
  template <class... X>
  static constexpr void require_one_mesh(const mesh_desc& mesh, const X&... operands) {
    int number = 0;
    const auto check_one = [&](const auto& x) {
      if constexpr (Operand<decltype(x)>)
        if (x.mesh() != mesh) fail({.rule = violation::operand_meshes_differ, .operand = number});
      ++number;
    };
    (check_one(operands), ...);
  }
};

namespace detail {

/// The run-time part of `abstract`: takes the dyn extents and then the dyn axes from `sizes`, in
/// order, and checks what could not be checked at compile time.
template <class Mesh>
[[nodiscard]] constexpr type_parts::recorded<Mesh> with_sizes(
    const extents_desc& extents, const layout_desc& layout, std::initializer_list<index_t> given) {
  if (given.size() == 0) return {Mesh::value, extents};
  const index_t* sizes = given.begin();
  extents_desc known = extents;
  for (int d = 0; d < known.ssize(); ++d)
    if (known[d] == dyn) {
      known[d] = *sizes++;
      if (known[d] < 0) fail({.rule = violation::extent_is_negative, .dim = d, .have = known[d]});
    }
  mesh_desc mesh = Mesh::value;
  if constexpr (Mesh::dynamic_axes > 0) {
    for (axis_desc& axis : mesh.axes)
      if (axis.size == dyn) axis.size = *sizes++;
    require(check_known(mesh));
  }
  require(validate(mesh, layout, known));
  return {mesh, known};
}

}  // namespace detail

namespace internal {
/// True for the arguments of a tensor type of which one is a part of a refused result. None is
/// instantiated for it, so that an error in one is reported where it is used.
template <class Layout>
inline constexpr bool is_refused_layout = std::is_same_v<Layout, refused_part>;
template <class Mesh, class Spec, class Partial, class Policy>
inline constexpr bool is_refused_layout<layout<Mesh, Spec, Partial, Policy>> =
    std::is_same_v<Mesh, refused_part>;
template <class Named>
concept MadeOfRefusedParts = std::is_same_v<typename Named::extents, refused_value::extents_type> ||
    is_refused_layout<typename Named::layout>;
}  // namespace internal

/// Returns a tensor of type `X` without elements. `sizes` are its dyn extents in order, then the
/// sizes of the dyn axes of its mesh.
///
///     abstract<X>(512)          // X = sharded_tensor<float, extents<dyn, 1024>, ...>
template <class X, std::convertible_to<index_t>... Sizes>
[[nodiscard]] constexpr decltype(auto) abstract(Sizes... sizes) {
  using named = internal::parts_of<X>;
  if constexpr (internal::MadeOfRefusedParts<named>) {
    return refused_value{};
  } else if constexpr (!requires {
                         named::extents::dynamic_rank;
                         typename named::layout::mesh_type;
                         requires is_element<typename named::value_type>;
                       }) {
    constexpr std::type_identity<X> named_type;
    return internal::given<decltype(internal::refuse_tensor(named_type))>::value();
  } else {
    using extents = typename named::extents;
    using mesh = typename named::layout::mesh_type;
    if constexpr (sizeof...(Sizes) != std::size_t{extents::dynamic_rank} + mesh::dynamic_axes) {
      using wrong [[maybe_unused]] =
          decltype(broken_rule<misuse::size_count_differs, of_types<>, size_met{sizeof...(Sizes)},
                               size_needed{extents::dynamic_rank + index_t{mesh::dynamic_axes}}>{});
    }
    using tensor = abstract_tensor<typename named::value_type, extents, typename named::layout>;
    return tensor{detail::with_sizes<mesh>(extents::value, named::layout::value,
                                           {static_cast<index_t>(sizes)...})};
  }
}

}  // namespace shardwise
