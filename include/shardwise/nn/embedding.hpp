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
  /// The product of `[batch, positions, width]` and each row, `[batch, positions, rows]`: the
  /// scores of a model whose last layer has the table of the first one. A table that is split by
  /// rows gives scores that are split so. The gradient of the table has both parts.
  template <Operand X>
  [[nodiscard]] constexpr auto scores(const X& x) const {
    return einsum<"bsd,vd->bsv">(x, table);
  }
};

}  // namespace shardwise::nn
