// SPDX-License-Identifier: BSL-1.0
// The demo's command line.
#pragma once

#include "model.hpp"
#include "text.hpp"
#include <shardwise/notation/mesh_reader.hpp>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iterator>
#include <string>
#include <string_view>

namespace demo {

struct options {
  std::string root = ".", file, out = ".", state, resume, exported, curve;
  index_t data = 2, model_parallel = 4;
  index_t letters = 200;
  long steps = 0;  ///< 0 if time says when to end
  double minutes = 0;
  bool help = false;
};

inline constexpr const char* usage =
    "usage: demo [OPTIONS] [FILE]\n"
    "\n"
    "Trains a small transformer on FILE, or on the README.md, docs and headers under --root, byte\n"
    "by byte, on the devices of a mesh; then it writes.\n"
    "\n"
    "  --mesh data=D,model=M  D parts of the batch of 8, M of the 8 heads (data=2,model=4)\n"
    "  --minutes N            how long a whole training takes (1.5, or as long as --steps take)\n"
    "  --steps N              how many steps in all, 1 to 1000000\n"
    "  --state FOLDER         where a checkpoint is saved every ten seconds, at the end and at\n"
    "                         Ctrl-C, and training goes on from the newest, also on another mesh\n"
    "                         (demo-state in --out, or demo-state-NAME for a FILE called NAME)\n"
    "  --resume STATE         a checkpoint or a safetensors file to begin with, if --state has no\n"
    "                         checkpoint yet\n"
    "  --export FILE          the state at the end as one safetensors file\n"
    "  --curve FILE           where the learning curve is drawn (demo.svg in --out)\n"
    "  --letters N            how much it writes at the end (200)\n"
    "  --out DIR              where results go that have no name (.)\n"
    "  --root DIR             where the project is (.)\n"
    "\n"
    "status: 0; 1 where a result is not the one that was expected; 2 where the request or its\n"
    "text cannot be used; 3 where the output cannot be written; 130 after Ctrl-C or SIGTERM\n";

namespace detail {

template <class T>
[[nodiscard]] T parse_number(std::string_view name, std::string_view value, T least, T most) {
  T number{};
  const auto [end, problem] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (problem != std::errc{} || end != value.data() + value.size() || !(number >= least) ||
      !(number <= most)) {
    const auto words = [](T limit) { return std::to_string(static_cast<long long>(limit)); };
    throw bad_input(std::string(name) + " is a number from " + words(least) + " to " + words(most) +
                    ", not '" + std::string(value) + "'");
  }
  return number;
}

/// The sizes of the axes. A mesh that does not divide the model equally is refused.
inline void read_mesh_option(std::string_view value, options& to) {
  const auto read = parse_mesh({value.data(), value.size()});
  const mesh_desc& axes = read.mesh;
  const auto refuse = [&](const std::string& why) {
    throw bad_input("--mesh " + std::string(value) + ": " + why);
  };
  const auto is_called = [&](int axis, text_view label) {
    return text_view(axes.axes[axis].label) == label;
  };
  if (!read.verdict.ok() || axes.rank() != 2 || !is_called(0, "data") || !is_called(1, "model"))
    refuse("a mesh is written like data=2,model=4");
  to.data = axes.size(0);
  to.model_parallel = axes.size(1);
  if (to.data < 1 || batch % to.data != 0)
    refuse("data divides the " + std::to_string(batch) + " samples of a step");
  if (to.model_parallel < 1 || heads % to.model_parallel != 0)
    refuse("model divides the " + std::to_string(heads) + " heads of a layer");
}

}  // namespace detail

/// The command line. What cannot be understood is named.
[[nodiscard]] inline options parse(int argc, char** argv) {
  options wanted;
  bool only_files = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (only_files || !word.starts_with('-')) {
      if (word.empty()) throw bad_input("the name of the file is empty");
      if (!wanted.file.empty())
        throw bad_input("one file, not '" + wanted.file + "' and '" + std::string(word) + "'");
      wanted.file = word;
      continue;
    }
    if (word == "--") {
      only_files = true;
      continue;
    }
    if (word == "--help" || word == "-h") {
      wanted.help = true;
      continue;
    }
    constexpr std::string_view known[] = {"--mesh",  "--minutes", "--steps", "--resume",
                                          "--state", "--export",  "--curve", "--letters",
                                          "--root",  "--out"};
    if (std::find(std::begin(known), std::end(known), word) == std::end(known))
      throw bad_input("unknown option '" + std::string(word) + "'; the options: demo --help");
    if (i + 1 == argc) throw bad_input("what follows " + std::string(word) + "?");
    const std::string_view value = argv[++i];
    if (word == "--mesh")
      detail::read_mesh_option(value, wanted);
    else if (word == "--minutes")
      wanted.minutes = detail::parse_number<double>(word, value, 0.0, 1e6);
    else if (word == "--steps")
      wanted.steps = detail::parse_number<long>(word, value, 1, 1'000'000);
    else if (word == "--letters")
      wanted.letters = detail::parse_number<index_t>(word, value, 0, 100'000);
    else
      (word == "--root"     ? wanted.root
       : word == "--resume" ? wanted.resume
       : word == "--state"  ? wanted.state
       : word == "--export" ? wanted.exported
       : word == "--out"    ? wanted.out
                            : wanted.curve) = value;
  }
  if (wanted.minutes == 0 && wanted.steps == 0) wanted.minutes = 1.5;
  const std::filesystem::path out(wanted.out), file(wanted.file);
  if (wanted.curve.empty()) wanted.curve = out / "demo.svg";
  // Each text has a state of its own.
  if (wanted.state.empty())
    wanted.state = out / (file.empty() ? "demo-state" : "demo-state-" + file.filename().string());
  return wanted;
}

}  // namespace demo
