// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/engine/stored_program.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace shardwise {

/// A program that was read, with the memory of its mesh.
struct imported_program {
  stored_program program{};
  /// The devices of a mesh with an explicit order, and their positions, which the mesh refers to.
  std::vector<index_t> order{};

  imported_program() = default;
  imported_program(imported_program&&) = default;
  imported_program& operator=(imported_program&&) = default;

  [[nodiscard]] program_view view() const noexcept { return program.view(); }
};

/// A program that was read, or what is wrong with its text: where it is, `steps[3].operands[1]`,
/// and the reason. In a text that is no JSON at all, `where` is empty.
struct read_program {
  imported_program made{};
  std::string where{};
  std::string reason{};

  [[nodiscard]] bool ok() const noexcept { return reason.empty(); }
};

/// Returns a program as JSON, a step a line, which `program_from_json` reads back as an equal
/// program: instructions, layouts and marks. Values are named by their numbers.
///
///     {
///       "version": 1,
///       "mesh": "mesh(data=2, model=4)",
///       "inputs": [
///         {"name": "%0", "type": "f32[8@data, 16]"}
///       ],
///       "steps": [
///         {"name": "%1", "op": "sum", "operands": ["%0"], "dims": [1], "out": "f32[8@data]"}
///       ],
///       "results": ["%1"]
///     }
///
/// The parameters of a step are those of the catalogue, as the shell tool reads them, or else the
/// attributes of the operation as they are stored, under `attributes`. Throws `error` if the
/// program contains an operation that only a program without the compiled names knows, such as one
/// of a class of the caller.
[[nodiscard]] std::string program_to_json(const program_view& program);

/// Reads a program. Operations, operands, types and layouts are checked, so that the program is one
/// that functions could have recorded; without `out`, a step has the type that follows from its
/// operands. A `reshard` without a `collective` becomes the collectives that lead to its type.
[[nodiscard]] read_program parse_program(std::string_view text);

/// The same; throws `error` with the place and the reason if the text is no program.
///
///     const imported_program made = program_from_json(text);
///     std::cout << explain(made.view());
[[nodiscard]] imported_program program_from_json(std::string_view text);

}  // namespace shardwise

#if !defined(SHARDWISE_COMPILED_FILES)
#include "shardwise/io/program_json_work.hpp"
#endif
