// SPDX-License-Identifier: BSL-1.0
// The reader of the tests itself: what it computes, and what it refuses.
#include "unit/export/stablehlo_reader.hpp"

#include "support/catch.hpp"

#include <string>
#include <vector>

namespace {

using namespace hlo_text;

/// A module whose function has these arguments, operations and results.
std::string module_of(const std::string& arguments, const std::string& body) {
  return "\"builtin.module\"() ({\n  \"func.func\"() ({\n  ^bb0(" + arguments + "):\n" + body +
         "  }) {sym_name = \"main\", function_type = () -> ()} : () -> ()\n}) : () -> ()\n";
}
tensor filled(const tensor_type& type, const std::vector<double>& values) {
  tensor out(type);
  for (std::size_t i = 0; i < out.elements.size(); ++i)
    out.elements[i] = out.form().is_float ? real_number(values.at(i))
                                          : whole_number(static_cast<std::int64_t>(values.at(i)));
  return out;
}
std::vector<double> values(const tensor& of) {
  std::vector<double> out;
  for (const number& one : of.elements)
    out.push_back(of.form().is_float ? one.real.real() : static_cast<double>(one.whole));
  return out;
}
/// Runs one operation on these operands, whose result is returned.
std::vector<double> run(const std::string& arguments, const std::string& operation,
                        const tensors& operands, const std::string& result) {
  const std::string text =
      module_of(arguments, "    %0 = " + operation + " -> " + result +
                               "\n    \"func.return\"(%0) : (" + result + ") -> ()\n");
  return values(stablehlo_reader(text).run(operands).at(0));
}
const std::string sum_body =
    " ({\n^bb0(%5: tensor<f32>, %6: tensor<f32>):\n"
    "%7 = \"stablehlo.add\"(%5, %6) : (tensor<f32>, tensor<f32>) -> tensor<f32>\n"
    "\"stablehlo.return\"(%7) : (tensor<f32>) -> ()\n})";

using doubles = std::vector<double>;

TEST_CASE("a product sums over the dimensions that it names") {
  const tensor a = filled({"f32", {2, 3}}, {1, 2, 3, 4, 5, 6});
  const tensor b = filled({"f32", {3, 2}}, {1, 0, 0, 1, 2, 2});
  const auto product = [&](const std::string& sum_a, const std::string& sum_b,
                           const std::string& result) {
    return run("%a: tensor<2x3xf32>, %b: tensor<3x2xf32>",
               "\"stablehlo.dot_general\"(%a, %b) {dot_dimension_numbers = "
               "#stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], "
               "lhs_contracting_dimensions = [" +
                   sum_a + "], rhs_contracting_dimensions = [" + sum_b +
                   "]>} : (tensor<2x3xf32>, tensor<3x2xf32>)",
               {a, b}, result);
  };
  CHECK(product("1", "0", "tensor<2x2xf32>") == doubles{7, 8, 16, 17});
  CHECK(product("0", "1", "tensor<3x3xf32>") == doubles{1, 4, 10, 2, 5, 14, 3, 6, 18});
  // Other dimensions do not fit, and other results are found.
  CHECK_THROWS_AS(product("0", "0", "tensor<3x2xf32>"), malformed);
  CHECK_THROWS_AS(product("1", "1", "tensor<2x3xf32>"), malformed);
  CHECK_THROWS_AS(product("1", "0", "tensor<2x3xf32>"), malformed);
  CHECK_THROWS_AS(product("1, 1", "0, 0", "tensor<2x2xf32>"), malformed);
  CHECK_THROWS_AS(product("2", "0", "tensor<2x2xf32>"), malformed);
}

TEST_CASE("interior padding of n elements has n - 1 gaps") {
  const auto padded = [](std::int64_t rows, const std::string& result) {
    const tensor x({"f32", {rows, 2}});
    const std::string type = "tensor<" + std::to_string(rows) + "x2xf32>";
    return run(
        "%x: " + type + ", %n: tensor<f32>",
        "\"stablehlo.pad\"(%x, %n) {edge_padding_low = array<i64: 1, 0>, edge_padding_high = "
        "array<i64: 2, 1>, interior_padding = array<i64: 1, 0>} : (" +
            type + ", tensor<f32>)",
        {x, filled({"f32", {}}, {7})}, result);
  };
  CHECK(padded(0, "tensor<3x3xf32>") == doubles(9, 7));
  CHECK(padded(1, "tensor<4x3xf32>") == doubles{7, 7, 7, 0, 0, 7, 7, 7, 7, 7, 7, 7});
}

TEST_CASE("reductions, windows and sorts run their regions") {
  const tensor x = filled({"f32", {2, 3}}, {3, 1, 2, 6, 5, 4});
  const tensor zero = filled({"f32", {}}, {0});
  const std::string arguments = "%x: tensor<2x3xf32>, %z: tensor<f32>";
  const std::string types = " : (tensor<2x3xf32>, tensor<f32>)";
  CHECK(run(arguments,
            "\"stablehlo.reduce\"(%x, %z)" + sum_body + " {dimensions = array<i64: 1>}" + types,
            {x, zero}, "tensor<2xf32>") == doubles{6, 15});
  CHECK(run(arguments,
            "\"stablehlo.reduce_window\"(%x, %z)" + sum_body +
                " {window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 1>, "
                "base_dilations = array<i64: 1, 1>, window_dilations = array<i64: 1, 1>, padding = "
                "dense<[[0, 0], [1, 0]]> : tensor<2x2xi64>}" +
                types,
            {x, zero}, "tensor<2x3xf32>") == doubles{3, 4, 3, 6, 11, 9});
  const std::string before =
      " ({\n^bb0(%5: tensor<f32>, %6: tensor<f32>):\n%7 = \"stablehlo.compare\"(%5, %6) "
      "{comparison_direction = #stablehlo<comparison_direction LT>, compare_type = "
      "#stablehlo<comparison_type FLOAT>} : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
      "\"stablehlo.return\"(%7) : (tensor<i1>) -> ()\n})";
  CHECK(run("%x: tensor<2x3xf32>",
            "\"stablehlo.sort\"(%x)" + before +
                " {dimension = 1 : i64, is_stable = true} : (tensor<2x3xf32>)",
            {x}, "tensor<2x3xf32>") == doubles{1, 2, 3, 4, 5, 6});
}

TEST_CASE("a gather clamps its indices, and a scatter drops those outside") {
  const tensor x = filled({"f32", {3, 2}}, {0, 1, 2, 3, 4, 5});
  const tensor at = filled({"i64", {2, 1}}, {-1, 7});
  CHECK(
      run("%x: tensor<3x2xf32>, %i: tensor<2x1xi64>",
          "\"stablehlo.gather\"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [1], "
          "collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = "
          "array<i64: 1, 2>, indices_are_sorted = false} : (tensor<3x2xf32>, tensor<2x1xi64>)",
          {x, at}, "tensor<2x2xf32>") == doubles{0, 1, 4, 5});
  const tensor rows = filled({"i64", {3, 1}}, {1, 1, 3}),
               updates = filled({"f32", {3, 2}}, {1, 1, 10, 10, 9, 9});
  CHECK(
      run("%x: tensor<3x2xf32>, %i: tensor<3x1xi64>, %u: tensor<3x2xf32>",
          "\"stablehlo.scatter\"(%x, %i, %u)" + sum_body +
              " {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], "
              "inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = "
              "1>, indices_are_sorted = false, unique_indices = false} : (tensor<3x2xf32>, "
              "tensor<3x1xi64>, tensor<3x2xf32>)",
          {x, rows, updates}, "tensor<3x2xf32>") == doubles{0, 1, 13, 14, 4, 5});
}

TEST_CASE("what the reader does not know is an error") {
  const tensor x = filled({"f32", {2}}, {1, 2});
  const auto apply = [&](const std::string& operation) {
    return run("%x: tensor<2xf32>", operation + " : (tensor<2xf32>)", {x}, "tensor<2xf32>");
  };
  CHECK(apply("\"stablehlo.negate\"(%x)") == doubles{-1, -2});
  CHECK(apply("\"stablehlo.negate\"(%x) {mhlo.sharding = \"{replicated}\"}") == doubles{-1, -2});
  CHECK(apply("\"stablehlo.custom_call\"(%x) {call_target_name = \"Sharding\", mhlo.sharding = "
              "\"{devices=[2]<=[2]}\"}") == doubles{1, 2});
  CHECK_THROWS_WITH(apply("\"stablehlo.nagate\"(%x)"), contains("nagate"));
  CHECK_THROWS_WITH(apply("\"stablehlo.negate\"(%x) {dimension = 1 : i64}"), contains("dimension"));
  CHECK_THROWS_WITH(apply("\"stablehlo.custom_call\"(%x) {call_target_name = \"shardwise.svd\"}"),
                    contains("shardwise.svd"));
  CHECK_THROWS_AS(apply("\"stablehlo.negate\"(%y)"), malformed);
  CHECK_THROWS_AS(apply("\"stablehlo.transpose\"(%x) {permutation = array<i64: 1>}"), malformed);
}

TEST_CASE("elements have the bits of their types") {
  const element_form f32 = form_of("f32"), bf16 = form_of("bf16");
  CHECK(std::isinf(parse_number("0x7F800000", f32).real.real()));
  CHECK(parse_number("0xFF80", bf16).real.real() < 0);
  CHECK_THROWS_AS(parse_number("0x7FF0000000000000", f32), malformed);
  CHECK(as_element(real_number(1.0000001), bf16).real.real() == 1);
  CHECK(as_element(whole_number(200), form_of("i8")).whole == -56);
  CHECK(as_element(whole_number(200), form_of("ui8")).whole == 200);
}

}  // namespace
