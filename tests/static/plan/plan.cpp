// SPDX-License-Identifier: BSL-1.0
#include "support/facts.hpp"
#include "unit/plan/redistribute_facts.hpp"

#include <array>
#include <tuple>
#include <type_traits>
#include <utility>

using namespace shardwise;

static_assert(facts_hold<redistribute_facts>);

// The program of the first page.
struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
using X = sharded_tensor<float, extents<dyn, 1024>, layout<pod, P<"data", none>>>;
using W1 = sharded_tensor<float, extents<1024, 4096>, layout<pod, P<none, "model">>>;
using W2 = sharded_tensor<float, extents<4096, 1024>, layout<pod, P<"model", none>>>;

constexpr auto mlp = [](const auto& x, const auto& w1, const auto& w2) {
  auto h = gelu(einsum<"bi,ih->bh">(x, w1));
  return einsum<"bh,ho->bo">(h, w2);
};
constexpr auto cost = trace(mlp, abstract<X>(512), abstract<W1>(), abstract<W2>());
static_assert(cost.collectives() == 0 && cost.bytes_moved() == 0);
static_assert(cost.peak_bytes_per_device() <= 16_MiB);
// x, w1, w2, then h (whose memory gelu takes over) and y, each of 256 rows.
static_assert(cost.peak_bytes_per_device() ==
              256 * 1024 * 4 + 2 * 1024 * 1024 * 4 + 256 * 1024 * 4 + 256 * 1024 * 4);
static_assert(cost.flops() == 2 * 256 * 1024 * 1024 + 9 * 256 * 1024 + 2 * 256 * 1024 * 1024);
static_assert(std::is_same_v<decltype(mlp(abstract<X>(512), abstract<W1>(), abstract<W2>())),
                             abstract_tensor<float, extents<dyn, 1024>,
                                             layout<pod, P<"data", none>, partial<"model">>>>);

constexpr auto whole = [](const auto& x, const auto& w1, const auto& w2) {
  return reshard<P<"data", none>>(mlp(x, w1, w2));
};
constexpr auto whole_cost = trace(whole, abstract<X>(512), abstract<W1>(), abstract<W2>());
static_assert(whole_cost.collectives() == 1 && whole_cost.collectives(collective::all_reduce) == 1);
static_assert(whole_cost.collectives("model") == 1 && whole_cost.collectives("data") == 0);
static_assert(whole_cost.bytes_moved("model") == 2 * 256 * 1024 * 4 * 3 / 4);
static_assert(whole_cost.bytes_moved(collective::all_reduce, "model") == whole_cost.bytes_moved());
static_assert(whole_cost.mesh() == pod::value && whole_cost.flops() == cost.flops());

// The example of redistribute.
constexpr tensor_desc y{
    element::f32, {512, 1024}, layout<pod, P<"data", none>, partial<"model">>::value};
constexpr auto way = redistribute(pod::value, y, layout<pod, P<"data", none>>::value);
static_assert(way.moves.size() == 1 && way.moves[0].kind == collective::all_reduce);

// One operand: an addition for each point that is summed, and nothing where none is.
constexpr auto flops_of = [](auto f) { return trace(f, abstract<W1>()).flops(); };
static_assert(flops_of([](const auto& w) { return einsum<"ih->hi">(w); }) == 0);
static_assert(flops_of([](const auto& w) { return einsum<"ih->h">(w); }) == 1024 * 1024);
static_assert(flops_of([](const auto& w) { return einsum<"ih->">(w); }) == 1024 * 1024);
using Q = sharded_tensor<float, extents<64, 64>, layout<pod, P<"data", none>>>;
static_assert(trace([](const auto& q) { return einsum<"ii->i">(q); }, abstract<Q>()).flops() == 0);
static_assert(trace([](const auto& q) { return einsum<"ii->">(q); }, abstract<Q>()).flops() == 32);

// Reductions cost the same whether their dimensions are kept or not; a named layout costs what it
// means.
static_assert(trace([](const auto& q) { return sum<1>(q, keep_dims); }, abstract<Q>()) ==
              trace([](const auto& q) { return sum<1>(q); }, abstract<Q>()));
