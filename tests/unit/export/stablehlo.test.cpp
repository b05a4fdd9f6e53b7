// SPDX-License-Identifier: BSL-1.0
// What exported text says of numbers, layouts, arguments and regions.
#include "support/catch.hpp"
#include "unit/export/exported.hpp"
#include <shardwise/runtime/get_stablehlo.hpp>
#include <shardwise/shardwise.hpp>

#include <clocale>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
struct cube : mesh<axis<"x", 2>, axis<"y", 3>, axis<"z", 2>> {};

template <class Spec, index_t... N>
using tensor = sharded_tensor<float, extents<N...>, layout<pod, Spec>>;

/// The text of an operation on inputs of these types.
template <class Class>
exported_text one_operation(const mesh_desc& mesh, const attributes& how,
                            const std::vector<const char*>& operands,
                            const export_options& options = {}) {
  stored_program code(16, 4);
  program_builder to(code);
  to.place(mesh);
  value_ids read;
  for (const char* words : operands)
    read.push_back(
        to.append(operation_of<input_operation>, {}, {}, parse_type(words, mesh).tensor));
  to.keep(to.emit(operation_of<Class>, how, read));
  return export_stablehlo(code.view(), options);
}

/// The literal of a constant of a program.
std::string literal(double number, element type) {
  stored_program code(4, 1);
  program_builder to(code);
  to.place(pod::value);
  to.keep(to.constant(number, type));
  const std::string text = to_stablehlo(code.view());
  const std::size_t begin = text.find("dense<") + 6;
  return text.substr(begin, text.find('>', begin) - begin);
}

std::size_t count_of(const std::string& text, const std::string& words) {
  std::size_t count = 0;
  for (std::size_t at = text.find(words); at != std::string::npos; at = text.find(words, at + 1))
    ++count;
  return count;
}

}  // namespace

TEST_CASE("infinities and NaN are written by as many bits as their elements have") {
  const double infinity = std::numeric_limits<double>::infinity(), nan = std::nan("");
  CHECK(literal(infinity, element::f32) == "0x7F800000");
  CHECK(literal(-infinity, element::f32) == "0xFF800000");
  CHECK(literal(nan, element::f32) == "0x7FC00000");
  CHECK(literal(infinity, element::f64) == "0x7FF0000000000000");
  CHECK(literal(infinity, element::f16) == "0x7C00");
  CHECK(literal(infinity, element::bf16) == "0x7F80");
  CHECK(literal(-infinity, element::bf16) == "0xFF80");
}

TEST_CASE("numbers are written with the digits that give their bits again") {
  const double numbers[] = {1e-8,
                            double{0.9F},
                            1.0 / 3,
                            3,
                            -0.0,
                            1e22,
                            std::numeric_limits<double>::denorm_min(),
                            std::numeric_limits<double>::max()};
  for (const double number : numbers) {
    const std::string words = literal(number, element::f64);
    CAPTURE(words);
    CHECK(std::strtod(words.c_str(), nullptr) == number);
    CHECK(std::signbit(std::strtod(words.c_str(), nullptr)) == std::signbit(number));
    CHECK(words.find('.') != std::string::npos);
  }
  for (const float number :
       {1e-8F, 0.9F, std::numeric_limits<float>::denorm_min(), std::numeric_limits<float>::max()})
    CHECK(std::strtof(literal(double{number}, element::f32).c_str(), nullptr) == number);
  CHECK(literal(3, element::f32) == "3.0");
  CHECK(literal(-0.0, element::f32) == "-0.0");
}

TEST_CASE("numbers do not depend on the locale") {
  const std::string before = std::setlocale(LC_ALL, nullptr);
  for (const char* name : {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "fr_FR"}) {
    if (std::setlocale(LC_ALL, name) == nullptr) continue;
    CHECK(literal(7.75, element::f64) == "7.75");
  }
  std::setlocale(LC_ALL, before.c_str());
  CHECK(literal(7.75, element::f64) == "7.75");
}

TEST_CASE("padding of an empty tensor is a program") {
  attributes how;
  how.integers = {1, 2, 0, 1};
  const exported_text made = one_operation<pad_operation>(pod::value, how, {"f32[0,2]"});
  REQUIRE(made.ok());
  CHECK_THAT(made.text, contains("edge_padding_low = array<i64: 1, 0>, edge_padding_high = "
                                 "array<i64: 2, 1>, interior_padding = array<i64: 0, 0>"));
  CHECK_THAT(made.text, contains("-> tensor<3x3xf32>"));
}

TEST_CASE("truth values are counted as integers, and joined by or and and") {
  using B = sharded_tensor<bool, extents<4>, layout<pod, P<none>>>;
  const std::string counted =
      to_stablehlo(trace_program([](const auto& x) { return count_nonzero(x); }, abstract<B>()));
  CHECK(count_of(counted, "\"stablehlo.add\"") == 1);
  CHECK_THAT(counted, !contains(": (tensor<i1>, tensor<i1>) -> tensor<i1>"));
  const auto of_bits = [](reduction kind) {
    return one_operation<reduction_operation>(pod::value, reduction_operation::how(kind, 1, false),
                                              {"bool[4]"})
        .text;
  };
  CHECK_THAT(of_bits(reduction::max), contains("\"stablehlo.or\"") && contains("dense<false>"));
  CHECK_THAT(of_bits(reduction::min), contains("\"stablehlo.and\"") && contains("dense<true>"));
}

