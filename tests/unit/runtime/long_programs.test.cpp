// SPDX-License-Identifier: BSL-1.0
// Programs of many instructions: they need no stack that grows with them, and memory in proportion.
#include "support/catch.hpp"
#include "support/requests.hpp"
#include "support/values.hpp"
#include <shardwise/engine/stored_program.hpp>
#include <shardwise/kernel.hpp>
#include <shardwise/shardwise.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"data", 2>> {};
using X = sharded_tensor<float, extents<4, 4>, layout<pod, P<none, none>>>;
using Rows = sharded_tensor<float, extents<4, 4>, layout<pod, P<"data", none>>>;

constexpr int deep = 100'000;

constexpr auto total = [](const auto& x) { return reshard<P<>>(sum(x)); };

/// A function of expressions without names, `length` in a row.
constexpr auto unnamed(int length) {
  return [length](const auto& first) {
    X x = first;
    for (int i = 0; i < length; ++i) x = std::move(x) * -1.0F;
    return x;
  };
}
/// One whose gradient reads each of its values.
constexpr auto rectified(int length) {
  return [length](const auto& first) {
    X x = first;
    for (int i = 0; i < length; ++i) x = relu(std::move(x));
    return x;
  };
}
/// A function of as many fused passes, each with a name.
constexpr auto passes(int length) {
  return [length](const auto& first) {
    X x = first;
    for (int i = 0; i < length; ++i) {
      const X y = relu(x) * 1.0F;
      x = y;
    }
    return x;
  };
}

/// Requires that four times the length takes at most five times the bytes; `run(length)` computes.
void takes_bytes_in_proportion(const auto& run) {
  const auto bytes_of = [&](int length) {
    const long before = support::requested_bytes;
    run(length);
    return support::requested_bytes - before;
  };
  run(10);
  const long few = bytes_of(500);
  const long many = bytes_of(2000);
  CAPTURE(few, many);
  REQUIRE(many <= 5 * few);
}

}  // namespace

TEST_CASE("a chain of expressions without names may have any length") {
  const device_pool pool(pod{}, 1);
  const X x = full<X>(pool, 0.5F);
  const std::vector<float> half(16, 0.5F), ones(16, 1.0F);
  REQUIRE(values(unnamed(deep)(x)) == half);
  REQUIRE(!explain(unnamed(deep)(x)).empty());
  // Nothing reads this one.
  (void)unnamed(deep)(x);
  REQUIRE(values(gradient([](const auto& a) { return total(unnamed(deep)(a)); })(x)) == ones);
  const auto [y, pull] = vjp(unnamed(deep), x);
  REQUIRE(values(pull(y)) == half);
}

TEST_CASE("what gradients compute again may be a chain of any length") {
  const device_pool pool(pod{}, 1);
  const X x = full<X>(pool, 0.5F);
  const auto loss = [](const auto& a) { return total(recompute(rectified(deep))(a)); };
  REQUIRE(values(gradient(loss)(x)) == std::vector<float>(16, 1.0F));
}

TEST_CASE("a chain of views may have any length") {
  const device_pool pool(pod{}, 1);
  const X x = generate<X>(
      pool, [](const global_index& at) { return static_cast<float>(4 * at[0] + at[1]); });
  X turned = x;
  for (int i = 0; i < deep; ++i) turned = transpose<1, 0>(std::move(turned));
  REQUIRE(values(turned + x) == values(x * 2.0F));
}

TEST_CASE("compiled steps of long chains have the bits of their functions") {
  const device_pool pool(pod{}, 1);
  const X x = full<X>(pool, 0.5F);
  auto compiled = step([](const X& a) { return unnamed(deep)(a); });
  for (int run = 0; run < 2; ++run) REQUIRE(values(compiled(x)) == std::vector<float>(16, 0.5F));
}

TEST_CASE("long programs on paper have a normal form, steps and a listing") {
  stored_program recorded(2 * deep + 1, 1);
  program_builder to(recorded);
  to.place(pod::value);
  tensor_desc tensor{element::f32, {4}, {}};
  tensor.layout.dims.push_back({});
  value_id x = to.append(operation_of<input_operation>, {}, {}, tensor);
  for (int i = 0; i < deep; ++i)
    x = to.emit(operation_of<pointwise<functions::multiply>>, {},
                {x, to.constant(-1.0, element::f32)});
  to.keep(x);
  const auto size = static_cast<std::size_t>(recorded.count);
  std::vector<cluster_note> notes(size);
  std::vector<value_id> first(size), order(size), number(size);
  stored_program normal(recorded.count, 1);
  program_builder made(normal);
  normal_form(recorded.view(), notes.data(), first.data(), order.data(), number.data(), made);
  REQUIRE(hash_of(normal.view()) != 0);
  REQUIRE(normal.count == recorded.count);

  std::vector<step_desc> steps(size);
  std::vector<std::int32_t> step_of(size);
  REQUIRE(form_steps(normal.view(), notes.data(), step_of.data(), steps.data()) == 2);
  REQUIRE(steps[1].operands == step_operands{0});
  REQUIRE(steps[1].cost.flops == index_t{4} * deep);
}

TEST_CASE("programs take bytes in proportion to their length") {
  const device_pool pool(pod{}, 1);
  const X x = full<X>(pool, 0.5F);
  const Rows rows = full<Rows>(pool, 0.5F);
  SECTION("passes") {
    takes_bytes_in_proportion([&](int length) { (void)values(passes(length)(x)); });
  }
  SECTION("long passes") {
    takes_bytes_in_proportion([&](int length) { (void)values(rectified(length)(x)); });
  }
  SECTION("gradients") {
    takes_bytes_in_proportion([&](int length) {
      const auto loss = [&](const auto& a) { return total(passes(length)(a)); };
      (void)values(gradient(loss)(x));
    });
  }
  SECTION("gradients that compute values again") {
    takes_bytes_in_proportion([&](int length) {
      const auto loss = [&](const auto& a) { return total(recompute(rectified(length))(a)); };
      (void)values(gradient(loss)(x));
    });
  }
  SECTION("compiled steps") {
    takes_bytes_in_proportion([&](int length) {
      auto compiled = step([&](const X& a) { return passes(length)(a); });
      (void)values(compiled(x));
    });
  }
  SECTION("compiled gradients") {
    takes_bytes_in_proportion([&](int length) {
      auto compiled = step([&](const X& a) {
        return gradient([&](const auto& b) { return total(passes(length)(b)); })(a);
      });
      (void)values(compiled(x));
    });
  }
  SECTION("compiled gradients with collectives") {
    takes_bytes_in_proportion([&](int length) {
      const auto loss = [&](const auto& first) {
        Rows a = first;
        for (int i = 0; i < length; ++i) {
          const X whole = reshard<P<none, none>>(a);
          a = reshard<P<"data", none>>(relu(whole));
        }
        return total(a);
      };
      auto compiled = step([&](const Rows& a) { return gradient(loss)(a); });
      (void)values(compiled(rows));
    });
  }
}
