// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/notation/named_text.hpp"

namespace shardwise {

/// Returns the layout without axes of size 1, which split nothing and are neither pending nor
/// manual.
[[nodiscard]] constexpr layout_desc without_unit_axes(const mesh_desc& mesh,
                                                      const layout_desc& layout) noexcept {
  layout_desc result = layout;
  for (axis_list& dim : result.dims) {
    dim.clear();
    for (std::uint8_t a : layout.dims[&dim - result.dims.begin()])
      if (mesh.size(a) != 1) dim.push_back(a);
    grain& how = result.grains[&dim - result.dims.begin()];
    if (!how.is_contiguous()) how = how.over(dim.ssize());
  }
  for (unsigned a = 0; a < mesh.axes.size(); ++a)
    if (mesh.size(int(a)) == 1) {
      result.pending = static_cast<std::uint8_t>(result.pending & ~(1U << a));
      result.manual = static_cast<std::uint8_t>(result.manual & ~(1U << a));
    }
  if (result.pending == 0) result.kind = reduction::sum;
  return result;
}

namespace detail {

/// The axes of a layout while it is read; checks each further one.
class layout_axes {
 public:
  explicit constexpr layout_axes(const mesh_desc& mesh) noexcept : mesh_(mesh) {}

  /// Reads an axis: a name with or without quotes, or its number in the mesh.
  [[nodiscard]] constexpr std::uint8_t read(text_reader& in) noexcept {
    const bool numbered = text_reader::is_digit(in.peek());
    const std::size_t begin = in.here();
    const int axis = numbered ? int(in.number(max_axes, "axes are those of the mesh"))
                              : mesh_.find(read_name(in));
    if (in.ok() && (axis < 0 || axis >= mesh_.rank()))
      in.fail_at(begin, "axes are those of the mesh");
    if (in.ok() && (used_ >> axis & 1U) != 0) in.fail_at(begin, "an axis is used once");
    if (!in.ok()) return 0;
    used_ |= 1U << axis;
    return static_cast<std::uint8_t>(axis);
  }
  /// Reads a set of pending axes up to the bracket, in any order.
  [[nodiscard]] constexpr std::uint8_t read_set(text_reader& in, char close) noexcept {
    unsigned set = 0;
    do {
      set |= 1U << read(in);
    } while (in.accept(','));
    in.expect(close, "a set of axes ends with }");
    return static_cast<std::uint8_t>(in.ok() ? set : 0);
  }

