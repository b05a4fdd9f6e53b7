// SPDX-License-Identifier: BSL-1.0
// Rows of the table of operations, applied to each element of a batch by `vmap`.
#pragma once

#include "property/operation_row.hpp"

#include <bit>

namespace generated {

/// The sets of operands of a row that have a batch: all of them and, if there are several, each one
/// alone.
inline std::vector<unsigned> batches_of(const operation_row& row) {
  const unsigned all = (1U << row.operands.size()) - 1U;
  std::vector<unsigned> masks{all};
  for (std::size_t o = 0; row.operands.size() > 1 && o < row.operands.size(); ++o)
    masks.push_back(1U << o);
  return masks;
}

/// A tensor whose first dimension is split like a batch; these axes are removed from the other
/// dimensions.
inline row_tensor split_like(const row_tensor& x, const batch_dim& batch) {
  layout_desc layout = x.tensor().layout;
  for (int d = 1; d < layout.rank(); ++d)
    for (const std::uint8_t a : batch.axes)
      if (layout.dims[d].contains(a)) layout.unsplit(d);
  for (const std::uint8_t a : batch.axes)
    if (layout.is_pending(a)) fail({.rule = violation::partial_value_is_read});
  layout.dims[0] = batch.axes;
  layout.grains[0] = batch.cut;
  if (layout == x.tensor().layout) return x;
  return with_element(x.type(), [&]<class T>(std::type_identity<T>) -> row_tensor {
    return reshard(x.as<T>(), layout);
  });
}

/// A row applied by `vmap` to each element of a batch of tensors with run-time layouts.
inline row_tensors apply_mapped(const operation_row& row, unsigned mapped, const row_tensors& x) {
  detail::graph_batch tape(x[0]);
  row_tensors all = x;
  const auto first = static_cast<std::size_t>(std::countr_zero(mapped));
  for (std::size_t o = first + 1; o < x.size(); ++o)
    if ((mapped >> o & 1U) != 0) all[o] = split_like(x[o], batch_of(x[first].tensor(), 0));
  row_tensors each;
  for (std::size_t o = 0; o < x.size(); ++o)
    if ((mapped >> o & 1U) == 0)
      each.push_back(x[o]);
    else
      each.push_back(with_element(x[o].type(), [&]<class T>(std::type_identity<T>) -> row_tensor {
        return tape.argument<any_tensor<T>>(all[o].as<T>(), static_cast<int>(o), 0);
      }));
  const row_tensors results = row.apply(each);
  for (const row_tensor& result : results)
    with_element(result.type(),
                 [&]<class T>(std::type_identity<T>) { tape.result(result.as<T>()); });
  tape.run();
  row_tensors made;
  for (const row_tensor& result : results)
    made.push_back(with_element(result.type(), [&]<class T>(std::type_identity<T>) -> row_tensor {
      return tape.next<any_tensor<T>>(result.as<T>());
    }));
  return made;
}

/// One element of an array along its first dimension.
inline host_array element_of_array(const host_array& all, index_t i) {
  extents_desc extents;
  for (int d = 1; d < all.rank(); ++d) extents.push_back(all.extents[d]);
  host_array out(extents, all.type);
  for (index_t k = 0; k < out.size(); ++k) out[k] = all[i * out.size() + k];
  return out;
}

/// A row applied to each of `size` elements of a batch; the operands whose bits are set have the
/// batch.
inline operation_row mapped(const operation_row& row, unsigned mask, index_t size) {
  operation_row out = row;
  out.name = "vmap " + std::to_string(mask) + " " + row.name;
  for (std::size_t o = 0; o < row.operands.size(); ++o) {
    if ((mask >> o & 1U) == 0) continue;
    extents_desc extents{size};
    for (const index_t n : row.operands[o].extents) extents.push_back(n);
    out.operands[o].extents = extents;
  }
  out.apply = [row, mask](const row_tensors& x) { return apply_mapped(row, mask, x); };
  out.loop = [row, mask, size](const row_arrays& x) {
    row_arrays all;
    for (index_t i = 0; i < size; ++i) {
      row_arrays each;
      for (std::size_t o = 0; o < x.size(); ++o)
        each.push_back((mask >> o & 1U) != 0 ? element_of_array(x[o], i) : x[o]);
      const row_arrays made = row.loop(each);
      for (std::size_t r = 0; r < made.size(); ++r) {
        if (i == 0) {
          extents_desc extents{size};
          for (const index_t n : made[r].extents) extents.push_back(n);
          all.emplace_back(extents, made[r].type);
        }
        for (index_t k = 0; k < made[r].size(); ++k) all[r][i * made[r].size() + k] = made[r][k];
      }
    }
    return all;
  };
  return out;
}

/// All rows of a table with all sets of batched operands.
inline std::vector<operation_row> mapped(const std::vector<operation_row>& rows, index_t size) {
  std::vector<operation_row> out;
  for (const operation_row& row : rows)
    for (const unsigned mask : batches_of(row)) out.push_back(mapped(row, mask, size));
  return out;
}

}  // namespace generated
