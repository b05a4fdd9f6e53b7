// SPDX-License-Identifier: BSL-1.0
#include <shardwise/paper.hpp>

using namespace shardwise;

namespace {

constexpr mesh_desc line{{axis_desc{"x", 4}}};

constexpr layout_desc layout_of(const spec_desc& spec, bool pending = false) {
  layout_desc out = shardwise::layout_of(line, spec, {}, exact{});
  out.pending = pending ? 1 : 0;
  return out;
}
constexpr planned_transfer move_of(const tensor_desc& x, const layout_desc& target) {
  return redistribute(line, x, target).moves[0];
}

/// The elements that a device receives from others, and from itself, in one collective.
struct heard {
  index_t others = 0;
  index_t own = 0;
  int pieces = 0;

  friend constexpr bool operator==(const heard&, const heard&) = default;
};
constexpr heard heard_by(index_t device, const tensor_desc& x, const layout_desc& target) {
  heard out;
  for_each_piece(line, x, move_of(x, target), device, [&](const shard_piece& p) {
    (p.from == device ? out.own : out.others) += p.elements;
    ++out.pieces;
  });
  return out;
}

constexpr layout_desc rows = layout_of(spec_desc{{"x", ""}});
constexpr layout_desc columns = layout_of(spec_desc{{"", "x"}});
constexpr layout_desc whole = layout_of(spec_desc{{"", ""}});
constexpr layout_desc terms = layout_of(spec_desc{{"", ""}}, true);

constexpr tensor_desc by_rows{element::f32, {8, 4}, rows};
constexpr tensor_desc by_terms{element::f32, {8, 4}, terms};

static_assert(heard_by(1, by_rows, whole) == heard{24, 8, 4});
static_assert(heard_by(1, by_rows, columns) == heard{6, 2, 4});
static_assert(heard_by(2, by_terms, rows) == heard{24, 8, 4});
static_assert(heard_by(3, by_terms, whole) == heard{48, 16, 8});
static_assert(heard_by(3, {element::f32, {8, 4}, whole}, rows) == heard{0, 8, 1});

// Ten elements of an all_reduce: three devices reduce three each, the last one what is left.
static_assert(reduced_at(2, 4, 10) == index_range{6, 9} && reduced_at(3, 4, 10).size() == 1);

// Seven terms are added as four and three, and three as two and one.
static_assert(terms_on_the_left(7) == 4 && terms_on_the_left(3) == 2 && terms_on_the_left(4) == 2);

// The bytes that cross owners: of the rows of two owners, each receives half; of a sum, it receives
// the other's terms of its own half and then the sum of the other half.
constexpr index_t halves[] = {0, 0, 1, 1};
constexpr device_owners two{list_view<const index_t>(halves)};
static_assert(two.count() == 2 && two.owner_of(2) == 1 && device_owners().owner_of(7) == 0);
static_assert(crossing_bytes(line, by_rows, move_of(by_rows, whole), two, 0) == 64);
static_assert(crossing_bytes(line, by_rows, move_of(by_rows, columns), two, 1) == 32);
// Of few bytes, it receives all terms of the other, in one round.
constexpr crossing_rules two_rounds{.one_round_bytes = 0};
static_assert(crossing_bytes(line, by_terms, move_of(by_terms, whole), two, 0) == 128);
static_assert(crossing_bytes(line, by_terms, move_of(by_terms, whole), two, 0, two_rounds) ==
              64 + 64);
// Four owners on two hosts: of the three rows' parts that each receives, two come from elsewhere.
constexpr index_t quarters[] = {0, 1, 2, 3};
constexpr index_t hosts[] = {0, 0, 1, 1};
constexpr device_owners four{list_view<const index_t>(quarters)};
static_assert(crossing_bytes(line, by_rows, move_of(by_rows, whole), four, 0) == 96);
static_assert(crossing_bytes(line, by_rows, move_of(by_rows, whole), four, 0, {},
                             list_view<const index_t>(hosts)) == 64);

}  // namespace
