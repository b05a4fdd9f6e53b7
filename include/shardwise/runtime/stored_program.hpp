// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/plan/program.hpp"

#include <cstddef>
#include <vector>

namespace shardwise {

/// A program value in memory allocated at run time.
///
///     stored_program normal(recorded.count);
///     program_builder to(normal);
struct stored_program {
  mesh_desc mesh{};
  std::vector<instruction> code;
  std::vector<tensor_desc> values;
  std::vector<attributes> table;
  std::vector<value_id> results;
  std::vector<program_body> bodies;
  std::int32_t count = 0;
  std::int32_t attribute_count = 1;
  std::int32_t result_count = 0;
  std::int32_t body_count = 0;

  stored_program() = default;
  /// Creates an empty program with room for the given numbers of instructions and results, both its
  /// own and those of the bodies that it calls.
  stored_program(std::int32_t instructions, std::int32_t kept, std::int32_t called = 0) {
    resize(instructions, kept, called);
  }

  void resize(std::int32_t instructions, std::int32_t kept, std::int32_t called = 0) {
    const auto size = static_cast<std::size_t>(instructions);
    code.resize(size);
    values.resize(size);
    table.resize(size + 1);
    results.resize(static_cast<std::size_t>(kept));
    bodies.resize(static_cast<std::size_t>(called));
  }

  [[nodiscard]] program_view view() const noexcept {
    return {&mesh,          code.data(),  values.data(), table.data(), count,
            results.data(), result_count, bodies.data(), body_count};
  }
};

}  // namespace shardwise
