// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/nn/spread.hpp"
#include "shardwise/operation/einsum.hpp"
#include "shardwise/operation/take.hpp"

namespace shardwise::nn {

/// Looks up a row of a table for each index: indices `[...]` and a table `[rows, width]` give
/// `[..., width]`.
///
/// If the table is split by rows, each device looks up the rows that it holds, and the result is a
/// pending sum until `Out`, a spec, finishes it. If the table is split by columns, the result is
/// split like them.
///
///     nn::embedding<Table, P<"data", none, none>> words{table};
///     auto h = words(ids);                                  // f32[8@data, 64, 128]
template <class Table, class Out = as_computed>
struct embedding {
  Table table;

  template <EitherOperand Indices>
  [[nodiscard]] constexpr auto operator()(const Indices& ids) const {
    return detail::spread<Out>(shardwise::embedding(table, ids));
  }
  /// Returns the products of `[..., width]` with all rows, `[..., rows]`: an output layer with tied
  /// weights. The scores are split as the rows of the table are, and the gradient of the table is
  /// the sum over both uses.
  template <EitherOperand X>
  [[nodiscard]] constexpr auto scores(const X& x) const {
    return einsum<"...d,vd->...v">(x, table);
  }
};

}  // namespace shardwise::nn
