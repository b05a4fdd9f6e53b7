// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/io/zip_numbers_work.hpp"
#include "shardwise/layout/layout_rules.hpp"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace shardwise {

/// How a member of a zip file is packed.
enum class zip_method : std::uint16_t { stored = 0, deflated = 8 };

}  // namespace shardwise

namespace shardwise::detail {

/// A member of a zip file, as its central directory says.
struct zip_member_desc {
  std::string name{};
  std::uint16_t flags = 0;
  std::uint16_t method = 0;
  std::uint32_t checksum = 0;
  index_t packed = 0;  ///< its bytes in the file
  index_t bytes = 0;   ///< its bytes when they are unpacked
  index_t place = 0;   ///< of its own header

  [[nodiscard]] bool is_deflated() const noexcept {
    return method == static_cast<std::uint16_t>(zip_method::deflated);
  }
};

/// Reads the central directory of a zip file. Everything is checked against the bytes that there
/// are before memory is requested for it.
class zip_directory {
 public:
  explicit zip_directory(const file_bytes& file) : file_(file) {
    const std::span<const std::byte> all = file.bytes();
    find_end(all);
    // The counts may be wrong: an entry has at least 46 bytes.
    if (count_ > (end_ - begin_) / least_entry)
      file_.refuse("its directory, from byte " + std::to_string(begin_) + " on, has " +
                   std::to_string(end_ - begin_) + " bytes, and says " + std::to_string(count_) +
                   " members");
    index_t place = begin_;
    for (index_t i = 0; i < count_; ++i) place = read_entry(all, place);
    if (place != end_) refuse(place, "the end of the directory");
  }

  [[nodiscard]] const std::vector<zip_member_desc>& members() const noexcept { return members_; }

  /// Returns the packed bytes of a member, whose own header says only where they begin.
  [[nodiscard]] file_bytes packed(const zip_member_desc& member) const {
    constexpr index_t shortest = 30;
    const std::string name = file_.name() + ": " + member.name;
    if (member.place > begin_ - shortest) refuse(member.place, "the header of a member");
    zip_reader header(file_.bytes(member.place, shortest));
    if (header.four() != zip_member) refuse(member.place, "the header of a member, 50 4b 03 04");
    header.skip(22);
    const index_t names = header.two(), extras = header.two();
    const index_t place = member.place + shortest + names + extras;
    if (place > begin_ || member.packed > begin_ - place)
      refuse(place, std::to_string(member.packed) + " bytes of '" + member.name + "'");
    return file_.part(place, member.packed, name);
  }

 private:
  static constexpr index_t least_entry = 46, end_size = 22, locator_size = 20, end64_size = 56;

  [[noreturn]] void refuse(index_t place, const std::string& expected) const {
    file_.refuse("at byte " + std::to_string(place) + ", " + expected + " was expected");
  }
  /// Returns a place or size that the file can have.
  [[nodiscard]] index_t within(std::uint64_t number, index_t place, const char* what) const {
    if (number > static_cast<std::uint64_t>(file_.size())) refuse(place, what);
    return static_cast<index_t>(number);
  }

