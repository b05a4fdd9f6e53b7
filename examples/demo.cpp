// SPDX-License-Identifier: BSL-1.0
// Trains a next-character model on real text, on eight devices: two along `data`, four along
// `model`. The model and its step are in demo/model.hpp; this file feeds, checks and shows them.
#include "demo/model.hpp"
#include "demo/progress.hpp"
#include "demo/text.hpp"
#include <shardwise/shardwise.hpp>

#include <charconv>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <random>

namespace {

using namespace demo;

struct options {
  std::string root = ".";
  std::string file;
  long steps = 800;
  bool help = false;
};

/// The text as numbers. Of every 1024 characters the last 64 are never trained on.
class corpus {
 public:
  corpus(std::string_view text, const vocabulary& known)
      : codes_(known.codes(text)), places_(static_cast<index_t>(text.size()) - context) {}

  [[nodiscard]] index_t size() const noexcept { return places_ + context; }
  [[nodiscard]] bool has_unseen() const noexcept { return unseen() > 0; }
  [[nodiscard]] std::uint8_t code(index_t place) const noexcept {
    return codes_[static_cast<std::size_t>(place)];
  }
  /// Where the contexts of a batch begin.
  template <class Random>
  [[nodiscard]] std::vector<index_t> draw(Random& random, bool seen) const {
    std::vector<index_t> places(static_cast<std::size_t>(batch));
    for (index_t& place : places) {
      const index_t from = seen ? places_ - unseen() : unseen();
      const auto n = static_cast<index_t>(random() % static_cast<std::uint64_t>(from));
      place = seen ? n / kept * period + n % kept
                   : n / (period - kept) * period + kept + n % (period - kept);
    }
    return places;
  }

 private:
  static constexpr index_t period = 1024, kept = 960;
  [[nodiscard]] index_t unseen() const noexcept {
    return places_ / period * (period - kept) + std::max(places_ % period - kept, index_t{0});
  }

  std::vector<std::uint8_t> codes_;
  index_t places_;
};

/// The one-hot tensors of a batch, made where they are needed: there is no such matrix on the host.
template <Mesh M>
examples<M> make_examples(const device_pool& pool, const corpus& text,
                          const std::vector<index_t>& places) {
  return distribute<examples<M>>(pool, [&](const global_index& at) {
    const index_t place = places[static_cast<std::size_t>(at[0])] + at[1] / symbols;
    return text.code(place) == at[1] % symbols ? 1.0F : 0.0F;
  });
}
template <Mesh M>
targets<M> make_targets(const device_pool& pool, const corpus& text,
                        const std::vector<index_t>& places) {
  return distribute<targets<M>>(pool, [&](const global_index& at) {
    return text.code(places[static_cast<std::size_t>(at[1])] + context) == at[0] ? 1.0F : 0.0F;
  });
}

/// The state of a training on the devices of one mesh.
template <Mesh M>
struct training {
  device_pool pool{M{}};
  weights<M> w = zeros<weights<M>>(pool);
  momentum<M> m = zeros<momentum<M>>(pool);

