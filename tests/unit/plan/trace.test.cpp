// SPDX-License-Identifier: BSL-1.0
#include "support/catch.hpp"
#include <shardwise/paper.hpp>

#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
struct slice : mesh<axis<"data", dyn>, axis<"model", 4>> {};

using A = sharded_tensor<float, extents<8, 16>, layout<pod, P<"x", none>>>;
using B = sharded_tensor<float, extents<16, 8>, layout<pod, P<none, "y">>>;
using K = sharded_tensor<float, extents<8, 16>, layout<pod, P<"x", "y">>>;
using R = sharded_tensor<float, extents<16>, layout<pod, P<none>>>;

constexpr index_t bytes_of_a = 4 * 16 * 4;
constexpr index_t elements_of_a = 4 * 16;

/// The executed steps as text: kind and label.
template <std::size_t Capacity>
std::vector<std::string> run_steps(const planned_program<Capacity>& p) {
  std::vector<std::string> words;
  for (std::int32_t i = 0; i < p.count; ++i)
    if (p.lives[i].needed && p.steps[i].kind != step_kind::input)
      words.push_back(std::string(to_text(p.steps[i].kind).data()) + " " +
                      p.steps[i].label.c_str());
  return words;
}

using words = std::vector<std::string>;

/// The steps of a traced program.
template <std::size_t Capacity = 64, class... A>
constexpr auto planned(const A&... a) {
  return plan_program(trace_program<Capacity>(a...));
}

}  // namespace

TEST_CASE("a value that is used twice is computed once") {
  const auto f = [](const auto& a, const auto& b) {
    const auto c = einsum<"ij,jk->ik">(a, b);
    return c * c + c;
  };
  const auto p = planned(f, abstract<A>(), abstract<B>());
  CHECK(run_steps(p) == words{"operation einsum ij,jk->ik", "pass * +"});
  CHECK(p.total.flops() == 2 * 4 * 16 * 2 + 2 * 4 * 2);
}

TEST_CASE("what no result needs is neither run nor counted") {
  const auto f = [](const auto& a) {
    const auto unused = exp(a);
    const auto moved = reshard<P<none, none>>(unused);
    (void)moved;
    return -a;
  };
  const auto p = planned(f, abstract<A>());
  CHECK(run_steps(p) == words{"pass negate"});
  CHECK(p.total.flops() == elements_of_a);
  CHECK(p.total.collectives() == 0);
  CHECK(p.total.peak_bytes_per_device() == 2 * bytes_of_a);
  CHECK(p.count == 4);
}

TEST_CASE("temporaries fuse into one pass, and named values do not") {
  const auto temporary = planned([](const auto& a) { return relu(exp(-a)); }, abstract<A>());
  CHECK(run_steps(temporary) == words{"pass negate exp relu"});
  CHECK(temporary.total.flops() == 3 * elements_of_a);
  CHECK(temporary.total.peak_bytes_per_device() == 2 * bytes_of_a);

  const auto named = planned(
      [](const auto& a) {
        const auto b = -a;
        const auto c = exp(b);
        return relu(c);
      },
      abstract<A>());
  CHECK(run_steps(named) == words{"pass negate", "pass exp", "pass relu"});
  CHECK(named.total.flops() == temporary.total.flops());
  // Each overwrites the previous one.
  CHECK(named.total.peak_bytes_per_device() == 2 * bytes_of_a);

  const auto moved = planned(
      [](const auto& a) {
        auto b = -a;
        return exp(std::move(b));
      },
      abstract<A>());
  CHECK(run_steps(moved) == words{"pass negate exp"});
}

TEST_CASE("numbers are part of a pass and read nothing") {
  const auto p = planned([](const auto& a) { return 1.0F - (a * 2 + 3.0F) / 4; }, abstract<A>());
  CHECK(run_steps(p) == words{"pass * + / -"});
  CHECK(p.steps[p.count - 1].operands.size() == 1);
}