struct named_rows : layout<pod, P<"data", none>> {};
constexpr auto softmax_in_steps = [](const auto& q) {
  const auto e = exp(q - max<1>(q, keep_dims));
  return e / sum<1>(e, keep_dims);
};
static_assert(trace(softmax_in_steps, abstract<Q>()).collectives() == 0);
static_assert(trace(softmax_in_steps,
                    abstract<sharded_tensor<float, extents<64, 64>, named_rows>>()) ==
              trace(softmax_in_steps, abstract<Q>()));
static_assert(trace([](const auto& q) { return reshard<named_rows>(q); }, abstract<Q>()) ==
              trace([](const auto& q) { return q; }, abstract<Q>()));

// The result of an invalid operation is not kept, alone or among several results.
static_assert(trace([](const auto&) { return refused_value{}; }, abstract<Q>()).flops() == 0);
static_assert(trace([](const auto& q) { return std::tuple(-q, relu(refused_value{})); },
                    abstract<Q>())
                  .flops() == 32 * 64);

// Several results, in anything tuple-like; a result that is an input.
constexpr auto twice = [](const auto& x) { return std::pair(-x, x + x); };
static_assert(trace(twice, abstract<X>(512)).flops() == 2 * 256 * 1024);
static_assert(trace([](const auto& x) { return std::tuple(x, x, -x); }, abstract<X>(512)).flops() ==
              256 * 1024);
static_assert(trace(
                  [](const auto& x) {
                    return std::array{-x, -x};
                  },
                  abstract<X>(512))
                  .flops() == 2 * 256 * 1024);
static_assert(trace([](const auto& x) { return x; }, abstract<X>(512)).flops() == 0);
static_assert(trace([](const auto& x) { return std::tuple(x); }, abstract<X>(512))
                  .peak_bytes_per_device() == 1_MiB);

// A mesh whose size is known only at run time.
struct slice : mesh<axis<"data", dyn>, axis<"model", 4>> {};
using D = sharded_tensor<float, extents<dyn, 64>, layout<slice, P<"data", "model">>>;
constexpr auto total = [](const auto& x) { return reshard<P<>>(sum(x)); };
static_assert(trace(total, abstract<D>(32, 8)).mesh().devices() == 32);
static_assert(trace(total, abstract<D>(32, 8)).flops() == 4 * 16);
static_assert(trace(total, abstract<D>(32, 2)).flops() == 16 * 16);

// program.hpp, collective.hpp, step.hpp
static_assert(to_text(collective::all_to_all) == "all_to_all" &&
              to_text(collective::slice) == "slice");
static_assert(to_text(collective::all_gather) == "all_gather" && collective_count == 8);
static_assert(to_text(step_kind::collective) == "collective" &&
              to_text(step_kind::input) == "input");
static_assert(may_fuse({4, 8}, {4, 8}) && !may_fuse({8}, {4, 8}) && !may_fuse({1, 8}, {4, 8}));
static_assert(may_fuse({1, 8}, {1, 8}) && may_fuse({dyn}, {dyn}) && may_fuse({}, {}));
static_assert(has_room(0, 8, 0) && has_room(7, 1, 0) && !has_room(7, 2, 0) && !has_room(7, 1, 1));
static_assert(cost_ledger{}.collectives() == 0 && cost_ledger{} == cost_ledger{mesh_desc{}} &&
              !(cost == whole_cost));

constexpr auto program_of_whole =
    trace_program<8>(whole, abstract<X>(512), abstract<W1>(), abstract<W2>());
constexpr auto recorded = plan_program(program_of_whole);
static_assert(recorded.count == 7 && recorded.mesh == pod::value && recorded.total == whole_cost);
static_assert(recorded.steps[0].kind == step_kind::input &&
              recorded.steps[3].kind == step_kind::operation);
static_assert(recorded.steps[3].label == "einsum bi,ih->bh" && recorded.steps[4].label == "gelu");
static_assert(recorded.steps[6].cost.moved == collective::all_reduce && recorded.steps[6].kept);
static_assert(recorded.lives[4].reuses == 0 && recorded.lives[3].last_use == 4);

