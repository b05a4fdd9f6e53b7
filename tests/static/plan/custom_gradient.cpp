// SPDX-License-Identifier: BSL-1.0
// Custom gradients on paper.
#include <shardwise/paper.hpp>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
template <class Spec, index_t... N>
using tensor = sharded_tensor<float, extents<N...>, layout<pod, Spec>>;
using X = tensor<P<"data", none>, 8, 16>;
using W = tensor<P<none, "model">, 16, 32>;

constexpr auto words = [](const auto& program) {
  bounded_text<4000> out;
  write_instructions(out, program.view());
  return out;
};

// Rounding with the derivative 1: the cotangent passes, although `round` has no gradient.
constexpr auto through = custom_gradient([](const auto& x) { return round(x); },
                                         [](const auto&, const auto& dy) { return dy; });
constexpr auto loss = [](const auto& x) { return sum(square(through(x * 3.0F))); };

// Without differentiation it is the function.
constexpr auto forward = words(trace_program(through, abstract<X>()));
static_assert(text_view(forward) ==
              "%0 = input : f32[8@data, 16]\n"
              "%1** = round %0 : f32[8@data, 16]\n");
constexpr auto program = trace_program(gradient(loss), abstract<X>());
constexpr auto slope = words(program);
static_assert(text_view(slope) ==
              "%0 = input : f32[8@data, 16]\n"
              "%1 = constant 3 : f32[]\n"
              "%2* = * %0 %1 : f32[8@data, 16]\n"
              "%3* = round %2 : f32[8@data, 16]\n"
              "%4 = constant 2 : f32[]\n"
              "%5 = * %3 %4 : f32[8@data, 16]\n"
              "%6** = * %5 %1 : f32[8@data, 16]\n");

// Residuals that no gradient reads are not computed.
constexpr auto with_exp = custom_gradient(
    [](const auto& x) {
      auto e = exp(x);
      return with_residuals(log(e + 1.0F), e);
    },
    [](const auto& e, const auto& dy) { return dy * (1.0F - 1.0F / (e + 1.0F)); });
constexpr auto kept_by_nobody =
    custom_gradient([](const auto& x) { return with_residuals(relu(x), exp(x)); },
                    [](const auto& e, const auto& dy) { return dy * e; });
static_assert(trace_program(kept_by_nobody, abstract<X>()).count == 2);
static_assert(trace(gradient([](const auto& x) { return sum(with_exp(x)); }), abstract<X>())
                  .collectives() == 0);

// A handwritten gradient of a product costs the same as that of the library.
constexpr auto product = [](const auto& x, const auto& w) { return einsum<"bi,io->bo">(x, w); };
constexpr auto with_own_gradient =
    custom_gradient(product, [](const auto& x, const auto& w, const auto& dy) {
      return std::tuple{einsum<"bo,io->bi">(dy, w), einsum<"bi,bo->io">(x, dy)};
    });
constexpr auto squares = [](const auto& f) {
  return [f](const auto& x, const auto& w) { return sum(square(f(x, w))); };
};
constexpr auto own_cost =
    trace<128>(gradient<0, 1>(squares(product)), abstract<X>(), abstract<W>());
constexpr auto cost =
    trace<128>(gradient<0, 1>(squares(with_own_gradient)), abstract<X>(), abstract<W>());
static_assert(cost.collectives() == own_cost.collectives() && cost.collectives() == 2);
static_assert(cost.bytes_moved() == own_cost.bytes_moved() && cost.flops() == own_cost.flops());

// In a called body, and with `vjp`.
constexpr auto called =
    trace<128>(gradient([](const auto& x) { return sum(call(through, x)); }), abstract<X>());
static_assert(called.collectives() == 0);
constexpr auto pulled =
    trace_program([](const auto& x) { return vjp(through, x).second(x); }, abstract<X>());
static_assert(pulled.count == 1);

}  // namespace
