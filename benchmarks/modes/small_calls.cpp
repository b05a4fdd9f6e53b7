// SPDX-License-Identifier: BSL-1.0
// What calls on small tensors cost, where recording, planning and starting outweigh arithmetic.
// Built twice: with headers alone, and with the compiled library. The names of rows are stable, so
// that builds of different commits can be compared (`./run bench --small --against FOLDER`).
#include "../../examples/demo/model.hpp"
#include "../harness.hpp"
#include <shardwise/nn.hpp>
#include <shardwise/optim.hpp>
#include <shardwise/shardwise.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

using namespace shardwise;

namespace {

struct small_call {
  std::string name;
  std::function<void()> run;
};

struct one : mesh<axis<"data", 1>> {};
struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};

using X = sharded_tensor<float, extents<8, 8>, layout<one, P<none, none>>>;
using split_x = sharded_tensor<float, extents<8, 8>, layout<pod, P<"data", "model">>>;
using split_w = sharded_tensor<float, extents<8, 8>, layout<pod, P<"model", none>>>;

constexpr auto three_calls = [](const auto& x, const auto& w) {
  const auto a = layer_norm<1>(x, 1e-5);
  const auto b = einsum<"ij,jk->ik">(a, w);
  return softmax<1>(b);
};
constexpr auto chain = [](const auto& x, const auto& w) {
  const auto a = three_calls(x, w);
  const auto b = three_calls(a, w);
  const auto c = three_calls(b, w);
  return three_calls(c, w);
};
constexpr auto loss = [](const auto& x, const auto& w) {
  const auto y = chain(x, w);
  return sum(y * y);
};
constexpr auto recorded = trace_program<256>(chain, abstract<X>(), abstract<X>());

/// A pool of one device and one thread, and operands in it.
struct operands {
  device_pool pool{one{}, 1};
  X x = normal<X>(pool, random_key{1});
  X w = normal<X>(pool, random_key{2});
  any_tensor<float> any_x = x, any_w = w;
};

void add_operations(std::vector<small_call>& all) {
  const auto held = std::make_shared<operands>();
  const auto add = [&](const char* name, const auto& f) {
    all.push_back({std::string(name) + ", 8 x 8, to host",
                   [held, f] { bench::keep(to_host(f(held->x, held->w))); }});
  };
  add("relu", [](const X& x, const X&) { return relu(x); });
  add("add", [](const X& x, const X& w) { return x + w; });
  add("softmax", [](const X& x, const X&) { return softmax<1>(x); });
  add("layer_norm", [](const X& x, const X&) { return layer_norm<1>(x, 1e-5); });
  add("einsum", [](const X& x, const X& w) { return einsum<"ij,jk->ik">(x, w); });

  const auto pool = std::make_shared<device_pool>(pod{}, 1U);
  const auto x = iota<split_x>(*pool);
  const auto w = full<split_w>(*pool, 0.5F);
  all.push_back({"relu, einsum, reshard on 2 x 4 devices, to host", [pool, x, w] {
                   const auto y = einsum<"ij,jk->ik">(relu(x), w);
                   bench::keep(to_host(reshard<P<"data", none>>(y)));
                 }});
}

void add_chains(std::vector<small_call>& all) {
  const auto held = std::make_shared<operands>();
  const auto add = [&](const char* name, const auto& f) {
    all.push_back({std::string("12 calls, ") + name, [held, f] { f(*held); }});
  };
  add("recorded", [](const operands& at) { bench::keep(chain(at.x, at.w)); });
  add("recorded, untyped", [](const operands& at) { bench::keep(chain(at.any_x, at.any_w)); });
  add("recorded and planned", [](const operands& at) {
    const auto y = chain(at.x, at.w);
    bench::keep(ledger_of(at.pool));
    bench::keep(y);
  });
  add("to host", [](const operands& at) { bench::keep(to_host(chain(at.x, at.w))); });
  add("to host, untyped",
      [](const operands& at) { bench::keep(to_host(chain(at.any_x, at.any_w))); });
  add("their gradient, to host", [](const operands& at) {
    const auto of = [&w = at.w](const auto& x) { return loss(x, w); };
    bench::keep(to_host(gradient(of)(at.x)));
  });
  const auto compiled = std::make_shared<decltype(step(chain))>(chain);
  add("a compiled step of them, to host",
      [compiled](const operands& at) { bench::keep(to_host((*compiled)(at.x, at.w))); });
  add("prepared", [](const operands&) { bench::keep(prepare<float, double>(recorded)); });
  const auto ready = std::make_shared<const prepared_program>(prepare<float, double>(recorded));
  add("prepared, a run of them, to host",
      [ready](const operands& at) { bench::keep(to_host(run<float>(*ready, at.x, at.w))); });

  constexpr int roots = 64;
  all.push_back({"sync of 64 small roots", [held] {
                   std::vector<X> made;
                   made.reserve(roots);
                   for (int i = 0; i < roots; ++i)
                     made.push_back(relu(held->x * static_cast<float>(i) + held->w));
                   sync(held->pool);
                   bench::keep(made);
                 }});
}

/// A step of the demo's transformer, which is compiled once.
struct training {
  [[nodiscard]] demo::tokens text(index_t ahead) const {
    return generate<demo::tokens>(pool, [ahead](const global_index& at) {
      return static_cast<std::int32_t>((at[0] * 31 + (at[1] + ahead) * 7) % demo::bytes);
    });
  }

  device_pool pool{demo::pod{1, 1}, 1};
  demo::model model = nn::initialise<demo::model>(pool, random_key{1});
  demo::state state = demo::learn.optimizer.start(model);
  demo::tokens seen = text(0), next = text(1);
  decltype(step(demo::learn)) train = step(demo::learn);
};

void add_transformer(std::vector<small_call>& all) {
  // Made by its first call: a filter may leave it out.
  const auto held = std::make_shared<std::unique_ptr<training>>();
  all.push_back({"a transformer's step", [held] {
                   if (*held == nullptr) *held = std::make_unique<training>();
                   training& at = **held;
                   bench::keep(at.train(at.model, at.state, 1e-3F, at.seen, at.next));
                 }});
}

/// Prints the median time of a call in a few rounds, and their range. How memory is laid out makes
/// more difference between processes than there is within one, so further rounds are further runs.
void measure(const small_call& each) {
  const auto warm = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
  while (std::chrono::steady_clock::now() < warm) each.run();
  const int calls = bench::calls_for(each.run, 0.02);
  std::vector<double> rounds(7);
  for (double& at : rounds) at = 1e6 * bench::seconds(each.run, calls);
  std::sort(rounds.begin(), rounds.end());
  std::printf("%-50s %11.3f (%.3f..%.3f)\n", each.name.c_str(), rounds[3], rounds[0], rounds[6]);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string_view> filters{argv + 1, argv + argc};
  std::vector<small_call> all;
  add_operations(all);
  add_chains(all);
  add_transformer(all);
  std::printf("%-50s %11s (least..most)\n", "calls", "us");
  for (const small_call& each : all) {
    const auto wanted = [&](std::string_view f) { return each.name.find(f) != std::string::npos; };
    if (filters.empty() || std::any_of(filters.begin(), filters.end(), wanted)) measure(each);
  }
}
