// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/io/file.hpp"
#include "shardwise/io/safetensors_header.hpp"
#include "shardwise/nn/state_dict.hpp"

#include <bit>

namespace shardwise {

static_assert(std::endian::native == std::endian::little, "files of tensors are little-endian");

/// A safetensors file that is open for reading: its header has been read, and tensors are read on
/// request, each device's part separately. Several threads may read at the same time.
///
///     const safetensors_file file("model.safetensors");
///     auto w = load_tensor<W>(pool, file, "layers.0.w");
class safetensors_file {
 public:
  /// Opens a file and reads its header. Throws `file_is_not_readable` or `file_is_malformed`.
  explicit safetensors_file(std::string path) : file_(std::move(path)) {
    const auto refuse = [&](const std::string& reason) {
      detail::fail_file(violation::file_is_malformed, file_.path(), reason);
    };
    std::byte length[8];
    if (file_.size() < 8) refuse("it is shorter than the length of its header");
    file_.read(0, length);
    std::uint64_t count = 0;
    std::memcpy(&count, length, sizeof(count));
    if (count > static_cast<std::uint64_t>(std::min(longest_header, file_.size() - 8)))
      refuse("its header would have " + std::to_string(count) + " bytes");
    std::string words(static_cast<std::size_t>(count), ' ');
    file_.read(8, std::as_writable_bytes(std::span(words)));
    read_header read = parse_safetensors_header(words);
    if (!read.ok()) refuse(read.reason);
    header_ = std::move(read.header);
    first_ = 8 + static_cast<index_t>(count);
    if (file_.size() - first_ != header_.bytes())
      refuse("it holds " + std::to_string(file_.size() - first_) +
             " bytes of tensors, and its "
             "header says " +
             std::to_string(header_.bytes()));
  }

  [[nodiscard]] const std::string& path() const noexcept { return file_.path(); }
  [[nodiscard]] const safetensors_header& header() const noexcept { return header_; }

  /// Returns the tensor of this name with elements of `type`. Throws `tensor_is_not_in_file` or
  /// `stored_tensor_differs`.
  [[nodiscard]] const stored_tensor& find(std::string_view name, element type) const {
    const stored_tensor* const found = header_.find(name);
    if (found == nullptr)
      detail::fail_file(violation::tensor_is_not_in_file, path(), "'" + std::string(name) + "'");
    if (found->type != type)
      detail::fail_file(violation::stored_tensor_differs, path(),
                        "'" + std::string(name) + "' has elements of " + words(found->type) +
                            ", not " + words(type));
    return *found;
  }
  /// Checks that a tensor has these extents, where `dyn` matches any.
  void require_extents(const stored_tensor& stored, const extents_desc& wanted) const {
    bool same = stored.extents.size() == wanted.size();
    for (int d = 0; same && d < wanted.ssize(); ++d)
      same = wanted[d] == dyn || wanted[d] == stored.extents[d];
    if (!same)
      detail::fail_file(
          violation::stored_tensor_differs, path(),
          "'" + stored.name + "' is [" + words(stored.extents) + "], not [" + words(wanted) + "]");
  }
  /// Reads contiguous elements of a tensor, whose bytes begin at offset `place` of all its bytes.
  void read(const stored_tensor& stored, index_t place, std::span<std::byte> to) const {
    file_.read(first_ + stored.begin + place, to);
  }

 private:
  [[nodiscard]] static std::string words(element type) {
    const text_view name = to_text(type);
    return {name.data(), name.size()};
  }
  [[nodiscard]] static std::string words(const extents_desc& extents) {
    std::string out;
    for (index_t extent : extents)
      out += (out.empty() ? "" : ", ") + (extent == dyn ? "?" : std::to_string(extent));
    return out;
  }

