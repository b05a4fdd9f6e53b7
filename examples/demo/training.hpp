// SPDX-License-Identifier: BSL-1.0
// The state of a training on a mesh, whose devices the processes of the program share: its steps,
// its losses, what it writes, and how it is saved.
#pragma once

#include "corpus.hpp"
#include "model.hpp"
#include <shardwise/checkpoint.hpp>
#include <shardwise/io.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace demo {

/// How far a training has come: the steps it took, and the part of its schedule that is done.
struct progress {
  long steps = 0;
  double done = 0;
};

/// Progress as metadata of a state.
[[nodiscard]] inline std::map<std::string, std::string> to_metadata(const progress& at) {
  return {{"steps", metadata_text(at.steps)}, {"done", metadata_text(at.done)}};
}
[[nodiscard]] inline progress progress_of(const std::map<std::string, std::string>& metadata) {
  return {metadata_number<long>(metadata, "steps"), metadata_number<double>(metadata, "done")};
}

/// Returns what `use()` does, to which the request must be fit: an error of the library is one of
/// the request.
template <class F>
[[nodiscard]] auto usable(const F& use) {
  try {
    return use();
  } catch (const error& problem) {
    throw bad_input(problem.what());
  }
}

class training {
  struct everything {
    model m;
    state s;
  };

 public:
  training(index_t data, index_t model_parallel)
      : pool_(distributed_pool(pod{data, model_parallel})) {}
  /// On one device, in each process for itself.
  training() : pool_(pod{1, 1}) {}

  [[nodiscard]] const device_pool& pool() const noexcept { return pool_; }
  [[nodiscard]] const model& parameters() const noexcept { return all_.m; }
  /// Everything that the next step depends on, but for its number.
  [[nodiscard]] everything& all() noexcept { return all_; }

  /// Takes one step and returns the loss before it. The first call compiles the step.
  float advance(const corpus& text, const places& from, double rate) {
    const tokens seen = read(text, from, 0), next = read(text, from, 1);
    return to_host(learn_(all_.m, all_.s, static_cast<float>(rate), seen, next))();
  }
  /// The same without compiling it; also returns what the step costs, known before it runs.
  std::pair<float, cost_ledger> advance_once(const corpus& text, const places& from, double rate) {
    const tokens seen = read(text, from, 0), next = read(text, from, 1);
    const number by = full<number>(pool_, static_cast<float>(rate));
    const auto loss = learn(all_.m, all_.s, by, seen, next);
    const cost_ledger cost = ledger_of(pool_);
    sync(pool_);
    return {to_host(loss)(), cost};
  }
  [[nodiscard]] float loss(const corpus& text, const places& from) const {
    return to_host(next_byte_loss{}(all_.m, read(text, from, 0), read(text, from, 1)))();
  }
  /// The mean loss of some batches of the text that is held out, the same ones in every call.
  [[nodiscard]] double loss_held_out(const corpus& text, int batches) const {
    std::mt19937_64 random(11);
    double total = 0;
    for (int i = 0; i < batches; ++i) total += double{loss(text, text.draw(random, true))};
    return total / batches;
  }

  /// What the model writes after each of these places, `count` bytes: the likelier ones more often
  /// than the model says, at a temperature of 0.7. It reads the last bytes, writes
  /// until its key-value cache is full, and starts again from the last bytes.
  [[nodiscard]] std::array<std::string, std::size_t{batch}> write(const corpus& text,
                                                                  const places& from,
                                                                  index_t count) const {
    std::array<std::string, std::size_t{batch}> lines;
    for (std::size_t b = 0; b < lines.size(); ++b) lines[b] = text.part(from[b], positions);
    constexpr index_t read_first = prompt::extents_type::value[1];
    constexpr index_t at_once = positions - read_first + 1;
    for (index_t written = 0; written < count; written += at_once) {
      const auto seen = generate<prompt>(pool_, [&](const global_index& at) {
        const std::string& line = lines[static_cast<std::size_t>(at[0])];
        const std::size_t begin = line.size() - std::size_t{read_first};
        return static_cast<std::int32_t>(
            static_cast<unsigned char>(line[begin + static_cast<std::size_t>(at[1])]));
      });
      auto kept = nn::empty_cache<caches>(pool_);
      const auto next = nn::generate(pool_, all_.m, kept, seen, std::min(at_once, count - written),
                                     {.temperature = 0.7},
                                     random_key{7}.fold_in(static_cast<std::uint64_t>(written)));
      for (std::size_t b = 0; b < lines.size(); ++b)
        for (const std::int32_t code : next[b])
          lines[b] += static_cast<char>(static_cast<unsigned char>(code));
    }
    for (std::string& line : lines) line.erase(0, std::size_t{positions});
    return lines;
  }

  /// Reads a checkpoint or a file, from whatever mesh it was written.
  progress load(const std::string& path) {
    return usable([&] {
      if (!std::filesystem::is_directory(path)) {
        const safetensors_file file(path);
        load_safetensors(file, all_);
        return progress_of(file.header().metadata);
      }
      const checkpoint saved(path);
      saved.load(all_);
      return progress_of(saved.metadata());
    });
  }
  /// Writes a file that other programs read too.
  void write_file(const std::string& path, const progress& at) const {
    save_safetensors(path, all_, to_metadata(at));
  }

 private:
  [[nodiscard]] static everything begin(const device_pool& pool) {
    model m = nn::initialise<model>(pool, random_key{2026});
    state s = learn.optimizer.start(m);
    return {std::move(m), std::move(s)};
  }
  [[nodiscard]] tokens read(const corpus& text, const places& from, index_t ahead) const {
    return generate<tokens>(pool_, [&](const global_index& at) {
      return text.code(from[static_cast<std::size_t>(at[0])] + at[1] + ahead);
    });
  }

  device_pool pool_;
  everything all_ = begin(pool_);
  decltype(step(learn)) learn_ = step(learn);
};

}  // namespace demo
