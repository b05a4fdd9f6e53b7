// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/name_pattern.hpp"
#include "shardwise/core/nest.hpp"
#include "shardwise/host/distribute.hpp"
#include "shardwise/host/host.hpp"
#include "shardwise/nn/state_entry.hpp"
#include "shardwise/tensor/variables.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace shardwise {

/// A view of the tensors of one or several nests with their names, in the order of declaration;
/// created by `state_dict`. It refers to the nests, which must outlive it; like an iterator, it is
/// invalidated when a vector in them grows.
template <class Entry>
class basic_state_view {
 public:
  basic_state_view() = default;
  /// A state that can be written can be read.
  template <std::derived_from<Entry> Other>
  basic_state_view(const basic_state_view<Other>& from)
      : entries_(from.begin(), from.end()), left_out_(from.left_out()) {}

  [[nodiscard]] auto begin() const noexcept { return entries_.begin(); }
  [[nodiscard]] auto end() const noexcept { return entries_.end(); }
  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
  [[nodiscard]] bool empty() const noexcept { return entries_.empty(); }
  template <std::integral Index>
  [[nodiscard]] const Entry& operator[](Index i) const& noexcept {
    return entries_[static_cast<std::size_t>(i)];
  }
  template <std::integral Index>
  [[nodiscard]] Entry operator[](Index i) const&& {
    return entries_[static_cast<std::size_t>(i)];
  }

  /// Returns the tensor of this name, or null.
  [[nodiscard]] const Entry* find(std::string_view name) const noexcept {
    for (const Entry& each : entries_)
      if (each.name() == name) return &each;
    return nullptr;
  }
  /// Returns the tensor of this name. Throws `state_names_differ`.
  ///
  ///     auto w = state["layers.0.weight"].as<float>();
  [[nodiscard]] Entry operator[](std::string_view name) const {
    const Entry* const found = find(name);
    if (found == nullptr)
      fail({.rule = violation::state_names_differ},
           "'" + std::string(name) + "' is not in the state");
    return *found;
  }
  /// Returns those whose names match a pattern with `*` and `?`.
  ///
  ///     load_safetensors(file, state_dict(model).matching("encoder.*"));
  [[nodiscard]] basic_state_view matching(text_view pattern) const {
    basic_state_view out;
    for (const Entry& each : entries_)
      if (name_matches(each.name(), pattern)) out.entries_.push_back(each);
    for (const std::string& each : left_out_)
      if (name_matches(each, pattern)) out.left_out_.push_back(each);
    return out;
  }
  /// Appends another state. Throws `state_names_differ` if both have a tensor of the same name.
  ///
  ///     save_safetensors(path, state_dict(model, "model").append(state_dict(moments, "optim")));
  basic_state_view& append(const basic_state_view& more) & {
    for (const Entry& each : more)
      if (find(each.name()) != nullptr)
        fail({.rule = violation::state_names_differ}, "'" + each.name() + "' is in both states");
    entries_.insert(entries_.end(), more.begin(), more.end());
    left_out_.insert(left_out_.end(), more.left_out_.begin(), more.left_out_.end());
    return *this;
  }
  [[nodiscard]] basic_state_view append(const basic_state_view& more) && {
    return std::move(append(more));
  }
  /// Appends a tensor; for `state_dict`.
  void push_back(Entry entry) { entries_.push_back(std::move(entry)); }

  /// The names of the tensors in frozen parts that are left out of the nest: a source may have
  /// them, and they are not loaded.
  [[nodiscard]] const std::vector<std::string>& left_out() const noexcept { return left_out_; }
  /// Adds such a name; for `state_dict`.
  void leave_out(std::string name) { left_out_.push_back(std::move(name)); }

 private:
  std::vector<Entry> entries_;
  std::vector<std::string> left_out_;
};

/// A state that can be read and assigned, and one that can only be read.
using state_view = basic_state_view<state_entry>;
using const_state_view = basic_state_view<const_state_entry>;

namespace internal {

/// Lists the leaves of a state. The only visitor of its nests, since code is generated for each
/// type of visitor and each type of nest.
class state_lister {
 public:
  state_lister(std::string_view prefix, const_state_view& to) noexcept : prefix_(prefix), to_(to) {}

  void operator()(const tensor_handle& leaf, const leaf_path& at) const {
    to_.push_back(const_state_entry(state_name(prefix_, at), leaf));
  }
  template <Readable X>
    requires(!std::derived_from<X, tensor_handle>)
  void operator()(const X& leaf, const leaf_path& at) const {
    to_.push_back(const_state_entry(state_name(prefix_, at), leaf));
  }
  template <FrozenNest Part>
  void operator()(const Part& part, const leaf_path& at) const {
    if (is_left_out(part))
      for_each_leaf<tensors_in_pools>(
          part.value,
          [&](const auto&, const leaf_path& in) { to_.leave_out(state_name(prefix_, in)); }, at);
    else
      for_each_leaf<tensors_and_frozen_parts>(part.value, *this, at);
  }

