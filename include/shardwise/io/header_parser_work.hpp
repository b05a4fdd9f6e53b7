// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/io/safetensors_header.hpp"
#include "shardwise/io/stored_count_work.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace shardwise {

namespace internal {

/// The names of element types in the format, in the order of `element`.
inline constexpr std::string_view stored_names[element_types] = {
    "F32", "F64", "I32", "I64", "BOOL", "I8", "U8", "BF16", "F16"};

}  // namespace internal

namespace detail {

/// What a header says about one tensor: its members, and whether each is what it has to be.
struct header_entry {
  /// A list, and its values if all are nonnegative integers.
  struct list {
    bool is_list = false;
    bool is_natural = true;
    std::vector<index_t> values{};
  };
  std::array<bool, 3> has{};  ///< dtype, shape, data_offsets
  bool has_others = false;
  std::optional<std::string> dtype{};  ///< if it is a string
  list shape{};
  list offsets{};

  /// Makes a tensor of it; returns the reason if it is invalid.
  [[nodiscard]] std::string read(stored_tensor& out) && {
    if (has_others || !has[0] || !has[1] || !has[2]) return "it has dtype, shape and data_offsets";
    if (!dtype) return "its dtype is a string";
    if (dtype->empty()) return "its dtype has a name";
    const auto* const name =
        std::find(std::begin(internal::stored_names), std::end(internal::stored_names), *dtype);
    if (name != std::end(internal::stored_names))
      out.type = static_cast<element>(name - std::begin(internal::stored_names));
    else
      out.other_type = std::move(*dtype);
    if (!shape.is_list) return "its shape is a list";
    if (!shape.is_natural) return "its shape has whole numbers";
    const std::optional<index_t> elements = stored_count(shape.values);
    if (!elements) return "a tensor has at most 2^56 elements";
    if (shape.values.size() > std::size_t{max_rank})
      out.other_shape = std::move(shape.values);
    else
      for (const index_t n : shape.values) out.extents.push_back(n);
    if (!offsets.is_list || !offsets.is_natural || offsets.values.size() != 2)
      return "its data_offsets are two whole numbers";
    out.begin = offsets.values[0];
    const index_t bytes = offsets.values[1] - out.begin;
    if (bytes < 0) return "its data_offsets ascend";
    // The size of elements with another name is not known.
    if (!out.other_type.empty())
      out.other_bytes = bytes;
    else if (!out.other_shape.empty())
      out.other_bytes = *elements * size_of(out.type);
    if (bytes != out.bytes())
      return "its data_offsets hold " + std::to_string(out.bytes()) + " bytes";
    return {};
  }
};

/// Collects a header from the events of a JSON parser, value by value. A tree of JSON values would
/// cost many times the text, and its destructor needs memory.
class header_parser {
 public:
  /// The tensors in the order of the text, those that are invalid with their names alone.
  std::vector<stored_tensor> tensors{};
  std::map<std::string, std::string> metadata{};
  std::string reason{};   ///< what is wrong first, beside the syntax
  bool is_deep = false;   ///< There are more lists in lists than any header has.
  bool is_twice = false;  ///< A name occurs twice, beside those of tensors.

  bool null() { return other(); }
  bool boolean(bool) { return other(); }
  bool number_integer(std::int64_t) { return other(); }
  bool number_float(double, const std::string&) { return other(); }
  bool binary(nlohmann::json::binary_t&) { return other(); }
  bool number_unsigned(std::uint64_t number) {
    if (inside() != place::list || number > static_cast<std::uint64_t>(INT64_MAX)) return other();
    list_->values.push_back(static_cast<index_t>(number));
    return true;
  }
  bool string(std::string& words) {
    if (inside() == place::metadata)
      words_->second = std::move(words);
    else if (inside() == place::entry && member_ == 0)
      entry_.dtype = std::move(words);
    else
      return other();
    return true;
  }
  bool start_object(std::size_t) {
    if (inside() == place::nowhere) return enter(place::header);
    if (inside() == place::header && !is_metadata_) return enter(place::entry);
    if (inside() == place::header) return enter(place::metadata);
    return other() && enter(place::elsewhere);
  }
  bool end_object() {
    if (inside() == place::entry) end_entry();
    return leave();
  }
  bool start_array(std::size_t) {
    if (inside() != place::entry || member_ < 1) return other() && enter(place::elsewhere);
    list_ = member_ == 1 ? &entry_.shape : &entry_.offsets;
    list_->is_list = true;
    return enter(place::list);
  }
  bool end_array() { return leave(); }
  bool key(std::string& name) {
    if (inside() == place::header) {
      is_metadata_ = name == metadata_name;
      is_twice = is_twice || (is_metadata_ && std::exchange(has_metadata_, true));
      name_ = std::move(name);
    } else if (inside() == place::metadata) {
      const auto [words, is_new] = metadata.try_emplace(std::move(name));
      is_twice = is_twice || !is_new;
      words_ = words;
    } else if (inside() == place::entry) {
      constexpr std::string_view members[] = {"dtype", "shape", "data_offsets"};
      const auto* const found = std::find(std::begin(members), std::end(members), name);
      member_ = found == std::end(members) ? -1 : static_cast<int>(found - std::begin(members));
      if (member_ < 0)
        entry_.has_others = true;
      else
        is_twice = is_twice || std::exchange(entry_.has[static_cast<std::size_t>(member_)], true);
    }
    return true;
  }
  template <class Error>
  bool parse_error(std::size_t, const std::string&, const Error&) {
    return false;
  }

 private:
  /// Where a value stands.
  enum class place : std::uint8_t { nowhere, header, metadata, entry, list, elsewhere };
  /// A list in an entry has depth 3; what is deeper is not read further.
  static constexpr int most_depth = 4;

  [[nodiscard]] place inside() const noexcept { return places_[static_cast<std::size_t>(depth_)]; }
  bool enter(place next) noexcept {
    is_deep = depth_ == most_depth;
    if (!is_deep) places_[static_cast<std::size_t>(++depth_)] = next;
    return !is_deep;
  }
  bool leave() noexcept {
    --depth_;
    return true;
  }
  void note(std::string words) {
    if (reason.empty()) reason = std::move(words);
  }
  void end_entry() {
    stored_tensor& one = tensors.emplace_back();
    if (std::string invalid = std::exchange(entry_, {}).read(one); !invalid.empty())
      note(("tensor '" + name_ + "': ").append(invalid));
    one.name = std::move(name_);
  }
  /// A value that is not what its place requires.
  bool other() {
    if (inside() == place::list) list_->is_natural = false;
    if (inside() == place::metadata) note("__metadata__ has words alone, not " + words_->first);
    if (inside() == place::header && is_metadata_) note("__metadata__ has words");
    if (inside() == place::header && !is_metadata_) end_entry();
    return true;
  }

  std::array<place, most_depth + 1> places_{};
  int depth_ = 0;
  std::string name_{};  ///< of the value in the header
  bool is_metadata_ = false;
  bool has_metadata_ = false;
  header_entry entry_{};
  int member_ = -1;  ///< of the entry: 0 to 2, or another
  header_entry::list* list_ = nullptr;
  std::map<std::string, std::string>::iterator words_{};  ///< of the metadata
};

}  // namespace detail

}  // namespace shardwise