TEST_CASE("a pass that is repeated along the result is not fused into it") {
  const auto p = planned([](const auto& a, const auto& r) { return a + exp(r); }, abstract<A>(),
                         abstract<R>());
  CHECK(run_steps(p) == words{"pass exp", "pass +"});
  CHECK(p.total.flops() == 16 + elements_of_a);
}

TEST_CASE("a fused pass reads at most eight tensors") {
  const auto p =
      planned([](const auto& a) { return a + a + a + a + a + a + a + a + a; }, abstract<A>());
  for (std::int32_t i = 0; i < p.count; ++i)
    CHECK(p.steps[i].operands.size() <= std::size_t{max_fused_operands});
  CHECK(run_steps(p) == words{"pass + + + + + + +", "pass +"});
  CHECK(p.total.flops() == 8 * elements_of_a);
  const auto q =
      planned([](const auto& a) { return where(a + a + a + a > 0, a + a + a + a, a + a + a); },
              abstract<A>());
  for (std::int32_t i = 0; i < q.count; ++i)
    CHECK(q.steps[i].operands.size() <= std::size_t{max_fused_operands});
  CHECK(q.total.flops() == 10 * elements_of_a);
}

TEST_CASE("a reduction takes its prologue in, and its result starts a new pass") {
  const auto p = planned([](const auto& a) { return -sum<1>(square(a)); }, abstract<A>());
  CHECK(run_steps(p) == words{"operation square sum", "pass negate"});
  CHECK(p.total.flops() == 2 * elements_of_a + 4);
  const auto m = planned([](const auto& a) { return mean<1>(a); }, abstract<A>());
  CHECK(run_steps(m) == words{"operation sum", "pass /"});
}

TEST_CASE("an epilogue takes over the memory of the product") {
  const auto f = [](const auto& a, const auto& b) { return gelu(einsum<"ij,jk->ik">(a, b)); };
  const auto p = planned(f, abstract<A>(), abstract<B>());
  CHECK(p.lives[3].reuses == 0);
  CHECK(p.total.peak_bytes_per_device() == bytes_of_a + 16 * 2 * 4 + 4 * 2 * 4);
  // Inputs and results that the caller keeps are never overwritten.
  const auto keeps = planned(
      [](const auto& a) {
        const auto b = -a;
        return std::tuple(b, exp(b));
      },
      abstract<A>());
  CHECK(keeps.total.peak_bytes_per_device() == 3 * bytes_of_a);
}

TEST_CASE("several results are kept") {
  const auto p = planned([](const auto& a) { return std::tuple(-a, exp(a), a); }, abstract<A>());
  CHECK(p.steps[0].kept);
  CHECK(p.steps[1].kept);
  CHECK(p.steps[2].kept);
  CHECK(p.total.flops() == 2 * elements_of_a);
}

TEST_CASE("a reshard is one step for each collective") {
  const auto p = planned([](const auto& a) { return reshard<P<none, "x">>(a); }, abstract<A>());
  CHECK(run_steps(p) == words{"collective all_to_all"});
  CHECK(p.total.collectives(collective::all_to_all, "x") == 1);
  CHECK(p.total.bytes_moved() == bytes_of_a / 2);
  const auto q = planned([](const auto& k) { return reshard<P<none, none>>(k); }, abstract<K>());
  CHECK(run_steps(q) == words{"collective all_gather", "collective all_gather"});
  CHECK(q.total.collectives() == 2);
  CHECK(q.total.collectives("x") == 1);
  CHECK(q.total.collectives("y") == 1);
  const auto same = planned([](const auto& a) { return reshard<P<"x", none>>(a); }, abstract<A>());
  CHECK(run_steps(same).empty());
  const auto slices = planned([](const auto& a) { return reshard<P<"x", "y">>(a); }, abstract<A>());
  CHECK(run_steps(slices) == words{"collective slice"});
  CHECK(slices.total.collectives() == 0);
  CHECK(slices.total.collectives(collective::slice) == 1);
  CHECK(slices.total.bytes_moved() == 0);
}

