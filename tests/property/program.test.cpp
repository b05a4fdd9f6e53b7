// SPDX-License-Identifier: BSL-1.0
// For the same function, the program that a trace records at compile time equals the one that the
// run lowers from its nodes. This holds although g++ evaluates the operands of a call from left to
// right in constant expressions and from right to left at run time; functions that name values are
// not called twice in one expression.
#include "examples/next_character/model.hpp"
#include "property/generated_program.hpp"
#include "property/round_trip.hpp"
#include "support/catch.hpp"
#include <shardwise/engine/lower.hpp>
#include <shardwise/operation/manual_collectives.hpp>
#include <shardwise/plan/mark.hpp>

#include <array>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

using namespace shardwise;

namespace {

/// A program whose calls are inlined.
stored_program inlined(const program_view& recorded) {
  const std::int32_t count = inlined_size(recorded);
  std::vector<value_id> number(static_cast<std::size_t>(count));
  stored_program out(count, recorded.result_count);
  program_builder to(out);
  inline_calls(recorded, number.data(), to);
  return out;
}

/// The normal form of a program, by way of memory of the run.
stored_program normal(const program_view& recorded) {
  std::int32_t code = recorded.count;
  std::int32_t results = recorded.result_count;
  for (std::int32_t k = 0; k < recorded.body_count; ++k) {
    code += recorded.body(k).count;
    results += recorded.body(k).result_count;
  }
  const auto size = static_cast<std::size_t>(recorded.count);
  stored_program out(code, results, recorded.body_count);
  program_builder to(out);
  std::vector<cluster_note> notes(size);
  std::vector<value_id> passes(size);
  std::vector<value_id> order(size);
  std::vector<value_id> number(size);
  normal_form(recorded, notes.data(), passes.data(), order.data(), number.data(), to);
  return out;
}

/// A program in words, for the message of a test that fails.
std::string show(const program_view& shown) {
  std::ostringstream out;
  for (value_id i = 0; i < shown.count; ++i) {
    const instruction& at = shown.code[i];
    out << '%' << i << " = " << shown.what(i).name;
    if (shown.what(i).label != nullptr) out << " (" << shown.what(i).label(shown.how(i)) << ')';
    for (value_id o : at.operands) out << " %" << o;
    out << " : " << to_text(*shown.mesh, shown.values[i]) << (at.named ? " named" : "")
        << (at.kept ? " kept" : "") << '\n';
  }
  return out.str();
}

/// What a program without calls costs.
cost_ledger cost_of(const program_view& flat) {
  const auto size = static_cast<std::size_t>(flat.count);
  std::vector<cluster_note> notes(size);
  std::vector<std::int32_t> step_of(size);
  std::vector<step_desc> steps(size);
  std::vector<value_lifetime> lives(size);
  const std::int32_t count = form_steps(flat, notes.data(), step_of.data(), steps.data());
  plan_lifetimes(steps.data(), count, lives.data());
  return summarize(*flat.mesh, steps.data(), lives.data(), count);
}

/// The nodes of what a function returned.
using nodes = std::vector<std::shared_ptr<tensor_node>>;
template <class Result>
void collect(nodes& found, const Result& result) {
  if constexpr (requires { result.share(); })
    found.push_back(result.share());
  else
    std::apply([&](const auto&... each) { (collect(found, each), ...); }, result);
}

/// Compares the program that was recorded on paper with that of what the function returned.
template <class Result>
void compare(const program_view& paper, const Result& result) {
  nodes found;
  collect(found, result);
  std::vector<tensor_node*> roots;
  for (const auto& node : found) roots.push_back(node.get());
  const std::lock_guard turn(roots.front()->home()->turn());
  const lowered_program run = lower(roots);

  const stored_program wanted = normal(inlined(paper).view());
  const stored_program have = normal(run.view());
  INFO("on paper\n" << show(wanted.view()) << "in the run\n" << show(have.view()));
  REQUIRE(have.view() == wanted.view());
  generated::require_round_trip(paper);
  generated::require_round_trip(run.view());
  REQUIRE(hash_of(have.view()) == hash_of(wanted.view()));
}

/// Compares the programs of a function of tensors of these types.
template <class... X, class F>
void check(const F& f) {
  // In the compiler, normal form and hash too.
  static constexpr auto paper = trace_program(F{}, abstract<X>()...);
  static constexpr auto in_order = normal_form(paper);
  static constexpr std::uint64_t hash = hash_of(in_order.view());
  REQUIRE(normal(paper.view()).view() == in_order.view());
  REQUIRE(hash_of(normal(paper.view()).view()) == hash);
  REQUIRE(normal_form(in_order) == in_order);
  REQUIRE(ledger_of(paper) == cost_of(inlined(paper.view()).view()));

  using mesh_type = typename std::tuple_element_t<0, std::tuple<X...>>::layout_type::mesh_type;
  const device_pool pool(mesh_type{}, 1);
  const std::tuple<X...> inputs{full<X>(pool, 0.5F)...};
  compare(paper.view(), std::apply(f, inputs));
}

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
template <class Spec, class Partial = partial<>>
using matrix = sharded_tensor<float, extents<16, 16>, layout<pod, Spec, Partial>>;
using rows = matrix<P<"data", none>>;
using columns = matrix<P<none, "model">>;
using tiles = matrix<P<"data", "model">>;
using stacked = matrix<P<"model", none>>;
using whole = matrix<P<none, none>>;
using scales = sharded_tensor<float, extents<16>, layout<pod, P<none>>>;

}  // namespace

