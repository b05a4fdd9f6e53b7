// SPDX-License-Identifier: BSL-1.0
// The mesh of a machine of one or more slices: `shardwise hybrid`.
#pragma once

#include "mesh_words.hpp"
#include "place.hpp"
#include "request.hpp"
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

[[nodiscard]] inline outcome<mesh_options> read_mesh_options(const request& asked) {
  mesh_options chosen;
  if (const auto& algorithm = asked.get("algorithm")) {
    if (*algorithm != "xla" && *algorithm != "jax")
      return located(
          refusal("algorithm_is_unknown", in_quotes(*algorithm) + " is no algorithm: xla or jax")
              .about(*algorithm, {"xla", "jax"}),
          "algorithm", *algorithm);
    chosen.allow_split_physical_axes = *algorithm == "jax";
  }
  if (const auto& kind = asked.get("kind")) {
    const auto* const found = std::find(std::begin(kind_words), std::end(kind_words), *kind);
    if (found == std::end(kind_words))
      return located(
          refusal("kind_is_unknown", in_quotes(*kind) + " is no kind of chip: tpu_v2, tpu_v3, "
                                                        "tpu_v4, tpu_v4i, tpu_v5e, tpu_v5p, "
                                                        "tpu_v6e, tpu_v7x, tpu_v8i or gpu")
              .about(*kind, {std::begin(kind_words), std::end(kind_words)}),
          "kind", *kind);
    chosen.kind = static_cast<device_kind>(found - kind_words);
  }
  chosen.contiguous_submeshes = asked.has("contiguous");
  return chosen;
}

/// The names of the axes, one for each, judged as those of a mesh.
[[nodiscard]] inline outcome<std::vector<std::string>> read_names(const std::string& words,
                                                                  int rank) {
  mesh_desc mesh;
  std::vector<std::string> names;
  for (const std::string_view label : split(words, ',')) {
    if (!is_axis_name(label))
      return *judge({.rule = violation::axis_name_is_malformed, .axis = short_name(label)});
    names.emplace_back(label);
    if (mesh.axes.full()) return *judge({.rule = violation::mesh_has_too_many_axes});
    mesh.axes.push_back({short_name(label), 1});
  }
  if (mesh.rank() != rank)
    return refusal("name_count_differs", "the number of axis names must match mesh dimensions: " +
                                             std::to_string(mesh.rank()) + " where " +
                                             std::to_string(rank) + " are needed");
  if (auto no = judge(validate(mesh))) return *no;
  return names;
}

}  // namespace detail

/// Answers `hybrid`. The physical shape is that of one slice; there are as many slices as the
/// ordinals fill, or as `dcn` says where no ordinals are given.
[[nodiscard]] inline outcome<hybrid_answer> lay_out(const request& asked) {
  constexpr index_t most = index_t{1} << 30;
  // Every slice looks through all devices.
  const index_t most_of_machine = most_devices / 4;
  const index_t most_slices = most_devices / 256;
  const auto physical_words = asked.need("physical");
  if (!physical_words) return physical_words.why();
  const auto physical =
      read_sizes<physical_shape>(*physical_words, most, "physical", "machine_has_too_many_axes",
                                 "a machine has at most 4 axes: x, y, z and the cores of a chip");
  if (!physical) return located(physical.why(), "physical", *physical_words);
  const std::string too_many = str(text_of(violation::mesh_has_too_many_axes).demand);
  const auto read_logical = [&](std::string_view option) -> outcome<mesh_shape> {
    const auto words = asked.need(option);
    if (!words) return words.why();
    auto read = read_sizes<mesh_shape>(*words, most, option, "mesh_has_too_many_axes", too_many);
    if (!read) return located(read.why(), option, *words);
    return read;
  };
  const auto ici_read = read_logical("ici");
  if (!ici_read) return ici_read.why();
  const mesh_shape& ici = *ici_read;
  mesh_shape dcn;
  if (asked.has("dcn")) {
    const auto read = read_logical("dcn");
    if (!read) return read.why();
    dcn = *read;
  }
  for (int l = 0; !asked.has("dcn") && l < ici.ssize(); ++l) dcn.push_back(1);

  hybrid_answer answer;
  if (const auto& words = asked.get("names")) {
    auto names = detail::read_names(*words, ici.ssize());
    if (!names) return located(names.why(), "names", *words);
    answer.names = *std::move(names);
  }
  const auto chosen = detail::read_mesh_options(asked);
  if (!chosen) return chosen.why();
  const index_t each = bounded_product(*physical, most_of_machine);
  if (each < 1 || physical->empty())
    return refusal("machine_size_is_out_of_range",
                   "every axis of --physical has at least one device, and a machine has at most " +
                       std::to_string(most_of_machine) + " here");
  std::vector<index_t> ordinals;
  index_t slices = std::max(bounded_product(dcn, most), index_t{1});
  if (asked.has("ordinals")) {
    auto read = read_devices(*asked.get("ordinals"), "ordinals");
    if (!read) return located(read.why(), "ordinals", *asked.get("ordinals"));
    ordinals = *std::move(read);
    const auto count = static_cast<index_t>(ordinals.size());
    if (count % each != 0)
      return refusal("ordinal_count_differs",
                     "the ordinals fill whole slices: " + std::to_string(count) +
                         " are no multiple of " + std::to_string(each));
    slices = count / each;
  }
  if (slices > most_slices || slices * each > most_of_machine)
    return refusal("too_many_devices", "a machine has at most " + std::to_string(most_slices) +
                                           " slices and " + std::to_string(most_of_machine) +
                                           " devices here");
  std::vector<device_attributes> machine(static_cast<std::size_t>(slices * each));
  (void)describe_devices(*physical, slices, ordinals, machine);  // sizes were judged above
  std::sort(machine.begin(), machine.end(),
            [](const device_attributes& a, const device_attributes& b) { return a.id < b.id; });
  std::vector<index_t> order(machine.size());
  answer.placed = place_hybrid_mesh(machine, ici, dcn, order, *chosen);
  if (const topology_verdict& verdict = answer.placed.verdict; !verdict.ok())
    return refusal(str(to_text(verdict.rule)), str(describe(verdict))).of("ici");
  for (const index_t position : order)
    answer.devices.push_back(machine[static_cast<std::size_t>(position)].id);
  return answer;
}

/// The mesh as a text. Axes without a name are called as in a mesh of sizes alone.
[[nodiscard]] inline std::string text_of_mesh(const hybrid_answer& answer) {
  mesh_desc mesh;
  for (int l = 0; l < answer.placed.shape.ssize(); ++l) {
    const std::string label = answer.names.empty() ? "axis_" + std::to_string(l)
                                                   : answer.names[static_cast<std::size_t>(l)];
    mesh.axes.push_back({short_name(label), answer.placed.shape[l]});
  }
  return mesh_words(mesh, answer.devices);
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
  out.key("text");
  out.value(std::string_view(text_of_mesh(answer)));
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
