// SPDX-License-Identifier: BSL-1.0
// The demo's progress: one line that changes in place on a terminal, a line every tenth elsewhere.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <string>
#include <unistd.h>

namespace demo {

/// Seconds since some moment, for differences.
[[nodiscard]] inline double now() {
  using namespace std::chrono;
  return duration<double>(steady_clock::now().time_since_epoch()).count();
}

/// What the line says, losses in nats for a byte.
struct shown_progress {
  double done = 0;  ///< the part that is done, 0 to 1
  long steps = 0;
  double loss = 0;
  double held_out = 0;
  double speed = 0;  ///< bytes a second
  double left = 0;   ///< seconds
};

class progress_bar {
 public:
  progress_bar() : terminal_(isatty(STDOUT_FILENO) != 0) {}

  /// Shows how far the training is, if it is time to.
  void show(const shown_progress& at) {
    const int tenth = static_cast<int>(at.done * 10);
    const bool is_last = at.done >= 1;
    if (terminal_ ? !is_last && now() - shown_at_ < 0.1 : tenth == shown_tenth_) return;
    shown_at_ = now();
    shown_tenth_ = tenth;
    constexpr int cells = 24;
    std::string bar(static_cast<std::size_t>(std::min(at.done, 1.0) * cells), '=');
    bar.resize(cells, ' ');
    const auto left = static_cast<int>(std::lround(at.left));
    std::printf(
        "%s  [%s] step %ld, loss %.3f, held out %.3f, %.1f thousand bytes/s, %d:%02d left%s",
        terminal_ ? "\r" : "", bar.c_str(), at.steps, at.loss, at.held_out, at.speed * 1e-3,
        left / 60, left % 60, terminal_ ? "\x1b[K" : "\n");
    std::fflush(stdout);
  }
  /// Ends the line.
  void end() const {
    if (terminal_) std::printf("\n");
  }

 private:
  bool terminal_;
  double shown_at_ = 0;
  int shown_tenth_ = -1;
};

}  // namespace demo