 private:
  const mesh_desc& mesh_;
  unsigned used_ = 0;
};

/// Reads an optional grain after the axes of a dimension.
[[nodiscard]] constexpr grain read_grain(text_reader& in, const axis_list& axes) noexcept {
  constexpr text_view reason = "a grain reads %32 or *2, or *1 after several axes";
  if (in.accept('~')) {
    constexpr text_view sides = "a halo reads ~3:2, and has less than 32768 elements on each side";
    const index_t before = in.number(grain::halo_end - 1, sides);
    in.expect(':', sides);
    const index_t behind = in.number(grain::halo_end - 1, sides);
    return in.ok() ? grain::halo(before, behind) : grain{};
  }
  const bool cyclic = in.accept('%');
  if (!cyclic && !in.accept('*')) return {};
  const index_t number = in.number(grain::largest, reason);
  if (in.ok() && number < (cyclic || axes.size() > 1 ? 1 : 2)) in.fail(reason);
  return !in.ok() ? grain{} : cyclic ? grain::cyclic(number) : grain::strided(number);
}

/// Writes a grain, or nothing if parts are contiguous.
template <TextSink Out>
constexpr void write_grain(text_out<Out>& out, grain how) {
  if (how.is_halo())
    out << '~' << how.before() << ':' << how.behind();
  else if (!how.is_contiguous())
    out << (how.is_cyclic() ? '%' : '*') << how.number();
}

[[nodiscard]] constexpr reduction read_reduction(text_reader& in) noexcept {
  const std::size_t begin = in.here();
  const text_view word = in.word();
  for (int kind = 0; kind < reduction_count; ++kind)
    if (to_text(static_cast<reduction>(kind)) == word) return static_cast<reduction>(kind);
  if (word == "prod") return reduction::product;
  in.fail_at(begin, "a reduction is sum, product, max or min");
  return reduction::sum;
}

}  // namespace detail

/// Reads a partition spec on a mesh: `P('x', None, ('x', 'y'))`, `PartitionSpec(..)` or only the
/// parentheses. Names may be unquoted or be numbers of axes, and `unreduced={'z'}` may follow.
///
/// A spec may have fewer entries than `rank`; the remaining dimensions are not split. With `rank`
/// -1 the rank is the number of entries. Uneven shards are those of a `single_cut`, as in JAX;
/// `uneven` requests the same axes cut one after another.
///
///     parse_partition_spec("P('data', None)", pod::value).layout.dims[0];        // axis 0
[[nodiscard]] constexpr read_layout parse_partition_spec(text_view words, const mesh_desc& mesh,
                                                         int rank = -1,
                                                         policy_desc policy = exact{}) noexcept {
  read_layout result;
  layout_desc& layout = result.layout;
  text_reader in(words);
  detail::layout_axes axes(mesh);
  if (!in.accept("PartitionSpec")) in.accept("P");
  in.expect('(', "a partition spec reads P('x', None)");
  bool keywords = false;
  bool has_kind = false;
  while (in.ok() && in.peek() != ')') {
    const std::size_t begin = in.here();
    axis_list dim;
    if (in.accept("unreduced=")) {
      keywords = true;
      if (layout.pending != 0) in.fail_at(begin, "unreduced axes come once");
      in.expect('{', "unreduced axes are in braces");
      layout.pending = axes.read_set(in, '}');
    } else if (in.accept("unreduced_kind=")) {
      keywords = true;
      if (has_kind) in.fail_at(begin, "the reduction of unreduced axes comes once");
      has_kind = true;
      const char quote = in.peek() == '\'' || in.peek() == '"' ? in.peek() : '\0';
      in.accept(quote);
      layout.kind = detail::read_reduction(in);
      if (quote != '\0') in.expect(quote, "a reduction ends as it begins");
    } else if (in.accept("reduced=")) {
      in.fail_at(begin, "a layout has no reduced axes");
    } else if (in.accept("UNCONSTRAINED") || in.accept("P.UNCONSTRAINED")) {
      in.fail_at(begin, "a layout leaves no dimension open");
    } else {
      if (in.accept('(')) {
        while (in.ok() && in.peek() != ')') {
          const std::uint8_t axis = axes.read(in);
          if (in.ok()) dim.push_back(axis);
          if (!in.accept(',')) break;
        }
        in.expect(')', "several axes are in parentheses");
      } else if (!in.accept("None")) {
        const std::uint8_t axis = axes.read(in);
        if (in.ok()) dim.push_back(axis);
      }
      const grain how = dim.empty() ? grain{} : detail::read_grain(in, dim);
      if (in.ok() && keywords) in.fail_at(begin, "entries come before unreduced axes");
      if (in.ok() && layout.dims.full()) in.fail_at(begin, "a tensor has at most 8 dimensions");
      if (in.ok() && rank >= 0 && layout.rank() == rank)
        in.fail_at(begin, "a spec has at most one entry for each dimension");
      if (in.ok()) layout.grains[layout.rank()] = how;
      if (in.ok()) layout.dims.push_back(dim);
    }
    if (!in.accept(',')) break;
  }
  in.expect(')', "a partition spec ends with )");
  if (rank < -1 || rank > max_rank) in.fail("a tensor has at most 8 dimensions");
  result.verdict = in.finish();
  if (!result.verdict.ok()) layout = {};
  if (layout.pending == 0) layout.kind = reduction::sum;
  if (layout.rank() < rank && rank <= max_rank) layout.dims.resize(static_cast<std::size_t>(rank));
  if (result.verdict.ok()) layout.follow(policy);
  return result;
}

/// Writes a layout as a partition spec with an entry for each dimension. JAX has no notation for a
/// grain; it is written after the axes as in the library, `P('x'%32)`. JAX cuts uneven extents
/// once, so a single cut is not marked; `write_layout_as` checks that a layout is one.
template <TextSink Out>
constexpr Out& write_partition_spec(Out& sink, const mesh_desc& mesh, const layout_desc& layout) {
  internal::text_out<Out> out(sink);
  text_view separator{};
  out << "P(";
  for (const axis_list& dim : layout.dims) {
    out << separator;
    separator = ", ";
    if (dim.empty()) out << "None";
    if (dim.size() > 1) out << '(';
    for (int i = 0; i < dim.ssize(); ++i) {
      if (i > 0) out << ", ";
      detail::write_name(out, mesh.axes[dim[i]].label, quote_style::single);
    }
    if (dim.size() > 1) out << ')';
    const grain how = layout.grains[&dim - layout.dims.begin()];
    if (!how.is_single_cut()) detail::write_grain(out, how);
  }
  if (layout.pending != 0) {
    out << separator << "unreduced={";
    separator = {};
    for (std::uint8_t a : layout.pending_axes()) {
      out << separator;
      detail::write_name(out, mesh.axes[a].label, quote_style::single);
      separator = ", ";
    }
    out << '}';
    if (layout.kind != reduction::sum) out << ", unreduced_kind='" << to_text(layout.kind) << '\'';
  }
  out << ')';
  return sink;
}

}  // namespace shardwise
