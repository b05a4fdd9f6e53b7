// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/io/file_bytes.hpp"

#include <algorithm>
#include <utility>

namespace shardwise {

SHARDWISE_INLINE_FILES file_bytes::file_bytes(const std::string& path)
    : file_bytes(path, mapped_file(path)) {}
SHARDWISE_INLINE_FILES file_bytes::file_bytes(std::string name, mapped_file file)
    : name_(std::move(name)),
      file_(std::make_shared<const mapped_file>(std::move(file))),
      size_(file_->size()) {}
SHARDWISE_INLINE_FILES file_bytes::file_bytes(std::string name,
                                              std::shared_ptr<const std::byte> memory, index_t size)
    : name_(std::move(name)), memory_(std::move(memory)), size_(size) {}

SHARDWISE_INLINE_FILES void file_bytes::refuse(const std::string& reason) const {
  internal::fail_file(violation::file_is_malformed, name_, reason);
}

SHARDWISE_INLINE_FILES void file_bytes::require_part(index_t place, index_t count) const {
  if (place < 0 || count < 0 || place > size_ || count > size_ - place)
    refuse("it has " + std::to_string(size_) + " bytes, and " + std::to_string(count) +
           " from byte " + std::to_string(place) + " on were expected");
}

SHARDWISE_INLINE_FILES std::span<const std::byte> file_bytes::bytes() const {
  const std::byte* const begin = file_ != nullptr ? file_->bytes().data() : memory_.get();
  if (size_ == 0) return {};
  return {begin + begin_, static_cast<std::size_t>(size_)};
}
SHARDWISE_INLINE_FILES std::span<const std::byte> file_bytes::bytes(index_t place,
                                                                    index_t count) const {
  require_part(place, count);
  return bytes().subspan(static_cast<std::size_t>(place), static_cast<std::size_t>(count));
}

SHARDWISE_INLINE_FILES file_bytes file_bytes::part(index_t place, index_t count,
                                                   std::string name) const {
  require_part(place, count);
  file_bytes out = *this;
  if (!name.empty()) out.name_ = std::move(name);
  out.begin_ += place;
  out.size_ = count;
  return out;
}

namespace internal {

SHARDWISE_INLINE_FILES std::string first_bytes(std::span<const std::byte> of) {
  constexpr std::size_t most = 8;
  constexpr char digits[] = "0123456789abcdef";
  if (of.empty()) return "nothing";
  std::string numbers, letters;
  for (const std::byte each : of.first(std::min(most, of.size()))) {
    const auto code = static_cast<unsigned char>(each);
    if (!numbers.empty()) numbers += ' ';
    numbers += digits[code >> 4U];
    numbers += digits[code & 0xfU];
    letters += code >= 0x20 && code < 0x7f ? static_cast<char>(code) : '.';
  }
  return numbers + " (\"" + letters + "\")";
}

}  // namespace internal

}  // namespace shardwise
