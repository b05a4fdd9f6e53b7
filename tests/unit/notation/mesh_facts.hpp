// SPDX-License-Identifier: BSL-1.0
// Texts of meshes and their meshes.
#pragma once

#include <shardwise/notation/mesh_reader.hpp>

namespace mesh_facts {

using namespace shardwise;

/// A text, and the mesh in the notation of the library.
struct said_mesh {
  text_view words;
  text_view mesh;
};

inline constexpr said_mesh said[] = {
    {"data=2,model=4", "mesh(data=2, model=4)"},
    {" data = 2 ,\tmodel\n= 4 ", "mesh(data=2, model=4)"},
    {"mesh(data=2, model=4)", "mesh(data=2, model=4)"},
    {"mesh( x=1 )", "mesh(x=1)"},
    {"mesh()", "mesh()"},
    {"mesh=2", "mesh(mesh=2)"},
    {"mesh(mesh=2)", "mesh(mesh=2)"},
    {"x=?", "mesh(x=?)"},
    {"x = ?, y=3", "mesh(x=?, y=3)"},
    {"x=007", "mesh(x=7)"},
    {"x=1073741824", "mesh(x=1073741824)"},
    {"8", "mesh(axis_0=8)"},
    {"2x4", "mesh(axis_0=2, axis_1=4)"},
    {" 2 x 1 x 4 ", "mesh(axis_0=2, axis_1=1, axis_2=4)"},
    {"mesh(x=2, y=2)[3,1,2,0]", "mesh(x=2, y=2)[3,1,2,0]"},
    {"x=2,y=2 [ 3, 1, 2, 0 ]", "mesh(x=2, y=2)[3,1,2,0]"},
    {"2x2[1,0,3,2]", "mesh(axis_0=2, axis_1=2)[1,0,3,2]"},
    {"x=4[0,1,2,3]", "mesh(x=4)"},
    {"mesh()[0]", "mesh()"},
    {"abcdefghijklmnopqrstuvw=2", "mesh(abcdefghijklmnopqrstuvw=2)"},
};

/// A text that is not a mesh.
struct unsaid_mesh {
  text_view words;
  violation rule;
  parse_verdict verdict;
};

inline constexpr text_view no_mesh = "a mesh reads data=2, model=4 or, without names, 2x4";
inline constexpr text_view no_size = "an axis has a size: data=2, or data=?";
inline constexpr text_view no_label = "an axis begins with its name";
inline constexpr text_view bad_label =
    "an axis name is a letter or _ and up to 22 more letters, digits or _";
inline constexpr text_view bad_size = "an axis of a mesh has at least one device";
inline constexpr text_view twice = "the axes of a mesh have different names";
inline constexpr text_view too_many = "a mesh has at most 7 axes";
inline constexpr text_view too_large = "a mesh has at most 2^30 devices";
inline constexpr text_view no_end = "nothing follows the end";
inline constexpr auto malformed = violation::text_is_malformed;

inline constexpr unsaid_mesh unsaid[] = {
    {"", malformed, {0, no_mesh}},
    {"data", malformed, {0, no_mesh}},
    {"2x", malformed, {2, no_mesh}},
    {"2x4x", malformed, {4, no_mesh}},
    {"x2", malformed, {0, no_mesh}},
    {"-2", malformed, {0, no_mesh}},
    {"99999999999999999999", malformed, {0, no_mesh}},
    {"2x4,", malformed, {3, no_end}},
    {"data=", malformed, {5, no_size}},
    {"data=2,model", malformed, {12, no_size}},
    {"data, model=4", malformed, {4, no_size}},
    {"data 2, model=4", malformed, {5, no_size}},
    {"data==2", malformed, {5, no_size}},
    {"data=two", malformed, {5, no_size}},
    {"data=-", malformed, {6, no_size}},
    {"data=2,", malformed, {7, no_label}},
    {"data=2,,model=4", malformed, {7, no_label}},
    {"=2", malformed, {0, no_label}},
    {"data=2 model=4", malformed, {7, no_end}},
    {"data=2;model=4", malformed, {6, no_end}},
    {"data=2)", malformed, {6, no_end}},
    {"x=99999999999999999999", malformed, {2, "a size is below 2^63"}},
    {"mesh(data=2", malformed, {11, "a mesh ends with )"}},
    {"mesh(data=2))", malformed, {12, no_end}},
    {"mesh(", malformed, {5, "a mesh ends with )"}},
    {"x=1073741825", violation::mesh_has_too_many_devices, {12, too_large}},
    {"x=65536,y=65536", violation::mesh_has_too_many_devices, {15, too_large}},
    {"65536x65536", violation::mesh_has_too_many_devices, {11, too_large}},
    {"1st=2", violation::axis_name_is_malformed, {0, bad_label}},
    {"x=2, 'y'=4", violation::axis_name_is_malformed, {5, bad_label}},
    {"x=2, <y>=4", violation::axis_name_is_malformed, {6, bad_label}},
    {"abcdefghijklmnopqrstuvwx=2", violation::axis_name_is_malformed, {0, bad_label}},
    {"x=0", violation::axis_size_is_not_positive, {2, bad_size}},
    {"x=2,y=-1", violation::axis_size_is_not_positive, {7, bad_size}},
    {"2x0", violation::axis_size_is_not_positive, {2, bad_size}},
    {"x=2, x=4", violation::axis_is_repeated_in_mesh, {5, twice}},
    {"a=1,b=1,c=1,d=1,e=1,f=1,g=1,h=1", violation::mesh_has_too_many_axes, {28, too_many}},
    {"1x1x1x1x1x1x1x1", violation::mesh_has_too_many_axes, {14, too_many}},
    {"x=2,y=2[3,1,2]", malformed, {13, "an order has every device of the mesh"}},
    {"x=2[1,0,2]", malformed, {7, "an order has every device of the mesh, and ends with ]"}},
    {"x=2[0,0]", malformed, {6, "each device appears once in a mesh"}},
    {"x=2[0,2]", malformed, {6, "a device is a number below the size of the mesh"}},
    {"x=2[0,-1]", malformed, {6, "a device is a number below the size of the mesh"}},
    {"x=?[0]", malformed, {4, "an order of devices needs every size of the mesh"}},
    {"x=16,y=2[0,1,...]", malformed, {9, "the buffer has room for every device twice"}},
};

/// Parses a text with a buffer for the order of 16 devices.
constexpr bool holds(const said_mesh& fact) {
  tile_list<32> room;
  const read_mesh read = parse_mesh(fact.words, room.buffer);
  message_text out;
  out << read.mesh;
  const bool is_plain = read.mesh.order.empty();
  return read.verdict.ok() && read.rule.ok() && validate(read.mesh).ok() && out == fact.mesh &&
         is_plain == (room.buffer.room() == 32) &&
         (is_plain || read.mesh.order.find(read.mesh.order.at(1)) == 1);
}

constexpr bool holds(const unsaid_mesh& fact) {
  tile_list<32> room;
  const read_mesh read = parse_mesh(fact.words, room.buffer);
  return read.verdict == fact.verdict && read.rule.rule == fact.rule && read.mesh == mesh_desc{} &&
         room.buffer.room() == 32;
}

}  // namespace mesh_facts
