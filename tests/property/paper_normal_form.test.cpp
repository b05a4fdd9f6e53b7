// SPDX-License-Identifier: BSL-1.0
// The normal form of a program does not depend on the order of its instructions.
#include "property/round_trip.hpp"
#include "support/catch.hpp"
#include "support/paper.hpp"

#include <algorithm>
#include <set>

using namespace paper;

namespace {

using any_program = traced_program<64>;

const mesh_desc pod{{axis_desc{"x", 2}, axis_desc{"y", 4}}};
const tensor_desc tile{element::f32, {8, 16}, {{axis_list{}, axis_list{0}}}};
const tensor_desc row{element::f32, {16}, {{axis_list{0}}}};

/// The instructions of random programs: functions of one and two operands, a reduction, and an
/// operation that is not a pass.
value_id apply(program_builder& code, numbers& random, value_id a, value_id b) {
  const bool is_tile = code.value(a) == tile;
  switch (random(6)) {
    case 0:
      return code.append(operation_of<pointwise<functions::exp>>, {}, {a}, code.value(a));
    case 1:
      return code.append(operation_of<pointwise<functions::negate>>, {}, {a}, code.value(a));
    case 2:
      if (is_tile)
        return code.append(operation_of<reduction_operation>,
                           reduction_operation::how(reduction::sum, 1, false), {a}, row);
      return code.append(operation_of<einsum_operation>, einsum_operation::how("i->i"), {a}, row);
    case 3:
      return code.append(operation_of<pointwise<functions::multiply>>, {},
                         {a, code.constant(static_cast<float>(random(3)), element::f32)},
                         code.value(a));
    default:
      return code.append(operation_of<pointwise<functions::subtract>>, {}, {a, b},
                         is_tile ? tile : code.value(b));
  }
}

/// A value that is not a constant number.
value_id pick(const program_builder& code, numbers& random) {
  for (;;) {
    const auto i = static_cast<value_id>(code.size() - 1 - random(std::min(code.size(), 6)));
    if (!is_constant(*code[i].what)) return i;
  }
}

any_program make_program(numbers& random) {
  any_program out;
  program_builder code(out);
  code.place(pod);
  const index_t count = 4 + random(30);
  while (code.size() < count) {
    const value_id made =
        code.size() == 0 || random(6) == 0
            ? code.append(operation_of<input_operation>, {}, {}, random(3) == 0 ? row : tile)
            : apply(code, random, pick(code, random), pick(code, random));
    if (random(4) == 0) code.name(made);
    if (random(8) == 0) code.keep(made);
    if (is_input(*code[made].what) && random(3) == 0) code.mark(made, {.donated = true});
  }
  code.keep(pick(code, random));
  return out;
}

/// The same program with its instructions in another order, and with some unused ones. Values that
/// are named or read by several instructions stay in order, and so do inputs that are only kept.
any_program shuffled(const any_program& from, numbers& random) {
  std::vector<cluster_note> notes(64);
  form_clusters(from.view(), notes.data());
  const auto note = [&](value_id i) { return notes[static_cast<std::size_t>(i)]; };
  const auto is_ordered = [&](value_id i) {
    const operation& what = from.view().what(i);
    if (what.is_leaf) return note(i).reader == -1;
    return note(i).root == i &&
           (note(i).reader == several_readers || (note(i).reader >= 0 && from.code[i].named));
  };
  any_program out;
  program_builder code(out);
  code.place(from.mesh);
  std::vector<value_id> number(64, -1);
  const auto may_follow = [&](value_id i) {
    if (number[static_cast<std::size_t>(i)] >= 0) return false;
    for (value_id o : from.code[i].operands)
      if (number[static_cast<std::size_t>(o)] < 0) return false;
    for (value_id before = 0; before < i && is_ordered(i); ++before)
      if (is_ordered(before) && number[static_cast<std::size_t>(before)] < 0 &&
          is_input(from.view().what(before)) == is_input(from.view().what(i)))
        return false;
    return true;
  };
  for (std::int32_t left = from.count; left > 0; --left) {
    std::vector<value_id> open;
    for (value_id i = 0; i < from.count; ++i)
      if (may_follow(i)) open.push_back(i);
    const value_id next = open[static_cast<std::size_t>(random(std::ssize(open)))];
    value_ids operands;
    for (value_id o : from.code[next].operands)
      operands.push_back(number[static_cast<std::size_t>(o)]);
    const value_id made =
        code.append(from.view().what(next), from.view().how(next), operands, from.values[next]);
    code.mark(made, from.code[next]);
    number[static_cast<std::size_t>(next)] = made;
    if (random(4) == 0 && code.size() + left < 60 && !is_constant(*code[made].what))
      apply(code, random, made, made);
  }
  for (std::int32_t r = 0; r < from.result_count; ++r)
    code.keep(number[static_cast<std::size_t>(from.results[r])]);
  return out;
}

}  // namespace

TEST_CASE("a program has one normal form in every order of its instructions") {
  numbers random(21);
  int moved = 0;
  int dropped = 0;
  std::vector<any_program> seen;
  for (int n = 0; n < 400; ++n) {
    CAPTURE(n);
    const any_program made = make_program(random);
    const any_program normal = normal_form(made);
    generated::require_round_trip(made.view());
    REQUIRE(normal_form(normal) == normal);
    REQUIRE(ledger_of(normal).flops() == ledger_of(made).flops());
    dropped += normal.count < made.count ? 1 : 0;
    // Inputs are first, and every one is read or kept.
    bool begun = false;
    for (value_id i = 0; i < normal.count; ++i) {
      begun = begun || !is_input(normal.view().what(i));
      REQUIRE(begun != is_input(normal.view().what(i)));
    }
    for (int k = 0; k < 4; ++k) {
      const any_program other = shuffled(normal, random);
      moved += other == normal ? 0 : 1;
      REQUIRE(normal_form(other) == normal);
      REQUIRE(hash_of(normal_form(other).view()) == hash_of(normal.view()));
    }
    if (std::find(seen.begin(), seen.end(), normal) == seen.end()) seen.push_back(normal);
  }
  CHECK(moved > 1200);
  CHECK(dropped > 200);
  // Different programs have different hashes.
  std::set<std::uint64_t> hashes;
  for (const any_program& each : seen) hashes.insert(hash_of(each.view()));
  CHECK(seen.size() > 300);
  CHECK(hashes.size() == seen.size());
}
