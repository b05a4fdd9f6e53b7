// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/error.hpp"
#include "shardwise/plan/program.hpp"

#include <utility>

namespace shardwise {

/// Appends to a program; the only way to do so. It is not a template, so that functions that append
/// need not be templates either.
///
/// The owner provides the memory. When it is full, the owner grows if it can; otherwise the program
/// is too long.
class program_builder {
 public:
  template <std::size_t Capacity>
  constexpr explicit program_builder(traced_program<Capacity>& to) noexcept
      : mesh_(&to.mesh),
        code_(to.code),
        values_(to.values),
        table_(to.table),
        results_(to.results),
        count_(&to.count),
        attribute_count_(&to.attribute_count),
        result_count_(&to.result_count),
        capacity_(std::int32_t{Capacity}),
        result_capacity_(std::int32_t{Capacity}),
        bodies_(to.bodies),
        body_count_(&to.body_count),
        body_capacity_(std::int32_t{Capacity / 16 + 1}) {}
  /// Appends to a program in the memory of an owner with the members of `traced_program`: ranges
  /// with room for all instructions, for one attribute more, of which the first is set, for all
  /// results and, if there are any, for the bodies.
  template <class Owner>
    requires requires(Owner& to) { to.code.data(); }
  constexpr explicit program_builder(Owner& to) noexcept
      : mesh_(&to.mesh),
        code_(to.code.data()),
        values_(to.values.data()),
        table_(to.table.data()),
        results_(to.results.data()),
        count_(&to.count),
        attribute_count_(&to.attribute_count),
        result_count_(&to.result_count),
        capacity_(static_cast<std::int32_t>(to.code.size())),
        result_capacity_(static_cast<std::int32_t>(to.results.size())) {
    if constexpr (requires { to.bodies.data(); }) {
      bodies_ = to.bodies.data();
      body_count_ = &to.body_count;
      body_capacity_ = static_cast<std::int32_t>(to.bodies.size());
    }
    if constexpr (requires { to.grow(); }) {
      owner_ = &to;
      grow_ = [](program_builder& self) {
        Owner& owner = *static_cast<Owner*>(self.owner_);
        owner.grow();
        self.code_ = owner.code.data();
        self.values_ = owner.values.data();
        self.table_ = owner.table.data();
        self.capacity_ = static_cast<std::int32_t>(owner.code.size());
      };
    }
  }

  [[nodiscard]] constexpr const mesh_desc& mesh() const noexcept { return *mesh_; }
  [[nodiscard]] constexpr std::int32_t size() const noexcept { return *count_; }
  [[nodiscard]] constexpr const tensor_desc& value(value_id i) const noexcept { return values_[i]; }
  [[nodiscard]] constexpr const instruction& operator[](value_id i) const noexcept {
    return code_[i];
  }
  [[nodiscard]] constexpr const attributes& how(value_id i) const noexcept {
    return table_[code_[i].how];
  }

  /// Sets the mesh of a program that has no instructions yet.
  constexpr void place(const mesh_desc& mesh) noexcept {
    if (*count_ == 0) *mesh_ = mesh;
  }
  /// Appends an instruction whose result type is known.
  constexpr value_id append(const operation& what, const attributes& how, const value_ids& operands,
                            const tensor_desc& result) {
    require_room(*count_ + 1, *result_count_);
    const value_id id = (*count_)++;
    // The room may have had an instruction that was removed.
    instruction& made = code_[id];
    made = instruction{};
    made.what = &what;
    made.operands = operands;
    made.recomputed = recomputes_;
    values_[id] = result;
    made.how = store(how);
    return id;
  }
  /// Appends an instruction and infers its result type.
  constexpr value_id emit(const operation& what, const attributes& how, const value_ids& operands) {
    tensor_descs known;
    for (value_id o : operands) known.push_back(values_[o]);
    const propagation made = infer(*mesh_, what, how, known);
    if (!made.verdict.ok()) fail(made.verdict);
    return append(what, how, operands, made.result);
  }
  /// Appends a number.
  template <class T>
  constexpr value_id constant(T number, element type) {
    return append(operation_of<constant_operation>, constant_operation::how(number), {},
                  {type, {}, {}});
  }

