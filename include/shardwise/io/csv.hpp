// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/io/file_bytes.hpp"
#include "shardwise/layout/element.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace shardwise {

/// How a CSV file is written.
struct csv_options {
  char separator = ',';
  bool has_header = true;  ///< The first line has the names of the columns; else they are 0, 1, 2.
};

/// A row of a CSV file: its fields, without quotes. It refers to the file, which must outlive it,
/// and can be read into again.
class csv_row {
 public:
  csv_row() = default;
  csv_row(csv_row&&) noexcept = default;
  csv_row& operator=(csv_row&&) noexcept = default;
  ~csv_row() = default;

  [[nodiscard]] int columns() const noexcept { return static_cast<int>(fields_.size()); }
  /// Returns the text of a field. Throws `index_is_out_of_range`.
  [[nodiscard]] std::string_view text(int column) const;

 private:
  friend class csv_file;

  std::vector<std::string_view> fields_;
  std::vector<int> doubled_;    ///< the fields that have quotes in quotes, which are written twice
  std::vector<char> unquoted_;  ///< these fields with single ones
};

/// A CSV file whose rows are read in any order: fields are separated by commas, and those in quotes
/// may contain commas, line ends, and quotes, which are written twice. Lines end with a newline, or
/// with a carriage return before it; a byte-order mark of UTF-8 before the first is skipped. Every
/// row must have as many fields as there are columns.
///
/// When it is opened, the file is read once, and the places of its rows are kept. Throws
/// `file_is_not_readable`, or `file_is_malformed` with the line and the column. Several threads may
/// read at the same time.
///
///     const csv_file file("iris.csv");
///     const std::vector<int> inputs = file.columns({"length", "width"});
///     float x[2];
///     file.read(17, inputs, std::span<float>(x));
class csv_file {
 public:
  explicit csv_file(const std::string& path, csv_options options = {})
      : csv_file(file_bytes(path), options) {}
  /// The same for bytes, such as those of a packed file; see `open_unpacked`.
  explicit csv_file(file_bytes bytes, csv_options options = {});

  /// Returns what errors call the file: its path.
  [[nodiscard]] const std::string& name() const noexcept { return bytes_.name(); }
  [[nodiscard]] index_t rows() const noexcept { return static_cast<index_t>(begins_.size()); }
  /// Returns the names of the columns.
  [[nodiscard]] const std::vector<std::string>& names() const noexcept { return names_; }
  /// Returns the number of a column. Throws `tensor_is_not_in_file`, which lists those that there
  /// are.
  [[nodiscard]] int column(std::string_view name) const;
  [[nodiscard]] std::vector<int> columns(const std::vector<std::string>& names) const;

  /// Reads a row. Throws `index_is_out_of_range`.
  void read(index_t row, csv_row& to) const;
  [[nodiscard]] csv_row operator[](index_t row) const {
    csv_row out;
    read(row, out);
    return out;
  }
  /// Reads the numbers of some columns of a row. A field is a number as `std::from_chars` reads it,
  /// whatever the locale, and nothing else, not even blanks: what is no number of `T`, or is out of
  /// its range, is `file_is_malformed`. A `bool` is 0, 1, `true` or `false`.
  template <Element T>
  void read(index_t row, std::span<const int> columns, std::span<T> to) const {
    read(row, columns, to.data(), to.size(), element_of<T>);
  }
  /// Returns one number of a row.
  template <Element T>
  [[nodiscard]] T get(index_t row, int column) const {
    T out{};
    read(row, {&column, 1}, &out, 1, element_of<T>);
    return out;
  }

 private:
  void read(index_t row, std::span<const int> columns, void* to, std::size_t count,
            element type) const;
  /// Splits the row from `place` on into fields; returns the place after its end.
  std::size_t split(std::string_view text, std::size_t place, csv_row& to) const;
  [[noreturn]] void refuse(std::string_view text, std::size_t place, int column,
                           const std::string& reason) const;

  file_bytes bytes_;
  csv_options options_;
  std::vector<std::string> names_;
  std::vector<std::size_t> begins_;  ///< of rows
};

}  // namespace shardwise

#if !defined(SHARDWISE_COMPILED_FILES)
#include "shardwise/io/csv_work.hpp"
#endif
