// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/export/mlir_builder.hpp"
#include "shardwise/spec/reduction.hpp"

#include <limits>
#include <numbers>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace shardwise::internal {

/// Appends operations of StableHLO, each a function of values with the result's type inferred.
class stablehlo_ops {
 public:
  explicit stablehlo_ops(mlir_builder& to) noexcept : to_(to) {}
  using value = mlir_value;

  [[nodiscard]] mlir_builder& text() noexcept { return to_; }

  /// Appends an operation on operands of one type, whose result has that type too.
  value each(std::string_view name, const mlir_values& operands) {
    return op(name, operands, operands[0].type);
  }
  value op(std::string_view name, const mlir_values& operands, const mlir_type& result,
           const std::string& attributes = {}) {
    return to_.op("stablehlo." + std::string(name), operands, result, attributes);
  }
  value add(const value& a, const value& b) { return each("add", {a, b}); }
  value subtract(const value& a, const value& b) { return each("subtract", {a, b}); }
  value multiply(const value& a, const value& b) { return each("multiply", {a, b}); }
  value divide(const value& a, const value& b) { return each("divide", {a, b}); }
  value maximum(const value& a, const value& b) { return each("maximum", {a, b}); }
  value minimum(const value& a, const value& b) { return each("minimum", {a, b}); }
  value both(const value& a, const value& b) { return each("and", {a, b}); }
  value either(const value& a, const value& b) { return each("or", {a, b}); }
  value negate(const value& x) { return each("negate", {x}); }
  value invert(const value& x) { return each("not", {x}); }

  /// Appends a number: a scalar, or as many of them as a value `like` it has elements.
  template <class T>
  value scalar(T number, std::string_view element) {
    return op("constant", {}, {element, {}},
              "value = dense<" + mlir_literal(number, element) + "> : " + to_text({element, {}}));
  }
  value number(double number, const value& like) {
    return spread(scalar(number, like.type.element), like.type.extents);
  }
  value integer(index_t number, const mlir_type& like) {
    return spread(scalar(number, like.element), like.extents);
  }
  /// Appends a list of integers as a tensor of rank 1.
  template <class List>
  value list(const List& numbers, std::string_view element) {
    const mlir_type type{element, {static_cast<index_t>(numbers.size())}};
    const std::string all = comma_separated(numbers);
    return op("constant", {}, type,
              "value = dense<" + (all.empty() ? all : '[' + all + ']') + "> : " + to_text(type));
  }
  /// Appends the number with which a reduction of such elements begins.
  value identity(reduction kind, std::string_view element) {
    const bool is_max = kind == reduction::max;
    if (kind == reduction::sum) return scalar(index_t{0}, element);
    if (kind == reduction::product) return scalar(index_t{1}, element);
    if (is_mlir_float(element)) {
      const double infinity = std::numeric_limits<double>::infinity();
      return scalar(is_max ? -infinity : infinity, element);
    }
    if (element == "i1") return scalar(index_t{is_max ? 0 : 1}, element);
    if (element == "ui8") return scalar(index_t{is_max ? 0 : 255}, element);
    const int digits = element == "i8" ? 7 : element == "i32" ? 31 : 63;
    const auto most = static_cast<index_t>(~std::uint64_t{0} >> (64 - digits));
    return scalar(is_max ? -most - 1 : most, element);
  }

  /// Repeats a value along the dimensions that it lacks or of which it has one element; its
  /// dimensions are `dims` of the result, by default the last ones.
  value spread(const value& x, const extents_desc& extents) {
    std::vector<index_t> dims;
    dims.reserve(x.type.extents.size());
    for (int d = 0; d < x.type.rank(); ++d) dims.push_back(extents.ssize() - x.type.rank() + d);
    return spread(x, extents, dims);
  }
  value spread(const value& x, const extents_desc& extents, const std::vector<index_t>& dims) {
    if (x.type.extents == extents) return x;
    return op("broadcast_in_dim", {x}, x.type.sized(extents),
              "broadcast_dimensions = " + mlir_array(dims));
  }
  value reshape(const value& x, const extents_desc& extents) {
    return x.type.extents == extents ? x : op("reshape", {x}, x.type.sized(extents));
  }
  value transpose(const value& x, const std::vector<index_t>& order) {
    extents_desc extents;
    bool is_plain = true;
    for (std::size_t d = 0; d < order.size(); ++d) {
      extents.push_back(x.type.extents[static_cast<int>(order[d])]);
      is_plain = is_plain && order[d] == static_cast<index_t>(d);
    }
    if (is_plain) return x;
    return op("transpose", {x}, x.type.sized(extents), "permutation = " + mlir_array(order));
  }
  value convert(const value& x, std::string_view element) {
    return x.type.element == element ? x : op("convert", {x}, x.type.of(element));
  }
  value reverse(const value& x, const std::vector<index_t>& dims) {
    return op("reverse", {x}, x.type, "dimensions = " + mlir_array(dims));
  }
  value iota(const mlir_type& type, int dim) {
    return op("iota", {}, type, "iota_dimension = " + mlir_count(dim));
  }
  /// Takes the elements from `begin` up to `end` along a dimension, `step` apart.
  value slice(const value& x, int dim, index_t begin, index_t end, index_t step = 1) {
    extents_desc made = x.type.extents, first = made, last = made, steps = made;
    for (int d = 0; d < made.ssize(); ++d) {
      first[d] = 0;
      steps[d] = 1;
    }
    first[dim] = begin;
    last[dim] = end;
    steps[dim] = step;
    made[dim] = end <= begin ? 0 : (end - begin + step - 1) / step;
    if (made == x.type.extents && step == 1) return x;
    return op("slice", {x}, x.type.sized(made),
              "start_indices = " + mlir_array(first) + ", limit_indices = " + mlir_array(last) +
                  ", strides = " + mlir_array(steps));
  }
  /// Adds elements of a number before and behind those of each dimension.
  value pad(const value& x, const value& number, const extents_desc& low,
            const extents_desc& high) {
    extents_desc made = x.type.extents, between = made;
    for (int d = 0; d < made.ssize(); ++d) {
      made[d] += low[d] + high[d];
      between[d] = 0;
    }
    return op("pad", {x, number}, x.type.sized(made),
              "edge_padding_low = " + mlir_array(low) + ", edge_padding_high = " +
                  mlir_array(high) + ", interior_padding = " + mlir_array(between));
  }
  value concatenate(const mlir_values& parts, int dim) {
    if (parts.size() == 1) return parts[0];
    mlir_type made = parts[0].type;
    for (std::size_t i = 1; i < parts.size(); ++i) made.extents[dim] += parts[i].type.extents[dim];
    return op("concatenate", parts, made, "dimension = " + mlir_count(dim));
  }

