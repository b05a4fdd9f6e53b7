// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/plan/step.hpp"

#include <type_traits>

namespace shardwise {

struct abstract_domain;

/// Writes the steps of a program into memory that its owner provides.
class recorder {
 public:
  /// The mesh and the steps must outlive the recorder.
  constexpr recorder(mesh_desc& mesh, step_desc* steps, std::int32_t capacity) noexcept
      : mesh_(mesh), steps_(steps), capacity_(capacity) {}

  /// Appends a step that reads the results of `operands`, and returns its number.
  constexpr std::int32_t record(const step_desc& step, const step_operands& operands = {}) {
    if (count_ == capacity_)
      fail({.rule = broken::program_is_too_long, .have = index_t{count_} + 1, .want = capacity_});
    steps_[count_] = step;
    steps_[count_].operands = operands;
    return count_++;
  }
  [[nodiscard]] constexpr step_desc& operator[](std::int32_t i) noexcept { return steps_[i]; }
  [[nodiscard]] constexpr std::int32_t size() const noexcept { return count_; }
  [[nodiscard]] constexpr const mesh_desc& mesh() const noexcept { return mesh_; }
  /// Says where a program runs that has no steps yet.
  constexpr void place(const mesh_desc& mesh) noexcept {
    if (count_ == 0) mesh_ = mesh;
  }

 private:
  mesh_desc& mesh_;
  step_desc* steps_;
  std::int32_t capacity_;
  std::int32_t count_ = 0;
};

namespace detail {

/// What a tensor without elements is besides its type: its sizes, and its place in a program. One
/// class for all tensors on a mesh; where every axis is static the mesh is that of the type.
template <class Mesh>
class recorded {
 public:
  using domain = abstract_domain;

  constexpr recorded(const mesh_desc& mesh, const extents_desc& extents,
                     recorder* program = nullptr, std::int32_t id = -1,
                     bool is_expression = false) noexcept
      : program_(program), id_(id), is_expression_(is_expression), mesh_(mesh), extents_(extents) {}

  [[nodiscard]] constexpr const extents_desc& extents() const noexcept { return extents_; }
  [[nodiscard]] constexpr const mesh_desc& mesh() const noexcept {
    if constexpr (Mesh::dynamic_axes == 0)
      return Mesh::value;
    else
      return mesh_;
  }
  [[nodiscard]] constexpr recorder* program() const noexcept { return program_; }
  [[nodiscard]] constexpr std::int32_t id() const noexcept { return id_; }
  /// The same for `program`, which must be the program of this tensor.
  [[nodiscard]] constexpr std::int32_t id_in(const recorder& program) const {
    if (program_ != &program) fail({.rule = broken::operand_pools_differ});
    return id_;
  }
  /// True for what an elementwise function made: as a temporary it may be absorbed.
  [[nodiscard]] constexpr bool is_expression() const noexcept { return is_expression_; }

  /// This tensor as a value; `paper` is the value of its type, to which the sizes are added.
  [[nodiscard]] constexpr tensor_desc known(const tensor_desc& paper) const noexcept {
    return {paper.type, extents_, paper.layout};
  }
  /// Makes this tensor an input of a program; the first one says where that runs.
  constexpr void enter(recorder& program, const tensor_desc& paper) {
    program.place(mesh());
    program_ = &program;
    id_ = program.record(
        {.kind = step_kind::input, .label = text<60>("input"), .result = known(paper)});
  }
  /// What a step of this tensor's program makes.
  [[nodiscard]] constexpr recorded made(const extents_desc& extents, std::int32_t id,
                                        bool is_expression) const noexcept {
    return {mesh(), extents, program_, id, is_expression};
  }
  /// This tensor under another layout; the collectives are recorded, if there is a program.
  [[nodiscard]] constexpr recorded resharded(const tensor_desc& paper,
                                             const layout_desc& target) const {
    const tensor_desc before = known(paper);
    const redistribution way = redistribute(mesh(), before, target);
    require(way.verdict);
    std::int32_t id = id_;
    if (program_ != nullptr)
      for (const transfer& moved : way.moves)
        id = program_->record(reshard_step(before, moved), {id});
    return made(extents_, id, false);
  }
  /// What a rule of manual sharding makes of this tensor; its step is recorded, if there is a
  /// program and anything changes.
  [[nodiscard]] constexpr recorded by_hand(const tensor_desc& paper, const tensor_desc& result,
                                           reduction fold) const {
    std::int32_t id = id_;
    if (program_ != nullptr && known(paper) != result)
      id = program_->record(manual_step(mesh(), known(paper), result, fold), {id});
    return made(result.extents, id, false);
  }