  /// Records that the program uses a value by name; records that its caller keeps a value as the
  /// next of the results. A value may be several results.
  constexpr void name(value_id i) noexcept {
    if (!code_[i].what->is_leaf) code_[i].named = true;
  }
  constexpr void keep(value_id i) {
    require_room(*count_, *result_count_ + 1);
    name(i);
    code_[i].kept = true;
    results_[(*result_count_)++] = i;
  }
  /// Copies the marks of another instruction to a value, except that it is kept, which `keep` sets.
  constexpr void mark(value_id i, const instruction& like) noexcept {
    code_[i].named = like.named;
    code_[i].donated = like.donated;
    code_[i].recomputed = like.recomputed;
  }
  /// Sets whether gradients compute a value again, and those that are appended from now on; returns
  /// the previous setting.
  constexpr void recompute(value_id i, bool again) noexcept { code_[i].recomputed = again; }
  constexpr bool recompute_what_follows(bool again) noexcept {
    return std::exchange(recomputes_, again);
  }

  /// Sets whether calls that are recorded from now on are inlined, because their gradients are
  /// taken; returns the previous setting.
  constexpr bool write_calls_out(bool written) noexcept {
    return std::exchange(writes_calls_out_, written);
  }
  [[nodiscard]] constexpr bool writes_calls_out() const noexcept { return writes_calls_out_; }

  /// Appends a custom gradient of `results`: `gradients` of `arguments`, recorded for the
  /// placeholders `cotangents`.
  template <class Ids>
  constexpr void differentiate_by(const Ids& results, const Ids& cotangents, const Ids& arguments,
                                  const Ids& gradients) {
    constexpr const operation& what = operation_of<custom_gradient_operation>;
    const tensor_desc nothing{element::boolean, {}, {}};
    auto gradient = gradients.begin();
    for (value_id argument : arguments)
      append(what, custom_gradient_operation::of_argument(),
             {argument, *gradient++, *cotangents.begin()}, nothing);
    value_ids read;
    if (2 * static_cast<int>(results.size()) > max_values_read)
      fail({.rule = violation::program_is_too_long,
            .have = static_cast<index_t>(2 * results.size()),
            .want = max_values_read});
    for (value_id i : results) read.push_back(i);
    for (value_id i : cotangents) read.push_back(i);
    append(what, custom_gradient_operation::of_results(), read, nothing);
    has_custom_gradients_ = true;
  }
  /// Removes the custom gradients of a finished program and renumbers its results. `vjp` keeps them
  /// for later cotangents.
  constexpr void drop_custom_gradients() {
    if (!has_custom_gradients_) return;
    has_custom_gradients_ = false;
    keep_needed({0, 1, 0}, results_, *result_count_);
  }

  /// Copies the code of a program on the same mesh as a body of this one, with the bodies that it
  /// calls, and returns its number. Equal bodies are stored once. `is_constant` states that the
  /// body outlives every program, so that it can be identified by its address.
  constexpr std::int32_t adopt(const program_view& body, bool is_constant = false) {
    for (std::int32_t k = 0; k < body_count(); ++k)
      if (is_constant && bodies_[k].constant == body.code) return k;
    for (std::int32_t k = 0; k < body_count(); ++k)
      if (program_view::have_same_code(body, view().body(k))) return k;
    for (value_id i = 0; i < body.count; ++i)
      if (is_call(body.what(i))) (void)adopt(body.callee(i));
    require_room(*count_ + body.count, *result_count_ + body.result_count);
    if (body_count() == body_capacity_)
      fail({.rule = violation::program_is_too_long,
            .have = index_t{body_count()} + 1,
            .want = body_capacity_});
    const program_body place{end_of_code() - body.count, body.count,
                             end_of_results() - body.result_count, body.result_count,
                             is_constant ? body.code : nullptr};
    for (value_id i = 0; i < body.count; ++i) {
      instruction& made = code_[place.first + i];
      made = body.code[i];
      made.how = is_call(*made.what) ? store(call_operation::how(adopt(body.callee(i))))
                                     : store(body.how(i));
      values_[place.first + i] = body.values[i];
    }
    for (std::int32_t r = 0; r < body.result_count; ++r)
      results_[place.first_result + r] = body.results[r];
    bodies_[*body_count_] = place;
    return (*body_count_)++;
  }
  /// Makes this program the body of a call, to which `active` refers until the end: what a function
  /// computes is recorded in its body, and values of the caller that it captures become inputs.
  /// Its first inputs represent the operands of the call.
  constexpr void begin_body_of(program_builder* caller, const value_ids& operands) noexcept {
    caller_ = caller;
    operands_ = operands;
    if (caller_ != nullptr) caller_->body_ = this;
  }
  constexpr void end_body() noexcept {
    if (caller_ != nullptr) caller_->body_ = nullptr;
  }
  /// Returns the program that is being recorded: this one, or the body of a call in it.
  [[nodiscard]] constexpr program_builder& active() noexcept {
    return body_ == nullptr ? *this : body_->active();
  }
  /// Returns a value of this program or, for a value of a caller, the input that represents it.
  constexpr value_id captured(const program_builder* from, value_id id) {
    if (from == this) return id;
    if (caller_ == nullptr || from == nullptr) fail({.rule = violation::operand_pools_differ});
    const value_id outer = caller_->captured(from, id);
    for (int k = 0; k < operands_.ssize(); ++k)
      if (operands_[k] == outer) {
        captured_operands_ |= 1U << k;
        return k;
      }
    for (int k = 0; k < captured_.ssize(); ++k)
      if (captured_[k] == outer) return captured_inputs_[k];
    if (captured_.full())
      fail({.rule = violation::program_is_too_long,
            .have = max_values_read + 1,
            .want = max_values_read});
    caller_->name(outer);
    const tensor_desc tensor = caller_->value(outer);
    const value_id inner = append(operation_of<input_operation>, {}, {}, tensor);
    captured_.push_back(outer);
    captured_inputs_.push_back(inner);
    return inner;
  }
  /// Returns the captured values of the caller, in the order of their inputs.
  [[nodiscard]] constexpr const value_ids& captured() const noexcept { return captured_; }
  /// Returns the operands of the call that are captured too, a bit each.
  [[nodiscard]] constexpr std::uint32_t captured_operands() const noexcept {
    return captured_operands_;
  }

