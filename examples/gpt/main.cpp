// SPDX-License-Identifier: BSL-1.0
// Trains a small transformer on text, byte by byte, on eight devices: two along `data`, four along
// `model`. The model is in model.hpp; this file feeds, checks, saves and shows it.
#include "../demo/progress.hpp"
#include "../demo/text.hpp"
#include "model.hpp"
#include <shardwise/io.hpp>

#include <charconv>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <random>
#include <tuple>

namespace {

using namespace gpt;
using demo::bad_input;

struct options {
  std::string root = ".", file, resume;
  std::string checkpoint = "gpt.safetensors", curve = "gpt.svg";
  long steps = 300;
  double minutes = 2;
};

volatile std::sig_atomic_t interrupted = 0;

/// Text as bytes. Of every 1024 the last 64 begin no sample of the training.
class corpus {
 public:
  explicit corpus(std::string text) : text_(std::move(text)) {
    if (text_.size() < 2048) throw bad_input("the text has less than 2048 bytes");
  }
  [[nodiscard]] std::size_t size() const noexcept { return text_.size(); }
  [[nodiscard]] std::int32_t code(index_t at) const {
    return static_cast<unsigned char>(text_[static_cast<std::size_t>(at)]);
  }
  [[nodiscard]] std::array<index_t, batch> draw(std::mt19937_64& random, bool seen) const {
    std::array<index_t, batch> from{};
    const auto places = text_.size() - std::size_t{positions} - 1;
    for (index_t& place : from) {
      std::uint64_t at = 0;
      do at = random() % places;
      while ((at % 1024 < 960 - positions) != seen && (seen || at % 1024 < 960));
      place = static_cast<index_t>(at);
    }
    return from;
  }

 private:
  std::string text_;
};

/// The state of a training on the devices of one mesh.
template <Mesh M>
struct training {
  device_pool pool{M{}};
  model<M> m = nn::initialise<model<M>>(pool, key{2026});
  state<M> s = learn.optimizer.start(m);

