// SPDX-License-Identifier: BSL-1.0
// The program of `./run demo`: trains a small transformer on text, byte by byte, on the devices of
// a mesh. The model is in demo/model.hpp; this file feeds it, checks it, saves it and shows its
// output. Its checkpoints are saved while it trains, and however it ends, the same command goes on
// from the newest. Where MPI is found it may run in several processes, which share the devices:
// what depends on a clock or a signal is then agreed, and only the first process prints.
#include "demo/corpus.hpp"
#include "demo/curve.hpp"
#include "demo/model.hpp"
#include "demo/options.hpp"
#include "demo/progress.hpp"
#include "demo/text.hpp"
#include "demo/training.hpp"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <iostream>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace demo;

void show_layouts(const training& run) {
  const model& m = run.parameters();
  std::cout << "Who holds what. A cell lists its devices: `0 4` are replicas.\n"
            << "\nread.table, the rows of the bytes:\n";
  visualize(m.read.table);
  std::cout << "\nlayers.0.attention.query, split by heads:\n";
  visualize(m.layers[0].attention.query);
  std::cout << "\nlayers.0.mlp.up.weight, split by columns, and down.weight, by rows:\n";
  visualize(m.layers[0].mlp.up.weight);
  visualize(m.layers[0].mlp.down.weight);
}

/// Prints the predicted and the counted cost of a step; returns true if they are equal.
bool show_ledger(const cost_ledger& predicted, const cost_ledger& counted) {
  const auto row = [](const char* words, index_t a, index_t b) {
    std::printf("  %-32s %14lld %14lld\n", words, static_cast<long long>(a),
                static_cast<long long>(b));
  };
  std::printf("\nOne step, for one device               predicted        counted\n");
  for (const char* axis : {"data", "model"}) {
    const auto words = [&](const char* what) { return std::string(what) + axis; };
    row(words("collectives over ").c_str(), predicted.collectives(axis), counted.collectives(axis));
    row(words("bytes received over ").c_str(), predicted.bytes_moved(axis),
        counted.bytes_moved(axis));
  }
  row("floating-point operations", predicted.flops(), counted.flops());
  row("peak bytes", predicted.peak_bytes_per_device(), counted.peak_bytes_per_device());
  return predicted == counted;
}

/// Whether the cost of a step is what its program predicts, and steps on one device have the same
/// losses.
struct check {
  double apart = 0;
  bool same_losses = true, same_costs = false;
};
/// Takes three steps on the mesh and on one device, from the initial state or from a saved one.
check take_steps_twice(const options& wanted, const std::string& saved, const corpus& text) {
  training many(wanted.data, wanted.model_parallel), one;
  if (!saved.empty()) {
    (void)many.load(saved);
    (void)one.load(saved);
  }
  std::mt19937_64 random(5);
  check out;
  cost_ledger predicted, counted;
  for (int s = 0; s < 3; ++s) {
    const places from = text.draw(random, false);
    many.pool().reset_counters();
    const auto [loss, cost] = many.advance_once(text, from, 1e-3);
    predicted = cost;
    counted = many.pool().counters();
    const auto [same, cost_of_one] = one.advance_once(text, from, 1e-3);
    const double apart = std::abs(double{loss} - same) / std::abs(double{same});
    out.apart = std::max(out.apart, apart);
    // A loss that is NaN is not the same.
    out.same_losses = out.same_losses && apart < 1e-4;
  }
  out.same_costs = show_ledger(predicted, counted);
  return out;
}

/// The losses of training, and how far it got.
struct outcome {
  progress at{};
  double loss = 0;
  double held_out = 0;
  bool is_stopped = false;
  std::vector<loss_at> trained{}, tested{};
};

