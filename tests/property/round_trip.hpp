// SPDX-License-Identifier: BSL-1.0
// Programs as JSON: what is written reads back equal.
#pragma once

#include <shardwise/io/program_json.hpp>

#include <stdexcept>
#include <string>

namespace generated {

/// Throws unless a program is written as JSON and read back with equal instructions, layouts and
/// marks, and written again as the same text. Programs of several owners are in several threads,
/// where the assertions of Catch must not be used.
inline void require_round_trip(const shardwise::program_view& program) {
  const std::string text = shardwise::program_to_json(program);
  const shardwise::read_program read = shardwise::parse_program(text);
  if (!read.ok()) throw std::logic_error(read.where + ": " + read.reason + " in\n" + text);
  if (!(read.made.view() == program)) throw std::logic_error("not equal:\n" + text);
  if (shardwise::program_to_json(read.made.view()) != text)
    throw std::logic_error("written in another way:\n" + text);
}

}  // namespace generated
