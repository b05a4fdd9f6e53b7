// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/elementwise.hpp"
#include "shardwise/plan/manual_operation.hpp"
#include "shardwise/plan/program_builder.hpp"
#include "shardwise/rule/permission.hpp"

#include <type_traits>

namespace shardwise {

struct abstract_domain;

namespace type_parts {

/// The run-time part of a tensor without elements: its sizes, and its value in a program. There is
/// one class for all tensors on a mesh; if every axis is static, the mesh is that of the type.
template <class Mesh>
class recorded {
 public:
  using domain = abstract_domain;
  /// The value, in no program, that stands in for the result of an invalid operation.
  static constexpr value_id stand_in_id = -2;

  constexpr recorded(const mesh_desc& mesh, const extents_desc& extents,
                     program_builder* program = nullptr, value_id id = -1) noexcept
      : program_(program), id_(id), mesh_(mesh), extents_(extents) {}

  [[nodiscard]] constexpr const extents_desc& extents() const noexcept { return extents_; }
  [[nodiscard]] constexpr const mesh_desc& mesh() const noexcept {
    if constexpr (Mesh::dynamic_axes == 0)
      return Mesh::value;
    else
      return mesh_;
  }
  /// Returns the program that is being recorded, which may be a body that captures this tensor.
  [[nodiscard]] constexpr program_builder* program() const noexcept {
    return program_ == nullptr ? nullptr : &program_->active();
  }
  [[nodiscard]] constexpr value_id id() const noexcept { return id_; }
  /// Returns the value in `program`, which is the program of this tensor or the body of a call in
  /// it: the body captures the tensor then.
  [[nodiscard]] constexpr value_id id_in(program_builder& program) const {
    if (program_ == &program) return id_;
    if (id_ == stand_in_id)
      return program.append(operation_of<input_operation>, {}, {}, {element::f32, extents_, {}});
    return program.captured(program_, id_);
  }
  /// Records that the program uses this tensor by name.
  constexpr void name() const noexcept {
    if (program_ != nullptr) program_->name(id_);
  }

  /// Returns this tensor as a value; `paper` is the value of its type, to which the sizes are
  /// added.
  [[nodiscard]] constexpr tensor_desc known(const tensor_desc& paper) const noexcept {
    return {paper.type, extents_, paper.layout};
  }
  /// Makes this tensor an input of a program; the first input determines its mesh.
  constexpr void enter(program_builder& program, const tensor_desc& paper) {
    program.place(mesh());
    program_ = &program;
    id_ = program.append(operation_of<input_operation>, {}, {}, known(paper));
    program.mark(id_, {.donated = donated_});
  }
  /// Marks this input as donated by the caller of the program.
  constexpr void give_up() noexcept { donated_ = true; }
  /// Adds this tensor, which has a name or not, to the operands of an operation of `program`.
  constexpr void read_by(program_builder& program, value_ids& ids, bool is_named) const {
    ids.push_back(id_in(program));
    if (is_named) name();
  }
  /// Returns the operands of an operation whose operands are all tensors, including this one.
  [[nodiscard]] constexpr value_ids read_all(const recorded* const* operands, const bool* named,
                                             int count) const {
    value_ids ids;
    if (program_builder* const to = program())
      for (int i = 0; i < count; ++i) operands[i]->read_by(*to, ids, named[i]);
    return ids;
  }
  /// Returns the result of an operation on operands that include this tensor; `paper` is the value
  /// of its type.
  [[nodiscard]] constexpr recorded applied(const operation& what, const attributes& how,
                                           const value_ids& ids, const tensor_desc& paper,
                                           const extents_desc& extents) const {
    program_builder* const to = program();
    return made(extents, to == nullptr
                             ? id_
                             : to->append(what, how, ids, {paper.type, extents, paper.layout}));
  }
  /// Returns this tensor as a value of another program.
  [[nodiscard]] constexpr recorded in(program_builder* program, value_id id) const noexcept {
    return {mesh(), extents_, program, id};
  }
  /// Returns the result of an instruction of the program that is being recorded.
  [[nodiscard]] constexpr recorded made(const extents_desc& extents, value_id id) const noexcept {
    return {mesh(), extents, program(), id};
  }
  /// Returns this tensor with another layout; the collectives are recorded if there is a program.
  [[nodiscard]] constexpr recorded resharded(const tensor_desc& paper,
                                             const layout_desc& target) const {
    if (program_builder* const to = program())
      return made(extents_, append_reshard(*to, id_in(*to), target));
    require(redistribute(mesh(), known(paper), target).verdict);
    return made(extents_, id_);
  }
  /// Returns a further result of the operation that computed this tensor.
  [[nodiscard]] constexpr recorded result(int number, const tensor_desc& what) const {
    value_id id = id_;
    if (program_builder* const to = program())
      id = to->append(operation_of<result_operation>, result_operation::how(number), {id_in(*to)},
                      what);
    return made(what.extents, id);
  }
  /// Returns this tensor after a rule of manual sharding; its instruction is recorded if there is a
  /// program and something changes.
  [[nodiscard]] constexpr recorded manually(const tensor_desc& result,
                                            const applied_operation& change) const {
    value_id id = id_;
    if (program_builder* const to = program()) {
      id = id_in(*to);
      if (to->value(id) != result) id = to->append(*change.what, change.how, {id}, result);
    }
    return made(result.extents, id);
  }
  /// Returns this tensor after a collective that the program calls.
  [[nodiscard]] constexpr recorded called(const tensor_desc& result,
                                          const applied_operation& does) const {
    value_id id = id_;
    if (program_builder* const to = program())
      id = to->append(*does.what, does.how, {id_in(*to)}, result);
    return made(result.extents, id);
  }

 private:
  struct known_from_type {
    constexpr explicit known_from_type(const mesh_desc&) noexcept {}
  };

  program_builder* program_;
  value_id id_;
  bool donated_ = false;
  std::conditional_t<Mesh::dynamic_axes == 0, known_from_type, mesh_desc> mesh_;
  extents_desc extents_;
};

}  // namespace type_parts

namespace detail {

/// Appends an operation on tensors of one type, after they have been gathered over permitted axes,
/// and returns its result; `paper` is the value of its type. The operands have names.
template <class Mesh>
[[nodiscard]] constexpr type_parts::recorded<Mesh> applied_to_list(
    const applied_operation& does, unsigned permitted,
    const type_parts::recorded<Mesh>* const* operands, const tensor_descs& given,
    const tensor_desc& paper) {
  const type_parts::recorded<Mesh>& first = *operands[0];
  const factor_rule rule = does.what->rule(does.how, given);
  const tensor_descs known = permitted == 0 ? given : fetched(first.mesh(), rule, given, permitted);
  const propagation split = propagate(first.mesh(), rule, known);
  if (!split.verdict.ok()) fail(split.verdict, advice(first.mesh(), rule, known, split.verdict));
  value_ids ids;
  if (program_builder* const to = first.program())
    for (int i = 0; i < given.ssize(); ++i) {
      operands[i]->read_by(*to, ids, true);
      ids[i] = append_reshard(*to, ids[i], known[i].layout);
    }
  return first.applied(*does.what, does.how, ids, paper, split.result.extents);
}

/// Adds a tensor, or a number with elements of type `T`, to the operands of an operation.
template <class T, class X>
constexpr void record_operand(program_builder& program, value_ids& ids, const X& x, bool is_named) {
  if constexpr (Operand<X>)
    x.read_by(program, ids, is_named);
  else
    ids.push_back(program.constant(static_cast<T>(x), element_of<T>));
}

}  // namespace detail
}  // namespace shardwise