/// Trains until the steps or the minutes are over, or until it is interrupted. The samples of a
/// step depend on its number alone, so that a training that goes on takes the steps that it would
/// have taken.
outcome train(training& run, const options& wanted, const corpus& text, const progress& from,
              checkpoint_manager& checkpoints) {
  outcome out;
  out.at = from;
  progress_bar bar;
  double waited = 0;
  const double start = agreed_seconds(), started_here = now();
  const auto measure = [&](int batches) {
    const double begin = now();
    out.held_out = run.loss_held_out(text, batches);
    out.tested.push_back({out.at.steps, out.held_out});
    waited += now() - begin;
  };
  const auto part_done = [&](double seconds) {
    const double by_steps =
        wanted.steps > 0 ? static_cast<double>(out.at.steps) / static_cast<double>(wanted.steps)
                         : 0;
    const double by_time = wanted.minutes > 0 ? from.done + seconds / (60 * wanted.minutes) : 0;
    return std::min(std::max(by_steps, by_time), 1.0);
  };
  // The rate depends on the fraction that is done, whether steps or minutes limit the training.
  constexpr optim::warmup_cosine schedule{
      .peak = 1.5e-3, .warmup = 300, .steps = 10'000, .least = 1e-4};
  int tested = -1;
  for (;;) {
    out.at.done = part_done(agreed_seconds() - start);
    const bool is_done = out.at.done >= 1 && !out.trained.empty();
    // Whoever stops a program may not wait for long.
    if (checkpoints.stop_requested() && !is_done) {
      bar.end();
      out.is_stopped = true;
      return out;
    }
    if (const int twentieth = static_cast<int>(out.at.done * 20); is_done || twentieth != tested) {
      measure(is_done ? 48 : 8);
      tested = twentieth;
    }
    if (!out.trained.empty()) {
      const double seconds = now() - started_here;
      const auto count = static_cast<double>(out.trained.size() * batch * positions);
      bar.show({out.at.done, out.at.steps, out.loss, out.held_out, count / (seconds - waited),
                seconds * (1 - out.at.done) / std::max(out.at.done - from.done, 1e-6)});
    }
    if (is_done) return out;
    std::mt19937_64 random(random_key{1}.fold_in(static_cast<std::uint64_t>(out.at.steps)).value);
    const double loss = double{run.advance(text, text.draw(random, false),
                                           schedule(static_cast<index_t>(out.at.done * 10'000)))};
    out.trained.push_back({++out.at.steps, loss});
    checkpoints.save(out.at.steps, run.all(), {.metadata = to_metadata(out.at)});
    out.loss +=
        (loss - out.loss) / static_cast<double>(std::min<std::size_t>(out.trained.size(), 50));
  }
}

/// Shows the continuation of samples of the held-out text.
void show_writing(const training& run, const options& wanted, const corpus& text) {
  std::mt19937_64 random(3);
  const places from = text.draw(random, true);
  const double begin = now();
  const auto lines = run.write(text, from, wanted.letters);
  const double seconds = now() - begin;
  std::printf("it reads | and writes\n");
  for (std::size_t b = 0; b < 5; ++b)
    std::printf("  %s|%s\n", printable(text.part(from[b] + positions - 12, 12)).c_str(),
                printable(lines[b]).c_str());
  const auto [known, all] = count_words(text, lines);
  std::printf("of %ld words of three letters or more that it wrote, %ld are words of the text\n",
              all, known);
  const auto bytes_written = static_cast<double>(batch * wanted.letters);
  std::printf("it wrote %.0f bytes in %.1f s: %.0f bytes/s\n", bytes_written, seconds,
              bytes_written / seconds);
}

int run(const options& wanted) {
  const double begin = now();
  const std::string name = wanted.file.empty() ? "the project's text" : "'" + wanted.file + "'";
  std::string content = wanted.file.empty() ? read_project(wanted.root) : read_file(wanted.file);
  require_text(content, name, corpus::shortest);
  if (wanted.exported == wanted.curve)
    throw bad_input("--export and --curve are one file, '" + wanted.curve + "'");
  for (const std::string& path : {wanted.exported, wanted.curve})
    if (!path.empty()) require_writable(path);
  require_folder(wanted.state);
  checkpoint_manager checkpoints = usable(
      [&] { return checkpoint_manager(wanted.state, {.every_seconds = 10, .keep = {.last = 2}}); });
  // The second interrupt ends the program at once.
  checkpoints.on_signal();
  const corpus text(std::move(content));
  training all(wanted.data, wanted.model_parallel);
  progress at;
  std::string saved = wanted.resume;
  if (const auto found = usable([&] { return checkpoints.restore(all.all()); })) {
    at = usable([&] { return progress_of(found->metadata); });
    saved = checkpoints.path(found->step);
  } else if (!saved.empty()) {
    at = all.load(saved);
  }
  if (at.done >= 1) at.done = 0;  // a finished training begins another round

  const std::string processes =
      process_count() > 1 ? " of each of " + std::to_string(process_count()) + " processes" : "";
  std::printf(
      "A transformer of %lld parameters on mesh(data=%lld, model=%lld): %lld devices on %u "
      "threads%s.\nIt learns from %s, %lld bytes, of which one sixteenth is held out.\n"
      "\n",
      static_cast<long long>(count_parameters(all.parameters())),
      static_cast<long long>(wanted.data), static_cast<long long>(wanted.model_parallel),
      static_cast<long long>(all.pool().devices()), all.pool().threads(), processes.c_str(),
      name.c_str(), static_cast<long long>(text.size()));
  if (!saved.empty())
    std::printf("It goes on from '%s' after %ld steps.\n\n", saved.c_str(), at.steps);
  if (wanted.steps > 0 && at.steps >= wanted.steps) {
    std::printf("It has taken its %ld steps: nothing is left to train.\n\n", wanted.steps);
    if (wanted.letters > 0) show_writing(all, wanted, text);
    if (!wanted.exported.empty()) all.write_file(wanted.exported, at);
    return 0;
  }
  show_layouts(all);
  const check checked = take_steps_twice(wanted, saved, text);
  std::printf("three steps on one device have the same losses within %.1e: %s\n", checked.apart,
              checked.same_losses ? "the same" : "NOT THE SAME");
  std::printf("costs of a step, predicted and counted: %s\n",
              checked.same_costs ? "the same" : "NOT THE SAME");

  std::printf("\nTraining, %lld bytes a step, losses in nats for a byte:\n",
              static_cast<long long>(batch * positions));
  const outcome trained = train(all, wanted, text, at, checkpoints);
  checkpoints.save(trained.at.steps, all.all(),
                   {.metadata = to_metadata(trained.at), .force = true});
  checkpoints.finish();
  if (!wanted.exported.empty()) all.write_file(wanted.exported, trained.at);
  const bool has_curve =
      process_index() == 0 && draw_curve(wanted.curve, trained.trained, trained.tested);
  if (trained.is_stopped) {
    std::printf("\nstopped after %ld steps; the same command goes on from '%s'\n", trained.at.steps,
                checkpoints.path(trained.at.steps).c_str());
    return 130;
  }
  std::printf("\nloss %.3f after %.3f at the beginning, %.3f on the text held out\n", trained.loss,
              trained.trained.front().loss, trained.held_out);
  if (wanted.letters > 0) show_writing(all, wanted, text);
  std::printf("state in %s\n", checkpoints.path(trained.at.steps).c_str());
  if (has_curve) std::printf("learning curve in %s\n", wanted.curve.c_str());
  std::printf("%.1f s in all\n", now() - begin);
  return checked.same_losses && checked.same_costs && std::isfinite(trained.held_out) ? 0 : 1;
}

/// Returns an error status if the output could not be written completely.
int written(int status) {
  std::cout.flush();
  if (std::fflush(stdout) == 0 && std::cout) return status;
  std::cerr << "demo: the output cannot be written\n";
  return 3;
}

}  // namespace

int main(int argc, char** argv) {
#ifdef SIGPIPE
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe is an error like a full disk
#endif
  std::string self = "demo";
  try {
    if (process_index() > 0) {
      self += ", process " + std::to_string(process_index());
      if (std::freopen("/dev/null", "w", stdout) == nullptr) return 3;
    }
    const options wanted = parse(argc, argv);
    if (!wanted.help) return written(run(wanted));
    std::cout << usage;
    return written(0);
  } catch (const bad_input& problem) {
    std::cerr << self << ": " << problem.what() << '\n';
    return 2;
  } catch (const std::exception& problem) {
    std::cerr << self << ": " << problem.what() << '\n';
    return 1;
  }
}