  /// Compares two values: EQ, NE, LT, LE, GT, GE.
  value compare(const value& a, std::string_view how, const value& b) {
    const std::string_view element = a.type.element;
    const std::string_view as = is_mlir_float(element)                        ? "FLOAT"
                                : element.starts_with('u') || element == "i1" ? "UNSIGNED"
                                                                              : "SIGNED";
    return op("compare", {a, b}, a.type.of("i1"),
              "comparison_direction = #stablehlo<comparison_direction " + std::string(how) +
                  ">, compare_type = #stablehlo<comparison_type " + std::string(as) + '>');
  }
  value compare(const value& a, std::string_view how, double b) {
    return compare(a, how, number(b, a));
  }
  value is_nan(const value& x) { return compare(x, "NE", x); }
  value select(const value& condition, const value& yes, const value& no) {
    return op("select", {condition, yes, no}, yes.type);
  }

  /// Appends a region that combines two scalars with an operation of StableHLO.
  [[nodiscard]] std::string combining(std::string_view name, std::string_view element) {
    const mlir_type one{element, {}};
    return region({one, one}, [&](const mlir_values& x) {
      return mlir_values{each(name, {x[0], x[1]})};
    });
  }
  template <class F>
  [[nodiscard]] std::string region(const std::vector<mlir_type>& arguments, const F& write) {
    return " ({\n" + to_.region(arguments, "stablehlo.return", write) + "})";
  }
  [[nodiscard]] static constexpr std::string_view name_of(reduction kind) noexcept {
    constexpr std::string_view words[] = {"add", "multiply", "maximum", "minimum"};
    return words[static_cast<unsigned>(kind)];
  }
  /// Reduces dimensions, which the result lacks. Of booleans the maximum is "or".
  value reduce(const value& x, const std::vector<index_t>& dims, reduction kind) {
    if (dims.empty()) return x;
    extents_desc left;
    for (int d = 0; d < x.type.rank(); ++d)
      if (!has(dims, d)) left.push_back(x.type.extents[d]);
    const value begin = identity(kind, x.type.element);
    const std::string body = combining(combiner(kind, x.type.element), x.type.element);
    return to_.append("stablehlo.reduce", {x, begin}, {x.type.sized(left)},
                      "dimensions = " + mlir_array(dims), body)[0];
  }
  /// The same with each reduced dimension kept with one element, and repeated as before.
  value reduced_beside(const value& x, const std::vector<index_t>& dims, reduction kind) {
    std::vector<index_t> kept;
    for (int d = 0; d < x.type.rank(); ++d)
      if (!has(dims, d)) kept.push_back(d);
    return spread(reduce(x, dims, kind), x.type.extents, kept);
  }
  [[nodiscard]] static std::string_view combiner(reduction kind,
                                                 std::string_view element) noexcept {
    if (element == "i1") return kind == reduction::max || kind == reduction::sum ? "or" : "and";
    return name_of(kind);
  }

  /// Multiplies and sums: batch dimensions, contracted ones, and those that are left of each.
  value dot(const value& a, const value& b, const std::vector<index_t>& batch_a,
            const std::vector<index_t>& batch_b, const std::vector<index_t>& summed_a,
            const std::vector<index_t>& summed_b) {
    extents_desc made;
    for (const index_t d : batch_a) made.push_back(a.type.extents[static_cast<int>(d)]);
    for (int d = 0; d < a.type.rank(); ++d)
      if (!has(batch_a, d) && !has(summed_a, d)) made.push_back(a.type.extents[d]);
    for (int d = 0; d < b.type.rank(); ++d)
      if (!has(batch_b, d) && !has(summed_b, d)) made.push_back(b.type.extents[d]);
    return op("dot_general", {a, b}, a.type.sized(made),
              "dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [" +
                  comma_separated(batch_a) + "], rhs_batching_dimensions = [" +
                  comma_separated(batch_b) + "], lhs_contracting_dimensions = [" +
                  comma_separated(summed_a) + "], rhs_contracting_dimensions = [" +
                  comma_separated(summed_b) + "]>");
  }
  /// Calls an operation that StableHLO does not have.
  value custom(std::string_view target, const mlir_values& operands, const mlir_type& result,
               const std::string& configuration = {}) {
    std::string attributes = "call_target_name = \"" + std::string(target) + '"';
    if (!configuration.empty()) attributes += ", backend_config = \"" + configuration + '"';
    return op("custom_call", operands, result, attributes + ", api_version = 1 : i32");
  }
  [[nodiscard]] static bool has(const std::vector<index_t>& dims, index_t d) noexcept {
    for (const index_t each : dims)
      if (each == d) return true;
    return false;
  }

 private:
  mlir_builder& to_;
};

}  // namespace shardwise::internal
