// SPDX-License-Identifier: BSL-1.0
// Programs in processes of their own, which may be killed.
#pragma once

#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <stdexcept>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace support {

/// A value that a process and its children share.
template <class T>
class shared_value {
 public:
  explicit shared_value(T first = {}) {
    void* const memory =
        ::mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::runtime_error("no shared memory");
    value_ = new (memory) T(first);
  }
  shared_value(const shared_value&) = delete;
  ~shared_value() { ::munmap(value_, sizeof(T)); }
  [[nodiscard]] T& operator*() const noexcept { return *value_; }

 private:
  T* value_;
};

/// Starts a program in a child; it ends with status 0, or 1 if the program throws. The calling
/// process must have no other threads.
template <class Program>
[[nodiscard]] pid_t start_child(const Program& program) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  // The test framework has handlers of its own.
  (void)std::signal(SIGTERM, SIG_DFL);
  int status = 0;
  try {
    program();
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    status = 1;
  }
  ::_exit(status);
}

/// Waits for the end of a child, and returns its status as a shell has it: that of its exit, or
/// 128 and the number of the signal that killed it.
[[nodiscard]] inline int end_of_child(pid_t child) {
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child) throw std::runtime_error("no child");
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
template <class Program>
[[nodiscard]] int run_child(const Program& program) {
  return end_of_child(start_child(program));
}

}  // namespace support
