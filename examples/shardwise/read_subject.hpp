// SPDX-License-Identifier: BSL-1.0
// From a request to the sharding that it is about.
#pragma once

#include "any_notation.hpp"
#include "request.hpp"
#include <shardwise/notation/mesh_reader.hpp>

namespace tool {

/// Reads a mesh, and its devices where they have an order of their own.
[[nodiscard]] inline objection take_mesh(subject& about, std::string_view words,
                                         device_buffer& buffer) {
  const index_t room = buffer.room();
  const auto read = parse_mesh(text_view(words), buffer);
  if (read.rule.rule == violation::text_is_malformed)
    return unread("mesh_is_malformed", read.verdict);
  if (auto no = judge(read.rule)) return *no;
  if (auto no = judge(check_known(read.mesh))) return *no;
  if (read.mesh.devices() > most_devices)
    return refusal("mesh_is_too_large",
                   "a mesh has at most " + std::to_string(most_devices) + " devices here");
  about.mesh = mesh_desc{read.mesh.axes};
  about.devices.assign(read.mesh.order.devices().begin(), read.mesh.order.devices().end());
  buffer.give_back(room - buffer.room());
  return std::nullopt;
}

/// Reads the mesh of a request and the order of its devices, if it has them.
[[nodiscard]] inline objection read_mesh_of(const request& asked, subject& about,
                                            device_buffer& buffer) {
  if (const auto& mesh = asked.get("mesh"))
    if (auto no = take_mesh(about, *mesh, buffer)) return located(*std::move(no), "mesh", *mesh);
  const auto& words = asked.get("devices");
  if (!words) return std::nullopt;
  if (!about.devices.empty())
    return refusal("options_exclude_each_other", "the mesh has the order of its devices already")
        .of("devices");
  const auto devices = read_devices(*words, "devices");
  if (!devices) return located(devices.why(), "devices", *words);
  about.devices = *devices;
  if (!about.mesh) return std::nullopt;
  const auto count = static_cast<index_t>(about.devices.size());
  const index_t size = about.mesh->devices();
  if (count != size)
    return refusal("device_count_differs",
                   "the number of devices must match mesh size: " + std::to_string(count) +
                       " where " + std::to_string(size) + " are needed")
        .of("devices");
  for (const index_t device : about.devices)
    if (device >= size)
      return located(
          *judge({.rule = violation::device_is_out_of_range, .have = device, .want = size}),
          "devices", *words);
  if (is_plain(about.devices)) about.devices.clear();
  return std::nullopt;
}

namespace detail {

/// The options that say what the sharding is; a request has one of them.
inline constexpr std::string_view sharding_options[] = {"spec", "hlo", "placements", "sharding"};

/// Reads the text of one of these options, but not a tuple.
[[nodiscard]] inline objection take_option(subject& about, std::string_view option,
                                           const std::string& words, device_buffer& buffer) {
  if (option == "sharding") return take_any(about, words, buffer);
  if (option == "hlo") return take_any_hlo(about, words, buffer);
  if (!about.mesh) return refusal("option_is_missing", "this needs --mesh").of("mesh");
  if (option == "placements") {
    const read_placements read = parse_placements(text_view(words));
    if (!read.verdict.ok()) return unread("placements_are_malformed", read.verdict);
    return take_placements(about, read, buffer);
  }
  const auto layout = read_spec(words, *about.mesh);
  if (!layout) return layout.why();
  return take_read_layout(about, *layout, single_cut{}, buffer);
}

/// Completes why the text of an option is no sharding; names in it are those of the axes.
[[nodiscard]] inline refusal located_sharding(refusal why, const subject& about,
                                              std::string_view option, std::string_view words) {
  why = located(std::move(why), option, words);
  if (about.mesh && why.option == option)
    for (const axis_desc& axis : about.mesh->axes)
      why.choices.push_back(str(text_view(axis.label)));
  return why;
}

}  // namespace detail

/// The option of a request that says what the sharding is.
[[nodiscard]] inline outcome<std::string_view> sharding_option(const request& asked) {
  std::string_view found;
  for (const std::string_view option : detail::sharding_options) {
    if (!asked.has(option)) continue;
    if (!found.empty())
      return refusal("options_exclude_each_other",
                     "one of --sharding, --spec, --placements and --hlo says what the sharding is")
          .of(option);
    found = option;
  }
  if (found.empty())
    return refusal("option_is_missing", "this needs --sharding, --spec, --placements or --hlo")
        .of("sharding");
  return found;
}

/// True if a request is about a tuple, which has a sharding for each element.
[[nodiscard]] inline bool is_of_tuple(const request& asked) {
  for (const std::string_view option : {"hlo", "sharding"})
    if (const auto& words = asked.get(option))
      if (is_hlo_tuple(text_view(*words))) return true;
  return false;
}

/// What a request is about: its mesh and shape, and its sharding unless that is a tuple.
[[nodiscard]] inline outcome<subject> read_subject(const request& asked, device_buffer& buffer) {
  subject about;
  if (auto no = read_mesh_of(asked, about, buffer)) return *std::move(no);
  if (const auto& words = asked.get("shape")) {
    const auto shape = read_shape(*words);
    if (!shape) return located(shape.why(), "shape", *words);
    about.shape = *shape;
  }
  const auto option = sharding_option(asked);
  if (!option) return option.why();
  if (is_of_tuple(asked)) return about;
  const std::string& words = *asked.get(*option);
  if (auto no = detail::take_option(about, *option, words, buffer))
    return detail::located_sharding(*std::move(no), about, *option, words);
  return about;
}

}  // namespace tool