  /// Returns the temporary note of a value, for functions on programs.
  [[nodiscard]] constexpr std::int32_t& note(value_id i) noexcept { return code_[i].note; }
  /// Returns the temporary links of a value: to the next one of a list, and to the value that
  /// computes it again.
  [[nodiscard]] constexpr value_id& next(value_id i) noexcept { return code_[i].next; }
  [[nodiscard]] constexpr value_id& again(value_id i) noexcept { return code_[i].again; }

  /// A position in a program: instructions after it were appended later.
  struct position {
    value_id code = 0;
    std::int32_t attribute_count = 0;
    std::int32_t body_count = 0;
  };
  [[nodiscard]] constexpr position end() const noexcept {
    return {*count_, *attribute_count_, body_count()};
  }
  /// Removes all instructions after a position that none of `needed` depends on, and updates the
  /// numbers of those; arguments of a function are replaced by their operands. Inputs are kept.
  /// While a gradient of the whole program is taken, custom gradients of kept values are kept too,
  /// unless they depend on the arguments: those belong to the gradient that has been taken.
  constexpr void keep_needed(const position& from, value_id* needed, std::int32_t count) {
    const value_id last = *count_;
    const bool keeps_custom = has_custom_gradients_ && writes_calls_out_;
    if (keeps_custom) forget_custom_gradients(from.code);
    for (value_id i = from.code; i < last; ++i)
      code_[i].note = is_argument(*code_[i].what) ? code_[i].operands[0] : -1;
    const auto need = [&](value_id i) {
      if (i >= from.code && code_[i].note == -1) code_[i].note = i;
    };
    for (std::int32_t k = 0; k < count; ++k) need(needed[k]);
    for (value_id i = last - 1; i >= from.code; --i) {
      if (is_input(*code_[i].what) || (keeps_custom && is_custom_gradient_of(i, from.code)))
        need(i);
      if (code_[i].note == i)
        for (value_id o : code_[i].operands) need(o);
    }
    // The attributes are compacted with the code, unless bodies have attributes after the position
    // too.
    const bool moves_attributes = body_count() == from.body_count;
    if (moves_attributes) *attribute_count_ = from.attribute_count;
    // The notes stay in place and hold the new numbers.
    const auto number_of = [&](value_id i) { return i < from.code ? i : code_[i].note; };
    *count_ = from.code;
    for (value_id i = from.code; i < last; ++i) {
      if (code_[i].note != i) continue;
      instruction moved = code_[i];
      for (value_id& o : moved.operands) o = number_of(o);
      if (moves_attributes && moved.how != 0) {
        const std::int32_t had = std::exchange(moved.how, (*attribute_count_)++);
        if (had != moved.how) table_[moved.how] = table_[had];
      }
      const value_id to = (*count_)++;
      moved.note = to == i ? to : code_[to].note;
      code_[to] = moved;
      values_[to] = values_[i];
      code_[i].note = to;
    }
    for (std::int32_t k = 0; k < count; ++k) needed[k] = number_of(needed[k]);
    for (value_id i = from.code; i < last; ++i) code_[i].note = 0;
  }
  /// Returns the current program.
  [[nodiscard]] constexpr program_view view() const noexcept {
    return {mesh_,    code_,          values_, table_,      *count_,
            results_, *result_count_, bodies_, body_count()};
  }

