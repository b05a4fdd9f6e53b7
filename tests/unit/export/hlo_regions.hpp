// SPDX-License-Identifier: BSL-1.0
// Operations of StableHLO that have regions or indices: reductions, windows, sorts, gathers,
// scatters.
#pragma once

#include "unit/export/hlo_shapes.hpp"

#include <functional>

namespace hlo_text::regions {

using shapes::are_distinct_dims;
using shapes::size;
/// Runs the region of an operation.
using block_runner = std::function<tensors(const tensors&)>;

inline tensor scalar_of(const tensor& of, const number& value) {
  tensor out({of.type.element, {}});
  out.elements[0] = value;
  return out;
}
inline void require_initial_values(const tensors& x) {
  demand(!x.empty() && x.size() % 2 == 0, "each operand has an initial value");
  const std::size_t half = x.size() / 2;
  for (std::size_t k = 0; k < half; ++k)
    demand(x[k].type.extents == x[0].type.extents && x[half + k].rank() == 0 &&
               x[half + k].type.element == x[k].type.element,
           "operands have one shape, and initial values their elements");
}
/// Combines the elements at `to` of the results with those of the operands at `from`.
inline void combine(tensors& out, const indices& to, const tensors& x, const indices& from,
                    const block_runner& body) {
  tensors read;
  for (const tensor& one : out) read.push_back(scalar_of(one, one.at(to)));
  for (std::size_t k = 0; k < out.size(); ++k) read.push_back(scalar_of(x[k], x[k].at(from)));
  const tensors made = body(read);
  demand(made.size() == out.size(), "a region returns a value for each operand");
  for (std::size_t k = 0; k < out.size(); ++k) {
    demand(made[k].type == tensor_type{out[k].type.element, {}}, "a region returns other elements");
    out[k].at(to) = made[k].elements[0];
  }
}
inline tensors begun(const tensors& x, const indices& extents) {
  tensors out;
  for (std::size_t k = 0; k < x.size() / 2; ++k) {
    out.push_back(tensor({x[k].type.element, extents}));
    for (number& each : out.back().elements) each = x[x.size() / 2 + k].elements[0];
  }
  return out;
}

inline tensors reduce(const tensors& x, attribute_reader& in, const block_runner& body) {
  require_initial_values(x);
  const indices dims = in.list("dimensions");
  demand(are_distinct_dims(dims, x[0].rank()), "dimensions are reduced once");
  indices extents;
  std::vector<std::size_t> kept;
  for (index d = 0; d < x[0].rank(); ++d) {
    if (std::find(dims.begin(), dims.end(), d) != dims.end()) continue;
    extents.push_back(x[0].type.extents[size(d)]);
    kept.push_back(size(d));
  }
  tensors out = begun(x, extents);
  for_each_index(x[0].type.extents, [&](const indices& at) {
    indices to;
    for (const std::size_t d : kept) to.push_back(at[d]);
    combine(out, to, x, at, body);
  });
  return out;
}
inline tensors reduce_window(const tensors& x, attribute_reader& in, const block_runner& body) {
  require_initial_values(x);
  const int rank = x[0].rank();
  const indices window = in.list("window_dimensions", rank),
                stride = in.list("window_strides", rank);
  const indices spacing = in.list("base_dilations", rank);
  const indices distance = in.list("window_dilations", rank), padding = in.pairs("padding", rank);
  indices extents;
  for (std::size_t d = 0; d < size(rank); ++d) {
    demand(window[d] > 0 && stride[d] > 0 && spacing[d] > 0 && distance[d] > 0,
           "sizes and distances of windows are positive");
    const index n = x[0].type.extents[d];
    const index have =
        (n == 0 ? 0 : (n - 1) * spacing[d] + 1) + padding[2 * d] + padding[2 * d + 1];
    const index reach = (window[d] - 1) * distance[d] + 1;
    extents.push_back(have < reach ? 0 : (have - reach) / stride[d] + 1);
  }
  tensors out = begun(x, extents);
  for_each_index(extents, [&](const indices& at) {
    for_each_index(window, [&](const indices& w) {
      indices from(at.size());
      for (std::size_t d = 0; d < at.size(); ++d) {
        const index place = at[d] * stride[d] + w[d] * distance[d] - padding[2 * d];
        // Padding is the initial value, which a region leaves as it is.
        if (place < 0 || place % spacing[d] != 0) return;
        from[d] = place / spacing[d];
        if (from[d] >= x[0].type.extents[d]) return;
      }
      combine(out, at, x, from, body);
    });
  });
  return out;
}
inline tensors sort(const tensors& x, attribute_reader& in, const block_runner& body) {
  const index dim = in.count("dimension");
  const bool is_stable = in.flag("is_stable");
  demand(!x.empty() && dim >= 0 && dim < x[0].rank(), "a dimension is sorted");
  for (const tensor& each : x)
    demand(each.type.extents == x[0].type.extents, "sorted operands have one shape");
  tensors out = x;
  indices lines = x[0].type.extents;
  const index length = std::exchange(lines[size(dim)], 1);
  for_each_index(lines, [&](const indices& line) {
    const auto at = [&](index i) {
      indices place = line;
      place[size(dim)] = i;
      return place;
    };
    std::vector<index> order(size(length));
    std::iota(order.begin(), order.end(), index{0});
    // Whatever order equal elements have is one that a sort that is not stable may give.
    if (is_stable || length > 0)
      std::stable_sort(order.begin(), order.end(), [&](index a, index b) {
        tensors read;
        for (const tensor& each : x) {
          read.push_back(scalar_of(each, each.at(at(a))));
          read.push_back(scalar_of(each, each.at(at(b))));
        }
        return body(read).at(0).whole() != 0;
      });
    for (std::size_t k = 0; k < x.size(); ++k)
      for (index i = 0; i < length; ++i) out[k].at(at(i)) = x[k].at(at(order[size(i)]));
  });
  return out;
}

inline indices member(const std::map<std::string, indices>& of, const std::string& name) {
  const auto found = of.find(name);
  return found == of.end() ? indices{} : found->second;
}
/// The vector of indices at a place of the batch: along `along`, or one number if that is the rank.
inline indices index_vector(const tensor& from, const indices& batch, index along,
                            std::size_t count) {
  indices out;
  for (std::size_t k = 0; k < count; ++k) {
    indices place = batch;
    if (along < from.rank()) place.insert(place.begin() + along, static_cast<index>(k));
    out.push_back(from.at(place).whole);
  }
  return out;
}
inline indices without(const indices& extents, index along) {
  indices out = extents;
  if (along < static_cast<index>(out.size())) out.erase(out.begin() + along);
  return out;
}
/// The dimensions from 0 to `rank` that are in neither list.
inline indices others(int rank, const indices& a, const indices& b = {}) {
  indices out;
  for (index d = 0; d < rank; ++d)
    if (std::find(a.begin(), a.end(), d) == a.end() && std::find(b.begin(), b.end(), d) == b.end())
      out.push_back(d);
  return out;
}
inline void require_indices(const tensor& from, index along, const indices& map, int rank) {
  demand(!from.form().is_float && from.type.element != "i1", "indices are integers");
  demand(along >= 0 && along <= from.rank(), "index_vector_dim is a dimension of the indices");
  const index count = along < from.rank() ? from.type.extents[size(along)] : 1;
  demand(count == static_cast<index>(map.size()) && are_distinct_dims(map, rank),
         "a vector of indices has a number for each dimension that it names");
}

inline tensors gather(const tensors& x, attribute_reader& in, const tensor_type&) {
  demand(x.size() == 2, "gather reads an operand and indices");
  const auto numbers =
      members_of(in.text("dimension_numbers"), "gather",
                 {"offset_dims", "collapsed_slice_dims", "start_index_map", "index_vector_dim"});
  const indices offset = member(numbers, "offset_dims");
  const indices collapsed = member(numbers, "collapsed_slice_dims");
  const indices map = member(numbers, "start_index_map");
  const index along = member(numbers, "index_vector_dim").at(0);
  const indices sizes = in.list("slice_sizes", x[0].rank());
  if (in.has("indices_are_sorted"))
    demand(!in.flag("indices_are_sorted"), "indices have any order");
  require_indices(x[1], along, map, x[0].rank());
  demand(are_distinct_dims(collapsed, x[0].rank()), "dimensions are collapsed once");
  for (std::size_t d = 0; d < sizes.size(); ++d)
    demand(sizes[d] >= 0 && sizes[d] <= x[0].type.extents[d], "a slice fits into the operand");
  for (const index d : collapsed) demand(sizes[size(d)] == 1, "collapsed dimensions have size 1");
  const indices kept = others(x[0].rank(), collapsed);
  const indices batch = without(x[1].type.extents, along);
  demand(offset.size() == kept.size(), "an offset for each dimension that is not collapsed");
  const int rank = static_cast<int>(offset.size() + batch.size());
  demand(are_distinct_dims(offset, rank), "offset_dims are dimensions of the result");
  const indices batch_dims = others(rank, offset);
  indices extents(size(rank));
  for (std::size_t k = 0; k < offset.size(); ++k) extents[size(offset[k])] = sizes[size(kept[k])];
  for (std::size_t k = 0; k < batch.size(); ++k) extents[size(batch_dims[k])] = batch[k];
  tensor out({x[0].type.element, extents});
  for_each_index(extents, [&](const indices& at) {
    indices where;
    for (const index d : batch_dims) where.push_back(at[size(d)]);
    const indices start = index_vector(x[1], where, along, map.size());
    indices from(sizes.size(), 0);
    for (std::size_t k = 0; k < map.size(); ++k) {
      const std::size_t d = size(map[k]);
      from[d] = std::clamp<index>(start[k], 0, x[0].type.extents[d] - sizes[d]);
    }
    for (std::size_t k = 0; k < offset.size(); ++k) from[size(kept[k])] += at[size(offset[k])];
    out.at(at) = x[0].at(from);
  });
  return {out};
}
/// Updates are made in the order of their places; those outside of the operand are dropped.
inline tensors scatter(const tensors& x, attribute_reader& in, const block_runner& body) {
  demand(x.size() == 3, "scatter reads an operand, indices and updates");
  const auto numbers = members_of(in.text("scatter_dimension_numbers"), "scatter",
                                  {"update_window_dims", "inserted_window_dims",
                                   "scatter_dims_to_operand_dims", "index_vector_dim"});
  const indices windows = member(numbers, "update_window_dims");
  const indices inserted = member(numbers, "inserted_window_dims");
  const indices map = member(numbers, "scatter_dims_to_operand_dims");
  const index along = member(numbers, "index_vector_dim").at(0);
  demand(!in.flag("indices_are_sorted") && !in.flag("unique_indices"), "indices have any order");
  require_indices(x[1], along, map, x[0].rank());
  const indices kept = others(x[0].rank(), inserted);
  const indices batch = without(x[1].type.extents, along);
  const int rank = x[2].rank();
  demand(are_distinct_dims(inserted, x[0].rank()) && are_distinct_dims(windows, rank) &&
             windows.size() == kept.size() &&
             rank == static_cast<int>(windows.size() + batch.size()) &&
             x[2].type.element == x[0].type.element,
         "updates do not fit");
  const indices batch_dims = others(rank, windows);
  for (std::size_t k = 0; k < batch.size(); ++k)
    demand(x[2].type.extents[size(batch_dims[k])] == batch[k], "an update for each index");
  for (std::size_t k = 0; k < kept.size(); ++k)
    demand(x[2].type.extents[size(windows[k])] <= x[0].type.extents[size(kept[k])],
           "windows of updates fit into the operand");
  tensors out{x[0]};
  for_each_index(x[2].type.extents, [&](const indices& at) {
    indices where;
    for (const index d : batch_dims) where.push_back(at[size(d)]);
    const indices start = index_vector(x[1], where, along, map.size());
    indices to(size(x[0].rank()), 0);
    for (std::size_t k = 0; k < map.size(); ++k) to[size(map[k])] = start[k];
    for (std::size_t k = 0; k < windows.size(); ++k) to[size(kept[k])] += at[size(windows[k])];
    if (out[0].has(to)) combine(out, to, {x[2]}, at, body);
  });
  return out;
}

}  // namespace hlo_text::regions
