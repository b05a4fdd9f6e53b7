// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/export/lowering.hpp"
#include "shardwise/operation/pad_operation.hpp"
#include "shardwise/operation/roll.hpp"
#include "shardwise/operation/slice.hpp"
#include "shardwise/operation/tile.hpp"

namespace shardwise::internal::shape_lowerings {

using dims = std::vector<index_t>;

inline dims dims_of(const attributes& how) { return {how.integers.begin(), how.integers.end()}; }
/// Returns the dimensions from 0 on, without the last `left`.
inline dims first_dims(int rank, int left = 0) {
  dims out;
  for (int d = 0; d < rank - left; ++d) out.push_back(d);
  return out;
}

inline mlir_values identity(lowering& at) { return {at.in()}; }
inline mlir_values transpose(lowering& at) { return {at.transpose(at.in(), dims_of(at.how()))}; }
inline mlir_values reshape(lowering& at) { return {at.reshape(at.in(), at.result().extents)}; }
inline mlir_values broadcast_to(lowering& at) { return {at.spread(at.in(), at.result().extents)}; }
inline mlir_values flip(lowering& at) {
  dims once;
  for (const index_t d : at.how().integers)
    if (!stablehlo_ops::has(once, d)) once.push_back(d);
  return {at.reverse(at.in(), once)};
}
inline mlir_values roll(lowering& at) {
  const index_t size = at.in().type.extents[at.dim()];
  if (size == 0) return {at.in()};
  const index_t cut = ((-at.integer_at(1)) % size + size) % size;
  if (cut == 0) return {at.in()};
  return {at.concatenate(
      {at.slice(at.in(), at.dim(), cut, size), at.slice(at.in(), at.dim(), 0, cut)}, at.dim())};
}
/// Repeats dimensions as a whole: each gets a new dimension in front of it.
inline mlir_values tile(lowering& at) {
  const extents_desc& made = at.result().extents;
  const extents_desc& from = at.in().type.extents;
  extents_desc cut;
  dims own;
  const int added = made.ssize() - from.ssize();
  for (int d = 0; d < made.ssize(); ++d) {
    const index_t count = tile_operation::count_along(at.how(), d, made.ssize());
    if (d < added) {
      cut.push_back(made[d]);
      continue;
    }
    if (count != 1) {
      if (cut.full()) return at.refuse("a tensor of rank 8 has no room for copies");
      cut.push_back(count);
    }
    own.push_back(cut.ssize());
    if (cut.full()) return at.refuse("a tensor of rank 8 has no room for copies");
    cut.push_back(from[d - added]);
  }
  return {at.reshape(at.spread(at.in(), cut, own), made)};
}
inline mlir_values repeat(lowering& at) {
  extents_desc cut;
  dims own;
  for (int d = 0; d < at.in().type.rank(); ++d) {
    if (cut.full()) return at.refuse("a tensor of rank 8 has no room for copies");
    own.push_back(cut.ssize());
    cut.push_back(at.in().type.extents[d]);
    if (d == at.dim() && cut.full()) return at.refuse("a tensor of rank 8 has no room for copies");
    if (d == at.dim()) cut.push_back(at.integer_at(1));
  }
  return {at.reshape(at.spread(at.in(), cut, own), at.result().extents)};
}
inline mlir_values concatenate(lowering& at) { return {at.concatenate(at.all(), at.dim())}; }
inline mlir_values stack(lowering& at) {
  mlir_values parts;
  for (const mlir_value& x : at.all()) {
    extents_desc one = at.result().extents;
    one[at.dim()] = 1;
    parts.push_back(at.reshape(x, one));
  }
  return {at.concatenate(parts, at.dim())};
}

/// A slice whose step is negative is reversed.
inline mlir_values slice(lowering& at) {
  const int dim = at.dim();
  const strided_range range = slice_operation::range_of(at.how(), at.in().type.extents[dim]);
  const index_t last = range.first + (range.count - 1) * range.step;
  mlir_value made = at.in();
  if (range.count == 0)
    made = at.slice(made, dim, 0, 0);
  else if (range.step > 0)
    made = at.slice(made, dim, range.first, last + 1, range.step);
  else
    made = at.reverse(at.slice(made, dim, last, range.first + 1, -range.step), {dim});
  return {at.reshape(made, at.result().extents)};
}
/// A number around a tensor is padding; elements of the tensor are slices, put together.
inline mlir_values pad(lowering& at) {
  const pad_mode mode = pad_operation::mode(at.how());
  mlir_value x = at.in();
  if (mode == pad_mode::constant) {
    extents_desc low, high;
    for (int d = 0; d < x.type.rank(); ++d) {
      low.push_back(at.integer_at(2 * d));
      high.push_back(at.integer_at(2 * d + 1));
    }
    const mlir_value number = at.count() > 1 ? at.in(1) : at.scalar(index_t{0}, x.type.element);
    return {at.pad(x, number, low, high)};
  }
  for (int d = 0; d < x.type.rank(); ++d) {
    const index_t before = at.integer_at(2 * d), behind = at.integer_at(2 * d + 1);
    const index_t size = x.type.extents[d];
    if (before == 0 && behind == 0) continue;
    std::vector<index_t> from;
    for (index_t i = -before; i < size + behind; ++i)
      from.push_back(i >= 0 && i < size ? i : pad_operation::source_of(mode, i, size));
    // Runs of neighbours, in either direction, are slices.
    mlir_values parts;
    for (std::size_t first = 0; first < from.size();) {
      std::size_t end = first + 1;
      index_t step = end < from.size() ? from[end] - from[first] : 1;
      if (step != -1) step = 1;
      while (end < from.size() && from[end] == from[end - 1] + step) ++end;
      const index_t a = from[first], b = from[end - 1];
      const mlir_value part = at.slice(x, d, a < b ? a : b, (a < b ? b : a) + 1);
      parts.push_back(a > b ? at.reverse(part, {d}) : part);
      first = end;
    }
    x = at.concatenate(parts, d);
  }
  return {x};
}

inline mlir_values iota_like(lowering& at) { return {at.indices(at.result(), at.dim())}; }
inline mlir_values full_like(lowering& at) { return {at.spread(at.in(1), at.result().extents)}; }
inline mlir_values bitcast(lowering& at) {
  return {at.op("bitcast_convert", {at.in()}, at.result())};
}
/// Elements of other triangles become 0.
template <bool Upper>
mlir_values triangle(lowering& at) {
  const mlir_value& x = at.in();
  const mlir_type places = x.type.of("i64");
  const mlir_value apart =
      at.subtract(at.indices(places, x.type.rank() - 1), at.indices(places, x.type.rank() - 2));
  const mlir_value is_kept =
      at.compare(apart, Upper ? "GE" : "LE", at.integer(at.integer_at(0), places));
  return {at.select(is_kept, x, at.integer(0, x.type))};
}
inline mlir_values one_hot(lowering& at) {
  const mlir_value ids = at.convert(at.in(), "i64");
  const mlir_type wide = at.result().of("i64");
  const mlir_value classes = at.iota(wide, wide.rank() - 1);
  const mlir_value is_own =
      at.compare(at.spread(ids, wide.extents, first_dims(wide.rank(), 1)), "EQ", classes);
  return {at.convert(is_own, at.result().element)};
}

}  // namespace shardwise::internal::shape_lowerings