TEST_CASE("a pass on paper is the pass of the run") {
  check<rows>([](const auto& x) { return relu(x); });
  check<rows>([](const auto& x) { return 1.0F - relu(x * 2.0F + x) / 4; });
  check<rows, rows>([](const auto& x, const auto& y) { return y - x * y; });
  check<rows, scales>([](const auto& x, const auto& s) {
    auto doubled = s * 2.0F;
    return x * exp(s) + doubled;
  });
  check<rows>([](const auto& x) {
    auto named = x * 0.5F;
    return named * named + named;
  });
  check<rows>([](const auto& x) {
    auto handed_on = exp(-x);
    return relu(std::move(handed_on));
  });
  check<rows, rows>([](const auto& x, const auto& y) { return where(x > y, x + 1.0F, y * 3.0F); });
  check<rows>([](const auto& x) { return x + x + x + x + x + x + x + x + x + x; });
  check<rows>([](const auto& x) { return maximum(x + x + x + x, x + x + x) * (x + x + x + x); });
  check<rows>([](const auto& x) { return x * -0.0F; });
}

TEST_CASE("a temporary that a function reads twice is one value on paper and in the run") {
  using generated::squared;
  check<rows>([](const auto& x) { return squared(x + 1.0F); });
  check<rows>([](const auto& x) { return squared(squared(exp(x)) - x) * 2.0F; });
  check<rows>([](const auto& x) { return sum<1>(squared(x * 0.5F)); });
  check<rows>([](const auto& x) { return squared(reshard<P<none, "data">>(-x)); });
  check<rows>([](const auto& x) {
    const auto chosen = [&x]<class Y>(Y&& y) {
      return where(x > 0.0F, static_cast<Y&&>(y), static_cast<Y&&>(y));
    };
    return chosen(x + 1.0F);
  });
  check<whole>([](const auto& x) {
    const auto product = []<class Y>(Y&& y) {
      return einsum<"ij,jk->ik">(static_cast<Y&&>(y), static_cast<Y&&>(y));
    };
    return product(x + 1.0F) + product(relu(x));
  });
  check<rows>([](const auto& x) {
    auto named = x + 1.0F;
    auto read = named * 2.0F;
    return squared(std::move(named)) + read;
  });
}

TEST_CASE("what one expression computes has one order on paper and in the run") {
  check<rows, rows>([](const auto& x, const auto& y) {
    return reshard<P<none, none>>(exp(x)) * reshard<P<none, none>>(reshard<P<none, "data">>(-y));
  });
  check<rows, rows>([](const auto& x, const auto& y) {
    return einsum<"ij,jk->ik">(reshard<P<none, none>>(x) + 1.0F,
                               reshard<P<none, none>>(einsum<"ij->ji">(y - 1.0F)));
  });
  check<rows, rows>([](const auto& x, const auto& y) {
    return std::tuple(sum<1>(reshard<P<none, none>>(y)), sum<1>(reshard<P<none, none>>(x)));
  });
  check<rows, rows>([](const auto& x, const auto& y) {
    auto first = reshard<P<none, none>>(y);
    auto second = reshard<P<none, none>>(x);
    return sum<1>(second - first) * sum<1>(first) + sum<1>(exp(second));
  });
}