TEST_CASE("a collective over several axes is one, and counts for each axis") {
  using J = sharded_tensor<float, extents<16>, layout<pod, P<by("x", "y")>>>;
  const cost_ledger cost = trace([](const auto& j) { return reshard<P<none>>(j); }, abstract<J>());
  CHECK(cost.collectives() == 1);
  CHECK(cost.collectives(collective::all_gather) == 1);
  CHECK(cost.collectives("x") == 1);
  CHECK(cost.collectives("y") == 1);
  CHECK(cost.bytes_moved("y") == 2 * 4 * 3);
  CHECK(cost.bytes_moved("x") == 8 * 4);
  CHECK(cost.bytes_moved(collective::all_gather, "x") == 8 * 4);
  CHECK(cost.bytes_moved(collective::all_reduce) == 0);
  CHECK(cost.bytes_moved() == 14 * 4);
}

TEST_CASE("a ledger knows the axes of its mesh") {
  const cost_ledger cost = trace([](const auto& a) { return -a; }, abstract<A>());
  CHECK_THROWS_AS(cost.collectives("z"), error);
  CHECK_THROWS_AS(cost.bytes_moved("z"), error);
  CHECK_THROWS_AS(cost.bytes_moved(collective::all_reduce, ""), error);
  CHECK_THROWS_WITH(
      cost.collectives(collective::all_reduce, "modle"),
      contains(
          "axis_is_not_in_mesh: a partition spec may only name axes of its mesh (axis 'modle')"));
}

TEST_CASE("a program that does not fit is refused") {
  const auto f = [](const auto& a) {
    const auto b = -a;
    return -b;
  };
  CHECK(trace<3>(f, abstract<A>()).flops() == 2 * elements_of_a);
  CHECK_THROWS_WITH(
      trace<2>(f, abstract<A>()),
      contains("program_is_too_long: a traced program fits the capacity given to trace "
               "(3 where 2 is needed)"));
}

TEST_CASE("sizes that only the run knows are checked by the same rules") {
  using D = sharded_tensor<float, extents<dyn, 64>, layout<slice, P<"data", "model">>>;
  using E = sharded_tensor<float, extents<64, dyn>, layout<slice, P<"model", none>>>;
  const auto f = [](const auto& d, const auto& e) { return einsum<"ij,jk->ik">(d, e); };
  const cost_ledger cost = trace(f, abstract<D>(32, 8), abstract<E>(10, 8));
  CHECK(cost.flops() == 2 * 4 * 16 * 10);
  CHECK(cost.mesh().devices() == 32);
  CHECK_THROWS_WITH((abstract<D>(30, 8)), contains("extent_is_not_divisible"));
  CHECK_THROWS_WITH((abstract<D>(30, 8)),
                    contains("(dimension 0, axis 'data', 30 into 8 equal parts)"));
  CHECK_THROWS_WITH((abstract<D>(-8, 8)), contains("extent_is_negative"));
  CHECK_THROWS_WITH((abstract<D>(dyn, 8)), contains("extent_is_negative"));
  CHECK_THROWS_WITH((abstract<D>(8, 0)), contains("axis_size_is_not_positive"));
  CHECK_THROWS_WITH((abstract<D>(8, dyn)), contains("mesh_size_is_unknown"));

  using F = sharded_tensor<float, extents<dyn>, layout<slice, P<none>>>;
  const auto add = [](const auto& a, const auto& b) { return a + b; };
  CHECK(trace(add, abstract<F>(6, 2), abstract<F>(6, 2)).flops() == 6);
  CHECK_THROWS_WITH(
      trace(add, abstract<F>(6, 2), abstract<F>(5, 2)),
      contains("operand_sizes_differ: corresponding dimensions of operands have the same size "
               "(operand 1, dimension 0, 5 where 6 is needed); operands f32[6], f32[5]"));
  CHECK_THROWS_WITH(trace(add, abstract<F>(6, 2), abstract<F>(6, 3)),
                    contains("operand_meshes_differ"));
  CHECK_THROWS_WITH(reshard<P<"data">>(abstract<F>(6, 4)), contains("extent_is_not_divisible"));
}