  input_file file_;
  safetensors_header header_;
  index_t first_ = 0;
};

namespace detail {

/// Fills a part of a tensor from a file.
inline void read_part(const safetensors_file& file, const stored_tensor& stored,
                      const held_box& part, const any_block& block) {
  const index_t size = size_of(stored.type);
  for_each_run(part, [&](const global_index& first, index_t place, index_t count) {
    const std::span<std::byte> row(static_cast<std::byte*>(block.data) + place * size,
                                   static_cast<std::size_t>(count * size));
    file.read(stored, linear(stored.extents, first) * size, row);
    // Bytes other than 0 and 1 are not valid `bool` elements.
    if (stored.type == element_of<bool>)
      for (std::byte& each : row) each = std::byte{each != std::byte{0}};
  });
}

/// Returns the node of a stored tensor with a layout; every device reads its own part.
template <class T>
[[nodiscard]] node_ptr load_node(const std::shared_ptr<machine>& home, const safetensors_file& file,
                                 const stored_tensor& stored, const layout_desc& layout) {
  return fill_leaf<T>(
      home, {element_of<T>, stored.extents, layout},
      [&](const held_box& part, const any_block& block) { read_part(file, stored, part, block); });
}

/// Returns the name of a tensor in a file: its path, or `tensor` for a tensor that is saved on its
/// own.
[[nodiscard]] inline std::string stored_name(const std::string& name) {
  return name.empty() ? "tensor" : name;
}

}  // namespace detail

/// Reads a tensor of type `X`; dyn extents are those of the file.
///
///     auto w = load_tensor<W>(pool, file, "layers.0.w");
template <ShardedTensor X>
[[nodiscard]] X load_tensor(const device_pool& pool, const safetensors_file& file,
                            std::string_view name) {
  using T = typename X::value_type;
  const stored_tensor& stored = file.find(name, element_of<T>);
  file.require_extents(stored, X::extents_type::value);
  detail::require_pool(pool.mesh(), X::mesh_type::value);
  return detail::handle_of<X>(
      detail::load_node<T>(pool.state(), file, stored, X::layout_type::value));
}
/// Reads a tensor with a run-time layout.
///
///     auto w = load_tensor<float>(pool, file, "layers.0.w", spec_desc{{"data", ""}});
template <Element T>
[[nodiscard]] any_tensor<T> load_tensor(const device_pool& pool, const safetensors_file& file,
                                        std::string_view name, const spec_desc& spec) {
  const stored_tensor& stored = file.find(name, element_of<T>);
  const resolved_layout to = resolve(pool.mesh(), spec, {}, uneven{});
  require(to.verdict);
  require(validate(pool.mesh(), to.layout, stored.extents));
  return detail::handle_of<any_tensor<T>>(
      detail::load_node<T>(pool.state(), file, stored, to.layout));
}

namespace detail {
/// Reports tensors that the host cannot read, if their types show it. A state has none.
template <class Nest>
constexpr void require_types_to_save(const Nest& nest) {
  for_each_leaf<tensors_in_pools>(nest, []<class X>(const X&, const leaf_path&) {
    if constexpr (Operand<X>) (void)sizeof(typename decltype(judge_gather<X>())::type);
  });
}
template <class Entry>
constexpr void require_types_to_save(const basic_state_view<Entry>&) {}
}  // namespace detail

/// Saves every tensor of a nest, named by its path (`layers.0.w`), to one file, which replaces an
/// existing file only when it is complete. Tensors are gathered one after another; none may be
/// pending over several devices or manual. Names and metadata must be UTF-8. A state can be saved
/// too: `state_dict` of a nest with a prefix, a part of it, or several.
///
/// If several processes share the mesh, all of them must call it, and each writes the whole file.
/// They may use one path: each writes a temporary file and renames it, and all contents are equal.
///
///     save_safetensors("model.safetensors", model, {{"step", "1000"}});
///     save_safetensors("head.safetensors", state_dict(model).matching("head.*"));
template <class Nest>
void save_safetensors(const std::string& path, const Nest& nest,
                      const std::map<std::string, std::string>& metadata = {}) {
  detail::require_types_to_save(nest);
  const const_state_view state = state_dict(nest);
  safetensors_header header{{}, metadata};
  std::set<std::string> names;
  for (const const_state_entry& each : state) {
    const tensor_desc& tensor = each.tensor();
    header.tensors.push_back(
        {detail::stored_name(each.name()), tensor.type, tensor.extents, header.bytes()});
    if (!names.insert(header.tensors.back().name).second)
      detail::fail_file(violation::file_is_not_writable, path,
                        "two tensors are called '" + header.tensors.back().name + "'");
  }
  const std::string words = write_safetensors_header(header);
  if (words.empty())
    detail::fail_file(violation::file_is_not_writable, path, "its names and metadata are in UTF-8");
  output_file file(path);
  file.write(std::as_bytes(std::span(words)));
  for (const const_state_entry& each : state) file.write(each.bytes());
  file.commit();
}

/// Assigns to every tensor of a nest, or of a state, the values stored in a file under its path.
/// Each tensor keeps its extents, layout and pool, so a file can be loaded with any layout. All
/// tensors are checked before the first is read.
///
///     load_safetensors("model.safetensors", model);
template <class Nest>
void load_safetensors(const safetensors_file& file, Nest& nest) {
  const state_view state = state_dict(nest);
  const auto stored = [&](const state_entry& each) -> const stored_tensor& {
    return file.find(detail::stored_name(each.name()), each.tensor().type);
  };
  for (const state_entry& each : state) file.require_extents(stored(each), each.tensor().extents);
  for (const state_entry& each : state)
    each.replace(each.filled([&](const held_box& part, const any_block& block) {
      detail::read_part(file, stored(each), part, block);
    }));
}
inline void load_safetensors(const safetensors_file& file, const state_view& state) {
  load_safetensors<const state_view>(file, state);
}
template <class Nest>
void load_safetensors(const std::string& path, Nest& nest) {
  load_safetensors(safetensors_file(path), nest);
}
inline void load_safetensors(const std::string& path, const state_view& state) {
  load_safetensors(safetensors_file(path), state);
}

}  // namespace shardwise
