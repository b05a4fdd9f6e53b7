// SPDX-License-Identifier: BSL-1.0
// What shardings and operations say, in the shell: `shardwise inspect`, `hybrid`, `draw`, `infer`
// and `operations`, what files hold: `files`, and programs for other tools: `export`; one request a
// call or, with --batch, one a line.
#include "export.hpp"
#include "files.hpp"
#include "lines.hpp"
#include "write_file.hpp"

#include <csignal>
#include <cstdlib>
#include <iostream>
#include <new>

#if __has_include(<unistd.h>)
#include <unistd.h>
#endif

#ifndef SHARDWISE_VERSION
#define SHARDWISE_VERSION "unknown"
#endif

namespace {

using namespace tool;

void print_help(const request& asked) {
  std::string out =
      "usage: shardwise inspect|hybrid|draw|operations OPTIONS [--json]\n"
      "       shardwise infer OPTIONS OPERAND... [--json]\n"
      "       shardwise files FILE... [--json]\n"
      "       shardwise export FILE OPTIONS [--json]\n"
      "       shardwise [COMMAND] --batch       answers one JSON request per line of input\n"
      "       shardwise --help | --version\n";
  constexpr std::string_view purposes[] = {
      "the properties of a sharding: type, tiles, groups, all notations, the part of each device",
      "the mesh of a machine of one or more slices",
      "a picture of a sharding or of a reshard",
      "the result of an operation on operands, or the reshards that it needs",
      "all operations, their parameters, and the pending reductions that they accept",
      "the names, shapes and types in NPY, NPZ, IDX, CSV and safetensors files and checkpoints",
      "a program in a file of JSON, as StableHLO or Shardy"};
  for (std::size_t c = 0; c < std::size(commands); ++c) {
    if (asked.what != no_command && asked.what != commands[c].which) continue;
    out += "\n" + std::string(commands[c].label) + ": " + std::string(purposes[c]) + "\n";
    text_table rows;
    for (const option& one : options)
      if ((one.of & commands[c].which) != 0)
        rows.row(
            {"  --" + std::string(one.label) + (one.is_flag() ? "" : " ") + std::string(one.value),
             std::string(one.purpose)});
    out += rows.words();
  }
  out +=
      "\nexample: shardwise inspect --mesh data=2,model=4 --spec data,- --shape 8x16\n"
      "exit status: 0; 2 if the request is invalid; 3 if the input cannot be read or the answer\n"
      "cannot be written\n";
  std::cout << out;
}

// True if the output is a terminal whose user wants colours.
bool has_colors() {
#if __has_include(<unistd.h>)
  const char* const refused = std::getenv("NO_COLOR");
  return isatty(1) != 0 && (refused == nullptr || *refused == '\0');
#else
  return false;
#endif
}

// What the shell tool ends with.
constexpr int answered = 0, was_refused = 2, cannot_read_or_write = 3;

refusal out_of_memory() { return {"out_of_memory", "there is not enough memory for the answer"}; }

std::string answer_one(std::string_view line, workspace& memory, command otherwise) {
  try {
    return answer_line(
        line, memory, otherwise,
        {.write_file = write_file, .list_files = list_files, .export_program = export_program});
  } catch (const std::bad_alloc&) {
    return to_json(out_of_memory());
  }
}

// Answers requests until the input ends; every answer leaves at once, or none is worked out any
// more.
void answer_lines(command otherwise) {
  workspace memory;
  line_reader input(*std::cin.rdbuf());
  while (const auto line = input.next()) {
    if (line->too_long)
      std::cout << to_json(
          refusal("line_is_too_long",
                  "a request has at most " + std::to_string(line_reader::most) + " characters"));
    else if (line->words.find_first_not_of(" \t\r") != line->words.npos)
      std::cout << answer_one(line->words, memory, otherwise);
    if (!std::cout.flush()) return;
  }
}

int refuse(const refusal& why, const std::string& json) {
  std::cout << json << std::flush;
  std::cerr << "shardwise: " << why.code << ": " << why.sentence << '\n';
  return was_refused;
}

// Answers the arguments of the program.
int answer_call(const std::vector<std::string_view>& arguments, bool json) {
  const auto read = read_arguments(arguments);
  if (!read) return refuse(read.why(), json ? to_json(read.why()) : "");
  const invocation& call = *read;
  if (call.help) {
    print_help(call.asked);
  } else if (call.version) {
    std::cout << "shardwise " SHARDWISE_VERSION "\n";
  } else if (call.batch) {
    const refusal why("option_does_not_apply", "the requests of a batch have their own options");
    if (call.asked.has_any()) return refuse(why, json ? to_json(why) : "");
    answer_lines(call.asked.what);
  } else {
    workspace memory;
    const auto words = answer(call.asked, memory, json ? form::json : form::text,
                              {has_colors(), write_file, list_files, export_program});
    if (!words) return refuse(words.why(), json ? to_json(words.why(), call.asked, memory) : "");
    std::cout << *words;
  }
  return answered;
}

int run(const std::vector<std::string_view>& arguments) {
  const bool json = std::find(arguments.begin(), arguments.end(), "--json") != arguments.end();
  int status = answered;
  try {
    status = answer_call(arguments, json);
  } catch (const std::ios_base::failure& problem) {
    std::cout.flush();
    std::cerr << "shardwise: input_is_not_readable: " << problem.code().message() << '\n';
    return cannot_read_or_write;
  } catch (const std::bad_alloc&) {
    return refuse(out_of_memory(), json ? to_json(out_of_memory()) : "");
  }
  std::cout.flush();
  if (std::cout || status != answered) return status;
  std::cerr << "shardwise: output_is_not_writable: the answer cannot be written\n";
  return cannot_read_or_write;
}

}  // namespace

int main(int count, char** words) {
  std::ios::sync_with_stdio(false);
#ifdef SIGPIPE
  std::signal(SIGPIPE, SIG_IGN);  // a reader that has gone is an error like a full disk
#endif
  return run(std::vector<std::string_view>(words + (count > 0 ? 1 : 0), words + count));
}