 private:
  struct known_from_type {
    constexpr explicit known_from_type(const mesh_desc&) noexcept {}
  };

  recorder* program_;
  std::int32_t id_;
  bool is_expression_;
  std::conditional_t<Mesh::dynamic_axes == 0, known_from_type, mesh_desc> mesh_;
  extents_desc extents_;
};

/// The steps that a fused pass reads, gathered from its operands left to right: a temporary pass is
/// absorbed, everything else is read.
struct gathered {
  step_operands operands{};
  index_t flops = 0;
  text<60> label{};
  std::size_t to_come = 0;

  constexpr void take(recorder& program, std::int32_t id, bool may_absorb) noexcept {
    --to_come;
    const step_desc& step = program[id];
    if (!may_absorb || !has_room(operands.size(), step.operands.size(), to_come)) {
      operands.push_back(id);
      return;
    }
    for (std::int32_t o : step.operands) operands.push_back(o);
    flops += step.flops_per_element;
    if (!label.empty()) label << ' ';
    label << text_view(step.label);
  }

  /// Takes a tensor, and nothing of a number; `X` has the value category that the pass was given.
  template <class X>
  constexpr void take(recorder& program, std::remove_reference_t<X>& x,
                      const extents_desc& result) {
    if constexpr (Operand<X>)
      take(program, x.id_in(program),
           !std::is_lvalue_reference_v<X> && x.is_expression() &&
               may_fuse(std::remove_cvref_t<X>::extents_type::value, result));
  }
};

/// How an operation on abstract tensors becomes a step of their program.
template <class Operation>
struct recording;

template <class Function>
struct recording<pointwise<Function>> {
  static constexpr bool is_expression = true;

  template <class Paper, class... X>
  static constexpr std::int32_t record(recorder& program, const extents_desc& result,
                                       X&&... operands) {
    gathered inputs;
    inputs.to_come = (std::size_t{Operand<X>} + ...);
    (inputs.template take<X>(program, operands, Paper::extents_type::value), ...);
    return program.record(pointwise_step<Function>(program.mesh(), desc_of<Paper>(result),
                                                   inputs.flops, inputs.label),
                          inputs.operands);
  }
};

template <fixed_string Equation>
struct recording<einsum_of<Equation>> {
  static constexpr bool is_expression = false;

  template <class Paper, class... X>
  static constexpr std::int32_t record(recorder& program, const propagation& split,
                                       X&&... operands) {
    return program.record(einsum_step(program.mesh(), Equation, split, int{sizeof...(X)}),
                          {operands.id_in(program)...});
  }
};

template <reduction Kind, unsigned Reduced, bool Keep>
struct recording<fold_of<Kind, Reduced, Keep>> {
  static constexpr bool is_expression = false;

  template <class Paper, class X>
  static constexpr std::int32_t record(recorder& program, const extents_desc& result, X&& x) {
    gathered inputs;
    inputs.to_come = 1;
    inputs.template take<X>(program, x, std::remove_cvref_t<X>::extents_type::value);
    return program.record(fold_step(program.mesh(), Kind, x.known(paper_of<X>::value),
                                    desc_of<Paper>(result), inputs.flops, inputs.label),
                          inputs.operands);
  }
};

}  // namespace detail
}  // namespace shardwise
