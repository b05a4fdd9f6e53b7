// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/io/npy_header.hpp"
#include "shardwise/io/unpack.hpp"
#include "shardwise/io/zip_directory_work.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
#include <zlib.h>

namespace shardwise {

namespace detail {

/// Adds bytes to a CRC-32.
[[nodiscard]] inline std::uint32_t add_to_checksum(std::uint32_t checksum,
                                                   std::span<const std::byte> more) {
  constexpr std::size_t step = std::size_t{1} << 30;
  uLong sum = checksum;
  for (; !more.empty(); more = more.subspan(std::min(step, more.size())))
    sum = ::crc32(sum, reinterpret_cast<const Bytef*>(more.data()),
                  static_cast<uInt>(std::min(step, more.size())));
  return static_cast<std::uint32_t>(sum);
}

}  // namespace detail

/// An NPZ file, a zip file of NPY files, that is open: its directory has been read, and arrays are
/// opened by their names. Stored ones are read where the file is mapped, and packed ones are
/// unpacked when they are asked for. Throws `file_is_not_readable` or `file_is_malformed`.
///
///     const npz_file file("arrays.npz");
///     const auto w = load_array<W>(pool, file["w"]);
class npz_file {
 public:
  explicit npz_file(const std::string& path, const unpack_options& options = {})
      : npz_file(file_bytes(path), options) {}
  /// The same for the bytes of a whole file.
  explicit npz_file(const file_bytes& file, const unpack_options& options = {})
      : file_(file), directory_(file), options_(options) {
    for (const detail::zip_member_desc& each : directory_.members()) {
      std::string name = each.name;
      if (name.ends_with(ending)) name.resize(name.size() - ending.size());
      names_.push_back(name);
      if (!places_.emplace(std::move(name), names_.size() - 1).second)
        file.refuse("two of its members are called '" + names_.back() + "'");
    }
  }

  /// Returns what errors call the file: its path.
  [[nodiscard]] const std::string& name() const noexcept { return file_.name(); }
  /// Returns the names of the arrays, without `.npy`, in the order of the file.
  [[nodiscard]] const std::vector<std::string>& names() const noexcept { return names_; }
  [[nodiscard]] bool contains(std::string_view name) const {
    return places_.find(name) != places_.end();
  }

  /// Returns the header of an array, for which no more of it is unpacked than is needed.
  [[nodiscard]] npy_header header(std::string_view name) const {
    const detail::zip_member_desc& member = find(name);
    const file_bytes packed = packed_bytes(member);
    const auto first = [&](index_t count) {
      if (!member.is_deflated()) return file_bytes(packed);
      detail::unpacked_bytes out(count, options_);
      detail::unpack_into(packed, detail::packing::deflate, out, std::min(count, member.bytes));
      return std::move(out).finish(packed.name());
    };
    constexpr index_t longest_prefix = 12;
    const index_t length = npy_header_length(first(longest_prefix).bytes());
    const file_bytes beginning = first(std::min(std::max(length, longest_prefix), member.bytes));
    parsed_npy_header read = parse_npy_header(beginning.bytes());
    if (!read.ok()) packed.refuse(read.reason);
    return std::move(read.header);
  }

  /// Opens an array. All of its bytes are read once, and compared with the checksum of the file.
  /// Throws `tensor_is_not_in_file`, or `file_is_malformed`.
  [[nodiscard]] file_array operator[](std::string_view name) const {
    const detail::zip_member_desc& member = find(name);
    const file_bytes bytes = unpacked(member, packed_bytes(member));
    std::uint32_t checksum = 0;
    constexpr index_t step = index_t{1} << 20;
    for (index_t place = 0; place < bytes.size(); place += step)
      checksum = detail::add_to_checksum(checksum,
                                         bytes.bytes(place, std::min(step, bytes.size() - place)));
    if (checksum != member.checksum) bytes.refuse("its bytes have another checksum, CRC-32");
    return open_npy(bytes);
  }

 private:
  static constexpr std::string_view ending = ".npy";

  [[nodiscard]] const detail::zip_member_desc& find(std::string_view name) const {
    const auto found = places_.find(name);
    if (found != places_.end()) return directory_.members()[found->second];
    std::string all;
    for (const std::string& each : names_) all += (all.empty() ? "'" : ", '") + each + "'";
    internal::fail_file(violation::tensor_is_not_in_file, file_.name(),
                        "'" + std::string(name) + "'; it has " + (all.empty() ? "none" : all));
  }
  /// Returns the bytes of a member as they are in the file.
  [[nodiscard]] file_bytes packed_bytes(const detail::zip_member_desc& member) const {
    file_bytes packed = directory_.packed(member);
    if ((member.flags & 1U) != 0) packed.refuse("it is encrypted");
    const bool is_stored = member.method == static_cast<std::uint16_t>(zip_method::stored);
    if (!is_stored && !member.is_deflated())
      packed.refuse("it is packed by method " + std::to_string(member.method) +
                    " of zip, and 0 (stored) or 8 (deflate) were expected");
    const index_t most = is_stored ? member.packed : detail::most_unpacked(member.packed);
    if (member.bytes > most || (is_stored && member.bytes < most))
      packed.refuse("the directory says " + std::to_string(member.bytes) + " bytes, and its " +
                    std::to_string(member.packed) + " bytes hold " + (is_stored ? "" : "at most ") +
                    std::to_string(most));
    return packed;
  }
  [[nodiscard]] file_bytes unpacked(const detail::zip_member_desc& member,
                                    const file_bytes& packed) const {
    if (!member.is_deflated()) return packed;
    detail::unpacked_bytes out(member.bytes, options_);
    detail::unpack_into(packed, detail::packing::deflate, out, member.bytes + 1);
    if (out.size() != member.bytes)
      packed.refuse("the directory says " + std::to_string(member.bytes) + " bytes, and it has " +
                    (out.size() > member.bytes ? "more" : std::to_string(out.size())));
    return std::move(out).finish(packed.name());
  }

  file_bytes file_;
  detail::zip_directory directory_;
  unpack_options options_;
  std::vector<std::string> names_;
  std::map<std::string, std::size_t, std::less<>> places_;
};

}  // namespace shardwise
