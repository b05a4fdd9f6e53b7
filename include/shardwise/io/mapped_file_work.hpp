// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/io/mapped_file.hpp"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace shardwise {

namespace detail {

SHARDWISE_INLINE_FILES mapped_pages::~mapped_pages() {
  if (begin_ != nullptr) ::munmap(begin_, bytes_);
}

SHARDWISE_INLINE_FILES mapped_pages mapped_pages::reserve(std::size_t bytes) noexcept {
  if (bytes == 0) return {};
  void* const at =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return {};
  return {static_cast<std::byte*>(at), bytes};
}

SHARDWISE_INLINE_FILES void mapped_pages::shrink(std::size_t bytes) noexcept {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t kept = (bytes + page - 1) / page * page;
  if (kept >= bytes_) return;
  ::munmap(begin_ + kept, bytes_ - kept);
  bytes_ = kept;
  if (kept == 0) begin_ = nullptr;
}

}  // namespace detail

SHARDWISE_INLINE_FILES mapped_file::mapped_file(std::string path)
    : mapped_file(input_file(std::move(path))) {}
SHARDWISE_INLINE_FILES mapped_file::mapped_file(const input_file& file)
    : path_(file.path()), identity_(file.identity()) {
  const auto size = static_cast<std::size_t>(file.size());
  if (size == 0) return;  // the system maps no empty file
  void* const at = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file.handle().number(), 0);
  if (at == MAP_FAILED) internal::fail_file(violation::file_is_not_readable, path_);
  pages_ = detail::mapped_pages(static_cast<std::byte*>(at), size);
}

SHARDWISE_INLINE_FILES void mapped_file::require_size() const {
  struct stat about {};
  // What was removed or replaced lives on as long as it is mapped, and nobody can cut it by name.
  if (::stat(path_.c_str(), &about) != 0 || about.st_dev != identity_.device ||
      about.st_ino != identity_.number || about.st_size >= size())
    return;
  internal::fail_shorter_file(path_, size(), about.st_size);
}

}  // namespace shardwise
