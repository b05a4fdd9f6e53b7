// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/growable.hpp"
#include "shardwise/plan/program.hpp"

#include <cstddef>

namespace shardwise {

/// A program value in memory allocated at run time.
///
///     stored_program normal(recorded.count);
///     program_builder to(normal);
struct stored_program {
  mesh_desc mesh{};
  internal::growable<instruction> code;
  internal::growable<tensor_desc> values;
  internal::growable<attributes> table;
  internal::growable<value_id> results;
  internal::growable<program_body> bodies;
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