  /// Takes one step and returns the loss before it.
  float advance(const corpus& text, const std::vector<index_t>& places, float rate) {
    auto [loss, new_w, new_m] = update{rate}(make_examples<M>(pool, text, places),
                                             make_targets<M>(pool, text, places), w, m);
    w = std::move(new_w);
    m = std::move(new_m);
    sync(loss, w, m);
    return to_host(loss)();
  }
};

/// How far a step on eight devices is from the same step on one.
struct difference {
  double loss = 0;
  double weights = 0;
};

/// Takes the step on both meshes from the state of the first.
std::pair<float, difference> advance_both(training<pod>& many, training<single>& one,
                                          const corpus& text, const std::vector<index_t>& places,
                                          float rate) {
  one.w = distribute<weights<single>>(one.pool, to_host(many.w).elements());
  one.m = distribute<momentum<single>>(one.pool, to_host(many.m).elements());
  const float loss = many.advance(text, places, rate);
  const float same = one.advance(text, places, rate);
  const Eigen::MatrixXf a = to_host(many.w);
  const Eigen::MatrixXf b = to_host(one.w);
  // A loss near 0 has few digits.
  return {loss,
          {std::abs(loss - same) / std::max(double{same}, 0.1), double{(a - b).norm() / b.norm()}}};
}

void show_layouts(const training<pod>& run, const corpus& text,
                  const std::vector<index_t>& places) {
  const auto x = make_examples<pod>(run.pool, text, places);
  const auto y = make_targets<pod>(run.pool, text, places);
  std::cout << "Who holds what. A cell lists its devices: `0 4` are replicas, `0+4` hold terms of "
               "a sum.\n"
            << "\nx, the previous " << context << " characters:\n";
  visualize(x);
  std::cout << "\nw, the weights:\n";
  visualize(run.w);
  // Nothing runs for these two: expressions have layouts too.
  const auto gradient = std::get<1>(differentiate(x, y, run.w));
  std::cout << "\nthe gradient, before and after the reduce_scatter over data:\n";
  visualize(gradient);
  visualize(reshard<P<"data", "model">>(gradient));
}

/// Prints a step's costs as traced and as counted; true if they are the same.
bool show_ledger(const cost_ledger& traced, const cost_ledger& counted) {
  const auto row = [](const char* words, index_t a, index_t b) {
    std::printf("  %-32s %14lld %14lld\n", words, static_cast<long long>(a),
                static_cast<long long>(b));
  };
  std::printf("\nOne step, for one device           by the compiler    by the pool\n");
  row("collectives over data", traced.collectives("data"), counted.collectives("data"));
  row("collectives over model", traced.collectives("model"), counted.collectives("model"));
  row("bytes received over data", traced.bytes_moved("data"), counted.bytes_moved("data"));
  row("bytes received over model", traced.bytes_moved("model"), counted.bytes_moved("model"));
  row("floating-point operations", traced.flops(), counted.flops());
  row("peak bytes", traced.peak_bytes_per_device(), counted.peak_bytes_per_device());
  return traced == counted;
}

/// What the model writes after `start`.
std::string write_line(const training<pod>& run, const vocabulary& known, const corpus& text) {
  using draws = sharded_tensor<float, extents<88>, layout<pod, P<none>>>;
  const auto chance = to_host(uniform<draws>(run.pool, key{2024}));
  const auto w = to_host(run.w);
  std::vector<index_t> codes;
  for (index_t i = 0; i < context; ++i) codes.push_back(text.code(i));
  std::string line;
  for (index_t i = 0; i < chance.size(); ++i) {
    std::array<double, symbols> mass{};
    double total = 0;
    for (index_t o = 0; o + 1 < symbols; ++o) {  // all but "other", which has no character
      double score = 0;
      for (index_t k = 0; k < context; ++k)
        score +=
            double{w(k * symbols + codes[codes.size() - std::size_t{context} + std::size_t(k)], o)};
      // A little less adventurous than the model is.
      total += mass[static_cast<std::size_t>(o)] = std::exp(score / 0.8);
    }
    double left = double{chance(i)} * total;
    index_t next = 0;
    while (next + 2 < symbols && (left -= mass[static_cast<std::size_t>(next)]) > 0) ++next;
    codes.push_back(next);
    line += known.byte(static_cast<std::size_t>(next));
  }
  return printable(line);
}

/// What a training came to.
struct outcome {
  double first_loss = 0;
  double loss = 0;  ///< the mean of the last 50 steps
  int checks = 0;
  difference worst;
};

outcome train(training<pod>& many, const corpus& text, std::mt19937_64& random, long steps) {
  training<single> one;
  outcome out;
  progress_bar bar(steps);
  double seconds = 0;
  for (long s = 0; s < steps; ++s) {
    const std::vector<index_t> places = text.draw(random, true);
    const float rate = 8.0F * (1.0F - 0.95F * static_cast<float>(s) / static_cast<float>(steps));
    float loss = 0;
    if (s % std::max(steps / 4, 1L) == 0 || s + 1 == steps) {
      difference off;
      std::tie(loss, off) = advance_both(many, one, text, places, rate);
      out.worst = {std::max(out.worst.loss, off.loss), std::max(out.worst.weights, off.weights)};
      ++out.checks;
    } else {
      const double start = now();
      loss = many.advance(text, places, rate);
      seconds += now() - start;
    }
    if (s == 0) out.first_loss = loss;
    out.loss += (loss - out.loss) / static_cast<double>(std::min(s + 1, 50L));
    const auto timed = static_cast<double>((s + 1 - out.checks) * batch);
    bar.show(s + 1, out.loss, seconds > 0 ? timed / seconds : 0);
  }
  return out;
}

/// What the pool counts while it takes one step.
cost_ledger count_step(const training<pod>& run, const corpus& text,
                       const std::vector<index_t>& places) {
  const auto x = make_examples<pod>(run.pool, text, places);
  const auto y = make_targets<pod>(run.pool, text, places);
  run.pool.reset_counters();
  const auto [loss, w, m] = update{}(x, y, run.w, run.m);
  sync(loss, w, m);
  return run.pool.counters();
}

/// The loss of characters that were not trained on. The gradient is not read, so it never runs.
double loss_of(const training<pod>& run, const corpus& text, const std::vector<index_t>& places) {
  const auto x = make_examples<pod>(run.pool, text, places);
  const auto y = make_targets<pod>(run.pool, text, places);
  return to_host(std::get<0>(differentiate(x, y, run.w)))();
}

int run(const options& wanted) {
  const double begin = now();
  const std::string name = wanted.file.empty() ? "the project's text" : "'" + wanted.file + "'";
  const std::string bytes =
      wanted.file.empty() ? read_project(wanted.root) : read_file(wanted.file);
  require_text(bytes, name);
  const vocabulary known(bytes, symbols);
  const corpus text(bytes, known);
  training<pod> many;
  std::mt19937_64 random(1);

  std::cout << "A next-character model on " << type_name<pod>() << ": " << pod::devices
            << " devices on " << many.pool.threads()
            << (many.pool.threads() == 1 ? " thread.\n" : " threads.\n") << "It learns from "
            << name << ": " << text.size() << " bytes, " << known.known()
            << " of them different.\n\n";
  show_layouts(many, text, text.draw(random, true));
  std::cout << "\nThe step, as the compiler recorded it:\n";
  write_program(std::cout, program_of<pod>);

  std::cout << "\nTraining, " << batch << " characters a step:\n";
  const outcome trained = train(many, text, random, wanted.steps);
  const bool same_costs = show_ledger(cost<pod>, count_step(many, text, text.draw(random, true)));
  const bool same_loss = trained.worst.loss <= 1e-5 && trained.worst.weights <= 1e-4;

  std::printf("\nloss %.3f nats, %.3f at the beginning", trained.loss, trained.first_loss);
  if (text.has_unseen())
    std::printf(", %.3f on characters not trained on",
                loss_of(many, text, text.draw(random, false)));
  std::printf("\n%d steps repeated on one device: loss within %.1e, weights within %.1e: %s\n",
              trained.checks, trained.worst.loss, trained.worst.weights,
              same_loss ? "the same" : "NOT THE SAME");
  std::printf("costs of a step, traced and counted: %s\n",
              same_costs ? "the same" : "NOT THE SAME");
  std::printf("it writes: %s\n", write_line(many, known, text).c_str());
  std::printf("%.1f s in all\n", now() - begin);
  return same_loss && same_costs && std::isfinite(trained.loss) ? 0 : 1;
}

/// The number of steps as it was written.
long parse_steps(std::string_view value) {
  long steps = 0;
  const auto [end, problem] = std::from_chars(value.data(), value.data() + value.size(), steps);
  if (problem != std::errc{} || end != value.data() + value.size() || steps < 1 ||
      steps > 1'000'000)
    throw bad_input("--steps is a number from 1 to 1000000, not '" + std::string(value) + "'");
  return steps;
}

/// The command line. What cannot be understood is named.
options parse(int argc, char** argv) {
  options wanted;
  bool only_files = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (!only_files && word == "--") {
      only_files = true;
    } else if (!only_files && (word == "--help" || word == "-h")) {
      wanted.help = true;
    } else if (!only_files && (word == "--root" || word == "--steps")) {
      if (i + 1 == argc) throw bad_input("what follows " + std::string(word) + "?");
      const std::string_view value = argv[++i];
      if (word == "--root")
        wanted.root = value;
      else
        wanted.steps = parse_steps(value);
    } else if (!only_files && word.starts_with('-')) {
      throw bad_input("unknown option '" + std::string(word) + "'; the options: demo --help");
    } else if (word.empty()) {
      throw bad_input("the name of the file is empty");
    } else if (!wanted.file.empty()) {
      throw bad_input("one file, not '" + wanted.file + "' and '" + std::string(word) + "'");
    } else {
      wanted.file = word;
    }
  }
  return wanted;
}

constexpr const char* usage =
    "usage: demo [--root DIR] [--steps N] [FILE]\n"
    "\n"
    "Trains a next-character model on FILE, or on the README.md, docs and headers under DIR.\n"
    "N is the number of steps, 1 to 1000000.\n"
    "\n"
    "status: 0; 1 where a result is not the one that was expected; 2 where the request or its "
    "text\n"
    "cannot be used; 3 where the output cannot be written\n";

/// What was printed is with whoever reads it, or the status says that it is not.
int written(int status) {
  std::cout.flush();
  if (std::fflush(stdout) == 0 && std::cout) return status;
  std::cerr << "demo: the output cannot be written\n";
  return 3;
}

}  // namespace

int main(int argc, char** argv) {
#ifdef SIGPIPE
  std::signal(SIGPIPE, SIG_IGN);  // a reader that has gone is an error like a full disk
#endif
  try {
    const options wanted = parse(argc, argv);
    if (!wanted.help) return written(run(wanted));
    std::cout << usage;
    return written(0);
  } catch (const bad_input& problem) {
    std::cerr << "demo: " << problem.what() << '\n';
    return 2;
  } catch (const std::exception& problem) {
    std::cerr << "demo: " << problem.what() << '\n';
    return 1;
  }
}
