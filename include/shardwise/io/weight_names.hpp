// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/io/safetensors.hpp"
#include "shardwise/io/stored_part.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shardwise {

/// One row of a table that says where the tensors of a model are among the weights of another
/// program: a pattern of the names there, a pattern of the names here, and whether matrices are
/// stored transposed. Each `*` stands for characters other than dots, at least one: those of the
/// first `*` here are those of the first `*` there, and so on. With an empty `name` the stored
/// tensors are left out.
struct weight_name {
  std::string stored;
  std::string name;
  stored_form form = stored_form::same;
};

/// A table of names of weights. The order of its rows is of no importance.
///
///     const weight_table names{
///         {"model.embed_tokens.weight", "words.table"},
///         {"model.layers.*.self_attn.q_proj.weight", "layers.*.attention.query",
///          stored_form::transposed},
///         {"model.layers.*.self_attn.rotary_emb.inv_freq", ""}};
using weight_table = std::vector<weight_name>;

/// Returns the name that a pattern gives to what another pattern matches, or nothing if this one
/// does not match the name.
///
///     translated_name("layers.3.up", "layers.*.up", "model.layers.*.up_proj.weight")
///         // "model.layers.3.up_proj.weight"
[[nodiscard]] std::optional<std::string> translated_name(std::string_view name,
                                                         std::string_view pattern,
                                                         std::string_view target);

namespace detail {

/// Loads weights into a state; for `whole` nests, stored tensors that it does not need are errors.
state_difference load_weights(const tensor_source& source, const state_view& state, bool whole,
                              const weight_table& table, state_names names,
                              stored_elements elements);

}  // namespace detail

/// Assigns to every tensor of a nest the weights that a table finds for it in a file or a directory
/// of another program. A stored tensor may be loaded into several.
///
/// Every device reads its own part, also of a matrix that is stored transposed, so that no tensor
/// that is split is ever whole in memory. The dimensions of a tensor may split those that are
/// stored: `[4096, 32, 128]` is loaded from `[32 * 128, 4096]`, transposed. Dimensions of size 1
/// may be added.
///
/// All tensors are checked before the first is read. Throws `state_names_differ` with all tensors
/// of the nest that no row, or no stored tensor, is for, and all stored tensors that no tensor of
/// the nest needs, unless only the `common` names are requested; and if several rows are for one
/// tensor. Throws `stored_tensor_differs` for other extents, and for other elements unless
/// `stored_elements::converted` is requested. Returns the names that only one side has.
///
///     const safetensors_directory weights("Llama-3.1-8B");
///     load_weights(weights, model, names, state_names::all, stored_elements::converted);
template <class Nest>
  requires(!internal::is_state<Nest>)
state_difference load_weights(const tensor_source& source, Nest& nest, const weight_table& table,
                              state_names names = state_names::all,
                              stored_elements elements = stored_elements::same) {
  internal::require_tensors(nest);
  if constexpr (internal::is_variable<Nest>())
    return detail::load_weights(source, state_dict(nest), true, table, names, elements);
  else
    return {};
}
/// The same for a state, such as a part of a nest; there may be weights of other tensors.
///
///     load_weights(weights, state_dict(model).matching("layers.0.*"), names);
inline state_difference load_weights(const tensor_source& source, const state_view& state,
                                     const weight_table& table,
                                     state_names names = state_names::all,
                                     stored_elements elements = stored_elements::same) {
  internal::require_entries(state.size());
  return detail::load_weights(source, state, false, table, names, elements);
}

}  // namespace shardwise

#if !defined(SHARDWISE_COMPILED_FILES)
#include "shardwise/io/weight_names_work.hpp"
#endif