TEST_CASE("what nobody keeps is in neither program") {
  check<rows, rows>([](const auto& x, const auto& y) {
    [[maybe_unused]] const auto unread = reshard<P<none, none>>(exp(y));
    return -x;
  });
  check<rows>([](const auto& x) { return x; });
  check<rows, rows>([](const auto& x, const auto& y) { return std::tuple(y, x + 1.0F, y); });
}

TEST_CASE("products with what comes after them are one program on paper and in the run") {
  check<rows, columns, stacked>([](const auto& x, const auto& up, const auto& down) {
    auto h = gelu(einsum<"bi,ih->bh">(x, up));
    return einsum<"bh,ho->bo">(h, down);
  });
  check<rows, columns, stacked>([](const auto& x, const auto& up, const auto& down) {
    auto h = gelu(einsum<"bi,ih->bh">(x, up));
    return reshard<P<"data", none>>(einsum<"bh,ho->bo">(h, down)) * 0.5F + x;
  });
  check<rows, columns>(
      [](const auto& x, const auto& w) { return relu(einsum<"bi,ih->bh">(x, w) * 2.0F - 1.0F); });
  check<rows>([](const auto& x) { return einsum<"ij->ji">(x + 1.0F); });
  check<rows>([](const auto& x) { return einsum<"ij->j">(x); });
  check<tiles, stacked>([](const auto& x, const auto& w) {
    return reshard<P<"data", "model">>(einsum<"bi,io->bo">(x, w));
  });
}

TEST_CASE("reductions with what comes before them are one program on paper and in the run") {
  check<rows>([](const auto& x) { return sum<1>(square(x) * 2.0F); });
  check<rows>([](const auto& x) { return -max<1>(x, keep_dims); });
  check<rows>([](const auto& x) { return reshard<P<>>(mean(exp(x))); });
  check<tiles>([](const auto& x) { return reshard<P<"data">>(min<1>(-x)); });
  check<tiles>([](const auto& x) { return reshard<P<none>>(product<0>(x + 1.0F)) * 2.0F; });
  // Softmax.
  check<rows>([](const auto& x) {
    const auto e = exp(x - max<1>(x, keep_dims));
    return e / sum<1>(e, keep_dims);
  });
  check<tiles>([](const auto& x) {
    const auto e = exp(x - reshard<P<"data", none>>(max<1>(x, keep_dims)));
    return e / reshard<P<"data", none>>(sum<1>(e, keep_dims));
  });
}

TEST_CASE("reshards are one program on paper and in the run") {
  check<rows>([](const auto& x) { return reshard<P<none, "data">>(x); });
  check<tiles>([](const auto& x) { return reshard<P<none, none>>(x * 2.0F); });
  check<whole>([](const auto& x) { return reshard<P<by("model", "data"), none>>(x) + 1.0F; });
  check<rows>([](const auto& x) { return reshard<P<"data", none>>(x); });
  check<tiles>([](const auto& x) {
    auto cyclic_rows = reshard<P<block_cyclic<2>("data"), cyclic("model")>, uneven>(x);
    return cyclic_rows * 2.0F - reshard<P<none>>(sum<0>(cyclic_rows));
  });
}

TEST_CASE("marks are one program on paper and in the run") {
  check<whole>([](const auto& x) { return mark_sharding<P<"data", "model">>(x) * 2.0F; });
  check<tiles>(
      [](const auto& x) { return mark_sharding<P<none, "model">>(clear_sharding(x + 1.0F)); });
  check<whole>([](const auto& x) { return constrain<P<"data", none>>(exp(x)); });
  check<rows>([](const auto& x) { return relu(constrain<P<"data", none>>(-x)); });
  check<tiles, rows>([](const auto& x, const auto& y) { return shard_as(x * 2.0F, y) + y; });
}

