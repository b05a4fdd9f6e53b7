// SPDX-License-Identifier: BSL-1.0
// The shell tool's answers as a module of WebAssembly: a line of JSON in, a line of JSON out.
#include "../shardwise/answer.hpp"

#include <cstdlib>

namespace {

tool::workspace& memory() {
  static tool::workspace room;
  return room;
}

std::string answered;

}  // namespace

extern "C" {

/// Lowers the number of devices that answers list, before the first answer: memory is taken for as
/// many, and a page that shows a million devices does not answer while one types.
__attribute__((export_name("limit"))) void limit(unsigned devices) { tool::most_devices = devices; }

/// Memory for a line of `size` bytes, which `answer` takes back.
__attribute__((export_name("alloc"))) char* alloc(std::size_t size) {
  return static_cast<char*>(std::malloc(size));
}

/// Answers a line in memory from `alloc`; the answer is there until the next call.
__attribute__((export_name("answer"))) const char* answer(char* line, std::size_t size) {
  answered = tool::answer_line({line, size}, memory());
  std::free(line);
  return answered.data();
}

/// The length of the last answer in bytes.
__attribute__((export_name("answer_size"))) std::size_t answer_size() { return answered.size(); }
}