  [[nodiscard]] tokens<M> read(const corpus& all, const std::array<index_t, batch>& from,
                               index_t ahead) const {
    return generate<tokens<M>>(pool, [&](const global_index& at) {
      return all.code(from[static_cast<std::size_t>(at[0])] + at[1] + ahead);
    });
  }
  /// Takes one step and returns the loss before it.
  float advance(const corpus& all, const std::array<index_t, batch>& from, double rate) {
    const auto seen = read(all, from, 0), next = read(all, from, 1);
    const auto by = full<number<M>>(pool, static_cast<float>(rate));
    return to_host(step(pool, [&] { return learn(m, s, by, seen, next); }))();
  }
  [[nodiscard]] float loss(const corpus& all, const std::array<index_t, batch>& from) const {
    return to_host(next_byte_loss{}(m, read(all, from, 0), read(all, from, 1)))();
  }
};

/// What is saved: everything that the next step depends on, but for the place in the text.
template <Mesh M>
struct saved {
  model<M> m;
  state<M> s;
};
void save(const training<pod>& run, const std::string& path, long step) {
  save_safetensors(path, saved<pod>{run.m, run.s}, {{"step", std::to_string(step)}});
}
template <Mesh M>
long load(training<M>& run, const std::string& path) {
  const safetensors_file file(path);
  saved<M> from{run.m, run.s};
  load_safetensors(file, from);
  run.m = from.m;
  run.s = from.s;
  const auto found = file.header().metadata.find("step");
  if (found == file.header().metadata.end()) throw bad_input("'" + path + "' has no step");
  return std::stol(found->second);
}

void show_layouts(const training<pod>& run) {
  std::cout << "Who holds what. A cell lists its devices; `0 4` are replicas.\n\nread.table, the "
               "rows of the bytes:\n";
  visualize(run.m.read.table);
  std::cout << "\nlayers.0.mlp.up.weight, split by columns:\n";
  visualize(run.m.layers[0].mlp.up.weight);
  std::cout << "\nlayers.0.mlp.down.weight, split by rows:\n";
  visualize(run.m.layers[0].mlp.down.weight);
}

/// Prints a step's costs as traced and as counted; true if they are the same.
bool show_ledger(const cost_ledger& traced, const cost_ledger& counted) {
  const auto row = [](const char* words, index_t a, index_t b) {
    std::printf("  %-32s %14lld %14lld\n", words, static_cast<long long>(a),
                static_cast<long long>(b));
  };
  std::printf("\nOne step, for one device               on paper    by the pool\n");
  row("collectives over data", traced.collectives("data"), counted.collectives("data"));
  row("collectives over model", traced.collectives("model"), counted.collectives("model"));
  row("bytes received over data", traced.bytes_moved("data"), counted.bytes_moved("data"));
  row("bytes received over model", traced.bytes_moved("model"), counted.bytes_moved("model"));
  row("floating-point operations", traced.flops(), counted.flops());
  row("peak bytes", traced.peak_bytes_per_device(), counted.peak_bytes_per_device());
  return traced.collectives("data") == counted.collectives("data") &&
         traced.collectives("model") == counted.collectives("model") &&
         traced.bytes_moved("data") == counted.bytes_moved("data") &&
         traced.bytes_moved("model") == counted.bytes_moved("model");
}

/// What the model writes after the beginning of the text, a few lines at once.
void write_lines(const training<pod>& run, const corpus& all, long characters) {
  std::mt19937_64 random(7);
  const std::array<index_t, batch> from = all.draw(random, false);
  std::array<std::vector<std::int32_t>, batch> lines;
  for (std::size_t b = 0; b < lines.size(); ++b)
    for (index_t i = 0; i < positions; ++i) lines[b].push_back(all.code(from[b] + i));
  for (long n = 0; n < characters; ++n) {
    const auto seen = generate<tokens<pod>>(run.pool, [&](const global_index& at) {
      const auto& line = lines[static_cast<std::size_t>(at[0])];
      return line[line.size() - static_cast<std::size_t>(positions - at[1])];
    });
    const auto scores = to_host(run.m(seen));
    for (std::size_t b = 0; b < lines.size(); ++b) {
      std::array<double, std::size_t{bytes}> mass{};
      double total = 0;
      for (index_t c = 0; c < bytes; ++c)
        total += mass[static_cast<std::size_t>(c)] =
            std::exp(double{scores(static_cast<index_t>(b), positions - 1, c)} / 0.7);
      double left = static_cast<double>(random() >> 11) * 0x1p-53 * total;
      std::size_t next = 0;
      while (next + 1 < mass.size() && (left -= mass[next]) > 0) ++next;
      lines[b].push_back(static_cast<std::int32_t>(next));
    }
  }
  for (std::size_t b = 0; b < 4; ++b) {
    std::string words;
    for (std::size_t i = positions; i < lines[b].size(); ++i)
      words += static_cast<char>(lines[b][i]);
    std::printf("  %s\n", demo::printable(words).c_str());
  }
}

/// The losses of all steps as a curve.
void draw_curve(const std::string& path, const std::vector<float>& losses) {
  if (losses.size() < 2) return;
  const float top = *std::max_element(losses.begin(), losses.end());
  std::ofstream out(path);
  out << "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 640 360\" "
         "font-family=\"sans-serif\" "
         "font-size=\"12\">\n<rect width=\"640\" height=\"360\" fill=\"white\"/>\n"
         "<path d=\"M50 20V320H620\" fill=\"none\" stroke=\"#888\"/>\n";
  for (int tick = 0; tick <= static_cast<int>(top); ++tick) {
    const double y = 320 - 300.0 * tick / double{top};
    out << "<path d=\"M46 " << y << "H620\" stroke=\"#ddd\"/><text x=\"30\" y=\"" << y + 4 << "\">"
        << tick << "</text>\n";
  }
  out << "<text x=\"50\" y=\"345\">loss in nats over " << losses.size()
      << " steps</text>\n<polyline fill=\"none\" stroke=\"#1f6fb4\" stroke-width=\"1.5\" points=\"";
  for (std::size_t i = 0; i < losses.size(); ++i)
    out << 50 + 570.0 * static_cast<double>(i) / static_cast<double>(losses.size() - 1) << ','
        << 320 - 300.0 * double{losses[i] / top} << ' ';
  out << "\"/>\n</svg>\n";
  if (!out) throw bad_input("'" + path + "' cannot be written");
}

int run(const options& wanted) {
  const double begin = demo::now();
  const corpus all(wanted.file.empty() ? demo::read_project(wanted.root)
                                       : demo::read_file(wanted.file));
  training<pod> many;
  std::printf(
      "A transformer of %lld parameters on mesh(data=2, model=4), %d threads. It learns from "
      "%zu bytes.\n\n",
      static_cast<long long>(count_parameters(many.m)), int(many.pool.threads()), all.size());
  long first = 0;
  if (!wanted.resume.empty()) first = load(many, wanted.resume);
  show_layouts(many);

  std::mt19937_64 random(1 + static_cast<std::uint64_t>(first));
  // The same step on one device, from the same state.
  const auto from = all.draw(random, true);
  double apart = 0;
  float one_loss = 0;
  {
    training<single> one;
    if (!wanted.resume.empty()) (void)load(one, wanted.resume);
    one_loss = one.loss(all, from);
  }
  const float many_loss = many.loss(all, from);
  apart = std::abs(double{many_loss} - one_loss) / double{one_loss};

  // A step that is counted, of the program that is traced.
  static const traced_program<8192> traced =
      trace_nests_program<8192, model<pod>, state<pod>, number<pod>, tokens<pod>, tokens<pod>>(
          optim::functional_step{learn});
  const optim::warmup_cosine schedule{
      .peak = 3e-3, .warmup = 20, .steps = wanted.steps, .least = 1e-4};

  std::printf("\nTraining, %lld bytes a step:\n", static_cast<long long>(batch * positions));
  demo::progress_bar bar(wanted.steps);
  std::vector<float> losses;
  cost_ledger counted;
  double mean = 0;
  const double start = demo::now();
  long s = first;
  for (; s < wanted.steps && interrupted == 0 && demo::now() - start < 60 * wanted.minutes; ++s) {
    const auto places = all.draw(random, true);
    if (s == first + 1) many.pool.reset_counters();
    losses.push_back(many.advance(all, places, schedule(s)));
    if (s == first + 1) counted = many.pool.counters();
    mean += (double{losses.back()} - mean) /
            static_cast<double>(std::min<std::size_t>(losses.size(), 20));
    bar.show(s + 1, mean,
             static_cast<double>((s + 1 - first) * batch * positions) / (demo::now() - start));
  }
  save(many, wanted.checkpoint, s);
  if (interrupted != 0 || s < wanted.steps)
    std::printf("\nstopped after %ld steps; go on with: --resume %s\n", s,
                wanted.checkpoint.c_str());
  if (interrupted != 0) return 0;
  draw_curve(wanted.curve, losses);

  const bool same_costs = losses.size() < 2 || show_ledger(ledger_of(traced), counted);
  const bool same_loss = apart < 1e-5;
  std::printf("\nloss %.3f nats, %.3f at the beginning, %.3f on text not trained on\n", mean,
              double{losses.empty() ? 0 : losses.front()},
              double{many.loss(all, all.draw(random, false))});
  std::printf("the loss on one device is within %.1e: %s\n", apart,
              same_loss ? "the same" : "NOT THE SAME");
  std::printf("collectives and bytes of a step, on paper and counted: %s\n",
              same_costs ? "the same" : "NOT THE SAME");
  std::printf("state in %s, curve in %s\nit writes:\n", wanted.checkpoint.c_str(),
              wanted.curve.c_str());
  write_lines(many, all, 72);
  std::printf("%.1f s in all\n", demo::now() - begin);
  return same_loss && same_costs && std::isfinite(mean) ? 0 : 1;
}

template <class T>
T parse_number(std::string_view name, std::string_view value, T least, T most) {
  T number{};
  const auto [end, problem] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (problem != std::errc{} || end != value.data() + value.size() || number < least ||
      number > most)
    throw bad_input(std::string(name) + " takes a number, not '" + std::string(value) + "'");
  return number;
}

options parse(int argc, char** argv) {
  options wanted;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (!word.starts_with("--")) {
      wanted.file = word;
      continue;
    }
    if (i + 1 == argc) throw bad_input("what follows " + std::string(word) + "?");
    const std::string_view value = argv[++i];
    if (word == "--root")
      wanted.root = value;
    else if (word == "--steps")
      wanted.steps = parse_number<long>(word, value, 1, 1'000'000);
    else if (word == "--minutes")
      wanted.minutes = parse_number<double>(word, value, 0.0, 1e6);
    else if (word == "--resume")
      wanted.checkpoint = wanted.resume = value;
    else if (word == "--checkpoint")
      wanted.checkpoint = value;
    else if (word == "--curve")
      wanted.curve = value;
    else
      throw bad_input("unknown option '" + std::string(word) +
                      "'; there are --root, --steps, --minutes, --resume, --checkpoint, --curve");
  }
  return wanted;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGINT, [](int) { interrupted = 1; });
  try {
    return run(parse(argc, argv));
  } catch (const bad_input& problem) {
    std::cerr << "gpt: " << problem.what() << '\n';
    return 2;
  } catch (const std::exception& problem) {
    std::cerr << "gpt: " << problem.what() << '\n';
    return 1;
  }
}
