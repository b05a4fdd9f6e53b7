// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/io/file.hpp"
#include "shardwise/io/npz_file.hpp"
#include "shardwise/nn/state_dict.hpp"
#include "shardwise/process/owner_link.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>
#include <zlib.h>

namespace shardwise::detail {

/// A stream of zlib that packs by deflate alone.
class deflater {
 public:
  deflater() {
    constexpr int usual_memory = 8;
    if (::deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, usual_memory,
                       Z_DEFAULT_STRATEGY) != Z_OK)
      internal::fail_for_memory(index_t{268} << 10);  // as zlib.h says
  }
  deflater(const deflater&) = delete;
  deflater& operator=(const deflater&) = delete;
  ~deflater() { ::deflateEnd(&stream_); }

  /// Packs more bytes, and appends what becomes of them.
  void pack(std::span<const std::byte> from, bool is_last, std::vector<std::byte>& to) {
    constexpr std::size_t step = std::size_t{1} << 20;
    std::byte made[1U << 14U];
    do {
      const auto part = from.first(std::min(step, from.size()));
      from = from.subspan(part.size());
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(part.data()));
      stream_.avail_in = static_cast<uInt>(part.size());
      do {
        stream_.next_out = reinterpret_cast<Bytef*>(made);
        stream_.avail_out = sizeof made;
        (void)::deflate(&stream_, is_last && from.empty() ? Z_FINISH : Z_NO_FLUSH);
        to.insert(to.end(), made, made + (sizeof made - stream_.avail_out));
      } while (stream_.avail_out == 0);
    } while (!from.empty());
  }

 private:
  z_stream stream_{};
};

/// Writes a zip file, member by member, and its directory at the end.
class zip_file_writer {
 public:
  explicit zip_file_writer(const std::string& path) : file_(path) {}

  /// Writes a member that consists of a header and elements.
  void add(const std::string& name, std::span<const std::byte> header,
           std::span<const std::byte> elements, zip_method how) {
    zip_member_desc made;
    made.name = name;
    made.method = static_cast<std::uint16_t>(how);
    made.checksum = add_to_checksum(add_to_checksum(0, header), elements);
    made.bytes = static_cast<index_t>(header.size() + elements.size());
    made.place = place_;
    // The names are UTF-8 where they are more than ASCII.
    constexpr std::uint16_t is_utf8 = 0x800;
    if (std::any_of(name.begin(), name.end(), [](char c) { return (c & 0x80) != 0; }))
      made.flags = is_utf8;
    std::vector<std::byte> packed;
    if (how == zip_method::deflated) {
      deflater stream;
      stream.pack(header, false, packed);
      stream.pack(elements, true, packed);
    }
    made.packed = how == zip_method::deflated ? static_cast<index_t>(packed.size()) : made.bytes;
    write(member_record(made, true));
    if (how == zip_method::deflated) {
      write(packed);
    } else {
      write(header);
      write(elements);
    }
    members_.push_back(std::move(made));
  }
  void commit() {
    const index_t begin = place_;
    for (const zip_member_desc& each : members_) write(member_record(each, false));
    const index_t end = place_, count = std::ssize(members_);
    zip_writer out;
    if (is_large(begin) || is_large(end - begin) ||
        count >= static_cast<index_t>(zip_count_elsewhere)) {
      out.four(zip64_end).eight(44).two(45).two(45).four(0).four(0);
      for (const index_t each : {count, count, end - begin, begin}) out.eight(field(each));
      out.four(zip64_locator).four(0).eight(field(end)).four(1);
    }
    const std::uint64_t shown = std::min(field(count), zip_count_elsewhere);
    out.four(zip_end).two(0).two(0).two(shown).two(shown);
    out.four(std::min(field(end - begin), zip_elsewhere));
    out.four(std::min(field(begin), zip_elsewhere)).two(0);
    write(out.words());
    file_.commit();
  }

 private:
  [[nodiscard]] static std::uint64_t field(index_t number) noexcept {
    return static_cast<std::uint64_t>(number);
  }
  [[nodiscard]] static bool is_large(index_t number) noexcept {
    return field(number) >= zip_elsewhere;
  }
  /// Returns the header of a member, which is `local`, or its entry in the directory.
  [[nodiscard]] static std::string member_record(const zip_member_desc& of, bool local) {
    constexpr std::uint16_t version = 20, version_of_zip64 = 45;
    constexpr std::uint16_t day = 1U << 5U | 1U;  // 1980-01-01, the first that there is
    zip_writer extra;
    const bool is_long = is_large(of.bytes) || is_large(of.packed);
    const bool is_far = !local && is_large(of.place);
    if (is_long) extra.eight(field(of.bytes)).eight(field(of.packed));
    if (is_far) extra.eight(field(of.place));
    const std::size_t extras = extra.words().empty() ? 0 : extra.words().size() + 4;
    const std::uint16_t needed = extras > 0 ? version_of_zip64 : version;
    zip_writer out;
    out.four(local ? zip_member : zip_entry);
    if (!local) out.two(needed);
    out.two(needed).two(of.flags).two(of.method).two(0).two(day).four(of.checksum);
    out.four(is_long ? zip_elsewhere : field(of.packed));
    out.four(is_long ? zip_elsewhere : field(of.bytes));
    out.two(of.name.size()).two(extras);
    if (!local) out.two(0).two(0).two(0).four(0);
    if (!local) out.four(is_far ? zip_elsewhere : field(of.place));
    out.text(of.name);
    if (extras > 0) out.two(zip64_extra).two(extras - 4).text(extra.words());
    return out.words();
  }
  void write(std::span<const std::byte> bytes) {
    file_.write(bytes);
    place_ += static_cast<index_t>(bytes.size());
  }
  void write(const std::string& record) { write(std::as_bytes(std::span(record))); }

  output_file file_;
  index_t place_ = 0;
  std::vector<zip_member_desc> members_;
};

inline void write_npz(const std::string& path, const const_state_view& state, zip_method how) {
  // Other owners of the mesh gather the tensors with this one, and are told if it fails.
  auto* const link = state.empty() ? nullptr : state[0].share()->home()->link();
  internal::run_for_owners(link, [&] {
    zip_file_writer file(path);
    std::set<std::string> names;
    for (const const_state_entry& each : state) {
      const std::string name = (each.name().empty() ? "tensor" : each.name()) + ".npy";
      if (!names.insert(name).second || name.size() > zip_count_elsewhere)
        internal::fail_file(
            violation::file_is_not_writable, path,
            "'" + each.name() + "' is the name of two tensors, or above 65535 bytes");
      const std::string header = write_npy_header(each.tensor().type, each.tensor().extents);
      file.add(name, std::as_bytes(std::span(header)), each.bytes(), how);
    }
    file.commit();
  });
}

}  // namespace shardwise::detail
