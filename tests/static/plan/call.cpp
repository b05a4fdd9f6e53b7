// SPDX-License-Identifier: BSL-1.0
// Functions as sub-programs: their instructions and their costs.
#include <shardwise/paper.hpp>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"data", 8>, axis<"model", 16>> {};
using X = sharded_tensor<float, extents<1024, 512>, layout<pod, P<"data", none>>>;
using W = sharded_tensor<float, extents<512, 512>, layout<pod, P<none, "model">>>;
using open_rows = sharded_tensor<float, extents<dyn, 512>, layout<pod, P<"data", none>>>;

constexpr auto layer = [](const auto& x, const auto& w) {
  auto h = reshard<P<"data", none>>(einsum<"bi,io->bo">(x, w));
  return relu(h + 1.0F) + x;
};

/// A number of layers, called or inlined.
template <int Layers>
struct stack {
  constexpr auto operator()(const auto& x, const auto& w) const {
    if constexpr (Layers == 1)
      return call(layer, x, w);
    else {
      auto h = call(layer, x, w);
      return stack<Layers - 1>{}(h, w);
    }
  }
};
template <int Layers>
struct written_out {
  constexpr auto operator()(const auto& x, const auto& w) const {
    auto h = layer(x, w);
    if constexpr (Layers == 1)
      return h;
    else
      return written_out<Layers - 1>{}(h, w);
  }
};

// A model of 100 layers is 100 calls of one body of eight instructions.
constexpr auto deep = trace_program<128>(stack<100>{}, abstract<X>(), abstract<W>());
static_assert(deep.count == 102 && deep.body_count == 1 && deep.bodies[0].count == 8);
static_assert(inlined_size(deep.view()) == 102 + 100 * 8);
static_assert(ledger_of(deep).collectives() == 100);
static_assert(trace(stack<4>{}, abstract<X>(), abstract<W>()) ==
              trace(written_out<4>{}, abstract<X>(), abstract<W>()));

// Run-time sizes are those of the call: two sizes need two bodies.
constexpr auto two_sizes = [](const auto& x, const auto& y, const auto& w) {
  auto a = call(layer, x, w);
  auto b = call(layer, y, w);
  auto c = call(layer, a, w);
  return sum<0>(c) + sum<0>(b);
};
constexpr auto sized =
    trace_program(two_sizes, abstract<open_rows>(64), abstract<open_rows>(128), abstract<W>());
static_assert(sized.body_count == 2 && sized.code[5].what->name == "call");
static_assert(call_operation::body(sized.view().how(5)) == 0);

// Without a program a call has the type of what it calls.
static_assert(std::is_same_v<decltype(call(layer, abstract<X>(), abstract<W>())),
                             decltype(layer(abstract<X>(), abstract<W>()))>);

// The instructions of a body follow those of the program.
constexpr auto words = [] {
  bounded_text<2000> out;
  write_instructions(out, trace_program(stack<2>{}, abstract<X>(), abstract<W>()).view());
  return out;
}();
static_assert(text_view(words) ==
              "%0 = input : f32[1024@data, 512]\n"
              "%1 = input : f32[512, 512@model]\n"
              "%2* = call body 0 %0 %1 : f32[1024@data, 512]\n"
              "%3** = call body 0 %2 %1 : f32[1024@data, 512]\n"
              "body 0:\n"
              "%0 = input : f32[1024@data, 512]\n"
              "%1 = input : f32[512, 512@model]\n"
              "%2 = einsum bi,io->bo %0 %1 : f32[1024@data, 512@model]\n"
              "%3* = all_gather %2 : f32[1024@data, 512]\n"
              "%4 = constant 1 : f32[]\n"
              "%5 = + %3 %4 : f32[1024@data, 512]\n"
              "%6 = relu %5 : f32[1024@data, 512]\n"
              "%7** = + %6 %0 : f32[1024@data, 512]\n");

}  // namespace
