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

/// Writes what the tiles of a sharding say.
inline void write_tiles(json_writer& out, const inspection& found) {
  out.key("type");
  out.value(to_word(found.type));
  if (found.is_tuple()) return;
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

/// Writes one range, or a list of them where there are several.
inline void write_runs(json_writer& out, const index_runs& runs) {
  if (runs.size() > 1) out.open('[');
  for (const index_range& range : runs) {
    out.open('[');
    out.value(range.begin);
    out.value(range.end);
    out.close(']');
  }
  if (runs.size() > 1) out.close(']');
}

/// The same for people: `0:2`, or `0:2 4:6`; of many the first and the last.
[[nodiscard]] inline std::string to_text(const index_runs& runs) {
  constexpr std::size_t most = 8;
  std::string words;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (i > 0) words += ' ';
    if (runs.size() > most && i == most / 2) {
      words += "... ";
      i = runs.size() - 1;
    }
    words += std::to_string(runs[i].begin) + ":" + std::to_string(runs[i].end);
  }
  return words;
}

/// Writes the mesh, the shape, the sharding as a program, and the reasons why notations have no
/// words for it.
inline void write_program(json_writer& out, const inspection& found) {
  out.key("mesh");
  if (found.mesh_text.empty())
    out.null();
  else
    out.value(std::string_view(found.mesh_text));
  out.key("shape");
  if (found.shape)
    out.value(std::string_view(joined(*found.shape, "x")));
  else
    out.null();
  out.key("cpp");
  if (found.cpp)
    out.value(*found.cpp);
  else
    out.null();
  out.key("why_not");
  out.open('{');
  for (const notation_words& one : found.notations) {
    if (one.words) continue;
    out.key(one.label);
    out.value(one.words.why_not);
  }
  if (!found.cpp) {
    out.key("cpp");
    out.value(found.cpp.why_not);
  }
  out.close('}');
}

/// Writes how a text in any notation was read, and what else it could be.
inline void write_reading(json_writer& out, const inspection& found) {
  if (found.notation.empty()) return;
  out.key("notation");
  out.value(std::string_view(found.notation));
  if (found.others.empty()) return;
  out.key("could_be");
  out.open('[');
  for (const auto& [notation, instead] : found.others) {
    out.open('{');
    out.key("notation");
    out.value(std::string_view(notation));
    out.key("request");
    write_json(out, instead);
    out.close('}');
  }
  out.close(']');
}

}  // namespace detail

/// Writes an inspection as an object; refuses one whose parts have too many pieces.
[[nodiscard]] inline objection write_json(json_writer& out, const inspection& found) {
  out.open('{');
  detail::write_reading(out, found);
  if (!found.has_tiles()) {
    for (const std::string_view label :
         {"type", "tile_dims", "devices", "replication_groups", "group_assignment"}) {
      out.key(label);
      out.null();
    }
  } else {
    detail::write_tiles(out, found);
  }
  for (const notation_words& one : found.notations) {
    out.key(one.label);
    if (one.words)
      out.value(*one.words);
    else
      out.null();
  }
  if (!found.is_tuple()) detail::write_program(out, found);
  if (found.is_tuple()) {
    out.key("elements");
    out.open('[');
    for (const inspection& element : found.elements)
      if (auto no = write_json(out, element)) return no;
    out.close(']');
  } else if (found.shape) {
    out.key("shards");
    if (found.devices) {
      piece_room room;
      out.open('[');
      for (const std::size_t position : found.by_device()) {
        const device_shard shard = found.shard(position, room);
        if (auto no = room.check()) return no;
        out.open('{');
        out.key("device");
        out.value(shard.device);
        out.key("index");
        out.open('[');
        for (const index_runs& runs : shard.index) detail::write_runs(out, runs);
        out.close(']');
        out.key("local_shape");
        out.numbers(shard.local_shape());
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
  return std::nullopt;
}

/// Writes an inspection for people: what it says, then who holds what.
[[nodiscard]] inline outcome<std::string> to_text(const inspection& found) {
  text_table facts;
  if (!found.notation.empty()) {
    std::string others;
    for (const auto& [notation, instead] : found.others) others += ", or " + notation;
    facts.row({"notation", found.notation + others});
  }
  if (!found.has_tiles()) {
    for (const char* const label : {"type", "tile_dims", "devices"})
      facts.row({label, "(" + found.why_no_tiles + ")"});
  } else {
    facts.row({"type", std::string(to_word(found.type))});
  }
  if (found.has_tiles() && !found.is_tuple()) {
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
  for (const inspection& element : found.elements) {
    const auto words = to_text(element);
    if (!words) return words.why();
    out += "\n" + *words;
  }
  if (!found.shape || found.is_tuple()) return out;
  if (!found.devices)
    return out + "\nwhich devices there are is not known: give --mesh or --devices\n";
  text_table shards;
  piece_room room;
  shards.row({"device", "replica", "local_shape", "index"});
  for (const std::size_t position : found.by_device()) {
    const device_shard shard = found.shard(position, room);
    if (auto no = room.check()) return *std::move(no);
    std::string index;
    for (const index_runs& runs : shard.index)
      index += (index.empty() ? "" : ", ") + detail::to_text(runs);
    shards.row({std::to_string(shard.device), std::to_string(shard.replica),
                joined(shard.local_shape(), "x"), index});
  }
  return out + "\n" + shards.words();
}

}  // namespace tool