  void find_end(std::span<const std::byte> all) {
    const auto size = static_cast<index_t>(all.size());
    if (size < end_size || all[0] != std::byte{'P'} || all[1] != std::byte{'K'})
      file_.refuse("it begins with " + internal::first_bytes(all) +
                   ", not as a zip file does: 50 4b, which an NPZ file is");
    // A comment of any length up to 65535 may follow.
    index_t place = size - end_size;
    const index_t last = std::max(index_t{0}, place - 0xffff);
    const auto at = [&](index_t from) {
      return zip_reader(all.subspan(static_cast<std::size_t>(from)));
    };
    for (;; --place) {
      if (place < last) refuse(size, "the end of a zip file, 50 4b 05 06, before this");
      zip_reader end = at(place);
      if (end.four() != zip_end) continue;
      end.skip(16);
      if (end.two() == size - place - end_size) break;
    }
    zip_reader end = at(place);
    end.skip(4);
    if (end.two() != 0 || end.two() != 0) refuse(place, "a zip file in one part");
    const std::uint64_t here = end.two(), count = end.two(), bytes = end.four(), begin = end.four();
    if (count == zip_count_elsewhere || bytes == zip_elsewhere || begin == zip_elsewhere ||
        here == zip_count_elsewhere) {
      if (place >= locator_size && at(place - locator_size).four() == zip64_locator)
        return find_end64(all, place - locator_size);
    }
    set(place, count, bytes, begin);
  }
  void find_end64(std::span<const std::byte> all, index_t locator) {
    zip_reader where(all.subspan(static_cast<std::size_t>(locator)));
    where.skip(8);
    const index_t place = within(where.eight(), locator, "the place of the end of a zip64 file");
    if (place > locator - end64_size) refuse(locator, "the place of the end of a zip64 file");
    zip_reader end(all.subspan(static_cast<std::size_t>(place)));
    if (end.four() != zip64_end) refuse(place, "the end of a zip64 file, 50 4b 06 06");
    end.skip(28);
    const std::uint64_t count = end.eight(), bytes = end.eight(), begin = end.eight();
    set(place, count, bytes, begin);
  }
  void set(index_t end, std::uint64_t count, std::uint64_t bytes, std::uint64_t begin) {
    count_ = static_cast<index_t>(std::min(count, static_cast<std::uint64_t>(max_elements)));
    begin_ = within(begin, end, "the place of the directory");
    const index_t length = within(bytes, end, "the length of the directory");
    if (begin_ > end || length != end - begin_)
      refuse(end, "a directory that ends here, of " + std::to_string(bytes) + " bytes from byte " +
                      std::to_string(begin) + " on,");
    end_ = end;
  }

  [[nodiscard]] index_t read_entry(std::span<const std::byte> all, index_t place) {
    if (end_ - place < least_entry) refuse(place, "an entry of the directory");
    zip_reader entry(
        all.subspan(static_cast<std::size_t>(place), static_cast<std::size_t>(end_ - place)));
    if (entry.four() != zip_entry) refuse(place, "an entry of the directory, 50 4b 01 02");
    zip_member_desc made;
    entry.skip(4);
    made.flags = entry.two();
    made.method = entry.two();
    entry.skip(4);  // the time
    made.checksum = entry.four();
    std::uint64_t packed = entry.four(), bytes = entry.four();
    const std::size_t names = entry.two(), extras = entry.two(), comments = entry.two();
    entry.skip(8);
    std::uint64_t begin = entry.four();
    if (entry.left() < names + extras + comments) refuse(place, "a whole entry of the directory");
    const auto name = entry.take(names);
    made.name.assign(reinterpret_cast<const char*>(name.data()), name.size());
    read_extras(zip_reader(entry.take(extras)), place, {&bytes, &packed, &begin});
    made.packed = within(packed, place, "a member whose bytes are in the file");
    made.place = within(begin, place, "a member whose place is in the file");
    if (bytes > static_cast<std::uint64_t>(max_elements))
      refuse(place, "a size that a file can have");
    made.bytes = static_cast<index_t>(bytes);
    members_.push_back(std::move(made));
    return place + least_entry + static_cast<index_t>(names + extras + comments);
  }
  /// Replaces numbers that stand elsewhere by those of zip64, which has only these.
  void read_extras(zip_reader extras, index_t place,
                   std::initializer_list<std::uint64_t*> numbers) const {
    const bool is_elsewhere = std::any_of(numbers.begin(), numbers.end(),
                                          [](const auto* each) { return *each == zip_elsewhere; });
    while (extras.left() >= 4) {
      const std::uint16_t kind = extras.two();
      const std::size_t length = extras.two();
      if (length > extras.left()) refuse(place, "an entry whose extra fields end in it");
      zip_reader field(extras.take(length));
      if (kind != zip64_extra) continue;
      for (std::uint64_t* const each : numbers) {
        if (*each != zip_elsewhere) continue;
        if (field.left() < 8) refuse(place, "an entry with all numbers of zip64");
        *each = field.eight();
      }
      return;
    }
    if (is_elsewhere) refuse(place, "an entry with the numbers of zip64");
  }

  file_bytes file_;
  index_t begin_ = 0, end_ = 0, count_ = 0;  // of the directory
  std::vector<zip_member_desc> members_;
};

}  // namespace shardwise::detail