// trace.hpp: every callable can be traced, and overloads are resolved as outside of trace.
using A = decltype(abstract<W1>());
struct overloaded {
  constexpr auto operator()(const auto& a) const { return a + a; }
  constexpr auto operator()(const auto& a, const auto& b) const { return a * b + a; }
};
struct closed final {
  constexpr auto operator()(const auto& a) const { return a + a; }
};
constexpr auto doubled(const A& a) { return a + a; }
struct bound_to_a_function {
  decltype(doubled)& call;
  constexpr auto operator()(const auto& a) const { return call(a); }
};
constexpr index_t elements = 1024 * 1024;
static_assert(trace(overloaded{}, abstract<W1>()).flops() == elements);
static_assert(trace(overloaded{}, abstract<W1>(), abstract<W1>()).flops() == 2 * elements);
static_assert(trace(closed{}, abstract<W1>()).flops() == elements);
static_assert(trace(doubled, abstract<W1>()).flops() == elements);
static_assert(trace(&doubled, abstract<W1>()).flops() == elements);
static_assert(trace(bound_to_a_function{doubled}, abstract<W1>()).flops() == elements);
static_assert(trace([](auto&... a) { return (a + ...); }, abstract<W1>(), abstract<W1>()).flops() ==
              elements);
// trace keeps several results like trace_program.
constexpr auto several = [](const auto& a) { return std::tuple(a + a, std::array{a * a, -a}); };
static_assert(trace(several, abstract<W1>()) ==
              plan_program(trace_program(several, abstract<W1>())).total);
static_assert(trace(several, abstract<W1>()).flops() == 3 * elements);

// program.hpp: unfused, every operation with its attributes; equal programs compute the same.
static_assert(program_of_whole.count == 7 && program_of_whole.view().what(4).name == "gelu");
static_assert(program_of_whole.view().how(3).words == "bi,ih->bh");
static_assert(program_of_whole.code[4].named && program_of_whole.code[6].kept &&
              !program_of_whole.code[3].named);
constexpr auto scaled = [](auto f) { return trace_program<8>(f, abstract<Q>()); };
constexpr auto by_two = [](const auto& q) { return relu(q * 2.0F); };
constexpr auto by_three = [](const auto& q) { return relu(q * 3.0F); };
constexpr auto by_two_named = [](const auto& q) {
  const auto twice_q = q * 2.0F;
  return relu(twice_q);
};
static_assert(scaled(by_two) == scaled(by_two) && !(scaled(by_two) == scaled(by_three)));
static_assert(!(scaled(by_two) == scaled(by_two_named)));
static_assert(scaled(by_two).count == 4 && plan_program(scaled(by_two)).count == 2);
static_assert(plan_program(scaled(by_two_named)).count == 3);
static_assert(trace_program<8>(by_two, abstract<Q>()) == trace_program<16>(by_two, abstract<Q>()));
static_assert(!(scaled([](const auto& q) { return q * 0.0F; }) ==
                scaled([](const auto& q) { return q * -0.0F; })));
// A value that an expression forwards twice is one instruction.
constexpr auto squared = []<class E>(E&& x) { return static_cast<E&&>(x) * static_cast<E&&>(x); };
constexpr auto of_a_sum = scaled([](const auto& q) { return squared(q + 1.0F); });
static_assert(of_a_sum.count == 4 && plan_program(of_a_sum).count == 2);
static_assert(plan_program(of_a_sum).total.flops() == 2 * 32 * 64);

// listing.hpp
constexpr auto listed = [] {
  bounded_text<400> words;
  const auto program = scaled([](const auto& q) {
    const auto half = q * -0.5F;
    return half + 3;
  });
  write_instructions(words, program.view());
  return words;
}();
static_assert(listed ==
              "%0 = input : f32[64@data, 64]\n"
              "%1 = constant -0.5 : f32[]\n"
              "%2* = * %0 %1 : f32[64@data, 64]\n"
              "%3 = constant 3 : f32[]\n"
              "%4** = + %2 %3 : f32[64@data, 64]\n");
