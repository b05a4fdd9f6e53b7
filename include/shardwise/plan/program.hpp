// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/error.hpp"
#include "shardwise/rule/operation.hpp"

#include <concepts>

namespace shardwise {

/// One operation applied: to which values, with which attributes, and what the program said of the
/// result. The value is the number of the instruction.
struct instruction {
  const operation* what = nullptr;
  /// The place of its attributes in the program's table.
  std::int32_t how = 0;
  value_ids operands{};
  /// True if the program named the value: it used it by a name, so that what reads it does not
  /// compute it anew.
  bool named = false;
  /// True if the program's caller keeps the value, by a name of its own.
  bool kept = false;
  /// True for an input whose memory the program may take.
  bool donated = false;
};

/// A program as a borrowed value: what functions of programs read. Its instructions stand in an
/// order in which they can run, unfused; equal programs compute the same.
struct program_view {
  const mesh_desc* mesh = nullptr;
  const instruction* code = nullptr;
  const tensor_desc* values = nullptr;
  const attributes* table = nullptr;
  std::int32_t count = 0;
  /// The values that the program's caller keeps, in the order in which it gets them.
  const value_id* results = nullptr;
  std::int32_t result_count = 0;

  [[nodiscard]] constexpr const operation& what(value_id i) const noexcept { return *code[i].what; }
  [[nodiscard]] constexpr const attributes& how(value_id i) const noexcept {
    return table[code[i].how];
  }
  /// What the operands of an instruction are on paper.
  [[nodiscard]] constexpr tensor_descs operands(value_id i) const noexcept {
    tensor_descs all;
    for (value_id o : code[i].operands) all.push_back(values[o]);
    return all;
  }

  friend constexpr bool operator==(const program_view& a, const program_view& b) noexcept {
    if (a.count != b.count || a.result_count != b.result_count || *a.mesh != *b.mesh) return false;
    for (std::int32_t r = 0; r < a.result_count; ++r)
      if (a.results[r] != b.results[r]) return false;
    for (value_id i = 0; i < a.count; ++i) {
      const instruction& x = a.code[i];
      const instruction& y = b.code[i];
      if (!(*x.what == *y.what) || x.operands != y.operands || x.named != y.named ||
          x.kept != y.kept || x.donated != y.donated || a.values[i] != b.values[i] ||
          !(a.how(i) == b.how(i)))
        return false;
    }
    return true;
  }
};

/// A program of at most `Capacity` instructions over one mesh, as a value: what `trace_program`
/// records, in the compiler too.
template <std::size_t Capacity>
struct program {
  mesh_desc mesh{};
  instruction code[Capacity]{};
  tensor_desc values[Capacity]{};
  /// The attributes that instructions have; the first are those of the ones that need none.
  attributes table[Capacity + 1]{};
  value_id results[Capacity]{};
  std::int32_t count = 0;
  std::int32_t attribute_count = 1;
  std::int32_t result_count = 0;

  [[nodiscard]] constexpr program_view view() const noexcept {
    return {&mesh, code, values, table, count, results, result_count};
  }
  template <std::size_t Other>
  friend constexpr bool operator==(const program& a, const program<Other>& b) noexcept {
    return a.view() == b.view();
  }
};

/// An input of a program, and a number that is the same for every element: what only says where
/// values come from.
struct input_operation {
  static constexpr text_view name = "input";
  static constexpr bool is_leaf = true;
};
struct constant_operation {
  static constexpr text_view name = "constant";
  static constexpr bool is_leaf = true;

  /// Whole numbers are kept as such, so that all of their bits are.
  template <class T>
  [[nodiscard]] static constexpr attributes how(T value) noexcept {
    attributes out;
    if constexpr (std::integral<T>)
      out.integers = {static_cast<index_t>(value)};
    else
      out.number = static_cast<double>(value);
    return out;
  }
  template <class T>
  [[nodiscard]] static constexpr T value(const attributes& how) noexcept {
    return how.integers.empty() ? static_cast<T>(how.number) : static_cast<T>(how.integers[0]);
  }
};

/// One of the further results of an operation that has several; its integer is the number, from 1.
/// The first result is the value of the operation itself.
struct result_operation {
  static constexpr text_view name = "result";

