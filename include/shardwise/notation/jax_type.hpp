// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/layout/layout_rules.hpp"
#include "shardwise/layout/tensor_desc.hpp"
#include "shardwise/notation/jax_spec.hpp"

namespace shardwise {

/// A tensor, or the reason why there is none.
struct read_tensor {
  tensor_desc tensor{};
  parse_verdict verdict{};
};

namespace detail {

/// The element types and their long names.
struct element_name {
  element type;
  text_view words;
};
inline constexpr element_name element_names[] = {
    {element::f32, "float32"}, {element::f64, "float64"},   {element::i32, "int32"},
    {element::i64, "int64"},   {element::boolean, "bool"},  {element::i8, "int8"},
    {element::u8, "uint8"},    {element::bf16, "bfloat16"}, {element::f16, "float16"}};

/// Reads sets of axes: `{V:x, U:(y,z)}` as in JAX, or one after another, `{partial sum: y,
/// z}{manual: x}`.
constexpr void read_axis_sets(text_reader& in, layout_axes& axes, layout_desc& layout) noexcept {
  constexpr text_view reason = "a set of axes reads {U:x}, {V:x, U:(y,z)} or {partial sum: x}";
  const auto set_begins = [&] {
    text_reader ahead = in;
    return ahead.accept("V:") || ahead.accept("U:") || ahead.accept("R:");
  };
  while (in.accept('{')) {
    for (bool more = true; in.ok() && more;) {
      const std::size_t begin = in.here();
      if (in.accept("R:")) in.fail_at(begin, "a layout has no reduced axes");
      const bool is_manual = in.accept("V") || in.accept("manual");
      if (!is_manual && in.accept("partial"))
        layout.kind = read_reduction(in);
      else if (!is_manual)
        in.expect("U", reason);
      std::uint8_t& bits = is_manual ? layout.manual : layout.pending;
      if (bits != 0) in.fail_at(begin, reason);
      in.expect(':', reason);
      const bool several = in.accept('(');
      do {
        bits = static_cast<std::uint8_t>(bits | 1U << axes.read(in));
        more = in.accept(',');
      } while (more && (several || !set_begins()));
      if (!several) continue;
      in.expect(')', "several axes are in parentheses");
      more = in.accept(',');
    }
    in.expect('}', "a set of axes ends with }");
  }
}

}  // namespace detail

/// Reads the type of a tensor on a mesh: `float32[128@model,64@(x,y)]{U:z}`, or in the notation of
/// the library, `f32[128@model, 64@(x,y)]{partial sum: z}`. Pending and manual axes may be in one
/// set, `{V:x, U:(y,z)}`, as JAX writes them. An extent `?` is `dyn`.
[[nodiscard]] constexpr read_tensor parse_type(text_view words, const mesh_desc& mesh,
                                               policy_desc policy = exact{}) noexcept {
  read_tensor result;
  tensor_desc& tensor = result.tensor;
  text_reader in(words);
  detail::layout_axes axes(mesh);
  const text_view type = in.word();
  bool known = false;
  for (const detail::element_name& entry : detail::element_names)
    if (entry.words == type || to_text(entry.type) == type) {
      tensor.type = entry.type;
      known = true;
    }
  if (!known)
    in.fail_at(0,
               "an element type is bool, int8, uint8, int32, int64, bfloat16, float16, float32 or "
               "float64");
  in.expect('[', "extents are in brackets");
  while (in.ok() && in.peek() != ']') {
    axis_list dim;
    if (in.ok() && tensor.extents.full()) in.fail("a tensor has at most 8 dimensions");
    const index_t extent =
        in.accept('?') ? dyn : in.number(INT64_MAX, "an extent is a number below 2^63");
    if (in.accept('@')) {
      const bool several = in.accept('(');
      do {
        const std::uint8_t axis = axes.read(in);
        if (in.ok()) dim.push_back(axis);
      } while (several && in.accept(','));
      if (several) in.expect(')', "several axes are in parentheses");
      tensor.layout.grains[tensor.layout.rank()] = detail::read_grain(in, dim);
    }
    if (!in.ok()) break;
    tensor.extents.push_back(extent);
    tensor.layout.dims.push_back(dim);
    if (!in.accept(',')) break;
  }
  in.expect(']', "extents end with ]");
  detail::read_axis_sets(in, axes, tensor.layout);
  if (in.ok()) tensor.layout.follow(policy);
  result.verdict = in.finish();
  if (!result.verdict.ok()) tensor = {};
  return result;
}

/// Reads a type whose layout may be uneven, which the text does not mark: the layout is exact if
/// each split extent is divisible, and uneven otherwise.
///
///     parse_shown_type("f32[5@x, 4]", mesh).tensor.layout.uneven;     // of two devices along x:
///     true
[[nodiscard]] constexpr read_tensor parse_shown_type(text_view words,
                                                     const mesh_desc& mesh) noexcept {
  const read_tensor read = parse_type(words, mesh);
  if (!read.verdict.ok() || validate(mesh, read.tensor.layout, read.tensor.extents).ok())
    return read;
  return parse_type(words, mesh, uneven{});
}

/// Reads a layout without a tensor, as the library writes it: `[data, (x,y)%32, -]{partial sum:
/// model}`.
///
///     parse_shown_layout("[data, -]", pod::value).layout.dims[0];                 // axis 0
[[nodiscard]] constexpr read_layout parse_shown_layout(text_view words, const mesh_desc& mesh,
                                                       policy_desc policy = exact{}) noexcept {
  read_layout result;
  layout_desc& layout = result.layout;
  text_reader in(words);
  detail::layout_axes axes(mesh);
  in.expect('[', "dimensions are in brackets");
  while (in.ok() && in.peek() != ']') {
    if (layout.dims.full()) in.fail("a tensor has at most 8 dimensions");
    axis_list dim;
    grain how{};
    if (!in.accept('-')) {
      const bool several = in.accept('(');
      do {
        const std::uint8_t axis = axes.read(in);
        if (in.ok()) dim.push_back(axis);
      } while (several && in.accept(','));
      if (several) in.expect(')', "several axes are in parentheses");
      how = detail::read_grain(in, dim);
    }
    if (!in.ok()) break;
    layout.grains[layout.rank()] = how;
    layout.dims.push_back(dim);
    if (!in.accept(',')) break;
  }
  in.expect(']', "dimensions end with ]");
  detail::read_axis_sets(in, axes, layout);
  if (in.ok()) layout.follow(policy);
  result.verdict = in.finish();
  if (!result.verdict.ok()) layout = {};
  return result;
}

/// Writes the type of a tensor as JAX does: `float32[128@model,64@(x,y)]{U:z}`; manual axes are
/// those along which the value varies, `{V:z}`, and come first, `{V:z, U:(x,y)}`. What JAX has no
/// notation for is written as in the library: a pending product, maximum or minimum, `{partial max:
/// z}`, and a grain, `128@x%32` or `5@(x,y)*1`.
template <TextSink Out>
constexpr Out& write_type(Out& sink, const mesh_desc& mesh, const tensor_desc& tensor) {
  internal::text_out<Out> out(sink);
  for (const detail::element_name& entry : detail::element_names)
    if (entry.type == tensor.type) out << entry.words;
  const auto axes = [&](const axis_list& list) {
    if (list.size() > 1) out << '(';
    for (int i = 0; i < list.ssize(); ++i) {
      if (i > 0) out << ',';
      out << text_view(mesh.axes[list[i]].label);
    }
    if (list.size() > 1) out << ')';
  };
  out << '[';
  for (int d = 0; d < tensor.rank(); ++d) {
    const axis_list& dim = tensor.layout.dims[d];
    if (d > 0) out << ',';
    if (tensor.extents[d] == dyn)
      out << '?';
    else
      out << tensor.extents[d];
    if (!dim.empty()) out << '@';
    axes(dim);
    detail::write_grain(out, tensor.layout.grains[d]);
  }
  out << ']';
  const layout_desc& layout = tensor.layout;
  const bool is_sum = layout.pending != 0 && layout.kind == reduction::sum;
  if (layout.pending != 0 && !is_sum) {
    out << "{partial " << to_text(layout.kind) << ": ";
    axes(layout.pending_axes());
    out << '}';
  }
  if (layout.manual != 0) {
    out << "{V:";
    axes(layout.manual_axes());
    out << (is_sum ? text_view(", ") : text_view("}"));
  }
  if (is_sum) {
    out << (layout.manual == 0 ? text_view("{U:") : text_view("U:"));
    axes(layout.pending_axes());
    out << '}';
  }
  return sink;
}

}  // namespace shardwise