 private:
  std::string_view prefix_;
  const_state_view& to_;
};

}  // namespace internal

/// Returns the tensors of a nest, such as a model or the state of an optimizer, with their names: a
/// `state_view`, or a `const_state_view` if the nest or a tensor in it is const. With a prefix the
/// names are `prefix.layers.0.weight`. Members that are not tensors are omitted, and so are frozen
/// parts of the state of an optimizer.
///
///     for (const auto& each : state_dict(model))
///       std::cout << each.name() << ": " << to_text(each.tensor().type) << '\n';
///     state_dict(model)["head.weight"].assign(w);
template <class Nest>
[[nodiscard]] auto state_dict(Nest& nest, std::string_view prefix = {}) {
  const_state_view all;
  for_each_leaf<internal::tensors_and_frozen_parts>(std::as_const(nest),
                                                    internal::state_lister(prefix, all));
  if constexpr (!std::is_const_v<Nest> && internal::has_variables_only<Nest>())
    return internal::writable(all);
  else
    return all;
}
/// A nest on paper has no elements; `for_each_parameter` visits its names and types.
template <internal::NestOnPaper Nest>
void state_dict(Nest& nest, std::string_view prefix = {}) = delete;  // for_each_parameter(nest, f)
/// A state is returned unchanged.
template <class Entry>
[[nodiscard]] basic_state_view<Entry> state_dict(const basic_state_view<Entry>& state) {
  return state;
}
template <class Entry>
[[nodiscard]] basic_state_view<Entry> state_dict(basic_state_view<Entry>& state) {
  return state;
}

/// Which names `load_state_dict` and `load_safetensors` require: the same on both sides, or only
/// those that both have, which are loaded.
enum class state_names : std::uint8_t { all, common };

/// The names that only one of two states has.
struct state_difference {
  std::vector<std::string> missing{};     ///< names of the target that the source lacks
  std::vector<std::string> unexpected{};  ///< names of the source that the target lacks

  [[nodiscard]] bool empty() const noexcept { return missing.empty() && unexpected.empty(); }
};

/// Compares the names of a target state and of its source.
[[nodiscard]] state_difference difference_of_names(const const_state_view& into,
                                                   const const_state_view& source);

namespace internal {

/// Reports a compile-time error for a const nest, and returns false then.
template <class Nest>
[[nodiscard]] constexpr bool is_variable() noexcept {
  static_assert(!std::is_const_v<Nest>, "what is loaded into is a variable, not const");
  return !std::is_const_v<Nest>;
}
/// Returns the names of a difference as the text of an error.
[[nodiscard]] std::string words_of(const state_difference& names);

}  // namespace internal

namespace detail {

/// Loads a state; both arguments are views.
state_difference load_state(const state_view& into, const const_state_view& source,
                            state_names names);

}  // namespace detail

/// Assigns to every tensor of a nest the value of the same name in a state: that of another nest,
/// whose layouts, mesh and pool may differ. Each tensor keeps its elements, extents, layout and
/// pool: a value with another layout is resharded, and one in another pool is copied through host
/// memory, for which all processes that share a mesh must make the call.
///
/// Throws `state_names_differ`, which lists the missing and the unexpected names, unless only the
/// `common` names are requested, and `stored_tensor_differs` for other elements or extents; nothing
/// has changed then. Returns the names that only one side has.
///
///     load_state_dict(whole, state_dict(split));
///     load_state_dict(model, state_dict(backbone, "backbone"), state_names::common);
template <class Nest, class Entry>
state_difference load_state_dict(Nest& nest, const basic_state_view<Entry>& source,
                                 state_names names = state_names::all) {
  if constexpr (internal::is_variable<Nest>())
    return detail::load_state(state_dict(nest), source, names);
  else
    return {};
}
/// Loads into a part of a nest.
///
///     load_state_dict(state_dict(model).matching("encoder.*"), state_dict(encoder, "encoder"));
template <class Entry>
state_difference load_state_dict(const state_view& into, const basic_state_view<Entry>& source,
                                 state_names names = state_names::all) {
  return detail::load_state(into, source, names);
}

}  // namespace shardwise

#if !defined(SHARDWISE_COMPILED)
#include "shardwise/nn/state_dict_work.hpp"
#endif
