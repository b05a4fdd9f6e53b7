// SPDX-License-Identifier: BSL-1.0
// What `shardwise inspect` says, as JSON and for people.
#pragma once

#include "inspect.hpp"
#include "text_table.hpp"

namespace tool {

namespace detail {

inline void write_group_assignment(json_writer& out, const tile_dims& dims, int d, index_t& next) {
  if (d == dims.ssize()) return out.value(next++);
  out.open('[');
  for (index_t i = 0; i < dims[d]; ++i) write_group_assignment(out, dims, d + 1, next);
  out.close(']');
}

}  // namespace detail

/// Writes an inspection as an object.
inline void write_json(json_writer& out, const inspection& found) {
  out.open('{');
  out.key("type");
  out.value(to_word(found.type));
  if (found.type != sharding_type::tuple) {
    out.key("tile_dims");
    if (found.dims)
      out.numbers(*found.dims);
    else
      out.null();
    out.key("devices");
    if (found.devices)
      out.numbers(*found.devices);
    else
      out.null();
    out.key("replication_groups");
    out.open('[');
    if (found.is_partial())
      for (std::size_t i = 0; i < found.devices->size(); ++i) {
        const auto at = static_cast<index_t>(i) % found.replicas;
        if (at == 0) out.open('[');
        out.value((*found.devices)[i]);
        if (at == found.replicas - 1) out.close(']');
      }
    out.close(']');
    out.key("group_assignment");
    index_t next = 0;
    if (found.is_partial())
      detail::write_group_assignment(out, found.groups, 0, next);
    else
      out.numbers(std::vector<index_t>{});
  }
  for (const notation_words& one : found.notations) {
    out.key(one.label);
    if (one.words)
      out.value(*one.words);
    else
      out.null();
  }
  if (found.type == sharding_type::tuple) {
    out.key("elements");
    out.open('[');
    for (const inspection& element : found.elements) write_json(out, element);
    out.close(']');
  } else if (found.shape) {
    out.key("shards");
    if (found.devices) {
      out.open('[');
      for (const std::size_t position : found.by_device()) {
        const hlo_shard shard = found.shard(position);
        out.open('{');
        out.key("device");
        out.value((*found.devices)[position]);
        out.key("index");
        out.open('[');
        for (const index_range& range : shard.part) {
          out.open('[');
          out.value(range.begin);
          out.value(range.end);
          out.close(']');
        }
        out.close(']');
        out.key("local_shape");
        out.numbers(extents_of(shard.part));
        out.key("replica");
        out.value(shard.replica);
        out.close('}');
      }
      out.close(']');
    } else {
      out.null();
    }
  }
  out.close('}');
}

/// Writes an inspection for people: what it says, then who holds what.
[[nodiscard]] inline std::string to_text(const inspection& found) {
  text_table facts;
  facts.row({"type", std::string(to_word(found.type))});
  if (found.type != sharding_type::tuple) {
    facts.row({"tile_dims", found.dims ? joined(*found.dims, " ") : "(the rank is not known)"});
    const std::string unknown = "(not known; give --mesh or --devices)";
    facts.row({"devices", found.devices ? shortened(*found.devices) : unknown});
    if (found.is_partial()) {
      std::string groups;
      constexpr std::size_t most = 8;
      const auto size = static_cast<std::size_t>(found.replicas);
      const std::size_t count = found.devices->size() / size;
      for (std::size_t g = 0; g < count && g < most; ++g) {
        const auto first = found.devices->begin() + static_cast<std::ptrdiff_t>(g * size);
        if (g > 0) groups += " | ";
        groups += shortened(std::vector<index_t>(first, first + static_cast<std::ptrdiff_t>(size)));
      }
      if (count > most) groups += " | ... (" + std::to_string(count) + ")";
      facts.row({"replication_groups", groups});
      facts.row({"group_assignment",
                 "0 to " + std::to_string(count - 1) + " as " + joined(found.groups, "x")});
    }
  }
  for (const notation_words& one : found.notations)
    facts.row({std::string(one.label), one.words ? *one.words : "(" + one.words.why_not + ")"});
  std::string out = facts.words();
  for (const inspection& element : found.elements) out += "\n" + to_text(element);
  if (!found.shape || found.type == sharding_type::tuple) return out;
  if (!found.devices)
    return out + "\nwhich devices there are is not known: give --mesh or --devices\n";
  text_table shards;
  shards.row({"device", "replica", "local_shape", "index"});
  for (const std::size_t position : found.by_device()) {
    const hlo_shard shard = found.shard(position);
    std::string index;
    for (const index_range& range : shard.part)
      index += (index.empty() ? "" : ", ") + std::to_string(range.begin) + ":" +
               std::to_string(range.end);
    shards.row({std::to_string((*found.devices)[position]), std::to_string(shard.replica),
                joined(extents_of(shard.part), "x"), index});
  }
  return out + "\n" + shards.words();
}

}  // namespace tool