TEST_CASE("manual work is one program on paper and in the run") {
  check<rows, whole>([](const auto& x, const auto& k) {
    const auto mine = enable_manual_sharding(x);
    const auto y = einsum<"bi,io->bo">(mine, k);
    const auto total = all_reduce<"data">(sum<0>(y * y));
    return disable_manual_sharding<P<"data", none>>(y * total);
  });
  check<tiles>([](const auto& x) {
    return disable_manual_sharding<P<"data", "model">>(relu(enable_manual_sharding(x)));
  });
  check<tiles>([](const auto& x) {
    return all_reduce<reduction::max, "data", "model">(max(enable_manual_sharding(x * 2.0F)));
  });
  // What is manual already, and what nothing splits, stays as it is.
  check<whole>([](const auto& x) { return enable_manual_sharding(x) + 1.0F; });
}

TEST_CASE("several results are one program on paper and in the run") {
  check<rows>([](const auto& x) {
    auto opposite = -x;
    return std::tuple(std::move(opposite), std::pair(exp(x), x));
  });
  check<rows>([](const auto& x) {
    auto named = x * 2.0F;
    auto read = named + 1.0F;
    return std::tuple(named, read * read);
  });
  check<rows>([](const auto& x) { return std::array{-x, -x}; });
}

namespace {

constexpr auto mix = [](const auto& x, const auto& w) {
  auto h = einsum<"bi,io->bo">(x, w);
  return relu(h + 1.0F) * h;
};
/// Two results, the second of which is read inside, and an input that is handed on.
constexpr auto split_up = [](const auto& x, const auto& w) {
  auto h = einsum<"bi,io->bo">(x, w);
  auto peak = max<1>(h, keep_dims);
  return std::tuple(exp(h - peak), x, peak, peak);
};
constexpr auto deep = [](const auto& x, const auto& w) {
  auto [e, same, peak, again] = call(split_up, x, w);
  auto next = call(mix, same + 1.0F, w);
  return e * next + peak;
};

}  // namespace

TEST_CASE("calls are what they call, on paper and in the run") {
  check<rows, whole>([](const auto& x, const auto& w) { return call(mix, x, w); });
  check<rows, whole>([](const auto& x, const auto& w) {
    auto h = call(mix, x, w);
    auto g = call(mix, h, w);
    return call(mix, g * 0.5F, w) + h;
  });
  // One tensor for two operands, and numbers among them.
  check<whole>([](const auto& x) { return call(mix, x, x); });
  check<rows>([](const auto& x) {
    constexpr auto scale = [](const auto& y, float by) { return y * by + y; };
    auto once = call(scale, x, 2.0F);
    auto again = call(scale, x, 2.0F);
    return call(scale, once, 3.0F) + again;
  });
  // Several results, of which some are not read, some are given twice, and some are operands.
  check<rows, whole>(
      [](const auto& x, const auto& w) { return std::get<0>(call(split_up, x, w)) + 1.0F; });
  check<rows, whole>(
      [](const auto& x, const auto& w) { return std::get<2>(call(split_up, x, w)) * 2.0F; });
  check<rows, whole>([](const auto& x, const auto& w) { return call(split_up, x, w); });
  check<rows, whole>([](const auto& x, const auto& w) { return call(deep, x, w); });
  check<rows, whole>([](const auto& x, const auto& w) {
    auto h = call(deep, x, w);
    auto g = call(deep, -h, w);
    auto [e, same, peak, again] = call(split_up, h, w);
    return g + e;
  });
  // What a call leaves may be written over, and so may what only it reads.
  check<rows, whole>([](const auto& x, const auto& w) {
    auto h = exp(x);
    auto g = call([](const auto& y, const auto& v) { return mix(y * 2.0F, v); }, h, w);
    return relu(g);
  });
  // A body that computes nothing.
  check<rows>([](const auto& x) { return call([](const auto& y) { return y; }, x); });
  check<rows>([](const auto& x) { return -call([](const auto& y) { return y; }, x); });
}