TEST_CASE("reductions begin with their identity") {
  const auto begin = [](reduction kind, const char* of) {
    return one_operation<reduction_operation>(pod::value, reduction_operation::how(kind, 1, false),
                                              {of})
        .text;
  };
  CHECK_THAT(begin(reduction::max, "f32[4]"), contains("dense<0xFF800000>"));
  CHECK_THAT(begin(reduction::min, "f32[4]"), contains("dense<0x7F800000>"));
  CHECK_THAT(begin(reduction::max, "i32[4]"), contains("dense<-2147483648>"));
  CHECK_THAT(begin(reduction::max, "i64[4]"), contains("dense<-9223372036854775808>"));
  CHECK_THAT(begin(reduction::max, "u8[4]"), contains("dense<0> : tensor<ui8>"));
  CHECK_THAT(begin(reduction::product, "f32[4]"), contains("dense<1.0>"));
}

TEST_CASE("arguments are those of the function, in order, with their number") {
  using X = tensor<P<none>, 4>;
  using Y = tensor<P<none, none>, 2, 4>;
  using Z = tensor<P<none>, 7>;
  const auto f = [](const auto& x, const auto& y, const auto&) { return sin(x) + cos(y) * x; };
  const std::string text =
      to_stablehlo(trace_program(f, abstract<X>(), abstract<Y>(), abstract<Z>()));
  CHECK_THAT(text, contains("^bb0(%arg0: tensor<4xf32>, %arg1: tensor<2x4xf32>, %arg2: "
                            "tensor<7xf32>):"));
  CHECK_THAT(text,
             contains("\"stablehlo.sine\"(%arg0)") && contains("\"stablehlo.cosine\"(%arg1)"));
  CHECK(count_of(text, "%arg2") == 1);
}

TEST_CASE("indices of any integers are wide enough for every row") {
  const exported_text made = one_operation<take_operation>(
      pod::value, take_operation::how(0, out_of_range::fill), {"f32[300,4]", "u8[6]"});
  REQUIRE(made.ok());
  CHECK_THAT(made.text,
             contains("(tensor<6xui8>) -> tensor<6xi64>") && contains("dense<300> : tensor<i64>"));
}

TEST_CASE("a device has its share of the groups of a convolution") {
  const attributes how = internal::window_attributes::from({1}, {1}, {1}, 8);
  const exported_text made = one_operation<convolution_operation>(
      pod::value, how, {"f32[2,8@x,6]", "f32[8@x,1,3]"}, {.form = export_form::per_device});
  REQUIRE(made.advice == "");
  CHECK_THAT(made.text,
             contains("feature_group_count = 4 : i64") && contains("-> tensor<2x4x6xf32>"));
}

TEST_CASE("a dimension split by two axes has their tiles, and is read back") {
  const tensor_desc x = parse_type("f32[6@y,4@(x,z)]", cube::value).tensor;
  internal::sharding_attributes attributes(cube::value, sharding_form::hlo);
  const std::string words = attributes.text_of(x.layout);
  CHECK(words == "{devices=[3,4]<=[2,3,2]T(1,0,2)}");
  index_t memory[64];
  device_buffer room(memory, 64);
  const hlo_result read = parse_hlo(words, room);
  REQUIRE(read.verdict.ok());
  CHECK(to_layout(read.sharding, cube::value, 2, room).layout == x.layout);
}

TEST_CASE("a pending sum is unreduced, and a reshard one request") {
  using X = tensor<P<none, by("x", "y")>, 4, 16>;
  const auto f = [](const auto& x) { return reshard<P<none>>(sum<1>(x)); };
  const auto program = trace_program(f, abstract<X>());
  const std::string hlo = to_stablehlo(program);
  CHECK_THAT(hlo, contains("mhlo.sharding = \"{unreduced}\""));
  CHECK(count_of(hlo, "custom_call") == 1);
  CHECK_THAT(hlo, contains("{call_target_name = \"Sharding\", mhlo.sharding = \"{replicated}\"}"));
  const std::string sdy = to_shardy(program);
  CHECK_THAT(sdy, contains("unreduced={\"x\", \"y\"}") && contains("\"sdy.reshard\"") &&
                      contains("mesh = #sdy.mesh<[\"x\"=2, \"y\"=4]>"));
  const std::string local = to_stablehlo(program, {.form = export_form::per_device});
  CHECK(count_of(local, "\"stablehlo.all_reduce\"") == 1);
  CHECK_THAT(local, contains("replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]>") &&
                        contains("tensor<4x2xf32>"));
}

