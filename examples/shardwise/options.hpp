// SPDX-License-Identifier: BSL-1.0
// The commands and their options.
#pragma once

#include "refusal.hpp"
#include <shardwise/operation/parameter.hpp>

#include <algorithm>
#include <string_view>
#include <vector>

namespace tool {

/// The commands, a bit each.
enum command : unsigned {
  no_command = 0,
  inspect_command = 1,
  hybrid_command = 2,
  draw_command = 4,
  infer_command = 8,
  operations_command = 16,
  files_command = 32,
  export_command = 64
};

struct command_name {
  command which;
  std::string_view label;
};
inline constexpr command_name commands[] = {
    {inspect_command, "inspect"}, {hybrid_command, "hybrid"},         {draw_command, "draw"},
    {infer_command, "infer"},     {operations_command, "operations"}, {files_command, "files"},
    {export_command, "export"}};
inline constexpr std::string_view all_commands =
    "inspect, hybrid, draw, infer, operations, files or export";
/// The commands whose arguments are not all options: types of operands, and files.
inline constexpr unsigned with_operands = infer_command | files_command | export_command;

/// One option: the commands that accept it, an example of its value (empty for a flag), and its
/// purpose.
struct option {
  std::string_view label;
  unsigned of;
  std::string_view value;
  std::string_view purpose;

  [[nodiscard]] constexpr bool is_flag() const noexcept { return value.empty(); }
};

inline constexpr unsigned of_shardings = inspect_command | draw_command;
inline constexpr unsigned of_all = inspect_command | hybrid_command | draw_command | infer_command |
                                   operations_command | files_command | export_command;

inline constexpr option own_options[] = {
    {"mesh", of_shardings | infer_command, "data=2,model=4",
     "the mesh, or 2x4 for one without names"},
    {"devices", of_shardings, "0,4,1,5", "the devices in the order of the mesh, if not 0, 1, 2"},
    {"spec", of_shardings, "data,-,x+y",
     "the axes of each dimension, - for none; x%32 is block-cyclic, x*2 strided over 2 chunks"},
    {"hlo", of_shardings, "STRING", "an HLO sharding in any form, with or without a mesh"},
    {"placements", of_shardings, "'S(0),R'", "one placement for each axis of the mesh"},
    {"sharding", of_shardings, "STRING",
     "the sharding in any notation: as --spec, HLO, Shardy, placements, JAX, or a type"},
    {"shape", of_shardings, "8x16",
     "the extents of the tensor, to list the indices of each device"},
    {"cpp", inspect_command, "", "the sharding as a program of types and assertions"},
    {"to", draw_command, "-,model",
     "the sharding after a reshard, in any notation, drawn step by step"},
    {"collective", draw_command, "all_gather",
     "a diagram of a collective, with --svg; needs no sharding"},
    {"svg", draw_command, "FILE", "an image instead of text; - puts it into the answer"},
    {"dark", draw_command, "", "a dark image, whatever the viewer prefers"},
    {"color", draw_command, "auto", "colours in the terminal: auto, always or never"},
    {"width", draw_command, "100", "the maximum length of a line"},
    {"physical", hybrid_command, "2x2x1", "the chips of one slice: x, y, z, cores of a chip"},
    {"ordinals", hybrid_command, "2,0,1,3",
     "the devices, row-major over x, y, z, slice by slice; by default counted, x fastest"},
    {"ici", hybrid_command, "2x2", "the mesh inside a slice"},
    {"dcn", hybrid_command, "2x1", "the mesh of slices, with one entry for each entry of ici"},
    {"names", hybrid_command, "data,tensor", "the axes of the mesh"},
    {"algorithm", hybrid_command, "xla", "xla, or jax, which may split physical axes"},
    {"kind", hybrid_command, "tpu_v5e", "the kind of chip; some have special rings"},
    {"contiguous", hybrid_command, "", "require that the devices of each host are contiguous"},
    {"op", infer_command, "einsum", "the operation; `shardwise operations` lists them"},
    {"out", infer_command, "'f32[8@data,32@model]'",
     "the requested type of the result; several types are separated by ;"},
    {"verify", files_command, "", "compare checkpoints with their checksums"},
    {"form", export_command, "per_device", "the shapes: global, or per_device"},
    {"shardy", export_command, "", "shardings of Shardy instead of HLO strings"},
    {"markdown", operations_command, "", "the page of all operations"},
    {"json", of_all, "", "print one JSON object"},
};

/// The options of all commands: those above, and the parameters of operations.
inline const std::vector<option> options = [] {
  std::vector<option> all(std::begin(own_options), std::end(own_options));
  for (const parameter_desc& one : parameters) {
    const auto known = std::find_if(
        all.begin(), all.end(), [&](const option& other) { return other.label == view(one.name); });
    if (known != all.end())
      known->of |= infer_command;
    else
      all.push_back({view(one.name), infer_command, view(one.example), view(one.purpose)});
  }
  return all;
}();

/// The option of this name, or null.
[[nodiscard]] inline const option* find_option(std::string_view label) {
  for (const option& known : options)
    if (known.label == label) return &known;
  return nullptr;
}

}  // namespace tool
