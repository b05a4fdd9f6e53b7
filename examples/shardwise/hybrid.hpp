// SPDX-License-Identifier: BSL-1.0
// The mesh of a machine of one or more slices: `shardwise hybrid`.
#pragma once

#include "request.hpp"
#include "text_table.hpp"
#include <shardwise/mesh/hybrid_mesh.hpp>

namespace tool {

/// What `hybrid` answers.
struct hybrid_answer {
  placed_mesh placed{};
  std::vector<std::string> names{};
  std::vector<index_t> devices{};  ///< row-major over the mesh

  /// False where a kind of machine has a ring of its own, which assigns no axes.
  [[nodiscard]] bool has_assignment() const noexcept { return !placed.plan.ring.exists(); }
};

namespace detail {

inline constexpr std::string_view kind_words[] = {"any",     "tpu_v2",  "tpu_v3",  "tpu_v4",
                                                  "tpu_v4i", "tpu_v5e", "tpu_v5p", "tpu_v6e",
                                                  "tpu_v7x", "tpu_v8i", "gpu"};

[[nodiscard]] inline mesh_options read_mesh_options(const request& asked) {
  mesh_options chosen;
  if (const auto& algorithm = asked.get("algorithm")) {
    if (*algorithm != "xla" && *algorithm != "jax")
      throw refusal("algorithm_is_unknown", in_quotes(*algorithm) + " is no algorithm: xla or jax");
    chosen.allow_split_physical_axes = *algorithm == "jax";
  }
  if (const auto& kind = asked.get("kind")) {
    const auto* const found = std::find(std::begin(kind_words), std::end(kind_words), *kind);
    if (found == std::end(kind_words))
      throw refusal("kind_is_unknown", in_quotes(*kind) +
                                           " is no kind of chip: tpu_v2, tpu_v3, "
                                           "tpu_v4, tpu_v4i, tpu_v5e, tpu_v5p, "
                                           "tpu_v6e, tpu_v7x, tpu_v8i or gpu");
    chosen.kind = static_cast<device_kind>(found - kind_words);
  }
  chosen.contiguous_submeshes = asked.has("contiguous");
  return chosen;
}

/// The names of the axes, one for each, judged as those of a mesh.
[[nodiscard]] inline std::vector<std::string> read_names(const std::string& words, int rank) {
  mesh_desc mesh;
  std::vector<std::string> names;
  for (const std::string_view label : split(words, ',')) {
    if (!is_axis_name(label))
      judge({.rule = violation::axis_name_is_malformed, .axis = short_name(label)});
    names.emplace_back(label);
    if (mesh.axes.full()) judge({.rule = violation::mesh_has_too_many_axes});
    mesh.axes.push_back({short_name(label), 1});
  }
  if (mesh.rank() != rank)
    throw refusal("name_count_differs", "the number of axis names must match mesh dimensions: " +
                                            std::to_string(mesh.rank()) + " where " +
                                            std::to_string(rank) + " are needed");
  judge(validate(mesh));
  return names;
}

}  // namespace detail

/// Answers `hybrid`. The physical shape is that of one slice; there are as many slices as the
/// ordinals fill, or as `dcn` says where no ordinals are given.
[[nodiscard]] inline hybrid_answer lay_out(const request& asked) {
  constexpr index_t most = index_t{1} << 30;
  // Every slice looks through all devices.
  const index_t most_of_machine = most_devices / 4;
  const index_t most_slices = most_devices / 256;
  const auto physical = read_sizes<physical_shape>(
      asked.need("physical"), most, "physical", "machine_has_too_many_axes",
      "a machine has at most 4 axes: x, y, z and the cores of a chip");
  const std::string too_many = str(text_of(violation::mesh_has_too_many_axes).demand);
  const auto read_logical = [&](std::string_view option) {
    return read_sizes<mesh_shape>(*asked.get(option), most, option, "mesh_has_too_many_axes",
                                  too_many);
  };
  (void)asked.need("ici");
  const mesh_shape ici = read_logical("ici");
  mesh_shape dcn;
  if (asked.has("dcn")) dcn = read_logical("dcn");
  for (int l = 0; !asked.has("dcn") && l < ici.ssize(); ++l) dcn.push_back(1);

  hybrid_answer answer;
  if (asked.has("names")) answer.names = detail::read_names(*asked.get("names"), ici.ssize());
  const mesh_options chosen = detail::read_mesh_options(asked);
  const index_t each = bounded_product(physical, most_of_machine);
  if (each < 1 || physical.empty())
    throw refusal("machine_size_is_out_of_range",
                  "every axis of --physical has at least one device, and a machine has at most " +
                      std::to_string(most_of_machine) + " here");
  std::vector<index_t> ordinals;
  index_t slices = std::max(bounded_product(dcn, most), index_t{1});
  if (asked.has("ordinals")) {
    ordinals = read_devices(*asked.get("ordinals"), "ordinals");
    const auto count = static_cast<index_t>(ordinals.size());
    if (count % each != 0)
      throw refusal("ordinal_count_differs",
                    "the ordinals fill whole slices: " + std::to_string(count) +
                        " are no multiple of " + std::to_string(each));
    slices = count / each;
  }
  if (slices > most_slices || slices * each > most_of_machine)
    throw refusal("too_many_devices", "a machine has at most " + std::to_string(most_slices) +
                                          " slices and " + std::to_string(most_of_machine) +
                                          " devices here");
  std::vector<device_attributes> machine(static_cast<std::size_t>(slices * each));
  (void)describe_devices(physical, slices, ordinals, machine);  // sizes were judged above
  std::sort(machine.begin(), machine.end(),
            [](const device_attributes& a, const device_attributes& b) { return a.id < b.id; });
  std::vector<index_t> order(machine.size());
  answer.placed = place_hybrid_mesh(machine, ici, dcn, order, chosen);
  if (const topology_verdict& verdict = answer.placed.verdict; !verdict.ok())
    throw refusal(str(to_text(verdict.rule)), str(describe(verdict)));
  for (const index_t position : order)
    answer.devices.push_back(machine[static_cast<std::size_t>(position)].id);
  return answer;
}

/// Writes a mesh of a machine as an object.
inline void write_json(json_writer& out, const hybrid_answer& answer) {
  out.open('{');
  if (!answer.names.empty()) {
    out.key("names");
    out.open('[');
    for (const std::string& label : answer.names) out.value(label);
    out.close(']');
  }
  out.key("shape");
  out.numbers(answer.placed.shape);
  out.key("mesh");
  out.numbers(answer.devices);
  out.key("assignment");
  if (answer.has_assignment()) {
    out.open('[');
    for (int l = 0; l < answer.placed.shape.ssize(); ++l)
      out.numbers(answer.placed.plan.assignment.taken[l]);
    out.close(']');
  } else {
    out.null();
  }
  out.close('}');
}

/// Writes a mesh of a machine for people.
[[nodiscard]] inline std::string to_text(const hybrid_answer& answer) {
  text_table facts;
  const mesh_shape& shape = answer.placed.shape;
  std::string sizes = joined(shape, "x");
  if (!answer.names.empty()) {
    sizes.clear();
    for (int l = 0; l < shape.ssize(); ++l)
      sizes += (l > 0 ? ", " : "") + answer.names[static_cast<std::size_t>(l)] + "=" +
               std::to_string(shape[l]);
  }
  std::string assignment = "(a ring of this kind of chip)";
  if (answer.has_assignment()) {
    assignment.clear();
    for (int l = 0; l < shape.ssize(); ++l)
      assignment +=
          (l > 0 ? " (" : "(") + joined(answer.placed.plan.assignment.taken[l], ",") + ")";
  }
  facts.row({"shape", sizes});
  facts.row({"mesh", joined(answer.devices, " ")});
  facts.row({"assignment", assignment});
  return facts.words();
}

}  // namespace tool
