// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/export/stablehlo.hpp"
#include "shardwise/runtime/compiled_step.hpp"
#include "shardwise/runtime/sync.hpp"

#include <string>
#include <utility>
#include <vector>

namespace shardwise {

namespace detail {
/// Returns the program of nodes as StableHLO.
[[nodiscard]] std::string stablehlo_of(const std::vector<node_ptr>& named,
                                       const export_options& options);
}  // namespace detail

/// Returns the program that computes tensors together as StableHLO: what is computed already is an
/// argument of its function, in the order in which the others read it, and the tensors are its
/// results. Nothing runs. The tensors must be in one pool.
///
///     std::ofstream("loss.mlir") << get_stablehlo(loss);
///
/// Fails with the verdict of `export_stablehlo`.
template <Readable First, Readable... Rest>
[[nodiscard]] std::string get_stablehlo(const First& first, const Rest&... rest) {
  return detail::stablehlo_of({first.share(), rest.share()...}, {});
}
/// The same in another form, or with the shardings of Shardy.
///
///     get_stablehlo({.form = export_form::per_device}, loss);
template <Readable First, Readable... Rest>
[[nodiscard]] std::string get_stablehlo(const export_options& options, const First& first,
                                        const Rest&... rest) {
  return detail::stablehlo_of({first.share(), rest.share()...}, options);
}

/// Returns the program of a compiled step for these arguments, which is compiled as by a call.
/// Arguments are those of the function, in their order; the results are the new values of the
/// arguments that it changes, and then what it returns. Runs nothing except what pending arguments
/// need, and changes no argument.
///
///     get_stablehlo(train, model, state, 0.1F, x, y);
template <class F, class... X>
  requires(... || internal::has_tensor_in<std::remove_cvref_t<X>>())
[[nodiscard]] std::string get_stablehlo(compiled_step<F>& step, X&&... x) {
  return to_stablehlo(step.code(std::forward<X>(x)...));
}

}  // namespace shardwise

#if !defined(SHARDWISE_COMPILED)
#include "shardwise/runtime/get_stablehlo_work.hpp"
#endif
