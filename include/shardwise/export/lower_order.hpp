// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/export/lower_indices.hpp"

#include <limits>

namespace shardwise::internal::order_lowerings {

using dims = std::vector<index_t>;

/// True where `a` comes before `b`: NaN comes last.
inline mlir_value comes_before(lowering& at, const mlir_value& a, const mlir_value& b,
                               bool is_descending) {
  mlir_value is_before = at.compare(a, is_descending ? "GT" : "LT", b);
  if (!is_mlir_float(a.type.element)) return is_before;
  return at.either(is_before, at.both(at.invert(at.is_nan(a)), at.is_nan(b)));
}
/// Sorts values along a dimension by the first of them; equal ones keep their order.
inline mlir_values sorted(lowering& at, const mlir_values& values, int dim, bool is_descending) {
  std::vector<mlir_type> types, arguments;
  for (const mlir_value& x : values) {
    types.push_back(x.type);
    arguments.push_back(x.type.scalar());
    arguments.push_back(x.type.scalar());
  }
  const std::string body = at.region(arguments, [&](const mlir_values& x) {
    return mlir_values{comes_before(at, x[0], x[1], is_descending)};
  });
  return at.text().append("stablehlo.sort", values, types,
                          "dimension = " + mlir_count(dim) + ", is_stable = true", body);
}
inline mlir_values sort(lowering& at) {
  return sorted(at, {at.in()}, at.dim(), at.integer_at(1) != 0);
}
inline mlir_values argsort(lowering& at) {
  const mlir_value places = at.iota(at.in().type.of("i64"), at.dim());
  return {sorted(at, {at.in(), places}, at.dim(), at.integer_at(1) != 0)[1]};
}

/// A dimension of the first operand that is searched as a whole or in parts, and the positions of
/// its elements.
struct searched {
  mlir_value values{}, places{};
  int dim = 0;
};
inline searched parts_of(lowering& at, index_t parts) {
  searched out{at.in(), {}, at.dim()};
  out.places = at.count() > 1 ? at.in(1) : at.indices(at.in().type, at.dim());
  if (parts == 0 || at.in().type.extents.full()) return out;
  extents_desc cut;
  for (int d = 0; d < at.in().type.rank(); ++d) {
    const index_t size = at.in().type.extents[d];
    if (d == at.dim()) cut.push_back(parts);
    cut.push_back(d == at.dim() ? size / parts : size);
  }
  return {at.reshape(out.values, cut), at.reshape(out.places, cut), at.dim() + 1};
}
inline mlir_values top_k(lowering& at) {
  const searched in = parts_of(
      at, at.how().integers.ssize() > 2 ? at.result().extents[at.dim()] / at.integer_at(1) : 0);
  const mlir_values all = sorted(at, {in.values, in.places}, in.dim, true);
  mlir_values out;
  for (int r = 0; r < 2; ++r)
    out.push_back(
        at.reshape(at.slice(all[static_cast<std::size_t>(r)], in.dim, 0, at.integer_at(1)),
                   at.result(r).extents));
  return out;
}

/// The region that finds the best of elements with positions: NaN is better than all numbers, and
/// of equal elements the first is taken.
template <reduction Kind>
std::string choosing(lowering& at, std::string_view element) {
  const mlir_type value{element, {}}, place{"i64", {}};
  return at.region({value, place, value, place}, [&](const mlir_values& x) {
    const auto better = [&](const mlir_value& a, const mlir_value& b) {
      mlir_value is_beyond = at.compare(a, Kind == reduction::max ? "GT" : "LT", b);
      if (!is_mlir_float(element)) return is_beyond;
      return at.either(is_beyond, at.both(at.is_nan(a), at.invert(at.is_nan(b))));
    };
    const mlir_value is_first = at.either(
        better(x[0], x[2]), at.both(at.invert(better(x[2], x[0])), at.compare(x[1], "LE", x[3])));
    return mlir_values{at.select(is_first, x[0], x[2]), at.select(is_first, x[1], x[3])};
  });
}
/// A position that no element has, which loses against all.
inline mlir_value no_place(lowering& at) {
  return at.scalar(std::numeric_limits<index_t>::max(), "i64");
}
template <reduction Kind>
mlir_values extreme_with_index(lowering& at) {
  const searched in =
      parts_of(at, at.how().integers.ssize() > 1 ? at.result().extents[at.dim()] : 0);
  const std::string_view element = in.values.type.element;
  if (in.values.type.extents[in.dim] == 0)
    return {at.spread(at.identity(Kind, element), at.result(0).extents),
            at.integer(-1, at.result(1))};
  const mlir_values begin{at.identity(Kind, element), no_place(at)};
  mlir_values made = at.text().append(
      "stablehlo.reduce", {in.values, in.places, begin[0], begin[1]}, {at.result(0), at.result(1)},
      "dimensions = " + mlir_array(dims{in.dim}), choosing<Kind>(at, element));
  return made;
}

/// The windows of all elements up to each one along a dimension.
inline std::string windows_up_to(const mlir_type& x, int dim) {
  dims sizes, ones, padding;
  for (int d = 0; d < x.rank(); ++d) {
    const index_t size = d == dim ? x.extents[d] : 1;
    sizes.push_back(size);
    ones.push_back(1);
    padding.push_back(size - 1);
    padding.push_back(0);
  }
  return "window_dimensions = " + mlir_array(sizes) + ", window_strides = " + mlir_array(ones) +
         ", base_dilations = " + mlir_array(ones) + ", window_dilations = " + mlir_array(ones) +
         ", padding = " + mlir_pairs(padding);
}
template <reduction Kind>
mlir_values scan(lowering& at) {
  const mlir_value& x = at.in();
  if (x.type.extents[at.dim()] < 2) return {x};
  const mlir_value begin = at.identity(Kind, x.type.element);
  const std::string body = at.combining(stablehlo_ops::name_of(Kind), x.type.element);
  return at.text().append("stablehlo.reduce_window", {x, begin}, {x.type},
                          windows_up_to(x.type, at.dim()), body);
}
/// The position of the extreme of all elements up to each one.
template <reduction Kind>
mlir_value running_place(lowering& at) {
  const mlir_value& x = at.in();
  const mlir_value places = at.iota(x.type.of("i64"), at.dim());
  const mlir_value begin = at.identity(Kind, x.type.element), none = no_place(at);
  return at.text().append("stablehlo.reduce_window", {x, places, begin, none},
                          {x.type, places.type}, windows_up_to(x.type, at.dim()),
                          choosing<Kind>(at, x.type.element))[1];
}
template <reduction Kind>
mlir_values pick(lowering& at) {
  if (at.in().type.extents[at.dim()] < 2) return {at.in(1)};
  return {index_lowerings::gather_each(at, at.in(1), running_place<Kind>(at), at.dim())};
}
template <reduction Kind>
mlir_values share(lowering& at) {
  if (at.in().type.extents[at.dim()] < 2) return {at.in(1)};
  return {index_lowerings::scatter_each(at, at.integer(0, at.result()), running_place<Kind>(at),
                                        at.in(1), at.dim(), "add")};
}

/// Moves elements along a dimension: those that come in are `fill`.
inline mlir_value moved(lowering& at, const mlir_value& x, int dim, index_t places, double fill) {
  extents_desc low = x.type.extents, high = low;
  for (int d = 0; d < low.ssize(); ++d) low[d] = high[d] = 0;
  low[dim] = places;
  high[dim] = -places;
  return at.pad(x, at.scalar(fill, x.type.element), low, high);
}
/// The logarithm of a sum of exponentials of any size.
inline mlir_value log_sum(lowering& at, const mlir_value& a, const mlir_value& b) {
  const mlir_value most = at.maximum(a, b), least = at.minimum(a, b);
  const mlir_value sum =
      at.add(most, at.each("log_plus_one", {at.each("exponential", {at.subtract(least, most)})}));
  const mlir_value lowest = at.number(-std::numeric_limits<double>::infinity(), a);
  return at.select(at.compare(least, "EQ", lowest), most, sum);
}
/// Running sums in rounds, in each of which sums of twice as many elements are formed.
inline mlir_value running_log_sum(lowering& at, mlir_value x) {
  for (index_t span = 1; span < x.type.extents[at.dim()]; span *= 2)
    x = log_sum(at, x, moved(at, x, at.dim(), span, -std::numeric_limits<double>::infinity()));
  return x;
}
inline mlir_values logcumsumexp(lowering& at) { return {running_log_sum(at, at.in())}; }
/// The exponential of a difference, which is 0 if the first is the lowest number.
inline mlir_value ratio(lowering& at, const mlir_value& a, const mlir_value& b) {
  const mlir_value is_none = at.compare(a, "EQ", -std::numeric_limits<double>::infinity());
  const mlir_value share = at.each("exponential", {at.subtract(a, b)});
  return at.select(is_none, at.number(0, a), share);
}
/// Means of the second operand up to each element, weighted by the exponentials of the first.
inline mlir_values logcumsumexp_pick(lowering& at) {
  mlir_value sum = at.in(0), mean = at.in(1);
  for (index_t span = 1; span < sum.type.extents[at.dim()]; span *= 2) {
    const mlir_value before =
        moved(at, sum, at.dim(), span, -std::numeric_limits<double>::infinity());
    const mlir_value mean_before = moved(at, mean, at.dim(), span, 0);
    const mlir_value both = log_sum(at, sum, before);
    mean = at.add(at.multiply(mean, ratio(at, sum, both)),
                  at.multiply(mean_before, ratio(at, before, both)));
    sum = both;
  }
  const mlir_value is_none = at.compare(at.in(0), "EQ", -std::numeric_limits<double>::infinity());
  if (sum.type.extents[at.dim()] < 2) return {at.select(is_none, at.number(0, mean), mean)};
  return {mean};
}
/// What each element gets of the second operand from there on, by its share in these sums.
inline mlir_values logcumsumexp_share(lowering& at) {
  const mlir_value sum = running_log_sum(at, at.in(0));
  mlir_value given = at.in(1);
  for (index_t span = 1; span < sum.type.extents[at.dim()]; span *= 2) {
    const mlir_value later =
        moved(at, sum, at.dim(), -span, std::numeric_limits<double>::infinity());
    given = at.add(given, at.multiply(ratio(at, sum, later), moved(at, given, at.dim(), -span, 0)));
  }
  const mlir_value is_none = at.compare(at.in(0), "EQ", -std::numeric_limits<double>::infinity());
  return {at.select(is_none, at.number(0, given), at.multiply(given, ratio(at, at.in(0), sum)))};
}

}  // namespace shardwise::internal::order_lowerings
