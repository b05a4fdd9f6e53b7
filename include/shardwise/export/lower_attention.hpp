// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/export/lower_shapes.hpp"
#include "shardwise/operation/attention.hpp"
#include "shardwise/operation/rotary.hpp"

#include <cmath>
#include <limits>

namespace shardwise::internal::attention_lowerings {

using dims = std::vector<index_t>;

/// Attention as products of matrices: its operands in the type of arithmetic, with as many heads of
/// keys as of queries, and its weights.
class attention_parts {
 public:
  /// `mask` is the place of the mask among the operands, or -1.
  attention_parts(lowering& at, int mask) : at_(at), made_(at.in(0).type.element) {
    const std::string_view wide = made_ == "f16" || made_ == "bf16" ? "f32" : made_;
    heads_ = at.in(0).type.extents[at.in(0).type.rank() - 3];
    group_ = heads_ / std::max<index_t>(1, at.in(1).type.extents[at.in(0).type.rank() - 3]);
    fits_ = group_ == 1 || at.in(0).type.rank() < max_rank;
    if (!fits_) return;
    q = at.convert(at.in(0), wide);
    k = with_heads(at.convert(at.in(1), wide));
    v = with_heads(at.convert(at.in(2), wide));
    for (int d = 0; d < rank() - 2; ++d) batch_.push_back(d);
    const index_t width = q.type.extents[rank() - 1];
    scale_ = width == 0 ? 1 : 1 / std::sqrt(static_cast<double>(width));
    weigh(mask);
  }
  [[nodiscard]] bool fits() const noexcept { return fits_; }
  [[nodiscard]] int rank() const noexcept { return q.type.rank(); }

  /// Returns the products of rows of one with rows of another, of the same batch.
  mlir_value rows_by_rows(const mlir_value& a, const mlir_value& b) {
    return at_.dot(a, b, batch_, batch_, {rank() - 1}, {rank() - 1});
  }
  /// Returns the products of rows with columns, and of columns with columns.
  mlir_value rows_by_columns(const mlir_value& a, const mlir_value& b) {
    return at_.dot(a, b, batch_, batch_, {rank() - 1}, {rank() - 2});
  }
  mlir_value columns_by_columns(const mlir_value& a, const mlir_value& b) {
    return at_.dot(a, b, batch_, batch_, {rank() - 2}, {rank() - 2});
  }
  mlir_value attended() { return rows_by_columns(weights, v); }

  /// Returns the cotangents of the scores, before they are scaled.
  mlir_value of_scores(const mlir_value& cotangent) {
    const mlir_value of_weights = rows_by_rows(at_.convert(cotangent, q.type.element), v);
    const mlir_value terms = at_.multiply(weights, of_weights);
    const mlir_value sums = at_.reduced_beside(terms, {rank() - 1}, reduction::sum);
    return at_.subtract(terms, at_.multiply(weights, sums));
  }
  /// Returns the cotangent of queries, keys or values, with the heads of queries.
  mlir_value cotangent_of(int operand, const mlir_value& cotangent) {
    if (operand == 2) return columns_by_columns(weights, at_.convert(cotangent, q.type.element));
    const mlir_value scores = of_scores(cotangent);
    const mlir_value sums =
        operand == 0 ? rows_by_columns(scores, k) : columns_by_columns(scores, q);
    return at_.multiply(sums, at_.number(scale_, sums));
  }
  /// Adds up the heads that share a head of keys.
  mlir_value by_group(const mlir_value& x, const extents_desc& made) {
    if (x.type.extents == made) return x;
    extents_desc cut;
    for (int d = 0; d < x.type.rank(); ++d) {
      cut.push_back(d == rank() - 3 ? x.type.extents[d] / group_ : x.type.extents[d]);
      if (d == rank() - 3) cut.push_back(group_);
    }
    return at_.reduce(at_.reshape(x, cut), {rank() - 2}, reduction::sum);
  }
  mlir_value narrowed(const mlir_value& x) { return at_.convert(x, made_); }

  mlir_value q{}, k{}, v{}, weights{};

