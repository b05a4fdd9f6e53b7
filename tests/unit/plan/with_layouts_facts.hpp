// SPDX-License-Identifier: BSL-1.0
// Programs with propagated layouts, and the reshards that are inserted: facts that the static tests
// and the unit tests share.
#pragma once

#include "shardwise/plan/planned_program.hpp"
#include "shardwise/plan/with_layouts.hpp"
#include "unit/plan/propagate_layouts_facts.hpp"

namespace propagated {

/// True if the program with the layouts has these types, in order.
template <std::size_t Capacity>
constexpr bool becomes(const traced_program<Capacity>& program, known_layouts known, texts wanted,
                       const propagation_options& options = {}) {
  const auto split = with_layouts(propagate_layouts(program, known, options));
  if (split.count != static_cast<std::int32_t>(wanted.size())) return false;
  value_id i = 0;
  for (text_view type : wanted)
    if (!(text_view(to_text(split.mesh, split.values[i++])) == type)) return false;
  return true;
}

constexpr auto product_program = [] {
  return trace_program<8>(product, on<square, 8, 4>, on<square, 4, 6>);
};
constexpr auto sum_program = [] {
  return trace_program<8>(sum_of_two, on<square, 8, 4>, on<square, 8, 4>);
};

constexpr auto sum_of_products() {
  return trace_program<16>([](const auto& x, const auto& y, const auto& z,
                              const auto& w) { return product(x, y) + product(z, w); },
                           on<square, 8, 4>, on<square, 4, 6>, on<square, 8, 4>, on<square, 4, 6>);
}

struct with_layouts_fact {
  text_view label;
  bool (*holds)();
};
constexpr bool holds(const with_layouts_fact& fact) { return fact.holds(); }

constexpr with_layouts_fact reshards[] = {
    {"layouts that fit need none",
     [] {
       return becomes(product_program(),
                      {{input, 0, R"([{"a"}, {?}])"}, {input, 1, R"([{?}, {"b"}])"}},
                      {"f32[8@a, 4]", "f32[4, 6@b]", "f32[8@a, 6@b]"});
     }},
    {"split terms of a product are added at once",
     [] {
       return becomes(product_program(), {{input, 0, R"([{?}, {"a"}])"}},
                      {"f32[8, 4@a]", "f32[4@a, 6]", "f32[8, 6]{partial sum: a}", "f32[8, 6]"});
     }},
    {"they are added and split where the result is split",
     [] {
       return becomes(trace_program<8>(product, on<square, 8, 32>, on<square, 32, 6>),
                      {{input, 0, R"([{?}, {"a"}])"}, {result, 0, R"([{"a"}, {?}])"}},
                      {"f32[8, 32@a]", "f32[32@a, 6]", "f32[8, 6]{partial sum: a}", "f32[8@a, 6]"});
     }},
    {"of two assignments that divide the work alike, the one that moves less is taken",
     [] {
       return becomes(product_program(),
                      {{input, 0, R"([{?}, {"a"}])"}, {result, 0, R"([{"a"}, {?}])"}},
                      {"f32[8, 4@a]", "f32[4@a, 6]", "f32[8@a, 4]", "f32[4, 6]", "f32[8@a, 6]"});
     }},
    {"an operand that has the axis elsewhere is moved",
     [] {
       return becomes(sum_program(), {{input, 0, R"([{"a"}, {}])"}, {input, 1, R"([{}, {"a"}])"}},
                      {"f32[8@a, 4]", "f32[8, 4@a]", "f32[8@a, 4]", "f32[8@a, 4]"});
     }},
    {"two devices compute what one closed result needs whole",
     [] {
       return becomes(
           sum_program(),
           {{input, 0, R"([{"a"}, {}])"}, {input, 1, R"([{"a"}, {}])"}, {result, 0, R"([{}, {}])"}},
           {"f32[8@a, 4]", "f32[8@a, 4]", "f32[8@a, 4]", "f32[8, 4]"});
     }},
    {"a reshard serves all readers",
     [] {
       return becomes(trace_program<8>([](const auto& x) { return cumsum<0>(x) * sort<0>(x); },
                                       on<square, 8, 4>),
                      {{input, 0, R"([{"a"}, {}])"}, {result, 0, R"([{}, {"a"}])"}},
                      {"f32[8@a, 4]", "f32[8, 4@a]", "f32[8, 4@a]", "f32[8, 4@a]", "f32[8, 4@a]"});
     }},
    {"a dimension that is needed whole is gathered, and its result is split again",
     [] {
       return becomes(
           trace_program<8>([](const auto& x) { return cumsum<0>(x); }, on<square, 8, 4>),
           {{input, 0, R"([{"a"}, {}])"}, {result, 0, R"([{"a"}, {}])"}},
           {"f32[8@a, 4]", "f32[8, 4]", "f32[8, 4]", "f32[8@a, 4]"});
     }},
    {"further results have the layout of the first",
     [] {
       return becomes(
           trace_program<8>(
               [](const auto& x) {
                 const auto [largest, place] = max_with_index<1>(x);
                 return largest * cast<float>(place);
               },
               on<square, 8, 4>),
           {{input, 0, R"([{"a"}, {"b"}])"}},
           {"f32[8@a, 4@b]", "f32[8@a, 4]", "f32[8@a]", "i64[8@a]", "f32[8@a]", "f32[8@a]"});
     }},
    {"each of several results gets its layout in the end",
     [] {
       return becomes(
           trace_program<8>([](const auto& x) { return max_with_index<1>(x); }, on<square, 8, 4>),
           {{input, 0, R"([{"a"}, {?}])"}, {result, 0, R"([{"a"}])"}, {result, 1, R"([{}])"}},
           {"f32[8@a, 4]", "f32[8@a]", "i64[8@a]", "i64[8]"});
     }},
    {"a reshard of the program gives its own layout",
     [] {
       using rows = P<"a", none>;
       return becomes(
           trace_program<8>([](const auto& x) { return -reshard<rows>(x); }, on<square, 8, 4>),
           {{input, 0, R"([{}, {"a"}])"}}, {"f32[8, 4@a]", "f32[8@a, 4]", "f32[8@a, 4]"});
     }},
    {"no layout passes a barrier, which is not an instruction any more",
     [] {
       return becomes(
           trace_program<8>(
               [](const auto& x) { return -propagation_barrier<layout_flow::nowhere>(x); },
               on<square, 8, 4>),
           {{input, 0, R"([{"a"}, {}])"}}, {"f32[8@a, 4]", "f32[8, 4]", "f32[8, 4]"});
     }},
    {"extents that are not divisible are split unevenly",
     [] {
       return becomes(trace_program<8>([](const auto& x) { return -x; }, on<square, 7, 4>),
                      {{input, 0, R"([{"a"}, {?}])"}}, {"f32[7@a, 4]", "f32[7@a, 4]"}, padded);
     }},
    {"an input that is donated stays so, though a reshard of it changes nothing",
     [] {
       using rows = P<"a", none>;
       const auto split = with_layouts(
           propagate_layouts(trace_program<8>([](const auto& x) { return -reshard<rows>(x); },
                                              donate(on<square, 8, 4>)),
                             {{input, 0, R"([{"a"}, {}])"}}));
       return split.count == 2 && split.code[0].donated;
     }},
    {"what is manual keeps its layout",
     [] {
       return becomes(trace_program<8>(
                          [](const auto& x) {
                            const auto mine = enable_manual_sharding(reshard<P<"a", none>>(x));
                            return -disable_manual_sharding<P<"a", none>>(mine + mine);
                          },
                          on<square, 8, 4>),
                      {{input, 0, R"([{}, {"a"}])"}},
                      {"f32[8, 4@a]", "f32[8@a, 4]", "f32[4, 4]{manual: a}", "f32[4, 4]{manual: a}",
                       "f32[8@a, 4]", "f32[8@a, 4]"});
     }},
    {"one that is read as a value is reduced for its reader",
     [] {
       return becomes(
           trace_program<8>([](const auto& x, const auto& y) { return relu(product(x, y)); },
                            on<square, 8, 32>, on<square, 32, 6>),
           {{input, 0, R"([{?}, {"a"}])"}, {result, 0, R"([{"a"}, {}])"}},
           {"f32[8, 32@a]", "f32[32@a, 6]", "f32[8, 6]{partial sum: a}", "f32[8@a, 6]",
            "f32[8@a, 6]"});
     }},
    {"one with a name, or with several readers, is reduced at once",
     [] {
       const auto twice = [](const auto& x, const auto& y) {
         const auto h = product(x, y);
         return h + h;
       };
       return becomes(
           trace_program<8>(twice, on<square, 8, 4>, on<square, 4, 6>),
           {{input, 0, R"([{?}, {"a"}])"}},
           {"f32[8, 4@a]", "f32[4@a, 6]", "f32[8, 6]{partial sum: a}", "f32[8, 6]", "f32[8, 6]"});
     }},
    {"the ledger counts what is inserted",
     [] {
       const auto split =
           with_layouts(propagate_layouts(product_program(), {{input, 0, R"([{?}, {"a"}])"}}));
       const cost_ledger costs = ledger_of(split);
       return costs.collectives() == 1 && costs.collectives("a") == 1 &&
              costs.bytes_moved() == 8 * 6 * 4;
     }},
};

/// Facts of programs with more instructions, which are checked at run time alone.
constexpr with_layouts_fact reshards_of_longer_programs[] = {
    {"pending results are added before they are reduced",
     [] {
       return becomes(
           sum_of_products(), {{input, 0, R"([{?}, {"a"}])"}, {input, 2, R"([{?}, {"a"}])"}},
           {"f32[8, 4@a]", "f32[4@a, 6]", "f32[8, 4@a]", "f32[4@a, 6]", "f32[8, 6]{partial sum: a}",
            "f32[8, 6]{partial sum: a}", "f32[8, 6]{partial sum: a}", "f32[8, 6]"});
     }},
    {"a pending result beside one that is not is reduced first",
     [] {
       const auto split = with_layouts(propagate_layouts(
           sum_of_products(), {{input, 0, R"([{?}, {"a"}])"}, {input, 2, R"([{}, {}])"}}));
       return split.count == 8 && text_view(to_text(split.mesh, split.values[7])) == "f32[8, 6]" &&
              ledger_of(split).collectives("a") == 1;
     }},
};

}  // namespace propagated
