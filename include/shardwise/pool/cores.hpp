// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <thread>

#if defined(__linux__)
#include <sched.h>
#endif

namespace shardwise {

/// The cores that this process may use, if the platform provides this information; otherwise all
/// cores.
class core_set {
 public:
  /// Returns the cores that the calling thread may use now.
  [[nodiscard]] static core_set available() noexcept {
    core_set cores;
#if defined(__linux__)
    if (sched_getaffinity(0, sizeof cores.mask_, &cores.mask_) == 0) {
      cores.size_ = static_cast<unsigned>(CPU_COUNT(&cores.mask_));
      cores.known_ = true;
    }
#endif
    cores.size_ = std::max(1U, cores.size_);
    return cores;
  }

  /// Returns the number of cores, at least 1.
  [[nodiscard]] unsigned size() const noexcept { return size_; }

  /// Returns the cores of this set and of another one of the same machine.
  [[nodiscard]] core_set with(const core_set& other) const noexcept {
    core_set both = *this;
    both.size_ = std::max(size_, other.size_);
#if defined(__linux__)
    both.known_ = known_ && other.known_;
    if (both.known_) {
      CPU_OR(&both.mask_, &mask_, &other.mask_);
      both.size_ = static_cast<unsigned>(CPU_COUNT(&both.mask_));
    }
#endif
    return both;
  }

  /// Returns the core that runs the calling thread, or -1.
  [[nodiscard]] static int current() noexcept {
#if defined(__linux__)
    return sched_getcpu();
#else
    return -1;
#endif
  }

  /// Restricts the calling thread to these cores without `core`, if any remain.
  void stay_off([[maybe_unused]] int core) const noexcept {
#if defined(__linux__)
    if (!known_ || core < 0 || core >= CPU_SETSIZE || size_ < 2) return;
    cpu_set_t others = mask_;
    CPU_CLR(static_cast<unsigned>(core), &others);
    sched_setaffinity(0, sizeof others, &others);
#endif
  }

 private:
#if defined(__linux__)
  cpu_set_t mask_{};
#endif
  unsigned size_ = std::thread::hardware_concurrency();
  bool known_ = false;
};

}  // namespace shardwise