 private:
  /// Returns true for a custom gradient of a needed value; its readers have already been visited.
  [[nodiscard]] constexpr bool is_custom_gradient_of(value_id i, value_id from) const noexcept {
    if (!is_custom_gradient(*code_[i].what)) return false;
    const value_ids& read = code_[i].operands;
    const bool of_results = custom_gradient_operation::is_of_results(how(i));
    for (int k = of_results ? 0 : 2; k < (of_results ? read.ssize() / 2 : read.ssize()); ++k)
      if (read[k] < from || code_[read[k]].note == read[k]) return true;
    return false;
  }
  /// Disables the custom gradients after a position whose results depend on the arguments.
  constexpr void forget_custom_gradients(value_id from) {
    for (value_id i = from; i < *count_; ++i) {
      instruction& at = code_[i];
      bool depends = is_argument(*at.what);
      for (value_id o : at.operands) depends = depends || (o >= from && code_[o].note == 1);
      at.note = depends ? 1 : 0;
      if (is_custom_gradient(*at.what) && custom_gradient_operation::is_of_results(how(i)) &&
          depends_on_arguments(at.operands, from))
        at.operands.clear();
    }
  }
  [[nodiscard]] constexpr bool depends_on_arguments(const value_ids& of_results,
                                                    value_id from) const noexcept {
    for (int k = 0; k < of_results.ssize() / 2; ++k)
      if (of_results[k] >= from && code_[of_results[k]].note == 1) return true;
    return false;
  }
  [[nodiscard]] constexpr std::int32_t body_count() const noexcept {
    return body_count_ == nullptr ? 0 : *body_count_;
  }
  /// Returns the position of the bodies, which follow the program's own code and results.
  [[nodiscard]] constexpr value_id end_of_code() const noexcept {
    return body_count() == 0 ? capacity_ : bodies_[body_count() - 1].first;
  }
  [[nodiscard]] constexpr std::int32_t end_of_results() const noexcept {
    return body_count() == 0 ? result_capacity_ : bodies_[body_count() - 1].first_result;
  }
  constexpr void require_room(std::int32_t code, std::int32_t results) {
    if (grow_ != nullptr && code > end_of_code()) grow_(*this);
    const auto require_less = [](std::int32_t have, std::int32_t want) {
      if (have > want)
        fail({.rule = violation::program_is_too_long, .have = index_t{have}, .want = want});
    };
    require_less(code, end_of_code());
    require_less(results, end_of_results());
  }
  /// Stores attributes and returns their index in the table.
  constexpr std::int32_t store(const attributes& how) {
    if (how.empty()) return 0;
    table_[*attribute_count_] = how;
    return (*attribute_count_)++;
  }

  mesh_desc* mesh_;
  instruction* code_;
  tensor_desc* values_;
  attributes* table_;
  value_id* results_;
  std::int32_t* count_;
  std::int32_t* attribute_count_;
  std::int32_t* result_count_;
  std::int32_t capacity_;
  std::int32_t result_capacity_;
  program_body* bodies_ = nullptr;
  std::int32_t* body_count_ = nullptr;
  std::int32_t body_capacity_ = 0;
  bool recomputes_ = false;
  bool writes_calls_out_ = false;
  bool has_custom_gradients_ = false;
  /// The body that is being recorded; the program that calls this one, the values of it that are
  /// operands, those that are captured, and the inputs for these.
  program_builder* body_ = nullptr;
  program_builder* caller_ = nullptr;
  value_ids operands_{}, captured_{}, captured_inputs_{};
  std::uint32_t captured_operands_ = 0;
  /// Grows the memory of an owner that supports it and has no bodies.
  void* owner_ = nullptr;
  void (*grow_)(program_builder&) = nullptr;
};

}  // namespace shardwise