TEST_CASE("a program holds what it calls once") {
  constexpr auto model = [](const auto& x, const auto& w) {
    auto h = call(mix, x, w);
    auto g = call(mix, h, w);
    auto [e, same, peak, again] = call(split_up, g, w);
    return call(mix, e, w) + peak;
  };
  static constexpr auto paper = trace_program(model, abstract<rows>(), abstract<whole>());
  // Two inputs, four calls, the further result that is read, and the sum.
  STATIC_REQUIRE(paper.count == 8 && paper.body_count == 2);
  STATIC_REQUIRE(inlined_size(paper.view()) > 30);
  // Calls by other numbers are the same calls.
  constexpr auto first_parts = trace_program(
      [](const auto& x, const auto& w) {
        auto [e, same, peak, again] = call(split_up, x, w);
        return call(mix, e, w);
      },
      abstract<rows>(), abstract<whole>());
  constexpr auto unused = trace_program(
      [](const auto& x, const auto& w) {
        [[maybe_unused]] auto unread = call(mix, x, w);
        auto [e, same, peak, again] = call(split_up, x, w);
        return call(mix, e, w);
      },
      abstract<rows>(), abstract<whole>());
  STATIC_REQUIRE(!(first_parts == unused));
  STATIC_REQUIRE(normal_form(first_parts) == normal_form(unused));
  STATIC_REQUIRE(hash_of(normal_form(first_parts).view()) == hash_of(normal_form(unused).view()));
  STATIC_REQUIRE(ledger_of(first_parts) == ledger_of(unused));
}

TEST_CASE("a program with calls is prepared and run like any other") {
  const device_pool pool(pod{}, 2);
  const rows x = normal<rows>(pool, random_key{1});
  const whole w = normal<whole>(pool, random_key{2});
  static constexpr auto paper = trace_program(deep, abstract<rows>(), abstract<whole>());
  const prepared_program ready = prepare<float>(paper);
  pool.reset_counters();
  const any_tensor<float> y = run<float>(ready, x, w);
  REQUIRE(pool.counters() == ledger_of(paper));
  REQUIRE(to_host(y) == to_host(deep(x, w)));
  const any_tensor<float> any_x = x, any_w = w;
  REQUIRE(to_host(deep(any_x, any_w)) == to_host(y));
}

TEST_CASE("a layer is one program on paper and in the run") {
  using stored = matrix<P<by("data", "model"), none>>;
  check<rows, stored, stored>([](const auto& x, const auto& w_up, const auto& w_down) {
    auto up = reshard<P<none, "model">>(w_up);
    auto h = gelu(einsum<"bi,ih->bh">(x, up));
    auto terms = einsum<"bh,ho->bo">(h, reshard<P<"model", none>>(w_down));
    return x + reshard<P<"data", none>>(terms);
  });
  // A step of training: three results of four inputs.
  using small = next_character::pod;
  check<next_character::examples<small>, next_character::targets<small>,
        next_character::weights<small>, next_character::momentum<small>>(next_character::update{});
}

namespace {

template <int... Steps>
void check_generated() {
  using namespace generated;
  constexpr auto f = [](const auto& x, const auto& w, const auto& v) {
    return generated_program<Steps...>::run(x, w, v);
  };
  const device_pool pool(grid{}, 1);
  const W w = full<W>(pool, 1.0F);
  const V v = full<V>(pool, 1.0F);
  for (const index_t length : {index_t{8}, index_t{5}}) {
    const X x = generate<X>(
        pool, [](const global_index&) { return 1.0F; }, length);
    const auto paper = trace_program(f, abstract<X>(length), abstract<W>(), abstract<V>());
    compare(paper.view(), f(x, w, v));
    if (length == 5) {
      static constexpr auto constant =
          trace_program(f, abstract<X>(5), abstract<W>(), abstract<V>());
      compare(constant.view(), f(x, w, v));
    }
  }
}

}  // namespace

TEST_CASE("generated programs are one on paper and in the run") {
  check_generated<0>();
  check_generated<1>();
  check_generated<2>();
  check_generated<3>();
  check_generated<4>();
  check_generated<5>();
  check_generated<6>();
  check_generated<7>();
  check_generated<8>();
  check_generated<9>();
  check_generated<9, 3>();
  check_generated<10>();
  check_generated<11>();
  check_generated<11, 10, 2>();
  check_generated<0, 1>();
  check_generated<2, 0>();
  check_generated<3, 4>();
  check_generated<1, 5>();
  check_generated<6, 2>();
  check_generated<7, 3>();
  check_generated<8, 2>();
  check_generated<4, 0, 2>();
  check_generated<5, 6, 1>();
  check_generated<2, 3, 5>();
  check_generated<0, 7, 4>();
  check_generated<3, 8, 4>();
  check_generated<1, 0, 2, 6>();
}