  [[nodiscard]] static constexpr attributes how(int number) noexcept {
    attributes out;
    out.integers = {index_t{number}};
    return out;
  }
  [[nodiscard]] static constexpr text<47> label(const attributes& how) noexcept {
    text<47> words;
    words << name << ' ' << how.integers[0];
    return words;
  }
};

/// True for an input of a program.
[[nodiscard]] constexpr bool is_input(const operation& what) noexcept {
  return what.id == operation_of<input_operation>.id;
}
/// True for a number.
[[nodiscard]] constexpr bool is_constant(const operation& what) noexcept {
  return what.id == operation_of<constant_operation>.id;
}

/// The one way to append to a program: not a template, so that what appends is none either.
///
/// Its owner provides the memory; where that is full, the program is too long.
class program_builder {
 public:
  template <std::size_t Capacity>
  constexpr explicit program_builder(program<Capacity>& to) noexcept
      : mesh_(&to.mesh),
        code_(to.code),
        values_(to.values),
        table_(to.table),
        results_(to.results),
        count_(&to.count),
        attribute_count_(&to.attribute_count),
        result_count_(&to.result_count),
        capacity_(std::int32_t{Capacity}),
        result_capacity_(std::int32_t{Capacity}) {}
  /// Appends to a program in memory of any owner, with the members of `program`: ranges with room
  /// for all instructions, one attribute more, of which the first is there, and all results.
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
        result_capacity_(static_cast<std::int32_t>(to.results.size())) {}

  [[nodiscard]] constexpr const mesh_desc& mesh() const noexcept { return *mesh_; }
  [[nodiscard]] constexpr std::int32_t size() const noexcept { return *count_; }
  [[nodiscard]] constexpr const tensor_desc& value(value_id i) const noexcept { return values_[i]; }
  [[nodiscard]] constexpr const instruction& operator[](value_id i) const noexcept {
    return code_[i];
  }
  [[nodiscard]] constexpr const attributes& how(value_id i) const noexcept {
    return table_[code_[i].how];
  }

  /// Says where a program runs that has no instructions yet.
  constexpr void place(const mesh_desc& mesh) noexcept {
    if (*count_ == 0) *mesh_ = mesh;
  }
  /// Appends an instruction whose result is known already.
  constexpr value_id append(const operation& what, const attributes& how, const value_ids& operands,
                            const tensor_desc& result) {
    if (*count_ == capacity_)
      fail({.rule = broken::program_is_too_long, .have = index_t{*count_} + 1, .want = capacity_});
    const value_id id = (*count_)++;
    instruction& made = code_[id];
    made.what = &what;
    made.operands = operands;
    values_[id] = result;
    if (!how.empty()) {
      made.how = (*attribute_count_)++;
      table_[made.how] = how;
    }
    return id;
  }
  /// Appends an instruction and infers its result.
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

  /// Notes that the program uses a value by a name, and that its caller keeps one, as the next of
  /// the results; a value may be several of them.
  constexpr void name(value_id i) noexcept {
    if (!code_[i].what->is_leaf) code_[i].named = true;
  }
  constexpr void keep(value_id i) {
    if (*result_count_ == result_capacity_)
      fail({.rule = broken::program_is_too_long,
            .have = index_t{*result_count_} + 1,
            .want = result_capacity_});
    name(i);
    code_[i].kept = true;
    results_[(*result_count_)++] = i;
  }
  /// Gives a value the marks of another instruction; what is kept is said by `keep`.
  constexpr void mark(value_id i, const instruction& like) noexcept {
    code_[i].named = like.named;
    code_[i].donated = like.donated;
  }

 private:
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
};

}  // namespace shardwise
