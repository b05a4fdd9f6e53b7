// SPDX-License-Identifier: BSL-1.0
#include <shardwise/draw/text_picture.hpp>

using namespace shardwise;

constexpr mesh_desc pod{{axis_desc{"data", 2}, axis_desc{"model", 2}}};

// text_picture.hpp: pictures of texts of other systems, as constants.
static_assert(picture_of("{devices=[4,1,2]0,1,2,3,4,5,6,7 last_tile_dim_replicate}") ==
              "{devices=[4,1,2]0,1,2,3,4,5,6,7 last_tile_dim_replicate}\n"
              "8 devices\n"
              "    -\n"
              "  +-----+\n"
              "0 | 0 1 |\n"
              "  +-----+\n"
              "1 | 2 3 |\n"
              "  +-----+\n"
              "2 | 4 5 |\n"
              "  +-----+\n"
              "3 | 6 7 |\n"
              "  +-----+\n");
static_assert(picture_of("{devices=[2,2]0,2,1,3}", extents_desc{5, 3}) ==
              "{devices=[2,2]0,2,1,3}\n"
              "[5, 3] on 4 devices\n"
              "      0:2   2:3\n"
              "    +-----+-----+\n"
              "0:3 |  0  |  2  |\n"
              "    +-----+-----+\n"
              "3:5 |  1  |  3  |\n"
              "    +-----+-----+\n");
static_assert(picture_of("S(0) P(sum)", {pod, {4}}) ==
              "S(0) P(sum)\n"
              "[4@data]{partial sum: model} on mesh(data=2, model=2)\n"
              "  0:2   2:4\n"
              "+-----+-----+\n"
              "| 0+1 | 2+3 |\n"
              "+-----+-----+\n");

// A text that is not a sharding: the position and the reason.
static_assert(picture_of("devices=2,2") ==
              "devices=2,2\n"
              "^\n"
              "0: a sharding begins with {\n");
static_assert(picture_of("{devices=[2,2]0,1,2}") ==
              "{devices=[2,2]0,1,2}\n"
              "                   ^\n"
              "19: every tile has a device\n");

// An unsplit tensor: on unknown devices, on those of a mesh, on one.
constexpr auto last_row = [](text_view words, const sharding_context& about) {
  const bounded_text<1000> all = picture_of<1000>(words, about);
  std::size_t begin = 0;
  for (std::size_t i = 1; i + 1 < all.size(); ++i)
    if (all.data()[i - 1] == '\n' && all.data()[i] == '|') begin = i;
  std::size_t end = begin;
  while (all.data()[end] != '\n') ++end;
  return bounded_text<100>(text_view(all).substr(begin, end - begin));
};
static_assert(last_row("{replicated}", {}) == "| every device |");
static_assert(last_row("{replicated}", pod) == "| 0 1 2 3 |");
static_assert(last_row("{manual}", {}) == "| manual |");
static_assert(last_row("{manual}", pod) == "| 0/1/2/3 |");
static_assert(last_row("{unreduced}", {}) == "| a term each |");
static_assert(last_row("{unreduced}", pod) == "| 0+1+2+3 |");
static_assert(last_row("{unknown}", pod) == "| unknown |");
static_assert(last_row("{maximal device=3}", pod) == "| 3 |");
static_assert(last_row("{maximal_mesh[device_id=3]}", {}) == "| 3 |");
static_assert(last_row("P()", pod) == "| 0 1 2 3 |");

// Groups of every kind on one tile: manual by /, terms by +, replicas apart.
static_assert(last_row("{devices=[1,2,2,2]<=[8] last_tile_dims={manual, unreduced, replicated}}",
                       {}) == "| 0+2/4+6 1+3/5+7 |");
// The order of the list is printed.
static_assert(last_row("{devices=[4]3,1,0,2}", {}) == "| 3 | 1 | 0 | 2 |");
static_assert(last_row("{mesh['a'=2,'b'=2], device_ids=(3,1,2,0), [{'b'}]}", {}) ==
              "| 3 2 | 1 0 |");
