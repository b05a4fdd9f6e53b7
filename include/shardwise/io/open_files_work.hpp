// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/io/open_files.hpp"

#include <utility>

namespace shardwise {

SHARDWISE_INLINE_FILES open_files::open_files(int most) {
  internal::require_within(most > 0, "the number of open files is at least 1");
  slots_.resize(static_cast<std::size_t>(most));
}

SHARDWISE_INLINE_FILES std::size_t open_files::add(input_file file) {
  const std::size_t number = known_.size();
  known_.push_back({file.path(), file.identity()});
  if (number < slots_.size()) {
    slots_[number].file.emplace(std::move(file));
    slots_[number].number = number;
  }
  return number;
}

SHARDWISE_INLINE_FILES open_files::slot& open_files::open(std::size_t number) const {
  std::unique_lock lock(guard_);
  for (;;) {
    slot* oldest = nullptr;
    for (slot& each : slots_) {
      if (each.file && each.number == number) {
        ++each.readers;
        each.last_read = ++reads_;
        return each;
      }
      if (each.readers == 0 && (oldest == nullptr || each.last_read < oldest->last_read))
        oldest = &each;
    }
    if (oldest != nullptr) {
      const known_file& known = known_[number];
      oldest->file.reset();  // before the next is opened, so that there are never more
      oldest->last_read = 0;
      input_file opened(known.path);
      if (opened.identity().size < known.identity.size)
        internal::fail_file(violation::file_is_not_readable, known.path, "it became shorter");
      if (opened.identity() != known.identity)
        internal::fail_file(
            violation::file_is_not_readable, known.path,
            "it was replaced or changed after its header was read: open the tensors "
            "again");
      oldest->file.emplace(std::move(opened));
      oldest->number = number;
      oldest->readers = 1;
      oldest->last_read = ++reads_;
      return *oldest;
    }
    is_free_.wait(lock);
  }
}

SHARDWISE_INLINE_FILES void open_files::close(slot& from) const noexcept {
  const std::lock_guard lock(guard_);
  if (--from.readers == 0) is_free_.notify_all();
}

SHARDWISE_INLINE_FILES void open_files::read(std::size_t number, index_t place,
                                             std::span<std::byte> to) const {
  slot& opened = open(number);
  struct closing {
    const open_files& files;
    slot& opened;
    ~closing() { files.close(opened); }
  };
  const closing at_end{*this, opened};
  opened.file->read(place, to);
}

}  // namespace shardwise
