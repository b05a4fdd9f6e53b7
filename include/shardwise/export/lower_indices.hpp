// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/export/lower_shapes.hpp"
#include "shardwise/operation/scatter.hpp"
#include "shardwise/operation/take.hpp"

#include <string>
#include <vector>

namespace shardwise::internal::index_lowerings {

using dims = std::vector<index_t>;

/// Indices along a dimension of `size` elements as the library reads them: of 64 bits, from the
/// front; and where they count. Those that do not count are `size`, which is out of range.
struct counted {
  mlir_value indices{};
  mlir_value is_valid{};
};
/// `which` is an `out_of_range`, possibly with `only_last`; then of equal indices only the last
/// along `along` counts, or the last of all if that is -1. If a device has only a part of the
/// dimension, the indices are those in its part.
inline counted counted_indices(lowering& at, const mlir_value& given, index_t which, index_t size,
                               int along, bool only_the_last = false, const mlir_value& start = {},
                               index_t here = 0) {
  const auto mode = static_cast<out_of_range>(which % only_last);
  counted out{at.convert(given, "i64"), {}};
  const mlir_type type = out.indices.type;
  const mlir_value zero = at.integer(0, type), end = at.integer(size, type);
  if (mode == out_of_range::clamp) {
    const mlir_value last = at.integer(size > 0 ? size - 1 : 0, type);
    out.indices = at.minimum(at.maximum(out.indices, zero), last);
  } else {
    out.indices =
        at.select(at.compare(out.indices, "LT", zero), at.add(out.indices, end), out.indices);
  }
  mlir_value beyond = end;
  if (!start.name.empty()) {
    out.indices = at.subtract(out.indices, at.spread(start, type.extents));
    beyond = at.integer(here, type);
  }
  out.is_valid =
      at.both(at.compare(out.indices, "GE", zero), at.compare(out.indices, "LT", beyond));
  if (which >= only_last || only_the_last) {
    // Each index is compared with all later ones, along one more dimension.
    index_t flat = 1;
    for (const index_t n : type.extents) flat *= n;
    const mlir_value line = along < 0 ? at.reshape(out.indices, {flat}) : out.indices;
    const int dim = along < 0 ? 0 : along;
    if (line.type.extents.full()) {
      static_cast<void>(at.refuse("a tensor of rank 8 has no room to compare its indices"));
      return out;
    }
    extents_desc pairs = line.type.extents;
    pairs.push_back(line.type.extents[dim]);
    dims first, second;
    for (int d = 0; d < line.type.rank(); ++d) {
      first.push_back(d);
      second.push_back(d == dim ? line.type.rank() : d);
    }
    const mlir_type places = line.type.sized(pairs);
    const mlir_value is_equal =
        at.compare(at.spread(line, pairs, first), "EQ", at.spread(line, pairs, second));
    const mlir_value is_later =
        at.compare(at.iota(places, line.type.rank()), "GT", at.iota(places, dim));
    const mlir_value is_met_again =
        at.reduce(at.both(is_equal, is_later), {line.type.rank()}, reduction::max);
    out.is_valid = at.both(out.is_valid, at.invert(at.reshape(is_met_again, type.extents)));
  }
  out.indices = at.select(out.is_valid, out.indices, beyond);
  return out;
}

/// Returns indices as a list of rows of one index each.
inline mlir_value as_rows(lowering& at, const mlir_value& indices, index_t& count) {
  count = 1;
  for (const index_t n : indices.type.extents) count *= n;
  return at.reshape(indices, {count, 1});
}
/// Returns a row for each element of `indices`: its own position, and its index in place of that
/// along `dim`.
inline mlir_value as_positions(lowering& at, const mlir_value& indices, int dim, index_t& count) {
  mlir_values columns;
  for (int d = 0; d < indices.type.rank(); ++d)
    columns.push_back(as_rows(at, d == dim ? indices : at.iota(indices.type, d), count));
  return at.concatenate(columns, 1);
}
inline std::string numbered(std::string_view name, const dims& all) {
  return std::string(name) + " = [" + comma_separated(all) + ']';
}

/// Gathers whole slices at the indices along a dimension.
inline mlir_value gather_along(lowering& at, const mlir_value& x, const mlir_value& indices,
                               int dim, const mlir_type& made) {
  index_t count = 0;
  const mlir_value rows = as_rows(at, indices, count);
  extents_desc sizes = x.type.extents, flat = x.type.extents;
  sizes[dim] = 1;
  flat[dim] = count;
  dims offsets;
  for (int d = 0; d < x.type.rank(); ++d)
    if (d != dim) offsets.push_back(d);
  const mlir_value taken = at.op(
      "gather", {x, rows}, x.type.sized(flat),
      "dimension_numbers = #stablehlo.gather<" + numbered("offset_dims", offsets) + ", " +
          numbered("collapsed_slice_dims", {dim}) + ", " + numbered("start_index_map", {dim}) +
          ", index_vector_dim = 1>, slice_sizes = " + mlir_array(sizes) +
          ", indices_are_sorted = false");
  return at.reshape(taken, made.extents);
}
/// Gathers one element at each row of positions.
inline mlir_value gather_each(lowering& at, const mlir_value& x, const mlir_value& indices,
                              int dim) {
  index_t count = 0;
  const mlir_value rows = as_positions(at, indices, dim, count);
  const dims all = shape_lowerings::first_dims(x.type.rank());
  const dims ones(all.size(), 1);
  const mlir_value taken =
      at.op("gather", {x, rows}, {x.type.element, {count}},
            "dimension_numbers = #stablehlo.gather<offset_dims = [], " +
                numbered("collapsed_slice_dims", all) + ", " + numbered("start_index_map", all) +
                ", index_vector_dim = 1>, slice_sizes = " + mlir_array(ones) +
                ", indices_are_sorted = false");
  return at.reshape(taken, indices.type.extents);
}
/// Writes updates at rows of positions in the dimensions `inserted`. Without a name of an operation
/// that combines them, they replace what is there.
inline mlir_value scatter_to(lowering& at, const mlir_value& to, const mlir_value& rows,
                             const mlir_value& updates, const dims& windows, const dims& inserted,
                             std::string_view combine) {
  const mlir_type one = to.type.scalar();
  const std::string body = at.region({one, one}, [&](const mlir_values& x) {
    return mlir_values{combine.empty() ? x[1] : at.each(combine, {x[0], x[1]})};
  });
  return at.text().append(
      "stablehlo.scatter", {to, rows, updates}, {to.type},
      "scatter_dimension_numbers = #stablehlo.scatter<" + numbered("update_window_dims", windows) +
          ", " + numbered("inserted_window_dims", inserted) + ", " +
          numbered("scatter_dims_to_operand_dims", inserted) +
          ", index_vector_dim = 1>, indices_are_sorted = false, unique_indices = false",
      body)[0];
}
/// Writes slices at the indices along a dimension; in `updates`, the dimensions of the indices
/// replace it.
inline mlir_value scatter_along(lowering& at, const mlir_value& to, const mlir_value& indices,
                                const mlir_value& updates, int dim, std::string_view combine) {
  index_t count = 0;
  const mlir_value rows = as_rows(at, indices, count);
  extents_desc flat = to.type.extents;
  flat[dim] = count;
  dims windows;
  for (int d = 0; d < to.type.rank(); ++d)
    if (d != dim) windows.push_back(d);
  return scatter_to(at, to, rows, at.reshape(updates, flat), windows, {dim}, combine);
}
inline mlir_value scatter_each(lowering& at, const mlir_value& to, const mlir_value& indices,
                               const mlir_value& updates, int dim, std::string_view combine) {
  index_t count = 0;
  const mlir_value rows = as_positions(at, indices, dim, count);
  return scatter_to(at, to, rows, at.reshape(updates, {count}), {},
                    shape_lowerings::first_dims(to.type.rank()), combine);
}

/// Returns the indices along the dimension of the first operand.
inline counted looked_up(lowering& at, index_t which, int along, bool only_the_last = false) {
  return counted_indices(at, at.in(1), which, at.operands()[0].extents[at.dim()], along,
                         only_the_last, at.start_of(at.dim()), at.in().type.extents[at.dim()]);
}
/// What is taken at indices that do not count is 0.
inline mlir_values take(lowering& at) {
  const index_t size = at.in().type.extents[at.dim()];
  const counted chosen = looked_up(at, at.integer_at(1), -1);
  const mlir_value none = at.integer(0, at.result());
  if (size == 0) return {none};
  const mlir_value taken = gather_along(at, at.in(), chosen.indices, at.dim(), at.result());
  dims own;
  for (int d = 0; d < chosen.indices.type.rank(); ++d) own.push_back(at.dim() + d);
  return {at.select(at.spread(chosen.is_valid, at.result().extents, own), taken, none)};
}
inline mlir_values take_along(lowering& at) {
  const index_t size = at.in().type.extents[at.dim()];
  const counted chosen = looked_up(at, at.integer_at(1), at.dim());
  const mlir_value none = at.integer(0, at.result());
  if (size == 0) return {none};
  const mlir_value indices = at.spread(chosen.indices, at.result().extents);
  const mlir_value taken = gather_each(at, at.in(), indices, at.dim());
  return {at.select(at.spread(chosen.is_valid, at.result().extents), taken, none)};
}
inline mlir_values segment_sum(lowering& at) {
  const counted chosen = counted_indices(at, at.in(1), at.integer_at(2), at.integer_at(1), -1);
  const mlir_value zeros = at.integer(0, at.result());
  return {scatter_along(at, zeros, chosen.indices, at.in(), at.dim(), "add")};
}
inline mlir_values sum_along(lowering& at) {
  const counted chosen =
      counted_indices(at, at.in(1), at.integer_at(2), at.integer_at(1), at.dim());
  const mlir_value zeros = at.integer(0, at.result());
  const mlir_value indices = at.spread(chosen.indices, at.in().type.extents);
  return {scatter_each(at, zeros, indices, at.in(), at.dim(), "add")};
}
/// Of equal indices the last one is set.
template <bool Along>
mlir_values scatter(lowering& at) {
  constexpr std::string_view combine[] = {"", "add", "maximum", "minimum", "multiply"};
  const auto mode = static_cast<std::size_t>(at.integer_at(1));
  const counted chosen = looked_up(at, at.integer_at(2), Along ? at.dim() : -1, mode == 0);
  if constexpr (Along) {
    const mlir_value indices = at.spread(chosen.indices, at.in(2).type.extents);
    return {scatter_each(at, at.in(), indices, at.in(2), at.dim(), combine[mode])};
  } else {
    return {scatter_along(at, at.in(), chosen.indices, at.in(2), at.dim(), combine[mode])};
  }
}

/// The first indices of a slice: 0 but along one dimension. Those beyond the end are clamped.
inline mlir_values first_indices(lowering& at, const mlir_value& x, const mlir_value& start) {
  mlir_values out{x};
  const mlir_value index = at.convert(start, "i64"), zero = at.scalar(index_t{0}, "i64");
  for (int d = 0; d < at.in().type.rank(); ++d) out.push_back(d == at.dim() ? index : zero);
  return out;
}
inline mlir_values dynamic_slice(lowering& at) {
  return {at.op("dynamic_slice", first_indices(at, at.in(), at.in(1)), at.result(),
                "slice_sizes = " + mlir_array(at.result().extents))};
}
/// Writes what a device holds of a part that is written across devices.
inline mlir_value update_own(lowering& at) {
  const int dim = at.dim();
  const index_t count = at.in(1).type.extents[dim], here = at.in().type.extents[dim];
  const index_t last = at.operands()[0].extents[dim] - count;
  const mlir_value wanted = at.convert(at.in(2), "i64");
  const mlir_value begin =
      at.minimum(at.maximum(wanted, at.integer(0, wanted.type)), at.integer(last, wanted.type));
  const mlir_type line{"i64", {here}};
  const mlir_value apart = at.spread(at.subtract(at.start_of(dim), begin), line.extents);
  const mlir_value places = at.add(at.iota(line, 0), apart), zero = at.integer(0, line);
  const mlir_value is_written =
      at.both(at.compare(places, "GE", zero), at.compare(places, "LT", at.integer(count, line)));
  if (count == 0) return at.in();
  const mlir_value taken =
      gather_along(at, at.in(1), at.select(is_written, places, zero), dim, at.in().type);
  return at.select(at.spread(is_written, at.in().type.extents, {dim}), taken, at.in());
}
inline mlir_values update_slice(lowering& at) {
  if (!at.start_of(at.dim()).name.empty()) return {update_own(at)};
  mlir_values read = first_indices(at, at.in(), at.in(2));
  read.insert(read.begin() + 1, at.in(1));
  return {at.op("dynamic_update_slice", read, at.result())};
}

}  // namespace shardwise::internal::index_lowerings
