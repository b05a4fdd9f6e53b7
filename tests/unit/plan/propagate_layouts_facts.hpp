// SPDX-License-Identifier: BSL-1.0
// The layouts of the values of programs after propagation: facts that the static tests and the unit
// tests share.
#pragma once

#include "shardwise/paper.hpp"
#include "shardwise/plan/propagate_layouts.hpp"

#include <utility>

namespace propagated {

using namespace shardwise;

struct square : mesh<axis<"a", 2>, axis<"b", 2>> {};
struct cube : mesh<axis<"a", 2>, axis<"b", 2>, axis<"c", 2>> {};
struct four : mesh<axis<"a", 2>, axis<"b", 2>, axis<"c", 2>, axis<"d", 2>> {};
/// A tensor that no axis splits.
template <class Mesh, class Extents>
struct whole_tensor;
template <class Mesh, index_t... N>
struct whole_tensor<Mesh, extents<N...>> {
  using type = sharded_tensor<float, extents<N...>, layout<Mesh, P<((void)N, none)...>>>;
};
template <class Mesh, index_t... N>
constexpr auto on = abstract<typename whole_tensor<Mesh, extents<N...>>::type>();

using enum known_layout::where_t;
using known_layouts = std::initializer_list<known_layout>;
using texts = std::initializer_list<text_view>;

constexpr propagation_options basic{.strategy = conflict_strategy::basic,
                                    .easy_operations_first = false};
constexpr propagation_options aggressive{.easy_operations_first = false};
constexpr propagation_options padded{.easy_operations_first = false, .uneven = true};

/// True if the values of a program get these layouts, in order; an empty text is not compared.
template <std::size_t Capacity>
constexpr bool gives(const traced_program<Capacity>& program, known_layouts known, texts wanted,
                     const propagation_options& options = {}) {
  const propagated_layouts<Capacity> found = propagate_layouts(program, known, options);
  if (found.program.count != static_cast<std::int32_t>(wanted.size())) return false;
  value_id i = 0;
  for (text_view words : wanted) {
    if (!words.empty() && !(text_view(to_text(found.program.mesh, found.values[i])) == words))
      return false;
    ++i;
  }
  return true;
}

constexpr auto sum_of_two = [](const auto& x, const auto& y) { return x + y; };
constexpr auto product = [](const auto& x, const auto& y) { return einsum<"ij,jk->ik">(x, y); };
constexpr auto product_of_rows = [](const auto& x, const auto& y) {
  return einsum<"ik,jk->ij">(x, y);
};
constexpr auto diagonal_of_square() {
  return trace_program([](const auto& x) { return diagonal(x); }, on<square, 8, 8>);
}
constexpr auto batched_product = [](const auto& x, const auto& y) {
  return einsum<"bij,bjk->bik">(x, y);
};
/// (x + y + z) / w
constexpr auto chain = [](const auto& x, const auto& y, const auto& z, const auto& w) {
  return (x + y + z) / w;
};
template <class F>
constexpr auto of_two(const F& f) {
  return trace_program(f, on<square, 8, 8>, on<square, 8, 8>);
}
template <class F>
constexpr auto of_two_in_cube(const F& f) {
  return trace_program(f, on<cube, 8, 8>, on<cube, 8, 8>);
}
constexpr auto chain_in_cube() {
  return trace_program(chain, on<cube, 8, 8>, on<cube, 8, 8>, on<cube, 8, 8>, on<cube, 8, 8>);
}

struct propagated_fact {
  text_view label;
  bool (*is_true)();
};
constexpr bool holds(const propagated_fact& fact) { return fact.is_true(); }

inline constexpr propagated_fact facts[] = {
    // --- axes go forward, backward and to the other operands
    {"a sum and a product",
     [] {
       return gives(trace_program([](const auto& x, const auto& y,
                                     const auto& z) { return product(x + y, z); },
                                  on<square, 8, 8>, on<square, 8, 8>, on<square, 8, 16>),
                    {{input, 0, R"([{"a"}, {"b"}])"}},
                    {R"([{"a"}, {"b"}])", R"([{"a", ?}, {"b", ?}])", R"([{"b", ?}, {?}])",
                     R"([{"a", ?}, {"b", ?}])", R"([{"a", ?}, {?}])"});
     }},
    {"two sums over a dimension",
     [] {
       return gives(trace_program([](const auto& x,
                                     const auto& y) { return std::pair(sum<1>(x), sum<1>(y)); },
                                  on<square, 4, 64, 8>, on<square, 4, 64, 8>),
                    {{input, 0, R"([{}, {}, {"b"}])"}, {input, 1, R"([{}, {}, {"b"}])"}},
                    {"", "", R"([{?}, {"b", ?}])", R"([{?}, {"b", ?}])"});
     }},
    {"an axis of a size that does not divide goes nowhere, unless parts may be uneven",
     [] {
       const auto program = trace_program(sum_of_two, on<square, 3, 8>, on<square, 3, 8>);
       const known_layouts rows{{input, 0, R"([{"a"}, {"b"}])"}};
       return gives(program, rows, {"", R"([{?}, {"b", ?}])", R"([{?}, {"b", ?}])"}) &&
              gives(program, rows, {"", R"([{"a", ?}, {"b", ?}])", R"([{"a", ?}, {"b", ?}])"},
                    {.uneven = true});
     }},
    {"a dimension of size 0",
     [] {
       return gives(trace_program([](const auto& x) { return x + x; }, on<square, 8, 0>),
                    {{input, 0, R"([{"a"}, {}])"}}, {R"([{"a"}, {}])", R"([{"a", ?}, {?}])"});
     }},
    // --- reshapes carry the outer part of a dimension
    {"a dimension is cut in two",
     [] {
       return gives(trace_program([](const auto& x) { return reshape<extents<2, 4, 3>>(x); },
                                  on<square, 8, 3>),
                    {{input, 0, R"([{"a", "b"}, {}])"}}, {"", R"([{"a", ?}, {"b", ?}, {?}])"});
     }},
    {"two dimensions become one",
     [] {
       return gives(
           trace_program([](const auto& x) { return reshape<extents<8>>(x); }, on<square, 2, 4>),
           {{result, 0, R"([{"a", "b"}])"}}, {R"([{"a", ?}, {"b", ?}])", R"([{"a", "b"}])"});
     }},
    {"the inner part of a dimension stays where the outer one is whole",
     [] {
       return gives(
           trace_program([](const auto& x) { return reshape<extents<8>>(x); }, on<square, 2, 4>),
           {{input, 0, R"([{}, {"b"}])"}}, {R"([{}, {"b"}])", R"([{?}])"});
     }},
    {"a transpose, a slice of rows and a concatenation",
     [] {
       return gives(trace_program(
                        [](const auto& x, const auto& y) {
                          auto turned = transpose<1, 0>(x);
                          auto rows = slice_in_dim<0, 0, 8>(y);
                          return concatenate<0>(turned, rows);
                        },
                        on<square, 8, 4>, on<square, 16, 8>),
                    {{result, 0, R"([{?}, {"b"}])"}},
                    {R"([{"b", ?}, {?}])", R"([{?}, {"b", ?}])", R"([{?}, {"b", ?}])",
                     R"([{?}, {"b", ?}])", R"([{?}, {"b"}])"});
     }},
    // --- barriers
    {"backward past a barrier",
     [] {
       return gives(trace_program(
                        [](const auto& x) { return propagation_barrier<layout_flow::backward>(x); },
                        on<cube, 8, 8>),
                    {{result, 0, R"([{"a", "b", ?}, {?}])"}}, {R"([{"a", "b", ?}, {?}])", ""});
     }},
    {"not forward past a barrier that lets layouts go backward",
     [] {
       return gives(trace_program(
                        [](const auto& x) { return propagation_barrier<layout_flow::backward>(x); },
                        on<cube, 8, 8>),
                    {{input, 0, R"([{"a", ?}, {"c", ?}])"}}, {"", R"([{?}, {?}])"});
     }},
    {"backward past a barrier that has a layout of its own",
     [] {
       return gives(trace_program(
                        [](const auto& x) { return propagation_barrier<layout_flow::backward>(x); },
                        on<cube, 8, 8>),
                    {{input, 0, R"([{"a", ?}, {"c", ?}])"}, {result, 0, R"([{"a", "b", ?}, {?}])"}},
                    {R"([{"a", "b", ?}, {"c", ?}])", R"([{"a", "b", ?}, {?}])"});
     }},
    {"forward past a barrier",
     [] {
       return gives(
           trace_program([](const auto& x) { return propagation_barrier<layout_flow::forward>(x); },
                         on<cube, 8, 8>),
           {{input, 0, R"([{"a", ?}, {"c", ?}])"}, {result, 0, R"([{"a", "b", ?}, {?}])"}},
           {R"([{"a", ?}, {"c", ?}])", R"([{"a", "b", ?}, {"c", ?}])"});
     }},
    {"nothing goes past a barrier",
     [] {
       return gives(
           trace_program([](const auto& x) { return propagation_barrier(x); }, on<cube, 8, 8>),
           {{input, 0, R"([{"a", ?}, {"c", ?}])"}, {result, 0, R"([{"a", "b", ?}, {?}])"}},
           {R"([{"a", ?}, {"c", ?}])", R"([{"a", "b", ?}, {?}])"});
     }},
    // --- conflicts, without a decision
    {"the longest common beginning",
     [] {
       return gives(of_two_in_cube(sum_of_two),
                    {{input, 0, R"([{"b", "a"}, {}])"}, {input, 1, R"([{"b", "c"}, {}])"}},
                    {"", "", R"([{"b", ?}, {?}])"}, basic);
     }},
    {"an axis that another dimension of a tensor has, and those behind it, go nowhere",
     [] {
       return gives(of_two(sum_of_two),
                    {{input, 0, R"([{"a", "b"}, {}])"}, {result, 0, R"([{?}, {"b", ?}])"}},
                    {"", R"([{"a", ?}, {?}])", R"([{"a", ?}, {"b", ?}])"}, basic);
     }},
    {"a closed dimension gets nothing",
     [] {
       return gives(of_two(product),
                    {{input, 0, R"([{"a"}, {}])"},
                     {input, 1, R"([{}, {"b"}])"},
                     {result, 0, R"([{}, {?}])"}},
                    {R"([{"a"}, {}])", R"([{}, {"b"}])", R"([{}, {"b", ?}])"}, basic);
     }},
    // --- conflicts, decided
    {"conflicts within a dimension stay",
     [] {
       return gives(of_two_in_cube(sum_of_two),
                    {{input, 0, R"([{"a", ?}, {}])"}, {input, 1, R"([{"b", ?}, {}])"}},
                    {"", "", R"([{?}, {?}])"}, aggressive);
     }},
    {"one dimension conflicts, another one does not",
     [] {
       return gives(of_two_in_cube(sum_of_two),
                    {{input, 0, R"([{"a", ?}, {?}])"}, {input, 1, R"([{"b", ?}, {"a", ?}])"}},
                    {R"([{"a", ?}, {?}])", R"([{"b", ?}, {"a", ?}])", R"([{?}, {"a", ?}])"},
                    aggressive);
     }},
    {"a closed dimension keeps its axes",
     [] {
       return gives(of_two(sum_of_two),
                    {{input, 0, R"([{"a"}, {"b"}])"}, {input, 1, R"([{?}, {}])"}},
                    {"", R"([{"a", ?}, {}])", R"([{"a", ?}, {"b", ?}])"}, aggressive);
     }},
    {"two dimensions that are not summed",
     [] {
       return gives(of_two(product_of_rows),
                    {{input, 0, R"([{"a", ?}, {?}])"}, {result, 0, R"([{?}, {"a", ?}])"}},
                    {R"([{"a", ?}, {?}])", R"([{"a", ?}, {?}])", R"([{?}, {"a", ?}])"}, aggressive);
     }},
    {"a dimension that is summed and one that is not",
     [] {
       return gives(of_two_in_cube(product_of_rows),
                    {{input, 0, R"([{"a"}, {"b", "c"}])"}, {input, 1, R"([{"c", "b"}, {"a"}])"}},
                    {"", "", R"([{"a", ?}, {"c", "b", ?}])"}, aggressive);
     }},
    {"closed dimensions do not hold back the others",
     [] {
       return gives(
           of_two_in_cube(sum_of_two),
           {{input, 0, R"([{"a", ?}, {"b"}])"}, {input, 1, R"([{}, {"b", "c", ?}])"}},
           {R"([{"a", ?}, {"b"}])", R"([{}, {"b", "c", ?}])", R"([{"a", ?}, {"b", "c", ?}])"},
           aggressive);
     }},
    {"of tensors of one size the first dimension wins",
     [] {
       return gives(of_two_in_cube(sum_of_two),
                    {{input, 0, R"([{"a"}, {?}])"}, {input, 1, R"([{?}, {"a"}])"}},
                    {R"([{"a"}, {?}])", R"([{?}, {"a"}])", R"([{"a", ?}, {?}])"}, aggressive);
     }},
    {"the larger tensor wins",
     [] {
       return gives(trace_program(product, on<cube, 8, 4>, on<cube, 4, 16>),
                    {{input, 0, R"([{"a", "b"}, {?}])"}, {input, 1, R"([{?}, {"a", "c"}])"}},
                    {"", "", R"([{?}, {"a", "c", ?}])"}, aggressive);
     }},
    {"a part of the axes conflicts",
     [] {
       return gives(
           trace_program(batched_product, on<cube, 2, 8, 4>, on<cube, 2, 4, 16>),
           {{input, 0, R"([{"a"}, {"b"}, {}])"}, {result, 0, R"([{"a", "b"}, {}, {}])"}},
           {R"([{"a"}, {"b"}, {}])", R"([{"a", "b", ?}, {?}, {?}])", R"([{"a", "b"}, {}, {}])"},
           padded);
     }},
    {"several conflicts",
     [] {
       return gives(trace_program(batched_product, on<four, 2, 8, 4>, on<four, 2, 4, 16>),
                    {{input, 0, R"([{?}, {"a", "b"}, {?}])"},
                     {input, 1, R"([{?}, {"d", "c"}, {"b", "a"}])"},
                     {result, 0, R"([{"d"}, {?}, {?}])"}},
                    {R"([{"d", ?}, {"a", "b"}, {?}])", R"([{?}, {"d", "c"}, {"b", "a"}])",
                     R"([{"d"}, {?}, {"b", "a", ?}])"},
                    padded);
     }},
    {"operands do not give each other what the result refuses",
     [] {
       const auto program = trace_program(sum_of_two, on<square, 8>, on<square, 8>);
       return gives(program, {{input, 0, R"([{"a"}])"}, {result, 0, "[{}]"}},
                    {R"([{"a"}])", "[{?}]", "[{}]"}, aggressive) &&
              gives(program, {{input, 0, R"([{"a", "b"}])"}, {result, 0, "[{?}]"}},
                    {"", R"([{"a", "b", ?}])", R"([{"a", "b", ?}])"}, aggressive) &&
              gives(program, {{input, 0, R"([{"a", "b"}])"}, {result, 0, R"([{"a"}])"}},
                    {"", R"([{"a", ?}])", R"([{"a"}])"}, aggressive) &&
              gives(program, {{input, 0, R"([{"a", "b"}])"}, {result, 0, R"([{"a", "b"}])"}},
                    {"", R"([{"a", "b", ?}])", R"([{"a", "b"}])"}, aggressive);
     }},
    {"explicitly replicated axes split nothing",
     [] {
       return gives(
           of_two(sum_of_two),
           {{input, 0, R"([{"a"}, {"b"}])"}, {input, 1, R"([{?}, {?}], replicated={"b"})"}},
           {"", R"([{"a", ?}, {?}], replicated={"b"})", R"([{"a", ?}, {"b", ?}])"});
     }},
    // --- operations that pass elements on come first
    {"elementwise operations before a product",
     [] {
       return gives(of_two([](const auto& x, const auto& y) {
                      auto d = product(x, y);
                      auto s = d + d;
                      return s + s;
                    }),
                    {{input, 0, R"([{"a", ?}, {?}])"}, {result, 0, R"([{?}, {"a", ?}])"}},
                    {R"([{"a", ?}, {?}])", R"([{?}, {"a", ?}])", R"([{?}, {"a", ?}])",
                     R"([{?}, {"a", ?}])", R"([{?}, {"a", ?}])"});
     }},
    {"elementwise operations before a product that follows them",
     [] {
       return gives(of_two([](const auto& x, const auto& y) {
                      auto s = x + x;
                      auto t = y + y;
                      return product(s, t);
                    }),
                    {{input, 0, R"([{"a", ?}, {?}])"}, {result, 0, R"([{?}, {"a", ?}])"}},
                    {"", R"([{?}, {"a", ?}])", R"([{"a", ?}, {?}])", R"([{?}, {"a", ?}])", ""});
     }},
    {"what several operations read waits: one reshard instead of two",
     [] {
       return gives(trace_program(
                        [](const auto& x) {
                          auto s = sin(x);
                          auto u = s + s;
                          auto v = s + s;
                          return std::pair(cos(u), cos(v));
                        },
                        on<square, 8, 8>),
                    {{input, 0, R"([{"a"}, {}])"},
                     {result, 0, R"([{}, {"a"}])"},
                     {result, 1, R"([{}, {"a"}])"}},
                    {"", R"([{"a", ?}, {?}])", R"([{?}, {"a", ?}])", R"([{?}, {"a", ?}])", "", ""});
     }},
    {"two products in a row",
     [] {
       return gives(of_two([](const auto& x, const auto& y) {
                      auto d = product(x, y);
                      auto e = product(d, d);
                      auto s = e + e;
                      return s + s;
                    }),
                    {{input, 0, R"([{"a", ?}, {?}])"}, {result, 0, R"([{?}, {"a", ?}])"}},
                    {R"([{"a", ?}, {?}])", "", R"([{"a", ?}, {?}])", R"([{?}, {"a", ?}])", "", ""});
     }},
    {"a dimension that passes through before one that is summed",
     [] {
       return gives(trace_program(product, on<square, 32, 1024>, on<square, 1024, 16>),
                    {{input, 1, R"([{"a", ?}, {"b", ?}])"}, {result, 0, R"([{"a", ?}, {"b", ?}])"}},
                    {R"([{"a", ?}, {?}])", R"([{"a", ?}, {"b", ?}])", R"([{"a", ?}, {"b", ?}])"});
     }},
    // --- priorities
    {"without priorities",
     [] {
       return gives(
           trace_program([](const auto& x, const auto& y, const auto& z) { return (x + y) / z; },
                         on<cube, 8, 8>, on<cube, 8, 8>, on<cube, 8, 8>),
           {{input, 0, R"([{"a"}, {"b"}])"}},
           {"", R"([{"a", ?}, {"b", ?}])", R"([{"a", ?}, {"b", ?}])", R"([{"a", ?}, {"b", ?}])",
            R"([{"a", ?}, {"b", ?}])"});
     }},
    {"priorities may leave numbers out",
     [] {
       return gives(
           trace_program([](const auto& x, const auto& y, const auto& z) { return (x + y) / z; },
                         on<cube, 8, 8>, on<cube, 8, 8>, on<cube, 8, 8>),
           {{input, 0, R"([{"a"}, {"b"}p4])"}, {result, 0, R"([{?}, {"c", ?}p1])"}},
           {R"([{"a"}, {"b"}])", R"([{"a", ?}, {"c", ?}])", R"([{"a", ?}, {"c", ?}])",
            R"([{"a", ?}, {"c", ?}])", R"([{"a", ?}, {"c", ?}])"});
     }},
    {"an input after the result",
     [] {
       return gives(chain_in_cube(),
                    {{input, 0, R"([{"a", ?}p1, {"b"}p1])"}, {result, 0, R"([{"c"}p0, {?}])"}},
                    {R"([{"a", ?}, {"b"}])", R"([{"c", ?}, {"b", ?}])", R"([{"c", ?}, {"b", ?}])",
                     R"([{"c", ?}, {"b", ?}])", R"([{"c", ?}, {"b", ?}])",
                     R"([{"c", ?}, {"b", ?}])", R"([{"c"}, {"b", ?}])"});
     }},
    {"an input after the result, which must not have one of its axes",
     [] {
       return gives(chain_in_cube(),
                    {{input, 0, R"([{"a"}p1, {"b"}p1])"},
                     {result, 0, R"([{"c"}p0, {?}], replicated={"b"})"}},
                    {R"([{"a"}, {"b"}])", R"([{"c", ?}, {"b", ?}])", R"([{"c", ?}, {"b", ?}])",
                     R"([{"c", ?}, {?}])", R"([{"c", ?}, {"b", ?}])", R"([{"c", ?}, {"b", ?}])",
                     R"([{"c"}, {?}], replicated={"b"})"});
     }},
    {"the result after an input",
     [] {
       return gives(chain_in_cube(),
                    {{input, 1, R"([{"a"}p0, {"b"}p0])"}, {result, 0, R"([{"c", ?}p1, {?}])"}},
                    {R"([{"a", ?}, {"b", ?}])", R"([{"a"}, {"b"}])", R"([{"a", ?}, {"b", ?}])",
                     R"([{?}, {"b", ?}])", R"([{"a", ?}, {"b", ?}])", R"([{"a", ?}, {"b", ?}])",
                     R"([{"c", ?}, {"b", ?}])"});
     }},
    {"a dimension of a later round gets axes behind its own",
     [] {
       return gives(trace_program(
                        [](const auto& x, const auto& y, const auto& z, const auto& w) {
                          auto s = x + y;
                          auto t = x + z;
                          return std::pair(t, s / w);
                        },
                        on<cube, 8, 8>, on<cube, 8, 8>, on<cube, 8, 8>, on<cube, 8, 8>),
                    {{input, 0, R"([{"b", ?}p1, {}])"},
                     {result, 0, R"([{"b", "a", ?}p0, {}])"},
                     {result, 1, R"([{"c", ?}p0, {}])"}},
                    {R"([{"b", "a", ?}, {}])", R"([{"c", ?}, {?}])", R"([{"b", "a", ?}, {?}])",
                     R"([{"c", ?}, {?}])", "", "", R"([{"c", ?}, {}])"});
     }},
    {"an open dimension waits for its round",
     [] {
       return gives(
           chain_in_cube(),
           {{input, 0, R"([{"a"}p0, {"b"}p0])"},
            {input, 3, R"([{?}, {"c"}p0])"},
            {value, 4, R"([{?}, {?}p1])"}},
           {"", R"([{"a", ?}, {"b", ?}])", R"([{"a", ?}, {"c", ?}])", R"([{"a", ?}, {"c"}])",
            R"([{"a", ?}, {"b", ?}])", R"([{"a", ?}, {"c", ?}])", R"([{"a", ?}, {"c", ?}])"});
     }},
    {"data parallel first, then the split of a weight",
     [] {
       return gives(trace_program([](const auto& x, const auto& y,
                                     const auto& w) { return product(x + y, w); },
                                  on<cube, 8, 8>, on<cube, 8, 8>, on<cube, 8, 16>),
                    {{input, 0, R"([{"a"}p0, {?}])"}, {input, 2, R"([{?}, {"a"}p1])"}},
                    {R"([{"a"}, {?}])", R"([{"a", ?}, {?}])", R"([{?}, {"a"}])",
                     R"([{"a", ?}, {?}])", R"([{"a", ?}, {?}])"});
     }},
    {"the diagonal of matrices whose rows are split; a closed dimension stays as it is",
     [] {
       return gives(diagonal_of_square(), {{input, 0, R"([{"a"}, {}])"}},
                    {R"([{"a"}, {}])", R"([{"a", ?}])"});
     }},
    {"the diagonal of matrices whose columns are split",
     [] {
       return gives(diagonal_of_square(), {{input, 0, R"([{?}, {"a", ?}])"}},
                    {R"([{?}, {"a", ?}])", R"([{"a", ?}])"});
     }},
    {"the diagonal of matrices that are split twice: an axis of the columns splits no rows",
     [] {
       return gives(diagonal_of_square(),
                    {{input, 0, R"([{"a", ?}, {"b"}])"}, {result, 0, R"([{"a", "b"}])"}},
                    {R"([{"a", ?}, {"b"}])", R"([{"a", "b"}])"});
     }},
    {"backward from a diagonal, into the rows",
     [] {
       return gives(diagonal_of_square(), {{result, 0, R"([{"a", "b"}])"}},
                    {R"([{"a", "b", ?}, {?}])", R"([{"a", "b"}])"});
     }},
    {"a vector beside the diagonals of a batch, with the strategy basic",
     [] {
       return gives(
           trace_program([](const auto& x, const auto& y) { return einsum<"iij,i->ij">(x, y); },
                         on<square, 8, 8, 4>, on<square, 8>),
           {{input, 1, R"([{"a"}])"}, {input, 0, R"([{?}, {?}, {"b"}])"}},
           {R"([{"a", ?}, {?}, {"b"}])", R"([{"a"}])", R"([{"a", ?}, {"b", ?}])"}, basic);
     }},
    {"an axis of a dimension of size 1, which the sum has kept, splits no other dimension",
     [] {
       return gives(
           trace_program([](const auto& x) { return sum<1>(-x, keep_dims); }, on<square, 6, 4>),
           {{input, 0, R"([{"b"}, {?}])"}, {result, 0, R"([{?}, {"b"}])"}},
           {R"([{"b"}, {?}])", R"([{"b", ?}, {?}])", R"([{?}, {"b"}])"}, padded);
     }},
};

}  // namespace propagated