TEST_CASE("what was made outside of the trace is no part of it") {
  const auto outside = abstract<A>();
  const auto foreign = contains("operand_pools_differ");
  CHECK_THROWS_WITH(trace([&](const auto& a) { return a + outside; }, abstract<A>()), foreign);
  CHECK_THROWS_WITH(trace([&](const auto& a) { return outside + a; }, abstract<A>()), foreign);
  CHECK_THROWS_WITH(
      trace([&](const auto& b) { return einsum<"ij,jk->ik">(outside, b); }, abstract<B>()),
      foreign);
  CHECK_THROWS_WITH(trace([&](const auto&) { return outside; }, abstract<A>()), foreign);
  CHECK_THROWS_WITH(
      trace([&](const auto& a) { return std::tuple(-a, sum<1>(outside)); }, abstract<A>()),
      foreign);
  // Nor is a value of another trace.
  CHECK_THROWS_WITH(
      trace(
          [](const auto& a) {
            return trace([&](const auto& b) { return a + b; }, abstract<A>()).flops() == 0 ? a : a;
          },
          abstract<A>()),
      foreign);
}

TEST_CASE("a reduction that keeps its dimensions fuses and counts like one that does not") {
  const auto p =
      planned([](const auto& a) { return -sum<1>(square(a), keep_dims); }, abstract<A>());
  CHECK(run_steps(p) == words{"operation square sum", "pass negate"});
  CHECK(p.total.flops() == 2 * elements_of_a + 4);
  CHECK(p.steps[2].result.extents == extents_desc{8, 1});
  const auto q = planned(
      [](const auto& a) {
        const auto e = exp(a - max<1>(a, keep_dims));
        return e / sum<1>(e, keep_dims);
      },
      abstract<A>());
  CHECK(run_steps(q) == words{"operation max", "pass - exp", "operation sum", "pass /"});
  CHECK(q.total.collectives() == 0);
  const auto split = planned(
      [](const auto& k) { return k - reshard<P<"x", none>>(max<1>(k, keep_dims)); }, abstract<K>());
  CHECK(split.total.collectives(collective::all_reduce, "y") == 1);
  CHECK(split.total.bytes_moved() == 2 * 1 * 3 * 4);
}

TEST_CASE("outside trace nothing is recorded") {
  const auto y = gelu(einsum<"ij,jk->ik">(abstract<A>(), abstract<B>()));
  CHECK(y.program() == nullptr);
  CHECK(y.extents() == extents_desc{8, 8});
  CHECK(reshard<P<none, none>>(y).program() == nullptr);
}

TEST_CASE("a ledger prints its totals, and a line for each kind of collective and axis") {
  using J = sharded_tensor<float, extents<1024>, layout<pod, P<by("x", "y")>>>;
  const auto moves = [](const auto& a, const auto& j) {
    return std::pair(reshard<P<>>(sum(a)), reshard<P<none>>(j));
  };
  const auto printed = [](const cost_ledger& ledger) {
    std::ostringstream out;
    out << ledger << '.';
    return out.str();
  };
  CHECK(printed(trace(moves, abstract<A>(), abstract<J>())) ==
        "2 collectives, 3592 B received, 64 flops, peak 4868 B per device\n"
        "  all_reduce over x: 1 collective, 8 B received\n"
        "  all_gather over x: 1 collective, 2 KiB received\n"
        "  all_gather over y: 1 collective, 1536 B received.");
  CHECK(printed(cost_ledger{}) == "0 collectives, 0 B received, 0 flops, peak 0 B per device.");

  constexpr auto words = [] {
    bounded_text<200> out;
    out << trace([](const auto& a) { return reshard<P<>>(sum(a)); }, abstract<A>()) << ';';
    return out;
  }();
  static_assert(words ==
                "1 collective, 8 B received, 64 flops, peak 264 B per device\n"
                "  all_reduce over x: 1 collective, 8 B received;");
}
