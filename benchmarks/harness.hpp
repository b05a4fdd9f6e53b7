// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

/// Ratios measured side by side: each round times the library and its yardstick in turn, and the
/// row reports the median of the rounds' ratios. Absolute times on a shared machine drift; ratios
/// less.
namespace bench {

/// One row: what is measured, against what, and the ratio that it should reach.
struct row {
  std::string name;
  std::string yardstick;
  std::function<void()> subject;
  std::function<void()> peer;
  /// The ratio is peer time over subject time, times this: the work of the subject per work of the
  /// peer (bytes, for instance).
  double scale = 1;
  double goal = 1;
  int rounds = 15;
  /// Runs before each call of either, which then are timed one by one.
  std::function<void()> prepare{};
};

/// What makes the rows of each file; files add theirs when they are linked in.
inline std::vector<std::function<std::vector<row>()>>& makers() {
  static std::vector<std::function<std::vector<row>()>> all;
  return all;
}

/// Adds rows: `const bench::add here([] { return ...; });`. They are made when it is their turn,
/// and released, with their tensors, before the next file's.
struct add {
  explicit add(const std::function<std::vector<row>()>& make) { makers().push_back(make); }
};

/// Keeps the compiler from dropping a result.
template <class T>
void keep(const T& value) {
  asm volatile("" : : "g"(&value) : "memory");
}

inline double seconds(const std::function<void()>& f, int calls) {
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < calls; ++i) f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / calls;
}

/// As many calls as take about `target` seconds.
inline int calls_for(const std::function<void()>& f, double target) {
  double once = seconds(f, 1);
  if (once < 1e-3) once = seconds(f, 64);
  return std::clamp(static_cast<int>(target / std::max(once, 1e-9)), 1, 100000);
}

inline double median(std::vector<double> all) {
  std::sort(all.begin(), all.end());
  return all[all.size() / 2];
}

/// Prints the times of the rounds of a row, and returns whether it reached its goal.
inline bool report(const row& each, const std::vector<double>& subject,
                   const std::vector<double>& peer) {
  std::vector<double> ratios;
  for (std::size_t r = 0; r < subject.size(); ++r)
    ratios.push_back(each.scale * peer[r] / subject[r]);
  std::sort(ratios.begin(), ratios.end());
  const double ratio = ratios[ratios.size() / 2];
  const bool reached = ratio >= each.goal;
  std::printf("%-46s %-28s %11.3f %11.3f %7.3f (%5.2f..%5.2f) %5.2f%s\n", each.name.c_str(),
              each.yardstick.c_str(), median(subject) * 1e6, median(peer) * 1e6, ratio,
              ratios[ratios.size() / 10], ratios[ratios.size() - 1 - ratios.size() / 10], each.goal,
              reached ? "" : "  below");
  std::fflush(stdout);
  return reached;
}

/// Times a row whose calls are prepared.
inline bool measure_singly(const row& each) {
  std::vector<double> subject, peer;
  for (int r = -1; r < each.rounds; ++r) {  // the first one warms up
    each.prepare();
    const double ours = seconds(each.subject, 1);
    each.prepare();
    const double theirs = seconds(each.peer, 1);
    if (r < 0) continue;
    subject.push_back(ours);
    peer.push_back(theirs);
  }
  return report(each, subject, peer);
}

/// Times one row, prints it and returns whether it reached its goal.
inline bool measure(const row& each) {
  if (each.prepare) return measure_singly(each);
  // The first half second on fresh memory is the system's: it maps pages and joins them.
  const auto warm = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
  while (std::chrono::steady_clock::now() < warm) {
    each.subject();
    each.peer();
  }
  const int ours = calls_for(each.subject, 0.02);
  const int theirs = calls_for(each.peer, 0.02);
  std::vector<double> subject;
  std::vector<double> peer;
  for (int r = 0; r < each.rounds; ++r) {
    subject.push_back(seconds(each.subject, ours));
    peer.push_back(seconds(each.peer, theirs));
  }
  return report(each, subject, peer);
}

/// Runs the rows whose names contain one of the filters (all without one) and prints a table.
inline int run(const std::vector<std::string_view>& filters) {
  std::printf("%-46s %-28s %11s %11s %7s %15s %6s\n", "subject", "yardstick", "subject us",
              "yardstick", "ratio", "(10%..90%)", "goal");
  bool all = true;
  for (const auto& make : makers())
    for (const row& each : make()) {
      const auto wanted = [&](std::string_view f) {
        return each.name.find(f) != std::string::npos;
      };
      if (!filters.empty() && std::none_of(filters.begin(), filters.end(), wanted)) continue;
      all = measure(each) && all;
    }
  std::printf("%s\n", all ? "every row reached its goal" : "some rows are below their goal");
  return 0;
}

}  // namespace bench