TEST_CASE("a pending maximum has the names of the mesh") {
  using X = tensor<P<"x", none>, 4, 16>;
  const std::string text =
      to_stablehlo(trace_program([](const auto& x) { return max<0>(x); }, abstract<X>()));
  CHECK_THAT(text, contains("{mesh['x'=2,'y'=4], [{}], unreduced=max{'x'}}"));
}

TEST_CASE("a mark is a constraint of Shardy") {
  using X = tensor<P<none, none>, 8, 16>;
  const auto f = [](const auto& x) { return mark_sharding<P<"x", none>>(x) * 2.0F; };
  const std::string text = to_shardy(trace_program(f, abstract<X>()));
  CHECK_THAT(text, contains("\"sdy.sharding_constraint\"(%arg0) {sharding = #sdy.sharding<@mesh, "
                            "[{\"x\"}, {}]>}"));
}

TEST_CASE("a manual region has its collectives between two shapes") {
  using X = tensor<P<"x", none>, 8, 16>;
  const auto f = [](const auto& x) {
    const auto mine = enable_manual_sharding(x * 2.0F);
    const auto all = all_reduce<"x">(mine) + mine;
    return disable_manual_sharding<P<"x", none>>(all * all);
  };
  const auto program = trace_program(f, abstract<X>());
  const std::string hlo = to_stablehlo(program);
  CHECK_THAT(hlo, contains("SPMDFullToShardShape") && contains("SPMDShardToFullShape") &&
                      contains("last_tile_dims={manual, replicated}"));
  CHECK_THAT(hlo, contains("replica_groups = dense<[[0, 4], [1, 5], [2, 6], [3, 7]]>"));
  const std::string sdy = to_shardy(program);
  CHECK(count_of(sdy, "\"sdy.manual_computation\"") == 1);
  CHECK_THAT(sdy, contains("manual_axes = #sdy<manual_axes{\"x\"}>") && contains("^bb0(%") &&
                      contains(": tensor<4x16xf32>):"));
  exported::keep_all_forms("manual region", program.view());
}

TEST_CASE("what cannot be said names its instruction") {
  stored_program code(4, 1);
  program_builder to(code);
  to.place(pod::value);
  tensor_desc x = parse_type("f32[8@x]", pod::value).tensor;
  x.layout.grains[0] = grain::cyclic(2);
  to.keep(to.append(operation_of<input_operation>, {}, {}, x));
  const exported_text cyclic = export_stablehlo(code.view());
  CHECK(cyclic.verdict.rule == violation::program_has_no_text);
  CHECK_THAT(cyclic.advice, contains("%0 = input") && contains("contiguous parts"));
  CHECK_THROWS_WITH(to_stablehlo(code.view()),
                    contains("program_has_no_text: a program that leaves the library says only"));
  const exported_text unknown =
      one_operation<pointwise<functions::exp>>(pod::value, {}, {"f32[?,4]"});
  CHECK_THAT(unknown.advice, contains("an extent is known only at run time"));
  const exported_text uneven = one_operation<pointwise<functions::exp>>(
      pod::value, {}, {"f32[7@x]"}, {.form = export_form::per_device});
  CHECK_THAT(uneven.advice, contains("7 elements is cut into 2 parts of different sizes"));
}

TEST_CASE("a body is a function that the program calls") {
  using X = tensor<P<"x", none>, 8, 16>;
  const auto layer = [](const auto& x) { return tanh(x) * 0.5F; };
  const auto f = [&](const auto& x) {
    auto h = call(layer, x);
    return call(layer, h);
  };
  const auto program = trace_program(f, abstract<X>());
  const std::string text = to_stablehlo(program);
  CHECK(count_of(text, "\"func.call\"") == 2);
  CHECK(count_of(text, "sym_name = \"body_0\"") == 1);
  exported::keep_all_forms("calls", program.view());
}

TEST_CASE("pending tensors and compiled steps are exported with what they read as arguments") {
  const device_pool pool{pod{}};
  using X = tensor<P<"x", none>, 8, 16>;
  X w = full<X>(pool, 3.0F);
  const X x = full<X>(pool, 2.0F);
  const auto loss = sum(w * x);
  const std::string pending = get_stablehlo(loss);
  CHECK(count_of(pending, "\"stablehlo.multiply\"") == 1);
  CHECK_THAT(get_stablehlo({.shardings = sharding_form::sdy}, loss), contains("sdy.mesh"));
  auto update = step([](auto& weights, const auto& given, const auto& rate) {
    weights = weights - rate * given;
    return sum(weights);
  });
  const std::string text = get_stablehlo(update, w, x, 0.1F);
  CHECK_THAT(text, contains("^bb0(%arg0: tensor<8x16xf32>, %arg1: tensor<8x16xf32>, %arg2: "
                            "tensor<f32>):"));
  CHECK_THAT(text, contains("-> (tensor<8x16xf32>, tensor<f32>)"));
  CHECK_THAT(text, contains("\"stablehlo.subtract\"(%arg0,"));
  CHECK(to_host(w).elements()[0] == 3.0F);
}
