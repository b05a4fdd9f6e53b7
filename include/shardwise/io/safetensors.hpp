// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/io/file.hpp"
#include "shardwise/io/safetensors_header.hpp"
#include "shardwise/io/stored_part.hpp"
#include "shardwise/io/tensor_source.hpp"
#include "shardwise/nn/state_dict.hpp"

#include <bit>

namespace shardwise {

static_assert(std::endian::native == std::endian::little, "files of tensors are little-endian");

/// A safetensors file that is open for reading: its header has been read.
///
///     const safetensors_file file("model.safetensors");
///     auto w = load_tensor<W>(pool, file, "layers.0.w");
class safetensors_file : public tensor_source {
 public:
  /// Opens a file and reads its header. Throws `file_is_not_readable` or `file_is_malformed`. A
  /// tensor with elements of another system, or of more than 8 dimensions, is no error before it is
  /// loaded.
  explicit safetensors_file(std::string path);

  void read(const stored_tensor& stored, index_t place, std::span<std::byte> to) const override {
    file_.read(first_ + stored.begin + place, to);
  }

 private:
  friend class safetensors_directory;

  input_file file_;
  index_t first_ = 0;  ///< where the bytes of tensors begin
};

namespace detail {

/// Returns the node of a stored tensor with a layout; every device reads its own part.
template <class T>
[[nodiscard]] node_ptr load_node(const std::shared_ptr<pool_state>& home,
                                 const tensor_source& source, const stored_tensor& stored,
                                 const layout_desc& layout) {
  return make_any_filled(home, {element_of<T>, stored.extents, layout}, element_kernels_of<T>,
                         [&](const held_box& part, const any_block& block) {
                           read_part(source, {&stored, stored.extents}, part, block);
                         });
}

/// Writes a state to a file, and reads one.
void write_state(const std::string& path, const const_state_view& state,
                 const std::map<std::string, std::string>& metadata);
void read_state(const tensor_source& source, const state_view& state, stored_elements elements);
/// The same for a whole nest, whose names are compared with those in the file.
state_difference read_nest(const tensor_source& source, const state_view& state, state_names names,
                           stored_elements elements);

}  // namespace detail

/// Reads a tensor of type `X` from a file or a directory; dyn extents are those of the file. With
/// `stored_elements::converted` its elements may be of another type there.
///
///     auto w = load_tensor<W>(pool, file, "layers.0.w");
template <ShardedTensor X>
[[nodiscard]] X load_tensor(const device_pool& pool, const tensor_source& file,
                            std::string_view name,
                            stored_elements elements = stored_elements::same) {
  using T = typename X::value_type;
  const stored_tensor& stored = file.find(name, element_of<T>, elements);
  file.require_extents(stored, X::extents_type::value);
  internal::require_pool(pool.mesh(), X::mesh_type::value);
  return internal::handle_of<X>(
      detail::load_node<T>(pool.state(), file, stored, X::layout_type::value));
}
/// Reads a tensor with a run-time layout.
///
///     auto w = load_tensor<float>(pool, file, "layers.0.w", spec_desc{{"data", ""}});
template <Element T>
[[nodiscard]] any_tensor<T> load_tensor(const device_pool& pool, const tensor_source& file,
                                        std::string_view name, const spec_desc& spec,
                                        stored_elements elements = stored_elements::same) {
  const stored_tensor& stored = file.find(name, element_of<T>, elements);
  const resolved_layout to = resolve(pool.mesh(), spec, {}, uneven{});
  require(to.verdict);
  require(validate(pool.mesh(), to.layout, stored.extents));
  return internal::handle_of<any_tensor<T>>(
      detail::load_node<T>(pool.state(), file, stored, to.layout));
}

namespace internal {

/// Reports a nest whose type shows that it has no tensors.
template <class Nest>
constexpr void require_tensors(const Nest&) noexcept {
  static_assert(any_in_nest<Nest>([]<class Each>(std::type_identity<Each>) {
                  return EitherOperand<Each> || FrozenNest<Each> || RangeOfNests<Each> ||
                         OptionalNest<Each>;
                }),
                "a file stores the tensors of a nest or of a state, and this type has none");
}
template <class Entry>
constexpr void require_tensors(const basic_state_view<Entry>&) noexcept {}

template <class X>
inline constexpr bool is_state = false;
template <class Entry>
inline constexpr bool is_state<basic_state_view<Entry>> = true;

/// Reports tensors that the host cannot read, if their types show it. A state has none.
template <class Nest>
constexpr void require_types_to_save(const Nest& nest) {
  require_tensors(nest);
  for_each_leaf<tensors_in_pools>(nest, []<class X>(const X&, const leaf_path&) {
    if constexpr (Operand<X>) (void)sizeof(typename decltype(judge_gather<X>())::type);
  });
}
template <class Entry>
constexpr void require_types_to_save(const basic_state_view<Entry>&) {}

/// Reports a state without tensors, which is not what a program means to load or save.
void require_entries(std::size_t count);

}  // namespace internal

/// Saves every tensor of a nest, named by its path (`layers.0.w`), to one file, which replaces an
/// existing file only when it is complete. Tensors are gathered one after another; none may be
/// pending over several devices or manual. Names and metadata must be UTF-8. A state can be saved
/// too: `state_dict` of a nest with a prefix, a part of it, or several; one without tensors throws
/// `pattern_matches_nothing`.
///
/// If several processes share the mesh, all of them must call it, and each writes the whole file.
/// They may use one path: each writes a temporary file and renames it, and all contents are equal.
/// A failure of one is thrown in all of them, and ends their communication.
///
///     save_safetensors("model.safetensors", model, {{"step", "1000"}});
///     save_safetensors("head.safetensors", state_dict(model).matching("head.*"));
template <class Nest>
void save_safetensors(const std::string& path, const Nest& nest,
                      const std::map<std::string, std::string>& metadata = {}) {
  internal::require_types_to_save(nest);
  if constexpr (internal::is_state<Nest>) internal::require_entries(nest.size());
  detail::write_state(path, state_dict(nest), metadata);
}

/// Assigns to every tensor of a nest the values stored in a file under its path. Each tensor keeps
/// its extents, layout and pool, so a file can be loaded with any layout. All tensors are checked
/// before the first is read. If the file can no longer be read after that, the tensors read so far
/// keep their new values.
///
/// Throws `tensor_is_not_in_file` if the file lacks a tensor of the nest, and `state_names_differ`
/// if it has others besides, unless only the `common` names are requested. Returns the names that
/// only one side has. Elements of another type are `stored_tensor_differs`, unless
/// `stored_elements::converted` is requested.
///
///     load_safetensors("model.safetensors", model);
///     load_safetensors("backbone.safetensors", model, state_names::common);
template <class Nest>
  requires(!internal::is_state<Nest>)
state_difference load_safetensors(const tensor_source& file, Nest& nest,
                                  state_names names = state_names::all,
                                  stored_elements elements = stored_elements::same) {
  internal::require_tensors(nest);
  if constexpr (internal::is_variable<Nest>())
    return detail::read_nest(file, state_dict(nest), names, elements);
  else
    return {};
}
template <class Nest>
  requires(!internal::is_state<Nest>)
state_difference load_safetensors(const std::string& path, Nest& nest,
                                  state_names names = state_names::all,
                                  stored_elements elements = stored_elements::same) {
  if constexpr (internal::is_variable<Nest>())
    return load_safetensors(safetensors_file(path), nest, names, elements);
  else
    return {};
}
/// Assigns to every tensor of a state, such as a part of a nest; the file may contain others. A
/// state without tensors throws `pattern_matches_nothing`.
///
///     load_safetensors(file, state_dict(model).matching("encoder.*"));
inline void load_safetensors(const tensor_source& file, const state_view& state,
                             stored_elements elements = stored_elements::same) {
  internal::require_entries(state.size());
  detail::read_state(file, state, elements);
}
inline void load_safetensors(const std::string& path, const state_view& state,
                             stored_elements elements = stored_elements::same) {
  load_safetensors(safetensors_file(path), state, elements);
}

}  // namespace shardwise

#if !defined(SHARDWISE_COMPILED_FILES)
#include "shardwise/io/safetensors_work.hpp"
#endif
