// SPDX-License-Identifier: BSL-1.0
// What is in files of tensors and of tables: names, shapes and types. Folders are checkpoints or
// safetensors shards. The other commands know no files.
#pragma once

#include "answer.hpp"
#include "saved_checkpoint.hpp"
#include "text_table.hpp"
#include <shardwise/io/csv.hpp>
#include <shardwise/io/npy_header.hpp>
#include <shardwise/io/safetensors_directory.hpp>
#if __has_include(<zlib.h>)
#include <shardwise/data/idx.hpp>
#include <shardwise/io/npz_file.hpp>
#endif

#include <charconv>
#include <cstddef>
#include <filesystem>
#include <span>
#include <system_error>

namespace tool {

/// An array in a file, or a column of a table. A file of one array has no name for it.
struct listed_array {
  std::string name;
  std::string type;
  std::vector<index_t> shape;
};
struct listed_file {
  std::string path;
  std::string kind;
  std::vector<listed_array> arrays;
  std::optional<saved_checkpoint> saved{};  ///< if it is a checkpoint; its tensors are the arrays
};

namespace detail {

[[nodiscard]] inline std::string type_words(element type, const std::string& other) {
  return other.empty() ? str(shardwise::to_text(type)) : other;
}
[[nodiscard]] inline listed_array list_array(const file_array& array) {
  listed_array out{{}, type_words(array.type, array.other_type), array.other_shape};
  for (const index_t extent : array.extents) out.shape.push_back(extent);
  return out;
}

/// Returns true if all of a text is a number of `T`.
template <class T>
[[nodiscard]] bool is_number(std::string_view text) noexcept {
  T number{};
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  return problem == std::errc{} && end == text.data() + text.size();
}

/// Lists the columns of a table: whole numbers, numbers, or texts.
[[nodiscard]] inline std::vector<listed_array> list_columns(const csv_file& table) {
  const std::size_t columns = table.names().size();
  std::vector<char> are_whole(columns, table.rows() > 0 ? 1 : 0), are_numbers = are_whole;
  csv_row fields;
  for (index_t row = 0; row < table.rows(); ++row) {
    table.read(row, fields);
    for (std::size_t c = 0; c < columns; ++c) {
      const std::string_view text = fields.text(static_cast<int>(c));
      if (are_whole[c] != 0 && !is_number<std::int64_t>(text)) are_whole[c] = 0;
      if (are_numbers[c] != 0 && !is_number<double>(text)) are_numbers[c] = 0;
    }
  }
  std::vector<listed_array> out;
  for (std::size_t c = 0; c < columns; ++c)
    out.push_back({table.names()[c],
                   are_whole[c] != 0     ? "i64"
                   : are_numbers[c] != 0 ? "f64"
                                         : "text",
                   {table.rows()}});
  return out;
}

[[nodiscard]] inline std::vector<listed_array> list_tensors(const tensor_source& file) {
  std::vector<listed_array> out;
  for (const stored_tensor& one : file.header().tensors) {
    listed_array listed{one.name, type_words(one.type, one.other_type), one.other_shape};
    for (const index_t extent : one.extents) listed.shape.push_back(extent);
    out.push_back(std::move(listed));
  }
  return out;
}

[[nodiscard]] inline outcome<listed_file> list_checkpoint(const std::string& path, bool verifies) {
  auto saved = read_checkpoint(path, verifies);
  if (!saved) return saved.why();
  listed_file out{path, "checkpoint", {}, *std::move(saved)};
  for (const auto& [name, tensor] : out.saved->tensors) {
    listed_array& listed = out.arrays.emplace_back();
    listed.name = name;
    listed.type = type_words(tensor.type, {});
    for (const index_t extent : tensor.extents) listed.shape.push_back(extent);
  }
  return out;
}

/// Lists what a file holds, whose kind its first bytes tell, or, of a table, its name. A directory
/// is a checkpoint, which has an index of its own, or one of safetensors shards.
[[nodiscard]] inline outcome<listed_file> list_file(const std::string& path, bool verifies) {
  if (is_checkpoint(path)) return list_checkpoint(path, verifies);
  if (verifies)
    return refusal("option_does_not_apply",
                   path + ": --verify is for checkpoints, which have checksums")
        .of("verify");
  if (std::error_code ignored; std::filesystem::is_directory(path, ignored))
    return listed_file{path, "safetensors shards", list_tensors(safetensors_directory(path))};
#if __has_include(<zlib.h>)
  const file_bytes bytes = open_unpacked(path);
#else
  const file_bytes bytes(path);
#endif
  const std::string_view text = bytes.text();
  std::string_view name = path;
  if (name.ends_with(".gz")) name.remove_suffix(3);
  if (npy_header_length(bytes.bytes()) > 0)
    return listed_file{path, "npy", {list_array(open_npy(bytes))}};
  if (text.size() > 8 && text[8] == '{')
    return listed_file{path, "safetensors", list_tensors(safetensors_file(path))};
#if __has_include(<zlib.h>)
  if (text.starts_with("PK")) {
    listed_file out{path, "npz", {}};
    const npz_file file(bytes);
    for (const std::string& each : file.names()) {
      const npy_header header = file.header(each);
      out.arrays.push_back({each, type_words(header.type, header.other_type), header.shape});
    }
    return out;
  }
  if (text.starts_with(std::string_view("\0\0", 2)))
    return listed_file{path, "idx", {list_array(open_idx(bytes))}};
#endif
  if (name.ends_with(".csv")) return listed_file{path, "csv", list_columns(csv_file(bytes))};
  if (name.ends_with(".tsv"))
    return listed_file{path, "csv", list_columns(csv_file(bytes, {.separator = '\t'}))};
  constexpr std::size_t most = 8;
  return refusal("file_is_of_no_kind",
                 path + ": it begins with " +
                     internal::first_bytes(bytes.bytes().first(std::min(most, text.size()))) +
                     "; known are NPY, NPZ, IDX and safetensors, which their first bytes tell, and "
                     ".csv and .tsv");
}

}  // namespace detail

/// What the files hold whose names are the operands of a request.
[[nodiscard]] inline outcome<std::vector<listed_file>> read_files(const request& asked) {
  std::vector<listed_file> out;
  for (const std::string& path : asked.operands) {
    try {
      auto listed = detail::list_file(path, asked.has("verify"));
      if (!listed) return listed.why();
      out.push_back(*std::move(listed));
    } catch (const error& failure) {
      const std::string code = str(name_of(failure.code()));
      return refusal(code, std::string(failure.what()).substr(code.size() + 2));
    }
  }
  return out;
}

[[nodiscard]] inline std::string to_text(const std::vector<listed_file>& found) {
  std::string out;
  for (const listed_file& file : found) {
    out += file.path + ": ";
    if (file.saved) {
      out += to_text(*file.saved);
      continue;
    }
    out += file.kind + '\n';
    text_table rows;
    for (const listed_array& one : file.arrays) {
      const std::string type = one.type + '[' + joined(one.shape, ", ") + ']';
      if (one.name.empty())
        rows.row({"  " + type});
      else
        rows.row({"  " + one.name, type});
    }
    out += rows.words();
  }
  return out;
}

inline void write_json(json_writer& out, const std::vector<listed_file>& found) {
  out.open('[');
  for (const listed_file& file : found) {
    out.open('{');
    out.key("file");
    out.value(std::string_view(file.path));
    out.key("kind");
    out.value(std::string_view(file.kind));
    if (file.saved) write_json(out, *file.saved);
    out.key("arrays");
    out.open('[');
    for (const listed_array& one : file.arrays) {
      out.open('{');
      out.key("name");
      if (one.name.empty())
        out.null();
      else
        out.value(std::string_view(one.name));
      out.key("type");
      out.value(std::string_view(one.type));
      out.key("shape");
      out.numbers(one.shape);
      if (file.saved) write_json(out, file.saved->tensors.at(one.name));
      out.close('}');
    }
    out.close(']');
    out.close('}');
  }
  out.close(']');
}

/// Answers `files`.
[[nodiscard]] inline outcome<std::string> list_files(const request& asked, form as) {
  const auto found = read_files(asked);
  if (!found) return found.why();
  if (as == form::text) return to_text(*found);
  json_writer out;
  write_json(out, *found);
  return std::move(out).line();
}

}  // namespace tool