 private:
  mlir_value with_heads(const mlir_value& x) {
    if (group_ == 1) return x;
    extents_desc cut, made = x.type.extents;
    dims own;
    for (int d = 0; d < x.type.rank(); ++d) {
      own.push_back(cut.ssize());
      cut.push_back(x.type.extents[d]);
      if (d == x.type.rank() - 3) cut.push_back(group_);
    }
    made[x.type.rank() - 3] = heads_;
    return at_.reshape(at_.spread(x, cut, own), made);
  }
  void weigh(int mask) {
    const mlir_value products = rows_by_rows(q, k);
    mlir_value scores = at_.multiply(products, at_.number(scale_, products));
    const mlir_value lowest = at_.number(-std::numeric_limits<double>::infinity(), scores);
    mlir_value start = at_.scalar(index_t{0}, "i64");
    if (mask >= 0 && attention_operation::is_position(at_.operands()[mask])) {
      start = at_.convert(at_.in(mask), "i64");
    } else if (mask >= 0) {
      const mlir_value given = at_.spread(at_.in(mask), scores.type.extents);
      if (given.type.element == "i1") {
        scores = at_.select(given, scores, lowest);
      } else {
        const mlir_value added = at_.convert(given, scores.type.element);
        scores = at_.select(at_.compare(added, "EQ", lowest), lowest, at_.add(scores, added));
      }
    }
    if (at_.integer_at(0) == static_cast<index_t>(attends::to_earlier)) {
      const mlir_type places = scores.type.of("i64");
      const mlir_value last =
          at_.add(at_.iota(places, rank() - 2), at_.spread(start, places.extents));
      scores = at_.select(at_.compare(at_.iota(places, rank() - 1), "LE", last), scores, lowest);
    }
    const dims keys{rank() - 1};
    const mlir_value most = at_.reduced_beside(scores, keys, reduction::max);
    // A query without keys has no weights.
    const mlir_value finite =
        at_.select(at_.compare(most, "EQ", lowest), at_.number(0, most), most);
    const mlir_value grown = at_.each("exponential", {at_.subtract(scores, finite)});
    const mlir_value total = at_.reduced_beside(grown, keys, reduction::sum);
    weights =
        at_.divide(grown, at_.select(at_.compare(total, "EQ", 0), at_.number(1, total), total));
  }

  lowering& at_;
  std::string_view made_;
  index_t heads_ = 1, group_ = 1;
  bool fits_ = true;
  double scale_ = 1;
  dims batch_;
};

constexpr std::string_view no_room = "a tensor of rank 8 has no room for groups of heads";

inline mlir_values attention(lowering& at) {
  attention_parts parts(at, at.count() > 3 ? 3 : -1);
  if (!parts.fits()) return at.refuse(no_room);
  return {parts.narrowed(parts.attended())};
}
inline mlir_values attention_gradient(lowering& at) {
  attention_parts parts(at, at.count() > 4 ? 4 : -1);
  if (!parts.fits()) return at.refuse(no_room);
  const auto operand = static_cast<int>(at.integer_at(1));
  if (operand < 3)
    return {
        parts.narrowed(parts.by_group(parts.cotangent_of(operand, at.in(3)), at.result().extents))};
  // A mask has the sums of the dimensions along which it is repeated.
  const mlir_value scores = parts.of_scores(at.in(3));
  const extents_desc& made = at.result().extents;
  dims repeated;
  const int missing = scores.type.rank() - made.ssize();
  for (int d = 0; d < scores.type.rank(); ++d)
    if (d < missing || made[d - missing] != scores.type.extents[d]) repeated.push_back(d);
  return {parts.narrowed(at.reshape(at.reduce(scores, repeated, reduction::sum), made))};
}
inline mlir_values attention_gradients(lowering& at) {
  attention_parts parts(at, at.count() > 4 ? 4 : -1);
  if (!parts.fits()) return at.refuse(no_room);
  mlir_values out;
  for (int operand = 0; operand < 3; ++operand)
    out.push_back(parts.narrowed(parts.cotangent_of(operand, at.in(3))));
  return out;
}

/// Rotates pairs of elements along the last dimension.
inline mlir_values rotary(lowering& at) {
  const mlir_value& x = at.in();
  const int last = x.type.rank() - 1;
  const index_t pairs = x.type.extents[last] / 2;
  const bool halves = at.integer_at(0) == static_cast<index_t>(rotary_pairs::halves);
  const auto of_pairs = [&](index_t which) {
    return halves ? at.slice(x, last, which * pairs, (which + 1) * pairs)
                  : at.slice(x, last, which, x.type.extents[last] - 1 + which, 2);
  };
  const mlir_value a = of_pairs(0), b = of_pairs(1);
  const mlir_value cosines = at.spread(at.in(1), a.type.extents);
  const mlir_value sines = at.spread(at.in(2), a.type.extents);
  mlir_values turned{at.subtract(at.multiply(a, cosines), at.multiply(b, sines)),
                     at.add(at.multiply(b, cosines), at.multiply(a, sines))};
  if (halves) return {at.concatenate(turned, last)};
  for (mlir_value& each : turned) {
    extents_desc rows{1, 1};
    for (int d = 0; d < last; ++d) rows[0] *= x.type.extents[d];
    rows[0] *= pairs;
    each = at.reshape(each, rows);
  }
  return {at.reshape(at.concatenate(turned, 1), x.type.extents)};
}

}  // namespace shardwise::internal::attention_lowerings
