// SPDX-License-Identifier: BSL-1.0
// A program as a graph: a node for each value, a frame for each pass.
#include <shardwise/paper.hpp>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
using X = sharded_tensor<float, extents<8, 16>, layout<pod, P<"data", none>>>;
using W = sharded_tensor<float, extents<16, 4>, layout<pod, P<none, "model">>>;

constexpr auto layer = [](const auto& x, const auto& w) {
  auto h = einsum<"bi,io->bo">(x, w);
  return relu(h * 0.5F + 1.0F) - h;
};
constexpr auto words = [] {
  bounded_text<2000> out;
  write_dot(out, trace_program(layer, abstract<X>(), abstract<W>()));
  return out;
}();
static_assert(text_view(words) ==
              "digraph program {\n"
              "  node [shape=box];\n"
              "  v0 [label=\"%0 input\\nf32[8@data, 16]\", shape=ellipse];\n"
              "  v1 [label=\"%1 input\\nf32[16, 4@model]\", shape=ellipse];\n"
              "  v2 [label=\"%2 einsum bi,io->bo\\nf32[8@data, 4@model]\", style=bold];\n"
              "  subgraph cluster_8 {\n"
              "    style=dashed;\n"
              "    v4 [label=\"%4 * 0.5\\nf32[8@data, 4@model]\"];\n"
              "    v6 [label=\"%6 + 1\\nf32[8@data, 4@model]\"];\n"
              "    v7 [label=\"%7 relu\\nf32[8@data, 4@model]\"];\n"
              "    v8 [label=\"%8 -\\nf32[8@data, 4@model]\", peripheries=2];\n"
              "  }\n"
              "  v0 -> v2;\n"
              "  v1 -> v2;\n"
              "  v2 -> v4;\n"
              "  v4 -> v6;\n"
              "  v6 -> v7;\n"
              "  v7 -> v8;\n"
              "  v2 -> v8;\n"
              "}\n");

// A view that is read in place is dotted, and belongs to no pass.
constexpr auto flipped = [] {
  bounded_text<2000> out;
  write_dot(out, trace_program([](const auto& x) { return relu(flip<1>(x)); }, abstract<X>()));
  return out;
}();
static_assert(text_view(flipped) ==
              "digraph program {\n"
              "  node [shape=box];\n"
              "  v0 [label=\"%0 input\\nf32[8@data, 16]\", shape=ellipse];\n"
              "  v1 [label=\"%1 flip 1\\nf32[8@data, 16]\", style=dotted];\n"
              "  v2 [label=\"%2 relu\\nf32[8@data, 16]\", peripheries=2];\n"
              "  v0 -> v1;\n"
              "  v1 -> v2;\n"
              "}\n");

}  // namespace
