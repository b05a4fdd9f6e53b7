// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/io/file_bytes.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace shardwise::detail {

/// Reads the numbers of a record of a zip file one after another; they are little-endian. The
/// record must have been found to be long enough.
class zip_reader {
 public:
  explicit zip_reader(std::span<const std::byte> record) noexcept : record_(record) {}

  [[nodiscard]] std::uint64_t number(std::size_t width) noexcept {
    std::uint64_t out = 0;
    for (std::size_t i = width; i-- > 0;) out = out << 8U | static_cast<std::uint64_t>(record_[i]);
    record_ = record_.subspan(width);
    return out;
  }
  [[nodiscard]] std::uint16_t two() noexcept { return static_cast<std::uint16_t>(number(2)); }
  [[nodiscard]] std::uint32_t four() noexcept { return static_cast<std::uint32_t>(number(4)); }
  [[nodiscard]] std::uint64_t eight() noexcept { return number(8); }
  void skip(std::size_t count) noexcept { record_ = record_.subspan(count); }
  [[nodiscard]] std::size_t left() const noexcept { return record_.size(); }
  [[nodiscard]] std::span<const std::byte> take(std::size_t count) noexcept {
    const std::span<const std::byte> out = record_.first(count);
    skip(count);
    return out;
  }

 private:
  std::span<const std::byte> record_;
};

/// Appends the numbers of a record.
class zip_writer {
 public:
  zip_writer& number(std::uint64_t value, std::size_t width) {
    for (std::size_t i = 0; i < width; ++i) out_ += static_cast<char>(value >> (8 * i) & 0xffU);
    return *this;
  }
  zip_writer& two(std::uint64_t value) { return number(value, 2); }
  zip_writer& four(std::uint64_t value) { return number(value, 4); }
  zip_writer& eight(std::uint64_t value) { return number(value, 8); }
  zip_writer& text(const std::string& words) {
    out_ += words;
    return *this;
  }
  [[nodiscard]] const std::string& words() const noexcept { return out_; }

 private:
  std::string out_;
};

/// What the first four bytes of records are.
inline constexpr std::uint32_t zip_member = 0x04034b50, zip_entry = 0x02014b50,
                               zip_end = 0x06054b50, zip64_end = 0x06064b50,
                               zip64_locator = 0x07064b50;
/// Numbers that stand elsewhere, in the fields of zip64, are those with all bits.
inline constexpr std::uint64_t zip_elsewhere = 0xffffffff, zip_count_elsewhere = 0xffff;
/// The fields of zip64 among the extra fields of a member.
inline constexpr std::uint16_t zip64_extra = 1;

}  // namespace shardwise::detail
