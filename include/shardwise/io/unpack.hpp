// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/io/file_bytes.hpp"
#include "shardwise/io/unpacked_bytes_work.hpp"
#include "shardwise/layout/layout_rules.hpp"
#include "shardwise/tensor/out_of_memory.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <zlib.h>

namespace shardwise {

namespace detail {

/// How bytes are packed: as members of gzip, one after another, or as one run of deflate.
enum class packing : std::uint8_t { gzip, deflate };

/// The most bytes that deflate makes of one: 258 of two bits.
inline constexpr index_t most_from_a_byte = 258 * 4;

/// Returns the most bytes that `packed` bytes may become.
[[nodiscard]] constexpr index_t most_unpacked(index_t packed) noexcept {
  return packed > max_elements / most_from_a_byte ? max_elements : packed * most_from_a_byte;
}

/// A stream of zlib that unpacks.
class inflater {
 public:
  explicit inflater(packing how) {
    constexpr int deflate_alone = -MAX_WBITS, gzip_header = MAX_WBITS + 16;
    if (::inflateInit2(&stream_, how == packing::gzip ? gzip_header : deflate_alone) != Z_OK)
      internal::fail_for_memory(most_memory);
  }
  inflater(const inflater&) = delete;
  inflater& operator=(const inflater&) = delete;
  ~inflater() { ::inflateEnd(&stream_); }

  z_stream& operator*() noexcept { return stream_; }
  z_stream* operator->() noexcept { return &stream_; }

 private:
  static constexpr index_t most_memory = 44 << 10;  // as zlib.h says
  z_stream stream_{};
};

/// Unpacks bytes into `out`: all of them, or only the first `wanted`. Bytes after the last member
/// of gzip are refused, unless they are zeros, with which some tools fill blocks.
inline void unpack_into(const file_bytes& packed, packing how, unpacked_bytes& out,
                        index_t wanted = max_elements) {
  constexpr index_t step = index_t{1} << 20;
  inflater stream(how);
  index_t place = 0;  // of what has been given to the stream
  const auto at = [&] { return place - static_cast<index_t>(stream->avail_in); };
  while (out.size() < wanted) {
    if (stream->avail_in == 0 && place < packed.size()) {
      const auto more = packed.bytes(place, std::min(step, packed.size() - place));
      // zlib reads it only, and its pointer is not to const.
      stream->next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(more.data()));
      stream->avail_in = static_cast<uInt>(more.size());
      place += static_cast<index_t>(more.size());
    }
    const std::span<std::byte> room = out.room();
    stream->next_out = reinterpret_cast<Bytef*>(room.data());
    stream->avail_out = static_cast<uInt>(std::min(room.size(), std::size_t{1} << 30));
    const uInt before = stream->avail_out;
    const int result = ::inflate(&*stream, Z_NO_FLUSH);
    out.add(before - stream->avail_out);
    if (result == Z_MEM_ERROR) internal::fail_for_memory(1);
    if (result == Z_BUF_ERROR && stream->avail_in == 0 && place == packed.size())
      packed.refuse("its packed data go on after its end, at byte " + std::to_string(place));
    if (result == Z_STREAM_END) {
      if (how == packing::deflate) {
        if (at() == packed.size()) break;
        packed.refuse("its packed data end at byte " + std::to_string(at()) + ", and it has " +
                      std::to_string(packed.size()));
      }
      const auto rest = packed.bytes(at(), packed.size() - at());
      if (std::all_of(rest.begin(), rest.end(), [](std::byte b) { return b == std::byte{0}; }))
        break;
      if (rest.size() < 2 || rest[0] != std::byte{0x1f} || rest[1] != std::byte{0x8b})
        packed.refuse("at byte " + std::to_string(at()) + ", after a member of gzip, are " +
                      internal::first_bytes(rest) + ", and no other member, 1f 8b");
      ::inflateReset(&*stream);
    } else if (result != Z_OK && result != Z_BUF_ERROR) {
      packed.refuse("its packed data are damaged before byte " + std::to_string(at()) + ": " +
                    (stream->msg != nullptr ? stream->msg : "zlib does not say how"));
    }
  }
}

}  // namespace detail

/// Opens a file whose bytes are read in any order. One that is packed by gzip, which its first two
/// bytes tell, is unpacked once, all members one after another: into memory or, if it needs more
/// than `options.memory`, into a temporary file without a name, which is mapped as a plain file is.
/// Throws `file_is_not_readable`; `file_is_malformed` if the packed data are damaged; and
/// `file_is_not_writable` if the temporary file cannot be written.
///
///     const file_bytes images = open_unpacked("train-images-idx3-ubyte.gz", {.memory = 16_MiB});
[[nodiscard]] inline file_bytes open_unpacked(const std::string& path,
                                              const unpack_options& options = {}) {
  file_bytes packed(path);
  const auto all = packed.bytes();
  if (all.size() < 2 || all[0] != std::byte{0x1f} || all[1] != std::byte{0x8b}) return packed;
  detail::unpacked_bytes out(detail::most_unpacked(packed.size()), options);
  detail::unpack_into(packed, detail::packing::gzip, out);
  return std::move(out).finish(path);
}

}  // namespace shardwise
