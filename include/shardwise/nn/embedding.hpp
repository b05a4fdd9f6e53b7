// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/nn/spread.hpp"
#include "shardwise/operation/einsum.hpp"
#include "shardwise/operation/take.hpp"

namespace shardwise::nn {

/// A row of a table for each index: `[...]` by `[rows, width]` is `[..., width]`.
///
/// Of a table that is split by rows each device looks up what it has, which is a pending sum until
/// `Out`, a spec, finishes it; a table split by columns gives a result split like them.
///
///     nn::embedding<Table, P<"data", none, none>> words{table};
///     auto h = words(ids);                                  // f32[8@data, 64, 128]
template <class Table, class Out = as_computed>
struct embedding {
  Table table;

  template <Operand Indices>
  [[nodiscard]] constexpr auto operator()(const Indices& ids) const {
    return detail::spread<Out>(shardwise::embedding(table, ids));
  }
  /// Returns the products of `[batch, positions, width]` with all rows, `[batch, positions, rows]`:
  /// an output layer with tied weights. The scores are split as the rows of the table are, and the
  /// gradient of the table is the sum over both uses.
  template <Operand X>
  [[nodiscard]] constexpr auto scores(const X& x) const {
    return einsum<"bsd,vd->bsv">(x, table);
  }
};

}  // namespace shardwise::nn
